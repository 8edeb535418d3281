"""Tables as pandas DataFrames, made from declared columns.

pandas is loaded when the first table is made: a command that makes none starts in half the time.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

from msgspec.structs import replace

from untaken.facts import (
    FORMATS,
    MEANINGS,
    TABLES,
    TITLES,
    Column,
    Columns,
    Meanings,
    Row,
    cells,
    count,
    figure,
    interval,
    moment,
    reasons,
    text,
    truth,
    why,
)
from untaken.garbage import seldom_collected

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "FORMATS",
    "MEANINGS",
    "TITLES",
    "Column",
    "Columns",
    "Meanings",
    "RowWith",
    "as_facts",
    "count",
    "figure",
    "frame",
    "frame_of",
    "interval",
    "moment",
    "reasons",
    "text",
    "truth",
    "why",
]
_DECLARED: Final = {**TABLES["runs"].columns, **TABLES["results"].columns}
_ROWS: Final = 512
"""Taken at a time: few enough that what they hold stays in the processor's cache."""
Beside = TypeVar("Beside")


def as_facts(names: str, at: str = "") -> dict[str, Column[Any]]:
    """Columns as the facts declare them, of rows with the values `at` another place.

    Args:
        names: of the columns, separated by spaces; ``name=place`` where the row calls it otherwise.
        at: the path to the values, with the dot at its end.
    """
    found = {}
    for word in names.split():
        name, _, place = word.partition("=")
        declared = _DECLARED[name]
        # Only the way to the value is another: `text` makes it, whatever the column holds.
        found[name] = replace(declared, value=text(declared.meaning, f"{at}{place or name}").value)
    return found


class RowWith(NamedTuple, Generic[Row, Beside]):
    """A row with one thing that its table says of it, and that it does not hold itself."""

    row: Row
    beside: Beside


@seldom_collected()
def frame(columns: Columns[Row], rows: Iterable[Row]) -> pd.DataFrame:
    """The table of `rows`: one column each, in the declared order, typed even where it is empty.

    Cells are gathered column by column over a few hundred rows. One call per cell, or one pass over all rows
    per column, would take longer than everything else.
    """
    values: dict[str, list[object]] = {name: [] for name in columns}
    coming = iter(rows)
    while some := list(islice(coming, _ROWS)):
        for name, column in columns.items():
            values[name] += cells(column, some)
    return frame_of(columns, values)


def frame_of(columns: Columns[Row], values: dict[str, list[object]]) -> pd.DataFrame:
    """The table of `values`, one column each; they are emptied."""
    from untaken.views.data_frame import data_frame  # noqa: PLC0415 (slow: it loads pandas)

    made = data_frame({name: column.dtype for name, column in columns.items()}, values)
    made.attrs[MEANINGS] = Meanings((name, column.meaning) for name, column in columns.items())
    made.attrs[FORMATS] = Meanings((name, c.format) for name, c in columns.items() if c.format)
    made.attrs[TITLES] = Meanings((name, c.title) for name, c in columns.items() if c.title)
    return made
