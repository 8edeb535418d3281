"""Criteria beyond success: means by outcome, distributions, what each one notices; how many seeds give.

Levels are drawn as shares of the scale, from the worst accepted value (0%) to the best (100%), so that
criteria with scales of different lengths fit in one figure. Successes are filled circles, failures open
diamonds; the same marks distinguish recorded and disturbed runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import plotly.graph_objects as go

from untaken.errors import Score, Unscored, number, reason
from untaken.judging import (
    ATTACK_TITLES,
    AttackTest,
    BeforeAfter,
    CriterionCheck,
    CriterionDifference,
    OutcomeMean,
    PassStep,
    QuantifierRun,
    UniqueCount,
    Verification,
    outcomes,
    subject_means,
)
from untaken.numbers import decimal, interval, p_value, percent

from ..shared import text
from ..shared.palette import MARKERS, Tokens, tokens
from .parts import (
    caption,
    cell,
    cell_words,
    column_names,
    error_bars,
    intervals,
    legend_above,
    line_trace,
    mark,
    point_trace,
    row_names,
    words_at,
)
from .theme import message, themed

ROW: Final = 52
"""Pixels a criterion."""
CHARS: Final = 26
LEAST_WIDTH: Final = 340
CELL_WIDTH: Final = 98
AXIS: Final = "mean level, share of the scale<br>95% interval over tasks"
KEY: Final = ("● success", "◇ failure")
BEFORE_AFTER: Final = ("● as recorded", "◇ made worse")
APART: Final = 0.17
"""Distance between the marks of two groups or agents, as a share of a row."""


def criteria_means(means: Sequence[OutcomeMean], *, dark: bool = False) -> go.Figure:
    """Mean of each criterion for successes and for failures, with 95% intervals (source figure 3)."""
    names = list(dict.fromkeys(mean.name for mean in means))
    if not names:
        return message("No run with an outcome has a value", dark=dark)
    look, figure = tokens(dark), go.Figure()
    for one in means:
        ends = one.mean, one.low, one.high
        _mark(figure, names.index(one.name), one, ends, key=KEY, look=look, first=one.success)
    return _rows(figure, names, KEY, AXIS, look, dark=dark)


def criteria_distributions(passes: Sequence[QuantifierRun], *, dark: bool = False) -> go.Figure:
    """Distribution of the runs of each outcome on each scale; one point per run (source figure 5)."""
    # Levels count from 0, the worst accepted value.
    tops = {c.name: len(c.accepted_values) - 1 for run in passes for c in run.criteria}
    known, look, figure = outcomes(passes), tokens(dark), go.Figure()
    # Nothing to draw without a value of a run that has an outcome.
    names = [name for name in tops if any(s in known for s in subject_means(passes, name))]
    if not names:
        return message("No run with an outcome has a value", dark=dark)
    for success in (True, False):
        points = [
            (mean / tops[name], names.index(name) + (-APART if success else APART))
            for name in names
            for subject, mean in subject_means(passes, name).items()
            if known.get(subject) is success
        ]
        figure.add_trace(_boxes(points, success=success, look=look))
    figure.update_layout(boxmode="overlay")
    return _rows(figure, names, KEY, "level, share of the scale; box: middle half", look, dark=dark)


def pass_change(steps: Sequence[PassStep], *, dark: bool = False) -> go.Figure:
    """Change of the summed mean coefficient of variation with each further pass (source figure 6)."""
    if not steps:
        return message("It takes three passes to see a change", dark=dark)
    look = tokens(dark)
    figure = go.Figure(
        point_trace(
            x=[step.passes for step in steps],
            y=[step.delta for step in steps],
            mode="lines+markers",
            line={"color": look.good, "width": 2},
            marker={"symbol": "circle", "size": 8, "color": look.good},
            hovertext=[
                f"{step.passes} passes: {decimal(step.delta, 3)}, summed over {step.criteria} criteria"
                for step in steps
            ],
        )
    )
    themed(figure, dark=dark, height=260)
    # Else halves, where they are few.
    figure.update_xaxes(title_text="passes", dtick=1 if len(steps) < 15 else None)
    figure.update_yaxes(title_text="change of the summed CV", rangemode="tozero")
    return figure


def original_vs_disturbed(found: Sequence[BeforeAfter], *, dark: bool = False) -> go.Figure:
    """Mean of each criterion as recorded and after a disturbance, with 95% intervals (source figure 7)."""
    if not found:
        return message("No disturbed run has a value: the test was not done", dark=dark)
    look, figure = tokens(dark), go.Figure()
    for row, one in enumerate(found):
        before, after = (
            (one.before, one.before_low, one.before_high),
            (one.after, one.after_low, one.after_high),
        )
        _mark(figure, row, one, before, key=BEFORE_AFTER, look=look, first=True)
        _mark(figure, row, one, after, key=BEFORE_AFTER, look=look, first=False)
    return _rows(figure, [one.name for one in found], BEFORE_AFTER, AXIS, look, dark=dark)


def attack_matrix(found: Verification, *, dark: bool = False) -> go.Figure:
    """Criterion × attack: how often the disturbed run scores worse, ties half.

    Marks say what colours say: ✓ disturbed runs score lower, ↑ they score higher, – no value.
    """
    if not found.attacks or not found.criteria:
        return message("The runs were not disturbed: not done, not passed", dark=dark)
    look, figure = tokens(dark), go.Figure()
    cells = [
        (row, column, check, test)
        for row, check in enumerate(found.criteria)
        for column, test in enumerate(check.discrimination.attacks)
    ]
    figure.layout.shapes = [
        cell(column, row, (0.47, 0.44), *_cell_look(test, look)) for row, column, _, test in cells
    ]
    figure.layout.annotations = [
        cell_words(column, row, *_rate(test, look), size=13) for row, column, _, test in cells
    ]
    figure.add_trace(
        point_trace(
            x=[column for _, column, _, _ in cells],
            y=[row for row, _, _, _ in cells],
            marker={"size": 30, "opacity": 0},  # not seen: what the mouse finds
            hovertext=[_cell_hover(check, test) for _, _, check, test in cells],
        )
    )
    themed(figure, dark=dark, height=90 + 40 * len(found.criteria), margin=(8, 8, 60, 8))
    attacks = [text.figure(_attack(name), 24).replace(" ", "<br>", 1) for name in found.attacks]
    column_names(figure, attacks, look=look)
    names = [text.figure(check.name, CHARS) for check in found.criteria]
    row_names(figure, names, look=look, size=13)
    figure.update_layout(meta={"least_width": 180 + CELL_WIDTH * len(found.attacks)})
    return figure


def _mark(
    figure: go.Figure,
    row: int,
    one: OutcomeMean | BeforeAfter,
    ends: tuple[float, Score, Score],
    *,
    key: Sequence[str],
    look: Tokens,
    first: bool,
) -> None:
    """A mean with its interval: of the first group of the key (filled), or of the second (open)."""
    (mean, *_), (low, high) = ends, map(number, ends[1:])
    colour, y = (look.good, row - APART) if first else (look.bad, row + APART)
    sure = reason(ends[1])
    if low is not None and high is not None:
        line = {"color": colour, "width": 3, "dash": "solid" if first else "dot"}
        figure.add_trace(line_trace(x=[low / one.top, high / one.top], y=[y, y], line=line))
        sure = f"95% {interval(low, high)}"
    words = (
        f"<b>{text.figure(one.name)}</b>, {key[not first]}"
        f"<br>level {decimal(mean)} of 0–{one.top} ({sure}), n={one.n}"
    )
    marker = _marker(colour, first=first)
    figure.add_trace(
        point_trace(x=[mean / one.top], y=[y], marker=marker, hovertext=[words], cliponaxis=False)
    )


def _marker(colour: str, *, first: bool, size: int = 11) -> dict[str, Any]:
    return mark("circle" if first else "diamond-open", size, colour, colour)


def _boxes(points: Sequence[tuple[float, float]], *, success: bool, look: Tokens) -> go.Box:
    colour = look.good if success else look.bad
    return go.Box(
        x=[x for x, _ in points],
        y=[y for _, y in points],
        orientation="h",
        width=2 * APART * 0.85,  # the boxes of the two groups do not touch
        boxpoints="all",
        jitter=0.6,
        pointpos=0,
        line={"color": colour, "width": 1.5},
        fillcolor=look.fill if success else "rgba(0,0,0,0)",
        marker=_marker(colour, first=success, size=5) | {"opacity": 0.6},
        hovertemplate="%{x:.0%} of the scale<extra></extra>",
    )


def _rows(
    figure: go.Figure, names: Sequence[str], key: Sequence[str], axis: str, look: Tokens, *, dark: bool
) -> go.Figure:
    """The common frame: one row per criterion, the scale below, the legend above."""
    themed(figure, dark=dark, height=126 + ROW * len(names), margin=(8, 16, 34, 24))
    figure.update_xaxes(range=[-0.03, 1.03], tickformat=".0%", title_text=axis, nticks=5)
    row_names(figure, [text.figure(name, CHARS) for name in names], look=look, size=13)
    words = (
        f'<span style="color:{look.good}">{key[0]}</span>   <span style="color:{look.bad}">{key[1]}</span>'
    )
    font = {"size": 13, "color": look.text}
    caption(figure, words, 0, 1, look, xanchor="left", yanchor="bottom", yshift=6, font=font)
    figure.update_layout(meta={"least_width": LEAST_WIDTH})
    return figure


def _cell_look(test: AttackTest, look: Tokens) -> tuple[str, dict[str, Any]]:
    fill = look.fill if test.detected else look.warm if test.rewarded else look.background
    colour = look.good if test.detected else look.bad if test.rewarded else look.grid
    return fill, {"color": colour, "width": 1.5, "dash": "solid" if test.detected else "dot"}


def _rate(test: AttackTest, look: Tokens) -> tuple[str, str]:
    """The rate with its sign, and its colour."""
    rate = number(test.win_rate)
    sign = "✓ " if test.detected else "↑ " if test.rewarded else ""
    words = "–" if rate is None else f"{sign}{percent(rate)}"
    return (f"<b>{words}</b>" if sign else words), (look.text if rate is not None else look.muted)


def _attack(name: str) -> str:
    return ATTACK_TITLES.get(name, name.replace("_", " "))


def _cell_hover(check: CriterionCheck, test: AttackTest) -> str:
    head = f"<b>{text.figure(check.name)}</b> × {text.figure(_attack(test.attack))}"
    if isinstance(test.win_rate, Unscored):
        return f"{head}<br>{text.figure(test.win_rate.reason, 90)}"
    low, high, p = (number(value) or 0.0 for value in (test.low, test.high, test.p))
    verdict = "lower" if test.detected else "higher" if test.rewarded else "no clear difference"
    return "<br>".join(
        [
            head,
            f"{verdict}: {test.wins} worse, {test.ties} equal, {test.losses} better of {test.n} runs",
            f"worse in {percent(test.win_rate)}, ties half (95% {interval(low, high, percent)}); "
            f"sign test {p_value(p, 'p')}",
        ]
    )


WAYS: Final = {"task": "from the task", "solution": "from the task and two runs"}
DASHES: Final = ("solid", "dash", "dot", "dashdot")
LEGEND: Final = {"y": 1, "xanchor": "left", "font": {"size": 12}}


def agents_by_criterion(
    found: Sequence[CriterionDifference], first: str, second: str, *, dark: bool = False
) -> go.Figure:
    """Mean of two agents by each criterion as a share of its scale, with 95% intervals."""
    if not found:
        return message("No task has values of both agents", dark=dark)
    look = tokens(dark)
    figure = go.Figure()
    for own, name, colour in ((True, first, look.good), (False, second, look.bad)):
        marks = [_agent_mark(one, place, own=own) for place, one in enumerate(found)]
        bars = [(at, low, high) for at, _, low, high in marks]
        figure.add_trace(intervals(bars, {"color": colour, "width": 3}, opacity=0.6, showlegend=False))
        points = _points(marks, name, found)
        points.marker = mark(MARKERS[0 if own else 1], 11, colour, look.background, 1.5)
        figure.add_trace(points)
    themed(figure, dark=dark, height=96 + 46 * len(found), margin=(8, 96, 34, 44))
    for place, one in enumerate(found):
        sign, colour = ("≠", look.text) if one.clear_difference else ("≈", look.muted)
        words_at(
            figure, f"{sign}  n = {one.tasks:,}", 1, place, colour, xref="paper", xanchor="left", xshift=10
        )
    figure.update_xaxes(
        range=[-0.03, 1.03], tickvals=[0, 0.25, 0.5, 0.75, 1], tickformat=".0%",
        title_text="mean, as a share of the scale<br>(0% worst, 100% best)",
    )  # fmt: skip
    row_names(figure, [text.figure(one.name, 26) for one in found], room=0.6, look=look)
    return legend_above(figure, **LEGEND)


Mark = tuple[float, float, float | None, float | None]
"""Its place, a mean and its interval as shares of the scale; of one task, the interval is ``None``."""


def _agent_mark(one: CriterionDifference, place: int, *, own: bool) -> Mark:
    mean, *ends = (
        (one.first, one.first_low, one.first_high) if own else (one.second, one.second_low, one.second_high)
    )
    low, high = (None if isinstance(end, Unscored) else end / one.top for end in ends)
    return place - APART if own else place + APART, mean / one.top, low, high


def _points(marks: Sequence[Mark], name: str, found: Sequence[CriterionDifference]) -> go.Scatter:
    words = [
        f"{text.figure(name)} by {text.figure(one.name)}: {percent(mean)} of the scale"
        + (" (one task: no interval)" if low is None else f" (95% {interval(low, high, percent)})")
        + f"<br>over {one.tasks:,} common tasks, {one.runs:,} runs of both"
        for one, (_, mean, low, high) in zip(found, marks, strict=True)
    ]
    return point_trace(
        x=[mean for _, mean, *_ in marks],
        y=[at for at, *_ in marks],
        name=text.figure(text.short(name, 30)),
        hovertext=words,
        cliponaxis=False,
    )


def unique_criteria(counts: Sequence[UniqueCount], *, dark: bool = False) -> go.Figure:
    """How many different criteria some seeds give, by way of asking and threshold (fig. 4 of the paper)."""
    if not counts:
        return message("Nothing was proposed here yet", dark=dark)
    look = tokens(dark)
    figure = go.Figure()
    taus = sorted({one.tau for one in counts})
    for place, way in enumerate(dict.fromkeys(one.way for one in counts)):
        colour = look.good if place == 0 else look.bad
        for tau in taus:
            curve = [one for one in counts if (one.way, one.tau) == (way, tau)]
            figure.add_trace(_curve(curve, colour, DASHES[taus.index(tau) % len(DASHES)], MARKERS[place]))
    themed(figure, dark=dark, height=340, margin=(8, 24, 34, 44))
    # With few seeds, ticks would fall between them.
    figure.update_xaxes(title_text="seeds drawn", dtick=1 if max(one.of for one in counts) <= 12 else None)
    figure.update_yaxes(title_text="different criteria", rangemode="tozero", nticks=6)
    return legend_above(figure, **LEGEND)


def _curve(curve: Sequence[UniqueCount], colour: str, dash: str, symbol: str) -> go.Scatter:
    one = curve[0]
    words = f"{WAYS.get(one.way, text.figure(one.way))}, τ = {one.tau:g}"
    return point_trace(
        x=[point.seeds for point in curve],
        y=[point.mean for point in curve],
        error_y=error_bars([(point.mean, point.low, point.high) for point in curve], colour)
        | {"thickness": 1, "width": 3},
        mode="lines+markers",
        name=words,
        line={"color": colour, "dash": dash, "width": 2},
        marker={"symbol": symbol, "size": 7, "color": colour},
        hovertext=[
            f"{words}<br>{point.seeds} of {point.of} seeds: {decimal(point.mean, 1)} criteria "
            f"(95% of draws {point.low:g} to {point.high:g}, {point.draws} draws)"
            for point in curve
        ],
    )
