"""Figures of decision points: what the paths not taken would have scored, as far as history can say."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from components import text
from components.figures.theme import message, themed
from components.palette import DELTA_WORDS, Tokens, tokens
from untaken.counterfactual.model import Branch, Decision, DeltaVerdict, RunEvaluation
from untaken.errors import number

MOST_ROWS = 60
SYMBOL: dict[DeltaVerdict, str] = {
    "alternative_may_be_better": "triangle-right",
    "actual_was_better": "triangle-left",
    "equivalent": "circle",
    "unknown": "circle-open",
}


def delta_figure(evaluation: RunEvaluation, *, threshold: float = 0.1, dark: bool = False) -> go.Figure:
    """Each alternative of a run's decision points with its delta, and the band in which nothing is claimed.

    Args:
        evaluation: the run's counterfactual evaluation.
        threshold: half the width of the band; deltas inside or on its edge are equivalent.
        dark: the theme.

    Alternatives without history are shown, in their own column, as unknown: never as 0.
    """
    rows = [(decision, branch) for decision in evaluation.decisions for branch in decision.branches]
    if not rows:
        return message(_nothing(evaluation), dark=dark)
    look = tokens(dark)
    shown = rows[:MOST_ROWS]
    known = [abs(d) for _, b in shown if (d := number(b.delta)) is not None]
    reach = max([*known, threshold * 2]) * 1.18
    unknown_at = -reach * 1.12
    figure = go.Figure()
    figure.add_vrect(x0=-threshold, x1=threshold, fillcolor=look.band, line_width=0, layer="below")
    _add_sticks(figure, shown, look)
    _add_marks(figure, shown, unknown_at, look)
    themed(figure, dark=dark, height=110 + 26 * len(shown), margin=(8, 16, 40, 8))
    _add_words(figure, threshold, reach, unknown_at, look)
    figure.update_xaxes(
        range=[unknown_at * 1.14, reach],
        title_text="delta: alternative's history − this run",
        tickformat="+.1f",
    )
    figure.update_yaxes(
        tickvals=list(range(len(shown))),
        ticktext=_row_words(shown),
        range=[len(shown) - 0.4, -0.6],
        showgrid=False,
        tickfont={"color": look.text, "size": 12},
    )
    if len(rows) > len(shown):
        figure.update_xaxes(
            title_text=f"delta (first {len(shown)} of {len(rows)} alternatives; the table has all)"
        )
    return figure


def _nothing(evaluation: RunEvaluation) -> str:
    if evaluation.status != "evaluated":
        return text.figure(f"Not evaluated: {evaluation.reason}", 120)
    return "No decision point of this run had an alternative"


def _row_words(rows: Sequence[tuple[Decision, Branch]]) -> list[str]:
    return [
        f"{text.figure(branch.alternative, 28)}<br><span style='font-size:10px'>"
        f"event {decision.decision_point}: instead of {text.figure(decision.selected, 22)}</span>"
        for decision, branch in rows
    ]


def _add_sticks(figure: go.Figure, rows: Sequence[tuple[Decision, Branch]], look: Tokens) -> None:
    xs: list[float | None] = []
    ys: list[float | None] = []
    for place, (_, branch) in enumerate(rows):
        delta = number(branch.delta)
        if delta is not None:
            xs += [0.0, delta, None]
            ys += [place, place, None]
    figure.add_trace(
        go.Scatter(x=xs, y=ys, mode="lines", line={"color": look.line, "width": 1.5}, hoverinfo="skip")
    )


def _add_marks(
    figure: go.Figure, rows: Sequence[tuple[Decision, Branch]], unknown_at: float, look: Tokens
) -> None:
    colour: dict[DeltaVerdict, str] = {
        "alternative_may_be_better": look.bad,
        "actual_was_better": look.good,
        "equivalent": look.muted,
        "unknown": look.muted,
    }
    deltas = [number(branch.delta) for _, branch in rows]
    figure.add_trace(
        go.Scatter(
            x=[unknown_at if d is None else d for d in deltas],
            y=list(range(len(rows))),
            mode="markers+text",
            marker={
                "symbol": [SYMBOL[b.verdict] for _, b in rows],
                "color": [colour[b.verdict] for _, b in rows],
                "size": 11,
                "line": {"width": 1.5, "color": [colour[b.verdict] for _, b in rows]},
            },
            text=["?" if d is None else f"{d:+.2f}" for d in deltas],
            textposition=["middle right" if d is None or d >= 0 else "middle left" for d in deltas],
            textfont={"size": 12, "color": look.text},
            hovertext=[_hover(decision, branch) for decision, branch in rows],
            hoverinfo="text",
            cliponaxis=False,
        )
    )


def _hover(decision: Decision, branch: Branch) -> str:
    lines = [
        f"{text.figure(branch.alternative)} instead of {text.figure(decision.selected)}",
        f"{DELTA_WORDS[branch.verdict]}",
        f"{branch.n} earlier runs took it here" if branch.known else "no earlier run took it here",
        text.figure(branch.support_reason, 120),
    ]
    return "<br>".join(line for line in lines if line)


def _add_words(figure: go.Figure, threshold: float, reach: float, unknown_at: float, look: Tokens) -> None:
    columns = [
        (0.0, f"equivalent (±{threshold:g})", look.muted, "center"),
        (reach, "alternative may be better ▸", look.bad, "right"),
        (unknown_at, "unknown", look.muted, "center"),
    ]
    for x, words, colour, anchor in columns:
        figure.add_annotation(
            text=words,
            x=x,
            y=1,
            yref="paper",
            xanchor=anchor,
            yanchor="bottom",
            yshift=4,
            showarrow=False,
            font={"size": 12, "color": colour},
        )


def delta_distribution(
    evaluations: Sequence[RunEvaluation], *, threshold: float = 0.1, dark: bool = False
) -> go.Figure:
    """How the deltas of many runs are spread, the band in which nothing is claimed, and the unknown count.

    Args:
        evaluations: of the runs shown.
        threshold: half the width of the band.
        dark: the theme.
    """
    branches = [b for e in evaluations for d in e.decisions for b in d.branches]
    deltas = [d for b in branches if (d := number(b.delta)) is not None]
    if not deltas:
        return message(f"No alternative has a history to compare with ({len(branches)} unknown)", dark=dark)
    look = tokens(dark)
    better = sum(b.verdict == "alternative_may_be_better" for b in branches)
    worse = sum(b.verdict == "actual_was_better" for b in branches)
    same = len(deltas) - better - worse
    reach = max(*map(abs, deltas), 2 * threshold) + 0.05
    figure = go.Figure()
    figure.add_vrect(x0=-threshold, x1=threshold, fillcolor=look.band, line_width=0, layer="below")
    for low, high, colour in (
        (-reach, -threshold, look.good),
        (-threshold, threshold, look.muted),
        (threshold, reach, look.bad),
    ):
        figure.add_trace(
            go.Histogram(
                x=[d for d in deltas if low < d <= high or d == low == -threshold],
                xbins={"start": -2.0, "end": 2.0, "size": threshold / 2},
                marker={"color": colour, "line": {"width": 1, "color": look.background}},
                hovertemplate="%{x}: %{y} alternatives<extra></extra>",
            )
        )
    figure.update_layout(barmode="overlay", bargap=0)
    themed(figure, dark=dark, height=300, margin=(8, 16, 64, 8))
    for x, words, colour, anchor in (
        (-reach, f"◂ actual was better: {worse}", look.good, "left"),
        (0.0, f"equivalent: {same}", look.muted, "center"),
        (reach, f"alternative may be better: {better} ▸", look.bad, "right"),
    ):
        figure.add_annotation(
            text=words,
            x=x,
            y=1,
            yref="paper",
            xanchor=anchor,
            yanchor="bottom",
            yshift=22 if anchor == "center" else 4,
            showarrow=False,
            font={"size": 13, "color": colour},
        )
    unknown = len(branches) - len(deltas)
    figure.update_xaxes(
        range=[-reach, reach],
        title_text=f"delta ({len(deltas)} known; {unknown} unknown not drawn)",
        tickformat="+.1f",
    )
    figure.update_yaxes(title_text="alternatives", nticks=5)
    return figure
