"""Parquet files as lines of JSON: every format that is read from lines is read from such a table, too."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Final

from untaken.errors import UntakenError, Where
from untaken.traces.losses import clip

ENDING: Final = ".parquet"
MARK: Final = b"PAR1"
_ROWS: Final = 500
"""Rows that are written as text at a time."""
_SETTINGS: Final[dict[str, str | bool | int | float | list[str]]] = {
    "threads": "1",
    "memory_limit": "512MB",
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",  # nothing is fetched for a foreign file
}
_QUERY: Final = "SELECT to_json(row) FROM read_parquet(?) row"


def is_parquet(start: bytes) -> bool:
    """Whether a file that begins so is a Parquet file."""
    return start.startswith(MARK)


def parquet_lines(stored: Iterable[bytes], name: str) -> Iterator[bytes]:
    """The rows of a table, each a line of JSON.

    Args:
        stored: its bytes; they are kept in a file while it is read, because its index is at its end.
        name: of the file, for messages.

    Raises:
        UntakenError: ``unreadable-file``.
    """
    duckdb = import_module("duckdb")  # slow to load, and most files are no table
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.parquet"
        with file.open("wb") as stream:
            stream.writelines(stored)
        try:
            with duckdb.connect(":memory:", config=_SETTINGS) as database:
                found = database.execute(_QUERY, [str(file)])
                while rows := found.fetchmany(_ROWS):
                    yield b"".join(f"{row}\n".encode() for (row,) in rows)
        except duckdb.Error as error:
            why = clip(str(error).partition("\n")[0].replace(str(file), clip(name)))
            raise UntakenError(
                "unreadable-file",
                f"the table cannot be read: {why}",
                where=Where(file=name),
                hint="Write it again, or export it as CSV or JSON Lines.",
            ) from error
