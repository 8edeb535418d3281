"""Figures of one run: how far it came, and what it did when."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import plotly.graph_objects as go

from untaken.ledger import Run, event_type
from untaken.scoring import NodeScore, RunScore

from ..shared import text
from ..shared.palette import Tokens, tokens
from .parts import line_trace, text_trace, words_at
from .theme import message, themed


def progress_curve(score: RunScore, *, dark: bool = False) -> go.Figure:
    """Completed sub-goals after each step, against the number that are required."""
    if not score.progress:
        return message("No step of this run is known, so there is no curve", dark=dark)
    look = tokens(dark)
    steps = [0, *range(1, len(score.progress) + 1)]
    counts = [0, *(completed for _, completed in score.progress)]
    places = ["start", *(f"event {seq}" for seq, _ in score.progress)]
    top = max(score.required, *counts, 1)  # a plan without sub-goals has an axis, too
    figure = go.Figure(
        go.Scatter(
            x=steps,
            y=counts,
            mode="lines",
            line={"shape": "hv", "color": look.good, "width": 2.5},
            fill="tozeroy",
            fillcolor=f"{look.good}1F" if dark else "#BFE0F766",
            customdata=places,
            hovertemplate="step %{x} (%{customdata}): %{y} completed<extra></extra>",
        )
    )
    themed(figure, dark=dark, height=250, margin=(8, 24, 28, 8))
    figure.add_hline(y=score.required, line={"color": look.line, "width": 1, "dash": "dash"})
    words, place = f"{score.required} required", {"xref": "paper", "xanchor": "left", "yanchor": "bottom"}
    words_at(figure, words, 0, score.required, look.muted, **place)
    # At the top there is no room above the line.
    side = {"yanchor": "bottom", "yshift": 3} if counts[-1] < top else {"yanchor": "top", "yshift": -3}
    words = f"{counts[-1]} completed"
    words_at(figure, words, steps[-1], counts[-1], look.good, size=13, xanchor="right", **side)
    figure.update_xaxes(title_text="step", showgrid=False, rangemode="tozero", dtick=_every(steps[-1]))
    figure.update_yaxes(title_text="sub-goals completed", range=[0, top * 1.15], dtick=_every(top, 5))
    return figure


MOST_LINES: Final = 20
LANES: Final = {
    "PLAN": "plan",
    "SKILL_SELECTION": "decision",
    "TOOL_CALL": "action",
    "OBSERVATION": "observation",
    "MESSAGE": "message",
    "STATE": "state",
    "VERDICT": "verdict",
}
SYMBOLS: Final = {"plan": "square", "decision": "diamond", "action": "circle", "observation": "triangle-down"}


def timeline_figure(
    run: Run, score: RunScore | None = None, *, dark: bool = False, most: int | None = None
) -> go.Figure:
    """Timeline of a run: one lane per kind of event, in the order of the ledger; failures are highlighted.

    With `most`, of its first so many events.
    """
    look = tokens(dark)
    events = [(e.seq, LANES[event_type(e)], e) for e in run.events[:most] if event_type(e) in LANES]
    if not events:
        return message("This ledger records no events between start and finish", dark=dark)
    lanes = [lane for lane in LANES.values() if any(at == lane for _, at, _ in events)]
    figure = go.Figure()
    for lane in lanes:
        here = [(seq, event) for seq, at, event in events if at == lane]
        failed = [getattr(event, "ok", None) is False for _, event in here]
        figure.add_trace(
            go.Scatter(
                x=[seq for seq, _ in here],
                y=[lanes.index(lane)] * len(here),
                mode="markers",
                marker={
                    # not by colour alone
                    "symbol": ["x" if bad else SYMBOLS.get(lane, "circle-open") for bad in failed],
                    "color": [
                        look.bad if bad else look.good if lane == "action" else look.muted for bad in failed
                    ],
                    "size": 10,
                },
                customdata=[text.figure(_words(event), 80) for _, event in here],
                hovertemplate="event %{x}: %{customdata}<extra></extra>",
            )
        )
    done = [n for n in score.nodes if n.completed_at is not None] if score else []
    if done:
        lanes.append("completed")
        _add_completions(figure, done, len(lanes) - 1, look)
    themed(figure, dark=dark, height=70 + 34 * len(lanes))
    figure.update_xaxes(title_text="event", showgrid=False, dtick=_every(events[-1][0]))
    figure.update_yaxes(
        tickvals=list(range(len(lanes))), ticktext=lanes, range=[len(lanes) - 0.5, -0.5], showgrid=True
    )
    return figure


def _add_completions(figure: go.Figure, done: Sequence[NodeScore], lane: int, look: Tokens) -> None:
    """A mark a completed sub-goal; where they are few, with a line up through what happened then."""
    if len(done) <= MOST_LINES:
        xs = [x for node in done for x in (node.completed_at, node.completed_at, None)]  # None lifts the pen
        ys = [y for _ in done for y in (-0.5, lane, None)]
        line = {"color": look.good, "width": 1, "dash": "dot"}
        figure.add_trace(line_trace(x=xs, y=ys, line=line))
    figure.add_trace(
        text_trace(
            x=[node.completed_at for node in done],
            y=[lane] * len(done),
            text="✓",
            textfont={"size": 16, "color": look.good},
            hovertext=[f"completed: {text.figure(node.title or node.sub_goal, 60)}" for node in done],
        )
    )


def _every(largest: int, ticks: int = 12) -> int:
    """A whole, round distance between at most so many ticks."""
    least = max(1.0, largest / ticks)
    power = 10 ** math.floor(math.log10(least))
    return int(next(step * power for step in (1, 2, 5, 10) if step * power >= least))


def _words(event: object) -> str:
    for name in ("tool", "selected", "sub_goal", "role"):
        if value := getattr(event, name, None):
            return str(value)
    return ""
