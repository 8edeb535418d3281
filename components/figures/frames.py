"""What a player of Crafter saw, painted from a record's letters: no simulator, no picture files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, Final

import plotly.graph_objects as go
from msgspec import Struct

from untaken.errors import Unscored
from untaken.numbers import decimal
from untaken.simulator import VIEW, PlannedStep, PlanningRecord, Verdict, WhatIfNot, fields_of
from untaken.views import STAR

from ..shared import text
from ..shared.palette import DARK, FONT, Tokens, tokens
from .parts import point_trace, text_trace
from .theme import message, themed

WIDTH, HEIGHT = VIEW
FRAMES: Final = 9
"""Frames of a strip: the chosen step in the middle, as far as there are steps around it."""
FEW: Final = 3
"""Frames of a strip on a small screen."""
DECISION: Final = "◆"
AGAIN: Final = "↺"
VERDICTS: Final[dict[Verdict, tuple[str, str]]] = {
    "better": ("▲", "triangle-up"),
    "worse": ("▼", "triangle-down"),
    "tie": ("○", "circle-open"),
    "unscored": ("–", "line-ew-open"),
}
"""Sign and marker of each class of WIN."""
_STEP: Final = WIDTH + 1
_LEAST: Final = 98
"""Width of a picture in a strip."""
_LINE: Final = 14
_ALMOST_NONE: Final = 0.004
"""Opacity of what is there to be clicked only."""


class _Field(Struct, frozen=True, kw_only=True):
    """How a ground or a creature is painted, in the light and in the dark theme."""

    fill: str
    night: str
    sign: str = ""

    def shaded(self, look: Tokens) -> str:
        """The fill in one of the themes."""
        return self.night if look is DARK else self.fill


_FIELDS: Final = {
    "edge": _Field(fill="#6B7280", night="#3A434E"),
    "grass": _Field(fill="#DCEBCF", night="#2C4630"),
    "sand": _Field(fill="#F6E9C3", night="#5E5330", sign="∴"),
    "path": _Field(fill="#EFE7DD", night="#453C33", sign="·"),
    "stone": _Field(fill="#C3C9D0", night="#4A5663", sign="▪"),
    "water": _Field(fill="#A9CFEC", night="#1F5C86", sign="≈"),
    "tree": _Field(fill="#A8C99A", night="#1F5A33", sign="♣"),
    "lava": _Field(fill="#F2A65E", night="#8A4212", sign="!"),
    "coal": _Field(fill="#C3C9D0", night="#4A5663", sign="c"),
    "iron": _Field(fill="#E3D3C4", night="#6B5443", sign="i"),
    "diamond": _Field(fill="#FFFFFF", night="#10161D", sign="◇"),
    "table": _Field(fill="#D8BE9C", night="#6B4F2C", sign="T"),
    "furnace": _Field(fill="#D8BE9C", night="#6B4F2C", sign="F"),
    "player": _Field(fill="#0B5C94", night="#0B5C94"),
    "cow": _Field(fill="#FFFFFF", night="#10161D", sign="C"),
    "zombie": _Field(fill="#FFD199", night="#7A4A12", sign="Z"),
    "skeleton": _Field(fill="#FFD199", night="#7A4A12", sign="S"),
    "arrow": _Field(fill="#FFD199", night="#7A4A12", sign="x"),
    "plant": _Field(fill="#DCEBCF", night="#2C4630", sign="Y"),
}
_NUMBER: Final = {name: number for number, name in enumerate(_FIELDS)}
_FACING: Final = {(0, -1): "triangle-up", (0, 1): "triangle-down", (-1, 0): "triangle-left"}
_NEEDS: Final = ("health", "food", "drink", "energy")
_MOST: Final = 9
LOW: Final = 3
"""A need at or below this is marked."""


def frame_strip(record: PlanningRecord, step: int, *, frames: int = FRAMES, dark: bool = False) -> go.Figure:
    """What was seen around a step, a small picture a step, each with the action and its WIN.

    Args:
        record: a record of planning.
        step: the chosen step, from 1; it is framed. A click on another one carries its number.
        frames: pictures at the most.
        dark: the theme.
    """
    if not record.steps:
        return message("This record has no steps", dark=dark)
    # Near either end the strip stays full, with the chosen step off the middle.
    first = max(1, min(step - frames // 2, len(record.steps) - frames + 1))
    # A record may be shorter than the strip.
    shown = {number: record.steps[number - 1] for number in range(first, first + frames)[: len(record.steps)]}
    look = tokens(dark)
    figure = go.Figure(_ground([fields_of(one.view) for one in shown.values()], look, gap=0))
    figure.add_trace(_signs([fields_of(one.view) for one in shown.values()], look, size=9))
    for place, one in enumerate(shown.values()):
        figure.add_trace(_player(one, place * _STEP, size=8))
    figure.add_trace(_captions(shown, step))
    figure.add_trace(_buttons(shown))
    legend = _legend(shown.values(), look, line=max(FEW, frames))
    below = _LINE * (legend["text"].count("<br>") + 1) + 12
    themed(figure, dark=dark, height=140 + below, margin=(4, 4, 4, below))
    place = (step - first) * _STEP
    figure.add_shape(
        type="rect", x0=place - 0.75, x1=place + WIDTH - 0.25, y0=-0.75, y1=HEIGHT - 0.25,
        line={"color": look.text, "width": 3},
    )  # fmt: skip
    # From high to low: rows of a view count from the top.
    _frame(figure, (-1, frames * _STEP - 1), (HEIGHT + 2.8, -2.3))
    figure.add_annotation(**legend)
    words = f"Steps {first} to {first + len(shown) - 1} of {len(record.steps)}; step {step} is framed"
    figure.update_layout(meta={"description": words, "least_width": _LEAST * frames})
    return figure


def frame_figure(step: PlannedStep, *, dark: bool = False) -> go.Figure:
    """What was seen at one step, with needs and items as bars."""
    rows = fields_of(step.view)
    look = tokens(dark)
    figure = go.Figure(_ground([rows], look, gap=1))
    figure.add_trace(_signs([rows], look, size=16))
    figure.add_trace(_player(step, 0, size=16))
    items = sorted(name for name in step.items if name not in _NEEDS)
    figure.add_trace(_bars(step, [*_NEEDS, *items], look))
    themed(figure, dark=dark, height=340, margin=(4, 28, 4, 64))
    _frame(figure, (-0.6, WIDTH - 0.4), (HEIGHT - 0.4, -0.6))
    figure.update_layout(
        xaxis={"domain": [0, 0.56]},
        xaxis2={"domain": [0.84, 1], "anchor": "y2", "range": [0, _MOST], "visible": False},
        yaxis2={
            "anchor": "x2", "autorange": "reversed", "showgrid": False, "ticks": "", "fixedrange": True,
            "tickfont": {"color": look.text, "size": 12}, "automargin": True,
        },
    )  # fmt: skip
    figure.add_annotation(**_legend([step], look, line=4))
    figure.update_layout(meta={"description": "The view, needs and items", "least_width": 340})
    return figure


def action_words(action: str) -> str:
    """An action, an achievement or an item, as it is said."""
    return text.figure(action.replace("_", " "))


def win_words(asked: WhatIfNot | None) -> str:
    """Sign and number of a WIN; nothing where there was no evaluation."""
    if asked is None:
        return ""
    sign = VERDICTS[asked.verdict][0]
    return f"{sign} unscored" if isinstance(asked.win, Unscored) else f"{sign} {decimal(asked.win)}"


def step_words(number: int, step: PlannedStep) -> str:
    """A step in the lines of the tooltip."""
    asked = step.asked
    lines = [f"step {number}: {action_words(step.action)}"]
    if asked is not None:
        lines.append(f"WIN {win_words(asked)} · {asked.verdict}")
        if asked.revise:
            lines.append(f"{AGAIN} asked again; the first answer was {action_words(asked.action)}")
    lines += [f"{DECISION} starts {action_words(step.begun)}"] if step.begun else []
    lines += [f"aims at {action_words(step.aim)}"] if step.aim else []
    lines += [f"{STAR} {action_words(name)}" for name in step.unlocked]
    return "<br>".join(lines)


def _ground(views: Sequence[tuple[tuple[str, ...], ...]], look: Tokens, *, gap: float) -> go.Heatmap:
    """All pictures side by side as one grid, with a free column between two."""
    numbers = [
        [n for view in views for n in (*(_NUMBER[name] for name in view[y]), None)] for y in range(HEIGHT)
    ]
    last = len(_FIELDS)
    # Both ends of a name have its colour: a step from one to the next, no gradient.
    edges = [((n + side) / last, f.shaded(look)) for n, f in enumerate(_FIELDS.values()) for side in (0, 1)]
    return go.Heatmap(
        z=numbers,
        zmin=-0.5,
        zmax=last - 0.5,
        colorscale=edges,
        showscale=False,
        xgap=gap,
        ygap=gap,
        hoverinfo="skip",
    )


def _signs(views: Sequence[tuple[tuple[str, ...], ...]], look: Tokens, *, size: float) -> go.Scatter:
    found = [
        (place * _STEP + x, y, _FIELDS[name].sign)
        for place, view in enumerate(views)
        for y, row in enumerate(view)
        for x, name in enumerate(row)
        if _FIELDS[name].sign
    ]
    return text_trace(
        x=[x for x, _, _ in found],
        y=[y for _, y, _ in found],
        text=[sign for _, _, sign in found],
        textfont={"size": size, "color": look.text, "family": FONT},
        cliponaxis=False,
    )


def _player(step: PlannedStep, start: int, *, size: float) -> go.Scatter:
    """The player in the middle, by the direction of a triangle; asleep a ring."""
    symbol = "circle-open" if step.sleeping else _FACING.get(step.facing, "triangle-right")
    return point_trace(
        x=[start + WIDTH // 2],
        y=[HEIGHT // 2],
        marker={"symbol": symbol, "size": size, "color": "#FFFFFF", "line": {"color": "#FFFFFF", "width": 1}},
    )


def _captions(shown: dict[int, PlannedStep], chosen: int) -> go.Scatter:
    lines: list[tuple[float, float, str]] = []
    for place, (number, step) in enumerate(shown.items()):
        middle = place * _STEP + WIDTH / 2 - 0.5
        head = f"<b>{number}</b>" if number == chosen else f"{number}"
        marks = DECISION * bool(step.begun) + STAR * bool(step.unlocked)
        again = f" {AGAIN}" if step.asked and step.asked.revise else ""
        lines.append((middle, -1.4, f"{head} {marks}".strip()))
        lines.append((middle, HEIGHT + 0.6, action_words(step.action)))
        lines.append((middle, HEIGHT + 1.9, win_words(step.asked) + again))
    return text_trace(
        x=[x for x, _, _ in lines],
        y=[y for _, y, _ in lines],
        text=[words for _, _, words in lines],
        textfont={"size": 11},
        cliponaxis=False,
    )


def _buttons(shown: dict[int, PlannedStep]) -> go.Scatter:
    """What is there to be pointed at and clicked: a square over each picture."""
    return point_trace(
        x=[place * _STEP + WIDTH / 2 - 0.5 for place in range(len(shown))],
        y=[HEIGHT / 2 - 0.5] * len(shown),
        marker={"symbol": "square", "size": 76, "opacity": _ALMOST_NONE},
        customdata=[[str(number)] for number in shown],
        hovertext=[step_words(number, step) for number, step in shown.items()],
    )


def _bars(step: PlannedStep, names: list[str], look: Tokens) -> go.Bar:
    amounts = [step.items.get(name, 0) for name in names]
    low = [name in _NEEDS and amount <= LOW for name, amount in zip(names, amounts, strict=True)]
    return go.Bar(
        # A record may say more than nine, which is all that the game allows.
        x=[min(amount, _MOST) for amount in amounts],
        y=[action_words(name) for name in names],
        orientation="h",
        width=0.7,
        marker={
            "color": [
                look.bad if few else look.good if name in _NEEDS else look.fill
                for name, few in zip(names, low, strict=True)
            ],
            "line": {"color": look.line, "width": 1},
        },
        text=[f"{amount} low" if few else f"{amount}" for amount, few in zip(amounts, low, strict=True)],
        textposition="outside",
        textfont={"color": look.text, "size": 12},
        cliponaxis=False,
        hoverinfo="skip",
        xaxis="x2",
        yaxis="y2",
    )


def _legend(steps: Iterable[PlannedStep], look: Tokens, *, line: int) -> dict[str, Any]:
    """What each sign means, of those that are shown; so many words in a line."""
    there = set(chain.from_iterable(chain.from_iterable(fields_of(one.view) for one in steps)))
    words = ["▶ player and where it faces"]
    words += [
        f'<span style="color:{field.shaded(look)}">■</span> {f"{field.sign} " if field.sign else ""}{name}'
        for name, field in _FIELDS.items()
        if name in there and name not in ("player", "edge")
    ]
    lines = (words[start : start + line] for start in range(0, len(words), line))
    return {
        "text": "<br>".join(map("&nbsp;&nbsp;&nbsp;".join, lines)),
        "x": 0.5, "y": 0, "xref": "paper", "yref": "paper", "xanchor": "center", "yanchor": "top",
        "showarrow": False, "font": {"size": 11, "color": look.muted}, "yshift": -4,
    }  # fmt: skip


def _frame(figure: go.Figure, across: tuple[float, float], down: tuple[float, float]) -> None:
    figure.update_xaxes(visible=False, range=across, constrain="domain", automargin=False)
    figure.update_yaxes(visible=False, range=down, scaleanchor="x", constrain="domain", automargin=False)
