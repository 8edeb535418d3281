"""What-If-Not over a run, and what Algorithm 1 loses without its parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import plotly.graph_objects as go

from untaken.errors import Score, Unscored
from untaken.numbers import decimal, interval
from untaken.simulator import EVEN, FULL, PUBLISHED, Ablation, PlannedStep, PlanningRecord, Verdict

from ..shared.palette import Tokens, tokens
from .frames import AGAIN, VERDICTS, step_words
from .parts import caption, error_bars, point_trace
from .theme import message, themed

SPAN: Final = 1_000
"""Steps drawn at the most, around the chosen one."""
GAP: Final = "&nbsp;&nbsp;&nbsp;&nbsp;"
TERMS: Final[Mapping[str, str]] = {
    "wait": "square-open",
    "opposite": "x-thin-open",
    "random": "cross-thin-open",
}
"""Marker of each intervention."""
NOT_COMPARABLE: Final = (
    "◇ published (Fu et al., Counterfactual Planning): a language model of 72 billion parameters,<br>"
    "mean ± sd over 5 seeds at 1 M steps. Not comparable in level:<br>"
    "only the sign of a difference between arms means the same."
)


def win_figure(record: PlanningRecord, *, step: int | None = None, dark: bool = False) -> go.Figure:
    """WIN by step with its terms, and a line at 0.5; ties are grey and hollow.

    Args:
        record: a record of planning.
        step: the chosen step, from 1; it is marked. A click on another one carries its number.
        dark: the theme.
    """
    middle = step or 1
    # Near either end as many steps are drawn, with the chosen one off the middle.
    first = max(1, min(middle - SPAN // 2, len(record.steps) - SPAN + 1))
    asked = {
        number: one
        for number, one in enumerate(record.steps[first - 1 : first - 1 + SPAN], start=first)
        if one.asked is not None
    }
    if not asked:
        return message("No action of this run was evaluated by What-If-Not", dark=dark)
    look = tokens(dark)
    figure = go.Figure()
    for intervention in TERMS:
        figure.add_trace(_terms(asked, intervention, look))
    for verdict in VERDICTS:
        figure.add_trace(_wins(asked, verdict, look))
    figure.add_trace(_asked_again(asked, look))
    themed(figure, dark=dark, height=366, margin=(8, 16, 64, 40))
    figure.update_layout(hovermode="closest")
    silent = any(one.asked is not None and one.asked.verdict == "unscored" for one in asked.values())
    _legend(figure, _signs(look, silent=silent), look)
    figure.add_hline(y=EVEN, line={"color": look.line, "width": 1, "dash": "dash"}, layer="below")
    if step is not None:
        figure.add_vline(x=step, line={"color": look.text, "width": 1.5}, layer="below")
    last = max(asked)
    cut = f" · {first:,} to {last:,} of {len(record.steps):,}" if len(record.steps) > SPAN else ""
    figure.update_xaxes(title_text=f"step{cut}", showgrid=False, range=[first - 1.5, last + 1.5])
    figure.update_yaxes(range=[-0.04, 1.04], title_text="WIN", tickvals=[0, 0.25, 0.5, 0.75, 1])
    figure.update_layout(meta={"description": f"WIN of {len(asked)} steps", "least_width": 640})
    return figure


def ablation_figure(found: Ablation, *, dark: bool = False) -> go.Figure:
    """The arms of an ablation with their intervals, and what the full arm is ahead by in the same worlds.

    The published figures are separate marks next to them: they are not comparable in level. With a task, a
    run ends when it is reached, so the arms are compared by success.
    """
    look = tokens(dark)
    scores = {arm.name: (arm.score, arm.score_low, arm.score_high) for arm in found.arms}
    ahead: dict[str, tuple[float, Score, Score]]
    if found.setup.task:
        ahead = {d.without: (d.success, d.success_low, d.success_high) for d in found.differences}
        # Scores were published, and no success rates.
        less, unit = {}, "success rate"
    else:
        ahead = {d.without: (d.score, d.score_low, d.score_high) for d in found.differences}
        less, unit = {name: PUBLISHED[FULL][0] - PUBLISHED[name][0] for name in ahead}, "score"
    figure = go.Figure()
    figure.add_trace(_ours(scores, look, "here, with its 95% interval over worlds", ""))
    figure.add_trace(_theirs({name: PUBLISHED[name] for name in scores}, look, ""))
    figure.add_trace(_ours(ahead, look, "", "2"))
    figure.add_trace(_theirs({name: (value, None) for name, value in less.items()}, look, "2"))
    themed(figure, dark=dark, height=356, margin=(8, 24, 32, 112))
    words = f"{_coloured('●', look.good)} here, with its 95% interval over {len(found.seeds)} worlds"
    _legend(figure, f"{words}{GAP}◇ published, not comparable in level", look)
    figure.update_layout(
        xaxis={"domain": [0, 0.46], "title": {"text": "Crafter score, percent"}, "rangemode": "tozero"},
        xaxis2={
            "domain": [0.6, 1],
            "anchor": "y2",
            "title": {"text": f"{unit}: full less this arm, same worlds"},
        },
        # Reversed: plotly counts categories from below.
        yaxis={"categoryorder": "array", "categoryarray": list(scores)[::-1], "showgrid": False},
        yaxis2={
            "categoryorder": "array", "categoryarray": list(ahead)[::-1], "showgrid": False, "anchor": "x2",
        },
        meta={"description": "Arms of the ablation", "least_width": 700},
    )  # fmt: skip
    figure.update_yaxes(tickfont={"color": look.text, "size": 12})
    figure.add_vline(x=0, line={"color": look.line, "width": 1, "dash": "dash"}, xref="x2", yref="y2")
    place = {"yshift": -48, "xanchor": "left", "yanchor": "top", "align": "left"}
    caption(figure, NOT_COMPARABLE, 0, 0, look, size=11, **place)
    return figure


def _terms(asked: Mapping[int, PlannedStep], intervention: str, look: Tokens) -> go.Scatter:
    found = [
        (number, term)
        for number, step in asked.items()
        if step.asked is not None
        for term in step.asked.terms
        if term.intervention == intervention
    ]
    return point_trace(
        x=[number for number, _ in found],
        y=[term.value for _, term in found],
        name=f"against {intervention}",
        marker={"symbol": TERMS[intervention], "size": 6, "color": look.line, "line": {"width": 1}},
        opacity=0.55,
    )


def _wins(asked: Mapping[int, PlannedStep], verdict: Verdict, look: Tokens) -> go.Scatter:
    """The steps of one class; a step without WIN is drawn where a tie is, by another mark."""
    colour = {"better": look.good, "worse": look.bad}.get(verdict, look.muted)
    sign, symbol = VERDICTS[verdict]
    found = {number: s for number, s in asked.items() if s.asked is not None and s.asked.verdict == verdict}
    heights = [EVEN if isinstance(s.asked.win, Unscored) else s.asked.win for s in found.values() if s.asked]
    return point_trace(
        x=list(found),
        y=heights,
        name={"tie": "tie: cannot tell", "unscored": "no WIN"}.get(verdict, f"{verdict} than these"),
        marker={"symbol": symbol, "size": 9, "color": colour, "line": {"width": 1.5, "color": colour}},
        customdata=[[str(number)] for number in found],
        hovertext=[step_words(number, step) for number, step in found.items()],
        cliponaxis=False,
        meta=sign,
    )


def _asked_again(asked: Mapping[int, PlannedStep], look: Tokens) -> go.Scatter:
    """A ring around each step at which the policy then did something else."""
    found = {
        number: step.asked.win
        for number, step in asked.items()
        if step.asked is not None
        and step.asked.revise
        and step.action != step.asked.action
        and not step.unanswered_again
    }
    # Without words of its own, so that a pointer meets the mark inside the ring.
    return point_trace(
        x=list(found),
        y=[EVEN if isinstance(win, Unscored) else win for win in found.values()],
        name=f"{AGAIN} revised: something else was done",
        marker={"symbol": "circle-open", "size": 14, "color": look.muted, "line": {"width": 1}},
        cliponaxis=False,
    )


Marks = Mapping[str, tuple[float, Score, Score]]


def _ours(marks: Marks, look: Tokens, name: str, axis: str) -> go.Scatter:
    """Filled marks with intervals; one that is not known has none."""
    return point_trace(
        x=[value for value, _, _ in marks.values()],
        y=list(marks),
        name=name,
        marker={"color": look.good, "size": 11},
        error_x=error_bars(marks.values(), look.line) | {"thickness": 3, "width": 0},
        hovertext=[f"{arm}: {_value_words(*mark)}" for arm, mark in marks.items()],
        xaxis=f"x{axis}",
        yaxis=f"y{axis}",
        cliponaxis=False,
    )


def _theirs(marks: Mapping[str, tuple[float, float | None]], look: Tokens, axis: str) -> go.Scatter:
    # The spread of a difference of two published means is not published.
    sd: Sequence[float] = [spread or 0 for _, spread in marks.values()]
    return point_trace(
        x=[value for value, _ in marks.values()],
        y=list(marks),
        name="published, not comparable in level",
        marker={"symbol": "diamond-open", "color": look.muted, "size": 12, "line": {"width": 2}},
        error_x={"type": "data", "array": sd, "color": look.muted, "thickness": 1, "width": 4},
        hovertext=[f"{arm}, published: {decimal(value)}" for arm, (value, _) in marks.items()],
        xaxis=f"x{axis}",
        yaxis=f"y{axis}",
        cliponaxis=False,
    )


def _value_words(value: float, low: Score, high: Score) -> str:
    if isinstance(low, Unscored) or isinstance(high, Unscored):
        return f"{decimal(value)}, no interval"
    return f"{decimal(value)} ({interval(low, high)})"


def _signs(look: Tokens, *, silent: bool) -> str:
    """What each mark of `win_figure` is: terms in the first line, then actions; short enough for a phone."""
    better, worse, tie, none = (sign for sign, _ in VERDICTS.values())
    terms = [f"{sign} {name}" for sign, name in zip("□×+", TERMS, strict=True)]
    actions = [
        f"{_coloured(better, look.good)} better than these",
        f"{_coloured(worse, look.bad)} worse",
        f"{tie} tie: cannot tell",
    ]
    again = f"◯ {AGAIN} revised: something else was done{f'{GAP}{none} no WIN' if silent else ''}"
    return f"the action against: {GAP.join(terms)}<br>WIN: {GAP.join(actions)}<br>{again}"


def _coloured(sign: str, colour: str) -> str:
    return f'<span style="color:{colour}">{sign}</span>'


def _legend(figure: go.Figure, words: str, look: Tokens) -> None:
    """Words above the figure: plotly's own legend runs into what is drawn where there is little room."""
    place = {"yshift": 6, "xanchor": "left", "yanchor": "bottom", "align": "left"}
    caption(figure, words, 0, 1, look, font={"size": 12, "color": look.text}, **place)
