"""Tables by declaration: a column is its name, its type, its meaning and where its value comes from.

pandas is loaded when the first table is made: a command that makes none starts in half the time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeVar

from untaken.errors import Unscored
from untaken.garbage import seldom_collected

if TYPE_CHECKING:
    import pandas as pd

Row = TypeVar("Row")
Dtype = Literal["string", "boolean", "Int64", "Float64", "datetime64[us, UTC]"]
MEANINGS: Final = "meanings"
"""The entry of a table's ``attrs`` that says what each column means."""
_ROWS: Final = 512
"""Taken at a time: few enough that what they hold stays in the processor's cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column(Generic[Row]):
    """One column.

    Attributes:
        dtype: nullable pandas type; an unscored value is ``NA``.
        meaning: what it says, with its unit; documentation and column help in the app.
        value: takes a row object to the value (`Unscored` and ``None`` become ``NA``).
        reasons: the column holds the reason of an `Unscored` value, and ``NA`` for any other.
    """

    dtype: Dtype
    meaning: str
    value: Callable[[Row], object]
    reasons: bool = False


Columns = Mapping[str, Column[Row]]


def text(meaning: str, source: str | Callable[[Row], object]) -> Column[Row]:
    """A text column; `source` is an attribute path of the row or a function of it.

    A path ``a?.b`` stops at `a` where that is ``None`` or unscored.
    """
    return Column(dtype="string", meaning=meaning, value=_getter(source))


def count(meaning: str, source: str | Callable[[Row], object]) -> Column[Row]:
    """A whole-number column."""
    return Column(dtype="Int64", meaning=meaning, value=_getter(source))


def figure(meaning: str, source: str | Callable[[Row], object]) -> Column[Row]:
    """A column of real numbers."""
    return Column(dtype="Float64", meaning=meaning, value=_getter(source))


def truth(meaning: str, source: str | Callable[[Row], object]) -> Column[Row]:
    """A column of true, false or not known."""
    return Column(dtype="boolean", meaning=meaning, value=_getter(source))


def moment(meaning: str, source: str | Callable[[Row], object]) -> Column[Row]:
    """A column of instants, in UTC."""
    return Column(dtype="datetime64[us, UTC]", meaning=meaning, value=_getter(source))


def why(key: str, source: str | Callable[[Row], object]) -> Column[Row]:
    """The column that says why another one is ``NA``."""
    return Column(dtype="string", meaning=f"why {key} is unscored", value=_getter(source), reasons=True)


def reasons(*keys: str, at: str = "") -> dict[str, Column[Any]]:
    """A column of this kind for each of several others; `at` is the path to their values."""
    return {f"{key}_reason": why(key, f"{at}{key}") for key in keys}


def interval(key: str = "", *, of: str = "its", at: str | None = None) -> dict[str, Column[Any]]:
    """The two ends of a 95% interval; `at`, where it is not `key`, comes before ``low`` and ``high``."""
    start = key if at is None else at
    return {
        f"{key}low": figure(f"lower end of {of} 95% interval", f"{start}low"),
        f"{key}high": figure(f"upper end of {of} 95% interval", f"{start}high"),
    }


@seldom_collected()
def frame(columns: Columns[Row], rows: Iterable[Row]) -> pd.DataFrame:
    """The table of `rows`: one column each, in the declared order, typed even where it is empty.

    Cells are gathered column by column over a few hundred rows. One call per cell, or one pass over all rows
    per column, would take longer than everything else.
    """
    from untaken.answers.data_frame import data_frame  # noqa: PLC0415 (slow: it loads pandas)

    values: dict[str, list[object]] = {name: [] for name in columns}
    coming = iter(rows)
    while some := list(islice(coming, _ROWS)):
        for name, column in columns.items():
            values[name] += _cells(column, some)
    made = data_frame({name: column.dtype for name, column in columns.items()}, values)
    made.attrs[MEANINGS] = {name: column.meaning for name, column in columns.items()}
    return made


def _cells(column: Column[Row], rows: list[Row]) -> list[object]:
    found = map(column.value, rows)
    if column.reasons:
        return [value.reason if isinstance(value, Unscored) else None for value in found]
    return [None if type(value) is Unscored else value for value in found]


def _getter(source: str | Callable[[Row], object]) -> Callable[[Row], object]:
    if not isinstance(source, str):
        return source
    first, _, rest = source.partition("?.")
    whole = attrgetter(first)
    if not rest:
        return whole
    part = attrgetter(rest)

    def value(row: Row) -> object:
        found = whole(row)
        return found if found is None or isinstance(found, Unscored) else part(found)

    return value
