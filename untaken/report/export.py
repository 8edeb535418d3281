"""Tables for other programs: CSV in which no cell is taken for a formula."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import pandas as pd

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
_NUMBER: Final = re.compile(r"-\d+(\.\d+)?([eE][+-]?\d+)?")


def csv_text(table: pd.DataFrame) -> str:
    """The table as CSV, missing values empty.

    Text that a spreadsheet would run as a formula gets a leading apostrophe; negative numbers stay numbers.
    """
    import pandas as pd  # noqa: PLC0415 (slow)

    safe = pd.DataFrame({neutral(str(name)): _neutral_series(table[name]) for name in table.columns})
    # RFC 4180 line ends; they also make the writer quote a lone carriage return, which else breaks the row.
    written: str = safe.to_csv(index=False, lineterminator="\r\n")
    return written


def neutral(text: str) -> str:
    """The text, with an apostrophe before it where it would begin a formula."""
    return f"'{text}" if text.startswith(_FORMULA) and not _NUMBER.fullmatch(text) else text


def _neutral_series(column: pd.Series) -> pd.Series:
    import pandas as pd  # noqa: PLC0415 (slow)

    if not (pd.api.types.is_string_dtype(column.dtype) or column.dtype == object):
        return column
    return column.map(lambda value: neutral(value) if isinstance(value, str) else value)
