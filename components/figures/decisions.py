"""Figures of decision points: the history of the alternatives, next to the result of the run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from msgspec import Struct

from untaken.counterfactual import THRESHOLD, Alternative, Decision, DeltaVerdict, RunEvaluation, level_words
from untaken.errors import number
from untaken.numbers import interval, signed

from ..shared import text
from ..shared.palette import DELTA_WORDS, Tokens, tokens
from .parts import intervals, mark, point_trace, row_names, side_words, text_trace
from .theme import message, themed

MOST_ROWS = 60
LEAST_WIDTH = 420
NO_ENDS = (None, None)
SYMBOL: dict[DeltaVerdict, str] = {
    "alternative_may_be_better": "triangle-right",
    "actual_was_better": "triangle-left",
    "equivalent": "circle",
    "unknown": "circle-open",
}


def delta_figure(evaluation: RunEvaluation, *, dark: bool = False) -> go.Figure:
    """Each alternative of a run's decision points: delta, 95% interval, n, and the band of no claim.

    Alternatives without history are shown, in their own column, as unknown: never as 0. A mark is hollow
    where the advantage over the selected skill's own history has no support.
    """
    every = _rows(evaluation.decisions)
    if not every:
        why = "No decision point of this run had an alternative"
        if evaluation.status != "evaluated":
            why = text.figure(f"Not evaluated: {evaluation.reason}", 120)
        return message(why, dark=dark)
    look = tokens(dark)
    rows = every[:MOST_ROWS]
    known = [abs(end) for row in rows for end in (row.delta, *row.interval) if end is not None]
    # Twice the band at least: the band of no claim never fills the figure.
    reach = max([*known, THRESHOLD * 2]) * 1.08
    unknown_at = -reach * 1.2  # left of every value: unknown is none of them
    figure = go.Figure()
    figure.add_vrect(x0=-THRESHOLD, x1=THRESHOLD, fillcolor=look.band, line_width=0, layer="below")
    figure.add_vline(x=0, line={"color": look.line, "width": 1})
    bars = [(place, *row.interval) for place, row in enumerate(rows)]
    figure.add_trace(intervals(bars, {"color": look.muted, "width": 2}))
    _add_figures(figure, rows, reach, look)
    _add_marks(figure, rows, unknown_at, look)
    themed(figure, dark=dark, height=96 + 24 * len(rows), margin=(8, 16, 30, 8))
    side_words(figure, [(-reach, "◂ run scores higher"), (reach, "scores higher ▸")], look)
    cut = " (the first ones; the table has all)" if len(every) > MOST_ROWS else ""
    steps = [round(x * 0.2, 1) for x in range(-9, 10) if abs(x * 0.2) < reach]
    figure.update_xaxes(
        range=[unknown_at * 1.14, reach * 1.75],  # with room for the column of numbers on the right
        title_text=f"delta, with 95% interval; hollow: weak support{cut}",
        tickvals=[unknown_at, *steps],
        ticktext=["unknown", *(signed(step, 1) if step else "0" for step in steps)],
        showgrid=False,
    )
    figure.update_layout(meta={"least_width": LEAST_WIDTH})
    row_names(figure, [row.words for row in rows], room=0.6, look=look)
    return figure


class FigureRow(Struct, frozen=True, kw_only=True):
    """One line of the figure: the heading of a decision point (no branch), or alternatives of it."""

    words: str
    decision: Decision
    branches: tuple[Alternative, ...] = ()  # several only where none of them has a history

    @property
    def interval(self) -> tuple[float | None, float | None]:
        """The interval of that delta."""
        if not self.branches:
            return NO_ENDS
        return number(self.branches[0].delta_low), number(self.branches[0].delta_high)

    @property
    def delta(self) -> float | None:
        """The delta of the one alternative with a history; ``None`` for headings and unknown alternatives."""
        return number(self.branches[0].delta) if self.branches else None


def _rows(decisions: Sequence[Decision]) -> list[FigureRow]:
    rows: list[FigureRow] = []
    for decision in decisions:
        if not decision.branches:
            continue
        heading = f"<b>{decision.decision_point}: chose {text.figure(decision.selected, 20)}</b>"
        rows.append(FigureRow(words=heading, decision=decision))
        known = [b for b in decision.branches if number(b.delta) is not None]
        unknown = tuple(b for b in decision.branches if number(b.delta) is None)
        for branch in known:
            rows.append(
                FigureRow(words=text.figure(branch.alternative, 24), decision=decision, branches=(branch,))
            )
        if unknown:
            name = unknown[0].alternative if len(unknown) == 1 else f"{len(unknown)} without history"
            rows.append(FigureRow(words=text.figure(name, 24), decision=decision, branches=unknown))
    return rows


def _add_figures(figure: go.Figure, rows: Sequence[FigureRow], at: float, look: Tokens) -> None:
    """Delta and n of each known alternative, in a column beside the intervals."""
    known = [(place, row.delta, row.branches[0].n) for place, row in enumerate(rows) if row.delta is not None]
    figure.add_trace(
        text_trace(
            x=[at] * len(known),
            y=[place for place, _, _ in known],
            text=[f"<b>{signed(delta)}</b> · n {n:,}" for _, delta, n in known],
            textposition="middle right",
            textfont={"size": 12, "color": look.text},
            cliponaxis=False,
        )
    )


def _add_marks(figure: go.Figure, rows: Sequence[FigureRow], unknown_at: float, look: Tokens) -> None:
    colour: dict[DeltaVerdict, str] = {
        "alternative_may_be_better": look.bad,
        "actual_was_better": look.good,
        "equivalent": look.muted,
        "unknown": look.muted,
    }
    marked = [(place, row) for place, row in enumerate(rows) if row.branches]
    first = [row.branches[0] for _, row in marked]
    colours = [colour[branch.verdict] for branch in first]
    symbols = [SYMBOL[branch.verdict] + "-open" * (branch.support == "weak") for branch in first]
    deltas = [row.delta for _, row in marked]
    figure.add_trace(
        point_trace(
            x=[unknown_at if d is None else d for d in deltas],
            y=[place for place, _ in marked],
            mode="markers+text",
            marker=mark(symbols, 11, colours, colours, 1.5),
            text=["?" if d is None else "" for d in deltas],
            textposition="middle right",
            textfont={"size": 12, "color": look.text},
            hovertext=[_hover(row) for _, row in marked],
            cliponaxis=False,
        )
    )


def _interval_words(row: FigureRow) -> str:
    low, high = row.interval
    return "" if low is None or high is None else f", 95% interval {interval(low, high, signed)}"


def _hover(row: FigureRow) -> str:
    branch = row.branches[0]
    names = ", ".join(text.figure(b.alternative) for b in row.branches[:8])
    lines = [
        f"{names} instead of {text.figure(row.decision.selected)}",
        DELTA_WORDS[branch.verdict] + _interval_words(row),
        text.figure(branch.parts.words, 160) if branch.parts else "",
        f"{branch.n} earlier runs took it here" if branch.known else "no earlier run chose it here",
        level_words(branch.level, branch.levels),
        text.figure(branch.support_reason, 120),
    ]
    return "<br>".join(line for line in lines if line)


def delta_distribution(paths: pd.DataFrame, *, dark: bool = False) -> go.Figure:
    """How the deltas of many runs are spread, the band in which nothing is claimed, and the unknown count.

    Args:
        paths: one row per path not taken, with the columns ``delta`` and ``verdict`` of `decisions_table`.
        dark: the theme.
    """
    deltas = {
        verdict: paths.loc[paths["verdict"] == verdict, "delta"].dropna().to_numpy(dtype=float)
        for verdict in ("actual_was_better", "equivalent", "alternative_may_be_better")
    }
    known = sum(len(some) for some in deltas.values())
    if not known:
        return message(f"No alternative has a history to compare with ({len(paths)} unknown)", dark=dark)
    look = tokens(dark)
    reach = max(*(abs(some).max() for some in deltas.values() if len(some)), 2 * THRESHOLD) + 0.05
    figure = go.Figure()
    figure.add_vrect(x0=-THRESHOLD, x1=THRESHOLD, fillcolor=look.band, line_width=0, layer="below")
    # Half the band, and edges at its multiples: no bar is partly inside of the band.
    width = THRESHOLD / 2
    edges = width * np.arange(np.floor(-reach / width), np.ceil(reach / width) + 1)
    for some, colour in zip(deltas.values(), (look.good, look.muted, look.bad), strict=True):
        counts, _ = np.histogram(some, bins=edges)  # counted here: the browser need not see every path
        figure.add_trace(
            go.Bar(
                x=(edges[:-1] + width / 2)[counts > 0],
                y=counts[counts > 0],
                width=width,
                marker={"color": colour, "line": {"width": 1, "color": look.background}},
                hovertemplate="%{x:+.3f}: %{y} alternatives<extra></extra>",
            )
        )
    figure.update_layout(barmode="stack", bargap=0)
    themed(figure, dark=dark, height=300, margin=(8, 16, 48, 8))
    side_words(
        figure,
        [
            (-reach, f"<b>{len(deltas['actual_was_better'])}</b><br>◂ run scores higher"),
            (0.0, f"<b>{len(deltas['equivalent'])}</b><br>equivalent"),
            (reach, f"<b>{len(deltas['alternative_may_be_better'])}</b><br>scores higher ▸"),
        ],
        look,
    )
    unknown = len(paths) - known
    figure.update_xaxes(
        range=[-reach, reach],
        title_text=f"delta ({known:,} known; {unknown:,} unknown not drawn)",
        tickformat="+.1f",
    )
    figure.update_yaxes(title_text="alternatives", nticks=5)
    return figure
