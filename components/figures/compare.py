"""Runs of a task side by side: what each did about each sub-goal, and where they part."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any, Final

import plotly.graph_objects as go

from untaken.analysis import AlignedRow, Cell, CellStatus, ComparedRun, SideBySide
from untaken.errors import Unscored
from untaken.views import BORDER, CRITICAL_BORDER, STAR, STATUS, StatusLook, StatusName
from untaken.visible import Wrapper

from ..shared import text
from ..shared.palette import Tokens, tokens
from .parts import cell, column_names, handles, row_names, text_trace
from .theme import message, themed

MOST_ROWS: Final = 30
ROW: Final = 42
"""Pixels."""
COLUMN: Final = 60
CELL: Final = 0.88
"""Share of a column that a box takes."""
CELL_CHAR: Final = 8
"""Pixels a character of a cell takes, at most."""
TITLE_CHARS: Final = 46
MANY: Final = 6
"""Titles get less room when there are more runs than this."""
SHORT_CHARS: Final = 30
CHAR: Final = 6.5
"""Pixels a character of a title takes, about."""
HEAD: Final = 98
HEADS_CHARS: Final = 72
"""Characters of all heads beside each other, about."""
PARTS: Final = "≠"
FAILED: Final = "!"
CELLS: Final[dict[CellStatus | StatusName, StatusLook]] = {
    **STATUS,
    "called": StatusLook(word="called", icon="●", fill="#F5F7F9", line="#5B6773"),
    "not_called": StatusLook(word="not called", icon="–", fill="#EEF0F2", line="#6B7280", dash=(7, 5)),
}
_BOLD: Final = len("<b></b>")
OUTCOMES: Final = {True: "✓ success", False: "✗ failure", None: "? unknown"}


def compare_matrix(found: SideBySide, *, marked: str | None = None, dark: bool = False) -> go.Figure:
    """Sub-goals × runs: status and number of actions; divergences from the reference are marked.

    A cell has the colour, icon and border of its status, the number of actions behind it, ``!`` where one of
    them failed, and ``≠`` where its run first differs from the reference in the order of the plan. It carries
    the run's digest and the row's place in `found`, separated by a space.
    """
    rows, look = _shown(found), tokens(dark)
    if not rows:
        return message("These runs have neither sub-goals nor tool calls to align by", dark=dark)
    first = {one.digest: split.key for one in found.divergences if (split := one.split("plan"))}
    figure = go.Figure()
    shapes = [_divergence_line(rows, look)] if any(row.parts for row in rows) else []
    for y, row in enumerate(rows):
        if row.key == marked:
            half = len(found.runs) / 2
            shapes.append(cell(half - 0.5, y, (half, 0.48), look.band, {"color": look.text, "width": 1}))
        width = CRITICAL_BORDER if row.critical else BORDER
        for x, style in enumerate(look_of(one).shaded(dark=dark) for one in row.cells):
            line = {"color": style.line, "width": width, "dash": style.line_name}
            shapes.append(cell(x, y, (CELL / 2, 0.38), style.fill, line))
    figure.update_layout(shapes=shapes)
    words = _words(rows, first, dark=dark)
    figure.add_trace(words)
    at = {row.key: place for place, row in enumerate(found.rows)}
    cells = [
        (x, y, f"{one.digest} {at[row.key]}", _hover(found.run(one.digest), row, one))
        for y, row in enumerate(rows)
        for x, one in enumerate(row.cells)
    ]
    figure.add_trace(handles(cells, 38))
    widest = max(map(len, words.text)) - _BOLD  # tags take no room
    _frame(figure, found, rows, look, dark=dark, column=max(COLUMN, round(CELL_CHAR * widest / CELL)))
    return figure


def look_of(cell: Cell) -> StatusLook:
    """How a cell looks. Where no action served a sub-goal, nobody knows that it was attempted."""
    return CELLS["not_completed" if cell.status == "attempted" and not cell.steps else cell.status]


def _shown(found: SideBySide) -> Sequence[AlignedRow]:
    """All rows in order. With very many: the rows at which runs diverge, then others while there is room."""
    if len(found.rows) <= MOST_ROWS:
        return found.rows
    # A stable sort: of rows without a divergence the first ones are kept.
    kept = sorted(range(len(found.rows)), key=lambda y: not found.rows[y].parts)[:MOST_ROWS]
    return [found.rows[y] for y in sorted(kept)]


def _divergence_line(rows: Sequence[AlignedRow], look: Tokens) -> dict[str, Any]:
    """Above the first row at which runs part."""
    y = next(place for place, row in enumerate(rows) if row.parts) - 0.5
    line = {"color": look.text, "width": 2, "dash": "dash"}
    return {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": y, "y1": y, "line": line}


def _words(rows: Sequence[AlignedRow], first: dict[str, str | None], *, dark: bool) -> go.Scatter:
    cells = [(x, y, row, cell) for y, row in enumerate(rows) for x, cell in enumerate(row.cells)]
    return text_trace(
        x=[x for x, _, _, _ in cells],
        y=[y for _, y, _, _ in cells],
        text=[_cell_words(cell, parts=first.get(cell.digest) == row.key) for _, _, row, cell in cells],
        textfont={"size": 14, "color": [look_of(cell).shaded(dark=dark).ink for _, _, _, cell in cells]},
        cliponaxis=False,
    )


def _cell_words(cell: Cell, *, parts: bool) -> str:
    shown = [f"<b>{look_of(cell).icon}</b>", f"{cell.steps}{FAILED * bool(cell.failures)}"]
    return " ".join([PARTS] * parts + (shown if cell.steps else shown[:1]))


def _hover(run: ComparedRun, row: AlignedRow, cell: Cell) -> str:
    lines = [
        f"<b>{text.figure(row.title)}</b>",
        f"{text.figure(run.name, 40)}: {look_of(cell).icon} {look_of(cell).word}",
    ]
    if cell.first is not None:
        place = f"event {cell.first}" if cell.first == cell.last else f"events {cell.first} to {cell.last}"
        called = ", ".join(f"{text.figure(tool, 30)} × {n}" for tool, n in cell.tools[:4])
        lines.append(f"{place}: {called}")
    lines += [f"{cell.failures} failed"] if cell.failures else []
    lines += [text.figure(line, 90) for line in textwrap.wrap(text.one_line(cell.reason, 240), 70)]
    return "<br>".join(lines)


def _frame(
    figure: go.Figure, found: SideBySide, rows: Sequence[AlignedRow], look: Tokens, *, dark: bool, column: int
) -> None:
    chars = TITLE_CHARS if len(found.runs) <= MANY else SHORT_CHARS
    themed(figure, dark=dark, height=HEAD + 24 + ROW * len(rows), margin=(8, 8, HEAD, 16))
    width = max(9, HEADS_CHARS // max(len(found.runs), 1))
    marks = len(found.runs) > MANY  # words would touch each other
    heads = [_head(run, held=run.digest == found.reference, width=width, marks=marks) for run in found.runs]
    column_names(figure, heads, room=0.55, look=look, size=11, tickangle=0)
    row_names(figure, [_title(row, chars) for row in rows], room=0.55, look=look)
    figure.update_layout(
        meta={"least_width": round(CHAR * chars) + column * len(found.runs)}, clickmode="event+select"
    )


def _head(run: ComparedRun, *, held: bool, width: int, marks: bool) -> str:
    outcome = OUTCOMES[None if isinstance(run.success, Unscored) else run.success]
    outcome = outcome[0] if marks else outcome
    names = [text.folded(name, width=width, lines=n) for name, n in ((run.agent, 3), (run.mark, 2)) if name]
    return "<br>".join([*(["reference"] * held), *names, f"<b>{outcome}</b>"])


def _title(row: AlignedRow, chars: int) -> str:
    lines = Wrapper(chars).wrap(text.one_line(row.title, 200)) or [row.key]
    shown = [text.figure(line, chars + 2) for line in lines[:2]]
    more = " …" if len(lines) > 2 else ""
    return f"{f'{STAR} ' * row.critical}{'<br>'.join(shown)}{more}"
