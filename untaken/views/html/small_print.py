"""What the words mean, and how the report was made: enough to make it again and to get the same."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

import msgspec

from untaken.analysis import Corpus
from untaken.ledger import Run
from untaken.numbers import counted
from untaken.scoring import RunScore
from untaken.views.html.markup import Markup, short, tag, together
from untaken.views.verdict_view import imported_in_words

DEFINITIONS: Final = (
    (
        "Run",
        "One attempt of one agent at one task, as recorded. Nothing was run again for this report.",
    ),
    ("Outcome", "Success or failure, as recorded by the run or its benchmark."),
    (
        "Plan graph",
        "What should have happened: sub-goals and their dependencies. People defined it beforehand.",
    ),
    (
        "Critical (★)",
        "A sub-goal that later sub-goals require in order to count, such as checking the policy before "
        "a payment.",
    ),
    ("Completed", "The sub-goal was reached; a check on the record or a recorded verdict says so."),
    ("Attempted", "The agent worked on it, but did not reach it."),
    ("Skipped", "It was required, but the agent did not work on it."),
    (
        "Unscored",
        "The record has no evidence either way. This is neither a pass nor a failure, and is never "
        "counted as zero.",
    ),
    (
        "Reached without it",
        "A sub-goal was reached, but a critical one before it was not: a violation of the plan.",
    ),
    (
        "95% interval",
        "How far off the number may be, given the number of tasks. If it is wide, collect more runs first.",
    ),
    (
        "Clear difference",
        "The interval of the difference excludes zero, so luck is unlikely. Otherwise they need not be "
        "equal.",
    ),
    (
        "Score",
        "Of a run, from 0 to 1: half of it is success, the rest rewards low cost and few steps.",
    ),
    ("τ-b", "How far two rankings agree: +1 the same order, 0 unrelated, −1 the reverse (Kendall)."),
    (
        "Association",
        "Runs that did it succeeded more often. They may differ in other ways, too: try it, it is no proof.",
    ),
)
"""Definitions for people who have never seen a plan graph."""

_MISSING: Final = {"fail": "count as not completed", "drop": "are left out"}


def words_section() -> Markup:
    """The definitions."""
    pairs = (together(tag("dt", name), tag("dd", meaning)) for name, meaning in DEFINITIONS)
    return together(tag("h2", "Glossary"), tag("div", tag("dl", *pairs, class_="words"), class_="card"))


def made_section(corpus: Corpus, broken: int, *, full: bool, date: str) -> Markup:
    """The rules, the data and the digest of both; `broken`: records that are in no figure."""
    scores = [score for score in corpus.scores.values() if isinstance(score, RunScore)]
    facts = (
        (
            "Rules",
            f"{rule_words(corpus)} ({sum(s.unscored for s in scores):,} sub-goals without a verdict).",
        ),
        (
            "Data",
            f"{counted(len(corpus.runs), 'run')}, {len(scores):,} of them scored; "
            f"{counted(len(corpus.ranking.shared_tasks), 'task')} run by all ranked agents. "
            "Repeats of a task are averaged before agents are compared.",
        ),
        ("Records", " ".join(filter(None, (_records(corpus, broken), imported_in_words(corpus))))),
        (
            "Intervals",
            "95%: of values by the effective number of tasks; of ranks from tests of all pairs.",
        ),
        (
            "Contents",
            "All agents, all failed or contradictory runs, all sub-goals, choices."
            if full
            else "The focused report: the most frequent and the largest of each kind. The full report "
            "lists everything.",
        ),
        ("Made by", f"Untaken {_version()}" + (f", {short(date, 60)}" if date else "")),
        (
            "Digest",
            f"{corpus_digest(corpus)} (of runs, plan graphs and rules: same digest, same figures)",
        ),
    )
    pairs = (together(tag("dt", name), tag("dd", fact)) for name, fact in facts)
    return together(
        tag("h2", "How this was made"), tag("div", tag("dl", *pairs, class_="words"), class_="card")
    )


def rule_words(corpus: Corpus) -> str:
    """The rules, in the words of the app."""
    whose = ", ".join(short(by, 40) for by in corpus.verdicts[:10]) or "all"
    return f"Sub-goals without a verdict {_MISSING[corpus.missing]} · verdicts counted: {whose}"


def _records(corpus: Corpus, broken: int) -> str:
    unanchored = sum(run.integrity.verdict == "UNANCHORED" for run in corpus.runs.values())
    words = (
        f"{counted(broken, 'run')} altered, cut or unreadable, and excluded from all figures."
        if broken
        else "No run is altered, cut or unreadable."
    )
    if not unanchored:
        return f"{words} Every other run is as it was recorded." if broken else words
    return f"{words} {counted(unanchored, 'run')} without a recorded head: a rewritten end would not show."


def corpus_digest(corpus: Corpus) -> str:
    """SHA-256 over all runs and what was written about them, the plan graphs and the rules in force."""
    # Sorted, as are the runs: the digest is of what there is, not of the order in which it was read.
    graphs = sorted(msgspec.json.encode(graph) for graph in corpus.graphs.graphs)
    parts = [*sorted(_as_recorded(run).encode() for run in corpus.runs.values()), *graphs]
    rules = msgspec.json.encode([corpus.missing, list(corpus.verdicts)])
    return sha256(b"\n".join([*parts, rules])).hexdigest()


def _as_recorded(run: Run) -> str:
    """The end of its chain, verdicts and notes appended later included."""
    head = run.integrity.head
    return head.sha256 if head and not run.integrity.broken else run.digest


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 (slow)

    try:
        return version("untaken")
    except PackageNotFoundError:  # run from a folder that was never installed
        return "of unknown version"
