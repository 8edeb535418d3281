"""Tables of a foreign program: CSV files, of which each row is a record. Parquet files are lines already."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from untaken.traces import parquet
from untaken.traces.jsontext import decode_text
from untaken.traces.losses import Findings, clip
from untaken.traces.sample import Sample
from untaken.traces.sources import Source, unpacked_name

ENDING: Final = ".csv"
TABLES: Final = (ENDING, parquet.ENDING)
"""Endings of tables; a format that has no other is of tables alone."""
ROWS: Final = 5
"""Rows that a format is recognised by."""
_CELL_CHARS: Final = 16 * 1024 * 1024


def is_table(name: str, endings: tuple[str, ...] = (ENDING,)) -> bool:
    """Whether a file is a CSV table, or one of another kind, by its name."""
    return unpacked_name(name.lower()).endswith(endings)


def table_rows(source: Source, findings: Findings) -> Iterator[dict[str, Any]]:
    """The rows of a table as records; an empty cell is not there."""
    for row in _rows(decode_text(source.read(), findings), findings):
        yield {name: cell for name, cell in row.items() if cell}


def first_rows(sample: Sample) -> list[dict[str, Any]]:
    """The first rows of a table, with all columns."""
    return list(islice(_rows(sample.text or "", Findings(None)), ROWS))


def read_table(written: str) -> csv.DictReader[str]:
    """The rows of a text, with what its first line has most of between the columns."""
    delimiter = max(",;\t", key=written.partition("\n")[0].count)  # spreadsheets of many countries write ;
    return csv.DictReader(io.StringIO(written, newline=""), delimiter=delimiter)


def _rows(written: str, findings: Findings) -> Iterator[dict[str, Any]]:
    limit = csv.field_size_limit(_CELL_CHARS)  # one for the whole process, so it is put back
    try:
        for row in read_table(written):
            yield {name: cell if isinstance(cell, str) else "" for name, cell in row.items() if name}
    except csv.Error as error:
        findings.add(
            "unreadable-record", f"the table cannot be read further: {clip(error)}", severity="error"
        )
    finally:
        csv.field_size_limit(limit)
