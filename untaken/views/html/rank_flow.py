"""Ranks from the outcome to the sub-goals: where lines cross, the two disagree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from untaken.analysis import HEADLINE, RankedAgent, RankReport, crossing_agents, metric_words
from untaken.errors import Unscored, number
from untaken.numbers import counted, interval, percent
from untaken.views.html.markup import Markup, facts, row, section, short, table, tag, together

MOST: Final = 16
"""Agents that a picture can hold; the table shows all."""
COLUMN, ROW, TOP = 230.0, 44.0, 44.0
NAME_CHARS: Final = 24
CHARACTER: Final = 9.0
"""Room for one character of a label."""

By = Mapping[str, Mapping[str, RankedAgent]]


def flow_section(report: RankReport, *, full: bool) -> Markup | None:
    """The picture and its table, or ``None`` where there are not two rankings to compare."""
    names = [
        m for m in (report.metrics if full else HEADLINE) if any(s.rank for s in report.metrics.get(m, ()))
    ]
    if len(names) < 2 or len({s.agent for m in names for s in report.metrics[m] if s.rank}) < 2:
        return None
    tasks = len(report.shared_tasks)
    left_out = (
        f" {counted(len(report.unmatched_tasks), 'other task', 'are')} left out: not every agent ran them."
        if report.unmatched_tasks
        else ""
    )
    note = (
        "Each agent from its rank by outcome to its rank by sub-goals, over the "
        f"{counted(tasks, 'task')} that all of them ran.{left_out} Crossing lines show disagreement. In "
        "brackets: 95% intervals; if they overlap widely, the order may be luck."
    )
    # The table has the others.
    drawn = [m for m in HEADLINE if m in names] if len(names) > len(HEADLINE) else names
    return section(
        "Do success and sub-goals agree?",
        note,
        tag("figure", tag("div", rank_flow(report, drawn), class_="scroll wide"), class_="card"),
        tag(
            "details",
            tag("summary", "Show as a table"),
            standings_table(report, names),
            open="" if full else None,
        ),
    )


def rank_flow(report: RankReport, metrics: Sequence[str]) -> Markup:
    """The rank flow: one column per metric, one line per agent."""
    by: By = {m: {s.agent: s for s in report.metrics[m] if s.rank} for m in metrics}
    agents = list(dict.fromkeys(a for m in metrics for a in by[m]))[:MOST]
    places = {m: _places(by[m], agents) for m in metrics}
    longest = max(len(short(agent, NAME_CHARS)) for agent in agents)
    side = max(190.0, 24 + CHARACTER * (longest + 3))  # three more: the rank, its dot and a space
    x = {m: side + i * COLUMN for i, m in enumerate(metrics)}
    width, height = 2 * side + (len(metrics) - 1) * COLUMN, TOP + ROW * (len(agents) + 0.3)
    lines = [part for one, other in pairwise(metrics) for part in _lines(one, other, by, places, x)]
    dots = [tag("circle", cx=x[m], cy=y, r=6, class_="dot") for m in metrics for y in places[m].values()]
    heads = [_heading(m, x[m], height) for m in metrics]
    ends = [
        _label(by[m][agent], y, x[m], left=m == metrics[0])
        for m in (metrics[0], metrics[-1])
        for agent, y in places[m].items()
    ]
    return tag(
        "svg",
        tag("title", "Ranks of the agents by outcome and by sub-goals", id="flow_title"),
        tag("desc", _described(by, metrics), id="flow_desc"),
        *heads,
        *lines,
        *dots,
        *ends,
        viewBox=f"0 0 {width:g} {height:g}",
        width=round(width),
        height=round(height),
        role="img",
        aria_labelledby="flow_title flow_desc",
    )


def _places(standings: Mapping[str, RankedAgent], agents: Sequence[str]) -> dict[str, float]:
    """Vertical position of each agent: by rank, ties in the order of the outcome ranking."""
    ranked = sorted(
        (a for a in agents if a in standings), key=lambda a: (standings[a].rank or 0, agents.index(a))
    )
    return {agent: TOP + ROW * (at + 0.6) for at, agent in enumerate(ranked)}


def _lines(
    one: str, other: str, by: By, places: Mapping[str, Mapping[str, float]], x: Mapping[str, float]
) -> list[Markup]:
    both = [a for a in places[one] if a in places[other]]
    crossing = crossing_agents({agent: by[one][agent] for agent in both}, by[other])
    return [
        tag(
            "path",
            d=_curve(x[one], places[one][agent], x[other], places[other][agent]),
            class_="flow crossing" if agent in crossing else "flow",
        )
        for agent in sorted(both, key=lambda a: a in crossing)  # crossing lines are drawn last, on top
    ]


def _curve(x0: float, y0: float, x1: float, y1: float) -> str:
    middle = (x0 + x1) / 2
    return f"M{x0:g} {y0:g}C{middle:g} {y0:g} {middle:g} {y1:g} {x1:g} {y1:g}"


def _heading(metric: str, x: float, height: float) -> Markup:
    words = metric_words(metric)
    return together(
        tag("path", d=f"M{x:g} {TOP - 8:g}V{height:g}", class_="column"),
        tag("text", words, x=x, y=20, text_anchor="middle", class_="muted strong"),
    )


def _label(ranked: RankedAgent, y: float, x: float, *, left: bool) -> Markup:
    at, anchor = (x - 16, "end") if left else (x + 16, "start")
    return together(
        tag(
            "text",
            f"{ranked.rank}. {short(ranked.agent, NAME_CHARS)}",
            x=at,
            y=y - 2,
            text_anchor=anchor,
            class_="strong",
        ),
        tag("text", share(ranked), x=at, y=y + 15, text_anchor=anchor, class_="muted"),
    )


def share(ranked: RankedAgent) -> str:
    """The value with its interval; a word if there is none."""
    value, low, high = number(ranked.value), number(ranked.low), number(ranked.high)
    if value is None:
        return "unscored"
    return percent(value) + (
        f" ({interval(low, high, percent)})" if low is not None and high is not None else ""
    )


def _described(by: By, metrics: Sequence[str]) -> str:
    rankings = (
        f"By {metric_words(m)}: " + ", ".join(f"{s.rank} {short(a, 40)} {share(s)}" for a, s in by[m].items())
        for m in metrics
    )
    return ". ".join(rankings)


def standings_table(report: RankReport, metrics: Sequence[str]) -> Markup:
    """Every agent with its value, interval and rank under each metric, and why a value is missing."""
    by = {m: {s.agent: s for s in report.metrics[m]} for m in metrics}
    agents = dict.fromkeys(s.agent for m in metrics for s in report.metrics[m])
    rows = [row(*(_cell(by[m].get(agent)) for m in metrics), head=short(agent)) for agent in agents]
    return table(["agent", *map(metric_words, metrics)], rows, "Value (95% interval), rank, tasks and runs")


def _cell(ranked: RankedAgent | None) -> str:
    if ranked is None or ranked.rank is None:
        why = ranked.unranked.reason if ranked and isinstance(ranked.value, Unscored) else "not ranked"
        return f"unscored: {short(why, 120)}"
    rests = f"rank {ranked.rank} · {ranked.n_tasks} tasks, {ranked.n_runs} runs"
    return together(share(ranked), facts(rests))
