"""The report's section on what people wrote: failure modes with their rates, and the runs behind them."""

from __future__ import annotations

from typing import Final

from untaken.analysis import Corpus, ReadRun, Taxonomy, modes_of, modes_seen, notes_of, read_runs
from untaken.numbers import counted
from untaken.scoring import RunScore
from untaken.views.briefing import run_brief
from untaken.views.html.markup import Markup, row, run_name, section, short, table, tag
from untaken.views.review import cause_of

FOCUSED: Final = 5
LISTED: Final = 200
NOTES: Final = 5


def notes_section(corpus: Corpus, taxonomy: Taxonomy | None, *, full: bool) -> Markup | None:
    """Failure modes and notes of the runs that were read; nothing where they are not asked for."""
    if taxonomy is None:
        return None
    read = read_runs(corpus.runs.values(), corpus.scores, taxonomy)
    failed = [run for run in read if run.failed]
    rows = [_mode(mode, taxonomy, read) for mode in modes_seen(read)]
    modes = [table(("failure mode", "failed runs", "successful runs", "definition"), rows)] if rows else []
    # Failed runs first.
    written = sorted((run for run in read if notes_of(corpus.runs[run.run])), key=lambda run: not run.failed)
    shown = written[: LISTED if full else FOCUSED]
    more = (
        f" {counted(len(written) - len(shown), 'more run')} not shown." if len(written) > len(shown) else ""
    )
    note = (
        f"{counted(len(read), 'run')} read by a person, {len(failed):,} of them failed. Rates are over runs "
        f"that were read.{more}"
    )
    return section("What people found", note, *modes, *(_card(corpus, run, taxonomy) for run in shown))


def _mode(mode: str, taxonomy: Taxonomy, read: tuple[ReadRun, ...]) -> Markup:
    failed = [run.has(mode) for run in read if run.failed]
    good = [run.has(mode) for run in read if not run.failed]
    known = taxonomy.by_id.get(mode)
    return row(
        f"{sum(failed):,} of {len(failed):,}",
        f"{sum(good):,} of {len(good):,}",
        short(known.definition, 300) if known else "",
        head=short(taxonomy.name(mode), 120),
    )


def _card(corpus: Corpus, read: ReadRun, taxonomy: Taxonomy) -> Markup:
    """A run with what was asked, expected and given, where it failed first, and what was written about it."""
    run, score = corpus.runs[read.run], corpus.scores[read.run]
    brief = run_brief(run, corpus.graphs.get(score.graph_id) if isinstance(score, RunScore) else None)
    facts = [
        ("Asked", brief.asked),
        ("Expected", brief.target or brief.plan),
        ("Got", brief.got),
        ("Ended by", brief.ended),
        ("Why", cause_of(run, score, "failed", corpus.graphs).in_words if read.failed else ""),
    ]
    facts += [
        (f"Note by {(note.author or 'unknown').removeprefix('human:')}", note.text)
        for note in notes_of(run)[:NOTES]
    ]
    pairs = [
        part
        for name, words in facts
        if words
        for part in (tag("dt", short(name, 80)), tag("dd", short(words, 400)))
    ]
    modes = [
        tag("span", short(taxonomy.name(mode), 60), class_="pill") for mode in modes_of(run, taxonomy).modes
    ]
    head = tag("h3", "✗ " if read.failed else "✓ ", run_name(run.run_id))
    return tag(
        "div", head, tag("p", *modes) if modes else "", tag("dl", *pairs, class_="words"), class_="card"
    )
