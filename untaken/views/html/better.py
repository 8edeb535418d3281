"""Is one agent ahead of another? Who comes first, pairs with their differences, and workflows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import Final

from untaken.analysis import OUTCOME, PairedDifference, RankReport, WorkflowVerdict, metric_words
from untaken.errors import first_few, number
from untaken.numbers import counted, interval, points
from untaken.views.html.markup import Markup, facts, row, section, short, table, tag, together

PAIRS: Final = 200
"""Pairs that the full report lists; the rankings' own document holds them all."""


def leaders(report: RankReport, metric: str) -> Markup | None:
    """Who comes first by success and by sub-goals, and whether that is more than luck."""
    by_outcome, by_metric = _first(report, OUTCOME), _first(report, metric)
    if not by_outcome or not by_metric:
        return None
    if by_outcome == by_metric:
        who = together(
            f"By success and by {metric_words(metric)} alike, ", _names(by_outcome), _come(by_outcome)
        )
        return together(who, _ahead_of(report, metric, by_outcome), ".")
    who = together(
        "By success, ",
        _names(by_outcome),
        _come(by_outcome),
        f"; by {metric_words(metric)}, ",
        _names(by_metric),
    )
    if len(by_outcome) > 1 or len(by_metric) > 1:
        return together(who, ".")
    return together(who, f". {_apart(report, metric, by_outcome[0], by_metric[0], 'these two')}.")


def _first(report: RankReport, metric: str) -> list[str]:
    ranked = [s for s in report.metrics.get(metric, ()) if s.rank is not None]
    return [s.agent for s in ranked if s.rank == 1] if len(ranked) > 1 else []  # of one, nobody is first


def _names(agents: Sequence[str]) -> Markup:
    named = " and ".join(short(agent, 40) for agent in agents[:2])
    return tag("strong", named + (f" and {len(agents) - 2} more" if len(agents) > 2 else ""))


def _come(agents: Sequence[str]) -> str:
    return " comes first" if len(agents) == 1 else " come first together"


def _ahead_of(report: RankReport, metric: str, first: Sequence[str]) -> str:
    following = [s.agent for s in report.metrics[metric] if s.rank == 2]
    if len(first) > 1 or len(following) != 1:  # agents that share a rank: none is the next
        return ""
    them = f"it and the next, {short(following[0], 40)},"
    return f". {_apart(report, metric, first[0], following[0], them)}"


def _apart(report: RankReport, metric: str, one: str, other: str, them: str) -> str:
    pairs = {m: report.comparisons[m].pair(one, other) for m in (OUTCOME, metric)}
    sure = [m for m, pair in pairs.items() if pair is not None and pair.clear_difference]
    if not sure:
        return f"The records show no clear difference between {them} by either"
    by = "both" if len(sure) == 2 else f"{metric_words(sure[0])} alone"
    return f"The records show a clear difference between {them} by {by}"


def better_section(report: RankReport, metric: str, *, full: bool) -> Markup | None:
    """Pairs of agents with their differences; neighbours in the ranking, or every pair."""
    agents = [s.agent for s in report.metrics.get(metric, ()) if s.rank is not None]
    if len(agents) < 2:
        return None
    every = list(combinations(agents, 2))
    shown = every[:PAIRS] if full else list(pairwise(agents))
    which = "Every pair" if len(shown) == len(every) else "Each agent and the next one"
    left = f", the first {PAIRS} of {len(every)}" if full and len(every) > PAIRS else ""
    note = (
        f"{which}{left}, on the tasks that both ran, in percentage points with 95% intervals. No clear "
        "difference does not mean equal: the note says how large a difference this many tasks can show."
    )
    rows = [_row(report, metric, first, second) for first, second in shown]
    names = ("agents", f"by {metric_words(OUTCOME)}", f"by {metric_words(metric)}")
    caption = f"Differences of {len(agents)} agents, {len(shown)} of {len(every)} pairs"
    made = table(names, rows, caption)
    return section("Is one agent ahead?", note, made, *_workflows(report.workflows))


def _row(report: RankReport, metric: str, first: str, second: str) -> Markup:
    compared = (report.comparisons[m] for m in (OUTCOME, metric))
    cells = (difference_words(found.pair(first, second), len(found.pairs)) for found in compared)
    return row(*cells, head=f"{short(first, 40)} and {short(second, 40)}")


def difference_words(pair: PairedDifference | None, family: int) -> Markup:
    """A difference in words: who is ahead by how much, or how large a difference would show."""
    difference = None if pair is None else number(pair.difference)
    if pair is None or difference is None:
        return together("unscored: no task has a value for both")
    low, high = number(pair.low), number(pair.high)
    if low is None or high is None:
        return together("unscored: an interval needs two tasks")
    ahead, sign = (pair.first, 1) if difference >= 0 else (pair.second, -1)
    ends = sorted((sign * low, sign * high))  # seen from the agent ahead, they may change places
    span = f"{points(abs(difference), sign=False)} ({interval(100 * ends[0], 100 * ends[1], digits=1)})"
    rests = f"{counted(pair.n_tasks, 'task')}, {counted(pair.n_runs, 'run')}"
    if not pair.clear_difference:
        lead = f"{short(ahead, 40)} ahead by {span}" if difference else f"level, {span}"
        seen = f"; these tasks can show about {points(pair.mde, sign=False)}" if number(pair.mde) else ""
        return together(tag("strong", "no clear difference"), tag("br"), f"{lead}{seen}", facts(rests))
    if family > 1 and not pair.clear_among_all:
        rests += f"; not clear after correction for all {family} pairs"
    return together(tag("strong", f"{short(ahead, 40)} is ahead"), tag("br"), f"by {span}", facts(rests))


def _workflows(verdicts: Sequence[WorkflowVerdict]) -> list[Markup]:
    """Each fixed workflow against the agents, in a sentence."""
    by_workflow: dict[str, list[WorkflowVerdict]] = {}
    for one in verdicts:
        by_workflow.setdefault(one.workflow, []).append(one)
    if not by_workflow:
        return []
    note = (
        "A workflow follows fixed steps; an agent decides for itself. Prefer the workflow while it "
        "completes more critical sub-goals, until you understand why."
    )
    lines = (tag("li", _workflow(name, against)) for name, against in by_workflow.items())
    return [tag("h3", "Workflow or agent?"), tag("p", note, class_="note"), tag("ul", *lines)]


def _workflow(name: str, against: Sequence[WorkflowVerdict]) -> Markup:
    ahead = [one for one in against if one.wins == "workflow"]
    agents = "agent" if len(against) == 1 else "agents"
    words = f" completes more critical sub-goals than {len(ahead)} of {len(against)} {agents}"
    if not ahead:
        return together(tag("strong", short(name, 40)), f"{words}.")
    agents_ahead = [
        short(one.agent, 40) + ("" if one.gap.clear_difference else " (no clear difference)") for one in ahead
    ]
    return together(tag("strong", short(name, 40)), f"{words}: {first_few(agents_ahead, 8)}.")
