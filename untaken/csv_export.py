"""CSV that no spreadsheet takes for formulas; the one place where this program writes CSV.

Excel, LibreOffice and Google Sheets run a cell that begins with ``=``, ``+``, ``-`` or ``@``, some of them
also behind white space, invisible characters or in full-width form. Such a cell gets an apostrophe. A program
whose list separator is ``;`` or a tab may cut a cell in two, so what follows one of these, or a line end,
inside a cell is treated like its beginning. Every text cell is in quotes.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from untaken.visible import CONTROL, INVISIBLE

if TYPE_CHECKING:
    import pandas as pd

_SIGNS: Final = r"=+\-@＝＋－＠﹦﹢﹣﹫⁼⁺⁻₌₊₋−﬩⩵⩶"
_SKIPPED: Final = rf"\s{CONTROL}{INVISIBLE}'"
"""What a spreadsheet may drop before it looks at a cell, and our own mark."""
# Possessive (`*+`): no text, however long its run of blanks, is tried twice.
_FORMULA: Final = re.compile(rf"[\t\r\n]|[{_SKIPPED}]*+[{_SIGNS}]")
_CUT: Final = re.compile(rf"([;\t\r\n][;{_SKIPPED}]*+)([{_SIGNS}]?)")
"""Where another program may begin a cell; it matches with or without a sign, so that no run is read twice."""
_MARK: Final = "'"
_SAFE_KINDS: Final = "biufcM"
"""Kinds of columns that hold numbers, truth values or dates only."""
_MISSING: Final = ("<NA>", "NaT")
# Begins like a formula and is none.
_NUMBER: Final = re.compile(r"-[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def csv_text(table: pd.DataFrame) -> str:
    """The table as CSV with RFC 4180 line ends, missing values empty; numbers stay numbers.

    Args:
        table: columns of any type; what is neither a number, a date, a truth value nor missing is text.
    """
    safe = table.copy()
    for place in range(table.shape[1]):
        if table.dtypes.iloc[place].kind not in _SAFE_KINDS:
            safe.isetitem(place, table.iloc[:, place].astype(object).map(_cell))
    safe.columns = [neutral(str(name)) for name in table.columns]
    written: str = safe.to_csv(index=False, lineterminator="\r\n", quoting=csv.QUOTE_NONNUMERIC)
    return written


def csv_line(cells: Iterable[str]) -> str:
    """One line of text cells, each neutral, in quotes where another program might cut it."""
    return ",".join(_quoted(neutral(cell)) for cell in cells) + "\n"


def neutral(text: str) -> str:
    """The text with an apostrophe wherever a spreadsheet would begin a formula."""
    cut = _CUT.sub(lambda run: f"{run[1]}'{run[2]}" if run[2] else run[0], text)
    return f"'{cut}" if _FORMULA.match(cut) else cut


def restored(cell: str) -> str:
    """The text before `neutral`."""
    cut = cell[1:] if cell[:1] == "'" and _FORMULA.match(cell, 1) else cell
    return _CUT.sub(lambda run: f"{run[1].removesuffix(_MARK)}{run[2]}" if run[2] else run[0], cut)


def _cell(value: Any) -> Any:
    """A cell of a column that may hold text."""
    if value is None or isinstance(value, bool | int | float):
        return value
    text = str(value)
    return value if text in _MISSING or _NUMBER.fullmatch(text) else neutral(text)


def _quoted(cell: str) -> str:
    special = any(mark in cell for mark in ',;"\t\r\n') or cell != cell.strip()
    return '"' + cell.replace('"', '""') + '"' if special else cell
