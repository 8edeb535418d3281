"""Figures of choices over many runs: the history of the alternative, and how certain it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from untaken.counterfactual import THRESHOLD, Choice, ChoiceSide, context_words
from untaken.errors import number
from untaken.numbers import interval, signed

from ..shared import text
from ..shared.choice_words import SIDES
from ..shared.palette import Tokens, tokens
from .parts import intervals, mark, point_trace, side_words
from .theme import message, themed

MOST: Final = 20
ROW: Final = 58
"""Pixels: two lines of words, and the marks below them, so that a small screen has room for both."""
ABOVE: Final = 0.68
"""Share of a row that is above its marks."""
LEAST_WIDTH: Final = 480
NOTHING: Final = "No choice to show: no evaluated run left an alternative here"


def choice_figure(
    choices: Sequence[Choice], *, most: int = MOST, marked: str | None = None, dark: bool = False
) -> go.Figure:
    """The advantage of each alternative over the skill that was chosen, with its 95% interval.

    A choice without an advantage is drawn as unknown, in a column of its own: never at 0. Each mark carries
    the choice's digest.
    """
    rows, look = list(choices[:most]), tokens(dark)
    if not rows:
        return message(NOTHING, dark=dark)
    spans = [(number(c.low), number(c.advantage), number(c.high)) for c in rows]
    known = [abs(x) for span in spans for x in span if x is not None]
    reach, unknown_at = _reach(known, [middle is None for _, middle, _ in spans])
    figure = _laid_out(rows, marked, look)
    for side in SIDES:
        bars = [(y, *spans[y][::2]) for y, choice in enumerate(rows) if choice.side == side]
        line = {"color": _colour(side, look), "width": SIDES[side].width, "dash": SIDES[side].dash}
        figure.add_trace(intervals(bars, line))
    at = [middle for _, middle, _ in spans]
    figure.add_trace(_marks(rows, at, unknown_at, [_advantage_hover(c) for c in rows], look))
    _dress(figure, (reach, unknown_at), rows, dark=dark, title="advantage, with 95% interval")
    _write(figure, rows, at, reach, look)
    return figure


def choice_deltas(
    choices: Sequence[Choice],
    paths: pd.DataFrame,
    *,
    most: int = MOST,
    marked: str | None = None,
    dark: bool = False,
) -> go.Figure:
    """The mean delta of each choice, and how its deltas are spread over the runs.

    Args:
        choices: those to draw; the largest sum of deltas comes first.
        paths: one row per path not taken, with the columns ``choice`` (a choice's digest) and ``delta``.
        most: rows to draw at the most.
        marked: digest of the choice to highlight.
        dark: the theme.
    """
    look = tokens(dark)
    deltas = {
        str(name): some.dropna().to_numpy(dtype=float)
        for name, some in paths.groupby("choice", sort=False)["delta"]
    }
    rows = sorted(choices, key=lambda c: _sum(deltas.get(c.digest)))[:most]
    if not rows:
        return message(NOTHING, dark=dark)
    shown = [deltas.get(c.digest, np.empty(0)) for c in rows]
    means = [float(some.mean()) if len(some) else None for some in shown]
    extremes = [abs(float(x)) for some in shown if len(some) for x in (some.min(), some.max())]
    reach, unknown_at = _reach(extremes, [mean is None for mean in means])
    figure = _laid_out(rows, marked, look)
    figure.add_vrect(x0=-THRESHOLD, x1=THRESHOLD, fillcolor=look.band, line_width=0, layer="below")
    words = [_delta_hover(choice, some) for choice, some in zip(rows, shown, strict=True)]
    for share, width in ((0.0, 1.5), (0.25, 5.0)):  # the whole range thin, the middle half thick
        quantiles = [(y, np.quantile(some, [share, 1 - share])) for y, some in enumerate(shown) if len(some)]
        bars = [(y, *ends.tolist()) for y, ends in quantiles]
        figure.add_trace(intervals(bars, {"color": look.line, "width": width}))
    figure.add_trace(_marks(rows, means, unknown_at, words, look))
    title = "delta: mean, middle half and range over the runs"
    _dress(figure, (reach, unknown_at), rows, dark=dark, title=title)
    _write(figure, rows, means, reach, look)
    return figure


def _sum(deltas: np.ndarray | None) -> float:
    """Ascending; choices without a delta come last."""
    return float("inf") if deltas is None or not len(deltas) else -float(deltas.sum())


def _reach(known: Sequence[float], unknown: Sequence[bool]) -> tuple[float, float | None]:
    """Half the width of the axis, and the position of unknown values, if any."""
    reach = max([*known, 0.2]) * 1.12  # at least 0.2: the smallest differences do not fill the axis
    return reach, (-reach * 1.16 if any(unknown) else None)  # left of every value: unknown is none of them


def _laid_out(rows: Sequence[Choice], marked: str | None, look: Tokens) -> go.Figure:
    figure = go.Figure()
    figure.add_vline(x=0, line={"color": look.line, "width": 1}, layer="below")
    for y, choice in enumerate(rows):
        if choice.digest == marked:
            ends = {"y0": y - ABOVE, "y1": y + 1 - ABOVE}
            figure.add_hrect(**ends, fillcolor=look.band, line_width=0, layer="below")
    return figure


def _marks(
    rows: Sequence[Choice],
    at: Sequence[float | None],
    unknown_at: float | None,
    words: Sequence[str],
    look: Tokens,
) -> go.Scatter:
    styles = [SIDES[choice.side] for choice in rows]
    colours = [_colour(choice.side, look) for choice in rows]
    return point_trace(
        x=[unknown_at if x is None else x for x in at],
        y=list(range(len(rows))),
        marker=mark([style.symbol for style in styles], 13, colours, colours),
        # Plotly would fade every mark but the one that was clicked.
        unselected={"marker": {"opacity": 1}},
        customdata=[[choice.digest] for choice in rows],
        hovertext=list(words),
        cliponaxis=False,
    )


def _colour(side: ChoiceSide, look: Tokens) -> str:
    return {"ahead": look.bad, "behind": look.good}.get(side, look.muted)


def _advantage_hover(choice: Choice) -> str:
    advantage, low, high = number(choice.advantage), number(choice.low), number(choice.high)
    lines = [_title(choice)]
    if advantage is not None:
        span = "" if low is None or high is None else f", 95% interval {interval(low, high, signed)}"
        lines.append(f"advantage {signed(advantage)}{span}")
    lines += [
        text.figure(choice.parts.words, 160),
        text.figure(choice.support_reason, 160),
        f"at {len(choice.points):,} decision points",
    ]
    return "<br>".join(lines)


def _delta_hover(choice: Choice, deltas: np.ndarray) -> str:
    lines = [_title(choice)]
    if len(deltas):
        lines.append(
            f"mean delta {signed(float(deltas.mean()))} over {len(deltas):,} points, "
            f"from {signed(float(deltas.min()))} to {signed(float(deltas.max()))}"
        )
    lines += [text.figure(choice.parts.words, 160), text.figure(choice.support_reason, 160)]
    return "<br>".join(lines)


def _title(choice: Choice) -> str:
    return f"{text.figure(choice.alternative)} instead of {text.figure(choice.selected)}"


def _dress(
    figure: go.Figure, ends: tuple[float, float | None], rows: Sequence[Choice], *, dark: bool, title: str
) -> None:
    reach, unknown_at = ends
    themed(figure, dark=dark, height=100 + ROW * len(rows), margin=(8, 8, 30, 8))
    step = next(s for s in (0.1, 0.2, 0.5, 1.0) if reach / s <= 5 or s == 1.0)
    ticks = [i * step for i in range(-20, 21) if abs(i * step) < reach]
    unknown = [] if unknown_at is None else [(unknown_at, "unknown")]
    marks = [*unknown, *((x, signed(x, 1) if x else "0") for x in ticks)]
    figure.update_xaxes(
        range=[-reach if unknown_at is None else unknown_at * 1.1, reach],
        title_text=title,
        tickvals=[x for x, _ in marks],
        ticktext=[words for _, words in marks],
        showgrid=False,
    )
    figure.update_yaxes(  # the lines stand between the rows
        tickvals=[y + 1 - ABOVE for y in range(len(rows))],
        showticklabels=False,
        range=[len(rows) - ABOVE, -ABOVE],
    )


def _write(
    figure: go.Figure, rows: Sequence[Choice], values: Sequence[float | None], reach: float, look: Tokens
) -> None:
    """The words of every row, above its marks."""
    words = [
        _above(y, some, right, look)
        for y, (choice, value) in enumerate(zip(rows, values, strict=True))
        for some, right in ((_names(choice, look), False), (_support(choice, value, look), True))
    ]
    # All at once: one by one takes longer than the rest of the figure.
    figure.update_layout(annotations=words, meta={"least_width": LEAST_WIDTH})
    side_words(figure, [(-reach, "◂ selected scores higher"), (reach, "alternative scores higher ▸")], look)


def _above(y: int, words: str, right: bool, look: Tokens) -> dict[str, Any]:
    return {
        "text": words,
        "x": 1 if right else 0,
        "xref": "paper",
        "xanchor": "right" if right else "left",
        "y": y,
        "yanchor": "bottom",
        "yshift": 6,
        "align": "right" if right else "left",
        "showarrow": False,
        "font": {"size": 12, "color": look.text},
    }


def _names(choice: Choice, look: Tokens) -> str:
    skills = f"<b>{text.figure(choice.selected, 24)}</b> → {text.figure(choice.alternative, 24)}"
    context = text.figure(context_words(choice.context, choice.context_hash), 52)
    return f'{skills}<br><span style="color:{look.muted}">{context}</span>'


def _support(choice: Choice, value: float | None, look: Tokens) -> str:
    style, colour = SIDES[choice.side], _colour(choice.side, look)
    shown = "unknown" if value is None else f"<b>{signed(value)}</b>"
    called = style.words if choice.support == "none" else choice.called
    n = f"n {choice.n_selected:,} → {choice.n_alternative:,}"
    return (
        f'<span style="color:{colour}">{style.icon} {called}</span><br>'
        f'{shown} <span style="color:{look.muted}">· {n}</span>'
    )
