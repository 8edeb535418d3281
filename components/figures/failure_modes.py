"""Failure modes: by group, against successes, over time, and how many are still unseen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import plotly.graph_objects as go

from untaken.analysis import ModeContrast, ModeTrend, Pivot, PivotCell, Saturation
from untaken.errors import number
from untaken.numbers import counted, interval, percent

from ..shared import text
from ..shared.palette import Tokens, tokens
from .parts import cell, column_names, error_bars, point_trace, row_names, words_at
from .theme import message, themed

MOST_MODES: Final = 24
MOST_GROUPS: Final = 16
ROW: Final = 40
"""Pixels."""
COLUMN: Final = 92
NAME_CHARS: Final = 28
HEAD: Final = 64
LEVELS: Final = 5
"""Shades of a cell."""


def mode_matrix(
    pivot: Pivot, names: Mapping[str, str], *, marked: tuple[str, str] | None = None, dark: bool = False
) -> go.Figure:
    """Modes × groups: count of n in each cell, darker the higher the rate.

    A cell carries the id of its mode and the place of its group in `pivot`, separated by a space.
    """
    if not pivot.modes:
        return message("No failure mode is assigned to a failed run", dark=dark)
    modes, groups, look = pivot.modes[:MOST_MODES], pivot.groups[:MOST_GROUPS], tokens(dark)
    places = {(one.mode, one.group): one for one in pivot.cells}
    shown = [(x, y, places[mode, group]) for y, mode in enumerate(modes) for x, group in enumerate(groups)]
    figure = go.Figure()
    figure.update_layout(
        shapes=[
            cell(x, y, (0.46, 0.42), *_cell_look(one, look, marked=(one.mode, one.group) == marked))
            for x, y, one in shown
        ],
        meta={"least_width": 190 + COLUMN * len(groups)},
        clickmode="event+select",
    )
    figure.add_trace(
        point_trace(
            x=[x for x, _, _ in shown],
            y=[y for _, y, _ in shown],
            mode="markers+text",
            marker={"symbol": "square", "size": 34, "opacity": 0},
            text=[f"{one.count}/{one.n}" for _, _, one in shown],
            textposition="middle center",
            textfont={"size": 13, "color": look.text},
            customdata=[[f"{one.mode} {x}"] for x, _, one in shown],
            # Plotly fades marks that are not selected, and would show these.
            selected={"marker": {"opacity": 0}, "textfont": {"color": look.text}},
            unselected={"marker": {"opacity": 0}, "textfont": {"color": look.text}},
            hovertext=[_cell_words(one, names) for _, _, one in shown],
        )
    )
    heads = [text.folded(group, width=13, lines=2) for group in groups]
    column_names(figure, heads, look=look, tickangle=0)
    row_names(figure, [text.folded(names[mode], width=NAME_CHARS, lines=2) for mode in modes])
    return themed(figure, dark=dark, height=HEAD + ROW * len(modes) + 16, margin=(8, 8, HEAD, 8))


def mode_contrasts(
    contrasts: Sequence[ModeContrast], names: Mapping[str, str], *, dark: bool = False
) -> go.Figure:
    """Share in failed runs − share in successful runs of the same tasks, with 95% intervals."""
    known = [one for one in contrasts if number(one.difference) is not None][:MOST_MODES]
    if not known:
        return message("No task has both a failed and a successful run that were read", dark=dark)
    look = tokens(dark)
    figure = go.Figure(
        point_trace(
            x=[one.difference for one in known],
            y=list(range(len(known))),
            error_x=error_bars([(one.difference, one.low, one.high) for one in known], look.muted),
            marker={"symbol": "diamond", "size": 10, "color": look.text},
            customdata=[one.mode for one in known],
            hovertext=[
                f"{text.figure(names[one.mode])}<br>{one.k1} of {one.n1} failed, {one.k0} of {one.n0} "
                f"successful runs<br>{one.words}"
                for one in known
            ],
        )
    )
    figure.add_vline(x=0, line={"color": look.muted, "width": 1, "dash": "dash"})
    figure.update_xaxes(
        range=[-1.08, 1.08],
        tickvals=[-1, -0.5, 0, 0.5, 1],
        ticktext=["−100", "−50", "0", "+50", "+100"],
        # Side by side they are wider than a phone.
        title="points · ← more in successes<br>more in failures →",
    )
    row_names(figure, [text.folded(names[one.mode], width=NAME_CHARS, lines=2) for one in known])
    return themed(figure, dark=dark, height=88 + 38 * len(known))


def mode_over_time(trend: ModeTrend, mode: str, *, dark: bool = False) -> go.Figure:
    """The rate of one mode by period, with 95% intervals and counts."""
    cells = [cell for cell in trend.cells if cell.mode == mode]
    if not cells:
        return message("No reviewed run has timestamps", dark=dark)
    look = tokens(dark)
    figure = go.Figure(
        point_trace(
            x=[cell.group for cell in cells],
            y=[cell.rate for cell in cells],
            error_y=error_bars([(one.rate, one.low, one.high) for one in cells], look.muted),
            mode="lines+markers+text",
            line={"color": look.good, "width": 2},
            marker={"size": 9, "color": look.good},
            text=[f"  {cell.count}/{cell.n}" for cell in cells],
            textposition="top right",
            textfont={"size": 12, "color": look.muted},
            hovertext=[_cell_words(cell, {}) for cell in cells],
            cliponaxis=False,
        )
    )
    # As words: plotly would take the names of periods for dates.
    figure.update_xaxes(
        type="category", title=f"{trend.unit} in which runs began", range=[-0.5, len(cells) - 0.2]
    )
    figure.update_yaxes(range=[-0.02, 1.12], tickformat=".0%", title="failed runs that were read")
    return themed(figure, dark=dark, height=300)


def saturation_curve(found: Saturation, *, dark: bool = False) -> go.Figure:
    """Modes seen by the number of failed runs read, on average over all orders of reading."""
    if not found.curve:
        return message("No failure mode is assigned to a failed run", dark=dark)
    look, (runs, modes) = tokens(dark), found.curve[-1]
    figure = go.Figure(
        go.Scatter(
            x=[read for read, _ in found.curve],
            y=[seen for _, seen in found.curve],
            mode="lines",
            line={"color": look.good, "width": 3},
            hovertemplate="%{x} runs read: %{y:.1f} modes seen<extra></extra>",
        )
    )
    figure.add_trace(point_trace(x=[runs], y=[modes], marker={"size": 10, "color": look.good}))
    words = f"{counted(round(modes), 'mode')} in {counted(runs, 'run')}"
    words_at(figure, words, runs, modes, look.text, xanchor="right", yshift=16)
    # No ticks at half a run or half a mode.
    figure.update_xaxes(title="failed runs read", rangemode="tozero", dtick=1 if runs < 5 else None)
    figure.update_yaxes(title="modes seen", range=[0, modes * 1.2 + 0.5], dtick=1 if modes < 5 else None)
    return themed(figure, dark=dark, height=280)


def _cell_look(found: PivotCell, look: Tokens, *, marked: bool) -> tuple[str, dict[str, Any]]:
    line = {"color": look.text if marked else look.grid, "width": 3 if marked else 1}
    return (_shade(found, look) if found.count else look.surface), line


def _shade(cell: PivotCell, look: Tokens) -> str:
    """The warm colour, stronger the higher the rate."""
    # With 1: the rarest mode has a shade, too.
    level = min(LEVELS, 1 + int((number(cell.rate) or 0.0) * LEVELS))
    red, green, blue = (int(look.warm[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},{round(0.2 + 0.8 * level / LEVELS, 2)})"


def _cell_words(cell: PivotCell, names: Mapping[str, str]) -> str:
    """What hovering says; names are made harmless."""
    head = [text.figure(names[cell.mode])] if cell.mode in names else []
    rate, low, high = number(cell.rate), number(cell.low), number(cell.high)
    lines = [*head, text.figure(cell.group), f"{cell.count} of {cell.n} failed runs that were read"]
    if rate is not None and low is not None and high is not None:
        lines.append(f"{percent(rate)}, 95% interval {interval(low, high, percent)}")
    return "<br>".join(lines)
