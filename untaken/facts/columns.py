"""A column, declared once: its name, its type, its meaning and where its value comes from.

Tables of pages, CSV and Parquet files, and the documentation of them all, follow these declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, Final, Generic, Literal, TypeVar

from msgspec import Struct

from untaken.errors import Unscored

Row = TypeVar("Row")
Dtype = Literal["string", "boolean", "Int64", "Float64", "datetime64[us, UTC]", "object"]
MEANINGS: Final = "meanings"
"""The entry of a table's ``attrs`` that says what each column means."""
FORMATS: Final = "formats"
"""The entry that says how pages write numbers, of the columns that say so."""
TITLES: Final = "titles"
"""The entry that says how pages head columns, of those that say so."""


class Meanings(dict[str, str]):
    """What the columns of a table mean, or how they are written, never changed.

    pandas copies ``attrs`` in depth for every column that is looked at; all its tables share this one.
    """

    def __deepcopy__(self, _: object) -> Meanings:
        return self


class Column(Struct, Generic[Row], frozen=True, kw_only=True):
    """One column.

    Attributes:
        dtype: nullable pandas type; an unscored value is ``NA``. ``object`` is a list of texts.
        meaning: what it says, with its unit; documentation and column help in the app.
        value: takes a row object to the value (`Unscored` and ``None`` become ``NA``).
        reasons: the column holds the reason of an `Unscored` value, and ``NA`` for any other.
        format: how pages write it: ``percent``, ``p`` (a p-value), ``points`` (a difference of
            shares), ``significant`` (three digits), or as ``%+.2f`` says.
        title: its heading on pages; by default its name.
    """

    dtype: Dtype
    meaning: str
    value: Callable[[Row], object]
    reasons: bool = False
    format: str = ""
    title: str = ""


Columns = Mapping[str, Column[Row]]


def text(meaning: str, source: str | Callable[[Row], object], *, title: str = "") -> Column[Row]:
    """A text column; `source` is an attribute path of the row or a function of it.

    A path ``a?.b`` stops at `a` where that is ``None`` or unscored.
    """
    return Column(dtype="string", meaning=meaning, value=_getter(source), title=title)


def texts(meaning: str, source: str | Callable[[Row], object]) -> Column[Row]:
    """A column of lists of texts."""
    return Column(dtype="object", meaning=meaning, value=_getter(source))


def count(meaning: str, source: str | Callable[[Row], object], *, title: str = "") -> Column[Row]:
    """A whole-number column."""
    return Column(dtype="Int64", meaning=meaning, value=_getter(source), title=title)


def figure(
    meaning: str, source: str | Callable[[Row], object], shown: str = "", *, title: str = ""
) -> Column[Row]:
    """A column of real numbers."""
    return Column(dtype="Float64", meaning=meaning, value=_getter(source), format=shown, title=title)


def truth(meaning: str, source: str | Callable[[Row], object], *, title: str = "") -> Column[Row]:
    """A column of true, false or not known."""
    return Column(dtype="boolean", meaning=meaning, value=_getter(source), title=title)


def moment(meaning: str, source: str | Callable[[Row], object]) -> Column[Row]:
    """A column of instants, in UTC."""
    return Column(dtype="datetime64[us, UTC]", meaning=meaning, value=_getter(source))


def why(key: str, source: str | Callable[[Row], object]) -> Column[Row]:
    """The column that says why another one is ``NA``."""
    return Column(dtype="string", meaning=f"why {key} is unscored", value=_getter(source), reasons=True)


def reasons(*keys: str, at: str = "") -> dict[str, Column[Any]]:
    """A column of this kind for each of several others; `at` is the path to their values."""
    return {f"{key}_reason": why(key, f"{at}{key}") for key in keys}


def interval(
    key: str = "", *, of: str = "its", at: str | None = None, shown: str = ""
) -> dict[str, Column[Any]]:
    """The two ends of a 95% interval; `at`, where it is not `key`, comes before ``low`` and ``high``."""
    start = key if at is None else at
    return {
        f"{key}low": figure(f"lower end of {of} 95% interval", f"{start}low", shown),
        f"{key}high": figure(f"upper end of {of} 95% interval", f"{start}high", shown),
    }


def cells(column: Column[Row], rows: Iterable[Row]) -> list[object]:
    """The values of a column over some rows; ``None`` where there is none."""
    found = map(column.value, rows)
    if column.reasons:
        return [value.reason if isinstance(value, Unscored) else None for value in found]
    # Faster than `isinstance`, over millions.
    return [None if type(value) is Unscored else value for value in found]


def joined(tables: Sequence[list[list[object]]]) -> list[list[object]]:
    """Columns of several tables, one below the other."""
    return [list(chain.from_iterable(parts)) for parts in zip(*tables, strict=True)]


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
