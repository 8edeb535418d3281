"""One self-contained page about a corpus, for people who do not code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from untaken.analysis import LEFT_OUT, Corpus, SubGoalChange, Taxonomy, most_paired, triage
from untaken.errors import Score, Unscored
from untaken.judging import LabelledRate, LabelledRates
from untaken.numbers import counted, decimal, interval, p_value, percent, points
from untaken.scoring import NodeResult, RunScore, Status
from untaken.views.advising import advised
from untaken.views.first_page import first_numbers
from untaken.views.html.better import better_section
from untaken.views.html.fix_list import (
    advised_section,
    causes_section,
    choices_section,
    contradictions_section,
    fix_section,
)
from untaken.views.html.markup import Markup, page, row, run_name, section, short, stylesheet, table, tag
from untaken.views.html.notes import notes_section
from untaken.views.html.plan_audit import audit_section
from untaken.views.html.rank_flow import flow_section
from untaken.views.html.run_patterns import patterns_section
from untaken.views.html.small_print import made_section, rule_words, words_section
from untaken.views.html.summary import lead, numbers
from untaken.views.html.usage import usage_section
from untaken.views.statuses import STAR, STATUS
from untaken.views.versions import suspect_words, version_changes, version_headline

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
TITLE = "What the agents achieved, and what to fix first"
HEADINGS: Final = ("", "labels and judge", "labels alone", "judge alone", "labels", "worth")
MOST_ROWS: Final = 40
MOST_CHANGES: Final = 20
Tally = Mapping[str, Counter[Status]]
LISTED: Final = 1000


def html_report(
    corpus: Corpus,
    *,
    full: bool = False,
    title: str = "",
    date: str = "",
    labels: LabelledRates | None = None,
    unread: int = 0,
    notes: Taxonomy | None = None,
) -> str:
    """One HTML file that opens anywhere, offline: no script, no font and no picture from outside.

    The same corpus gives the same bytes. Everything from ledgers and plan graphs is text in it, whatever it
    holds.

    Args:
        corpus: what was evaluated.
        full: every agent, failing run, sub-goal and choice; by default what can be read in three minutes.
        title: the heading.
        date: printed as it is given, where the report should say when it was made.
        labels: rates from people's labels and a judge, shown where people labelled some of its verdicts.
        unread: runs of which not even the start can be read (`untaken.ledger.unread_runs`): no corpus has
            them, and the report says that they are left out.
        notes: the names of failure modes, where the report should hold what people wrote about runs: their
            failure modes and notes, signed as they are.

    Returns:
        The page, as text in UTF-8.
    """
    heading = short(title.strip() or TITLE, 200)
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        # Should any recorded text be taken for markup all the same, it can load nothing and send nothing.
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", heading),
        stylesheet(css()),
    )
    return page(
        head,
        _body(corpus, heading, full=full, date=date, labels=labels, unread=unread, notes=notes),
        language="en",
    )


def _body(
    corpus: Corpus,
    heading: str,
    *,
    full: bool,
    date: str,
    labels: LabelledRates | None,
    unread: int,
    notes: Taxonomy | None,
) -> Markup:
    seen, found = first_numbers(corpus), triage(corpus)
    broken = seen.broken + unread  # no corpus holds what cannot be read
    sub = (
        f"{counted(seen.runs, 'run')} · {counted(seen.agents, 'agent')} · {counted(seen.tasks, 'task')} · "
        f"{counted(seen.graphs, 'plan graph')}{_when(corpus)} · {'full' if full else 'focused'} report"
    )
    scope = [*(f.message for f in corpus.findings if f.code == LEFT_OUT), rule_words(corpus)]
    sections = (
        lead(corpus, seen, found, broken=broken),
        numbers(seen),
        fix_section(corpus, found, full=full),
        causes_section(found, full=full),
        notes_section(corpus, notes, full=full),
        advised_section(corpus, advised(corpus), full=full),
        usage_section(corpus, full=full),
        flow_section(corpus.ranking, full=full),
        better_section(corpus.ranking, seen.metric, full=full),
        labels_section(labels),
        sub_goals_section(corpus) if full else None,
        patterns_section(corpus, full=full),
        contradictions_section(corpus, found, full=full),
        choices_section(corpus) if full else None,
        versions_section(corpus, full=full),
        audit_section(corpus, full=full),
        unused_section(corpus) if full else None,
        words_section(),
        made_section(corpus, broken, full=full, date=date),
    )
    rules = (tag("p", f"{short(words, 400)}.", class_="sub") for words in scope)
    header = tag("header", tag("h1", heading), tag("p", sub, class_="sub"), *rules)
    main = tag("main", *(section for section in sections if section is not None))
    footer = tag(
        "footer", "Made from recorded runs only; nothing was executed again, and no data left the machine."
    )
    return tag("body", header, main, footer)


def _when(corpus: Corpus) -> str:
    """The days on which the runs began; nothing where none has a clock."""
    days = sorted({at.date().isoformat() for run in corpus.runs.values() if (at := run.started_at)})
    if not days:
        return ""
    return f" · {days[0]}" if len(days) == 1 else f" · {days[0]} to {days[-1]}"


@cache
def css() -> str:
    """The style sheet, for a screen in light and dark and for paper."""
    return Path(__file__).with_name("report.css").read_text("utf-8")


def labels_section(found: LabelledRates | None) -> Markup | None:
    """Overall, by agent and their differences; nothing where it was not asked for or labels add nothing."""
    if found is None or not found.adds:
        return None
    shown = [one for one in found.rates if one.part != "sub_goal"][:MOST_ROWS]
    note = (
        f"Share of sub-goals met, as people would say: a judge decided {found.overall.items:,}, and people "
        f"labelled {found.overall.labels:,} of them. The judge's share is corrected by how far it is off; "
        "with fewer than 30 labels the judge does not count. "
        "In brackets: 95% intervals, for tasks like these. Worth: how many times the labels "
        "are needed without the judge. Labels must be a random draw"
    )
    warnings = [tag("p", f"{short(finding.message, 300)}.", class_="note") for finding in found.findings]
    return section("A few labels and a judge", f"{note}.", *warnings, table(HEADINGS, map(_row, shown)))


def _row(one: LabelledRate) -> Markup:
    name = short(one.name, 60) if one.name else "all"
    if one.other:
        name = f"{name} − {short(one.other, 60)}"
    sign = one.part == "difference"
    return row(
        _span(one.value, one.low, one.high, sign=sign),
        _span(one.people, one.people_low, one.people_high, sign=sign),
        _percent(one.judge, sign=sign),
        f"{one.labels:,} of {one.items:,}",
        "–" if isinstance(one.worth, Unscored) else f"{decimal(one.worth, 1)}×",
        head=name,
    )


def _percent(value: Score, *, sign: bool) -> str:
    if isinstance(value, Unscored):
        return "–"
    return f"{points(value, 0)} points" if sign else percent(value)


def _span(value: Score, low: Score, high: Score, *, sign: bool) -> str:
    middle = _percent(value, sign=sign)
    if isinstance(low, Unscored) or isinstance(high, Unscored):
        return middle
    return f"{middle} ({interval(low, high, points if sign else percent, 0)})"


def sub_goals_section(corpus: Corpus) -> Markup | None:
    """How often each agent completed each sub-goal: a table for each plan graph."""
    nodes: dict[str, dict[str, NodeResult]] = {}
    tally: dict[str, dict[str, dict[str, Counter[Status]]]] = {}
    for score in corpus.scores.values():
        if isinstance(score, RunScore) and score.results:
            for node in score.results:
                nodes.setdefault(score.graph_id, {}).setdefault(node.sub_goal, node)
                row = tally.setdefault(score.graph_id, {}).setdefault(node.sub_goal, {})
                row.setdefault(score.agent, Counter())[node.status] += 1
    if not nodes:
        return None
    tables = [_table(graph, nodes[graph], tally[graph], folded=len(nodes) > 3) for graph in sorted(nodes)]
    note = (
        "Runs that completed the sub-goal, of those that require it; then the status of the others: "
        + ", ".join(
            f"{STATUS[status].icon} {STATUS[status].word}"
            for status in ("not_completed", "skipped", "unscored")
        )
    )
    return section("Every sub-goal, by agent", f"{note}.", *tables)


def _table(
    graph: str, nodes: Mapping[str, NodeResult], tally: Mapping[str, Tally], *, folded: bool
) -> Markup:
    agents = sorted({agent for by_agent in tally.values() for agent in by_agent})
    rows = [
        row(
            *(_cell(tally[goal].get(agent, Counter())) for agent in agents),
            head=short(node.title or goal, 120) + (f" {STAR}" if node.critical else ""),
        )
        for goal, node in nodes.items()
    ]
    made = table(["sub-goal", *(short(a, 30) for a in agents)], rows, f"Plan graph {short(graph)}")
    return tag("details", tag("summary", f"Plan graph {short(graph)}"), made) if folded else made


def _cell(found: Counter[Status]) -> str:
    required = found.total() - found["not_required"]
    if not required:
        return "not required"
    # With a space that does not break: an icon stays on the line of its number.
    rest = [f"{STATUS[s].icon}\u00a0{found[s]}" for s in ("attempted", "skipped", "unscored") if found[s]]
    return f"{found['completed']} of {required}" + (f" · {' '.join(rest)}" if rest else "")


def unused_section(corpus: Corpus) -> Markup | None:
    """Runs without a score, with the reason."""
    found = [(run, _why_not(corpus.scores[digest])) for digest, run in corpus.runs.items()]
    unscored = [(run, why) for run, why in found if why is not None]
    # Down to the digest: the same runs give the same page, in whatever order their files are read.
    unscored.sort(key=lambda pair: (pair[0].agent, pair[0].task_id, pair[0].run_id, pair[0].digest))
    if not unscored:
        return None
    rows = [
        row(run_name(run.run_id), short(run.agent, 40), short(run.task_id, 60), short(why, 200))
        for run, why in unscored[:LISTED]
    ]
    more = f"The first {LISTED} of {len(unscored)}" if len(unscored) > LISTED else f"All {len(unscored)}"
    return section(
        "Runs without a score",
        f"{counted(len(unscored), 'run', 'are')} not scored, and not part of any sub-goal rate.",
        table(("run", "agent", "task", "why"), rows, more),
    )


def _why_not(score: RunScore | Unscored) -> str | None:
    if isinstance(score, Unscored):
        return score.reason
    if not score.results and isinstance(score.completion, Unscored):
        return score.completion.reason
    return None


def versions_section(corpus: Corpus, *, full: bool) -> Markup | None:
    """What changed between the versions with most tasks in common; in a focused report only what did."""
    names = most_paired(corpus.runs.values(), "version")
    if names is None:
        return None
    found = version_changes(corpus, *names)
    shown = found.sub_goals[:MOST_CHANGES] if full else found.called
    suspect = suspect_words(found)
    parts = [tag("p", short(suspect, 400), class_="note")] if suspect else []
    if shown:
        heads = ("sub-goal", short(found.a, 30), short(found.b, 30), "difference", "p (Holm)", "changed")
        parts.append(table(heads, map(_changed, shown)))
    return section("What changed between versions", short(version_headline(found), 600), *parts)


def _changed(one: SubGoalChange) -> Markup:
    return row(
        f"{one.a_completed} of {one.a_reached}",
        f"{one.b_completed} of {one.b_reached}",
        "–" if one.difference is None else f"{points(one.difference, 0)} points",
        p_value(one.p_holm, unknown="–"),
        one.kind or "yes" if one.called else "",
        head=short(one.title, 120) + (f" {STAR}" if one.critical else ""),
    )
