"""The results on runs as one table: CSV that no spreadsheet takes for formulas, or Parquet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from io import BytesIO
from itertools import chain
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Self

import msgspec

from untaken.csv_export import csv_text
from untaken.errors import Unscored
from untaken.exporting.evaluations import EVALUATION_FIELDS, EvaluatedRun, evaluated_run
from untaken.extras import load_extra
from untaken.ledger import Run
from untaken.subgoals import RunScore

if TYPE_CHECKING:
    import pandas as pd

GROUP_RUNS: Final = 2_000
"""Runs whose rows are one row group of a Parquet file."""
COLUMNS: Final = ("run_id", "task_id", "task_repeat", "agent", "model", "digest", *EVALUATION_FIELDS)
"""One row a result."""
_TYPES: Final = {"task_repeat": "Int64", "value": "Float64", "seq": "Int64"}
"""Nullable: what is unscored is missing, never 0. Every other column is text."""
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[tuple[Any, ...]]).decode


def csv_table(runs: Iterable[EvaluatedRun]) -> bytes:
    """The results as CSV (UTF-8)."""
    return csv_text(_table(runs)).encode("utf-8")


def parquet_table(runs: Iterable[EvaluatedRun]) -> bytes:
    """The results as Parquet, in row groups of some runs: only the rows of one group are held at once.

    Raises:
        UntakenError: ``parquet-extra-missing``.
    """
    buffer = BytesIO()
    with ParquetResults(buffer) as table:
        for each in runs:
            table.take(packed_rows(each))
    return buffer.getvalue()


def packed_rows(each: EvaluatedRun) -> bytes:
    """The rows of one run, to be sent or to wait until they are written."""
    return _encode(_rows(each))


def results_of(run: Run, score: RunScore | Unscored, *, verdicts: Sequence[str] = ()) -> bytes:
    """`packed_rows` of a run and its score."""
    return packed_rows(evaluated_run(run, score, verdicts=verdicts))


class ParquetResults:
    """A Parquet file of results, written run by run; `with` it, so that it is whole at the end.

    Attributes:
        runs, results: how many were written.
    """

    def __init__(self, out: BinaryIO) -> None:
        """Begins the file.

        Raises:
            UntakenError: ``parquet-extra-missing``.
        """
        self.runs = self.results = 0
        self._waiting: list[tuple[Any, ...]] = []
        self._file = ParquetFrames(out, _frame([]))

    def take(self, rows: bytes) -> None:
        """One more run, as `packed_rows`."""
        some = _decode(rows)
        self._waiting += some
        self.results += len(some)
        self.runs += 1
        if self.runs % GROUP_RUNS == 0:
            self._write()

    def _write(self) -> None:
        if self._waiting:
            self._file.write(_frame(self._waiting))
            self._waiting = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, failed: type[BaseException] | None, *_: object) -> None:
        try:
            if failed is None:
                self._write()
        finally:
            self._file.close()


class ParquetFrames:
    """A Parquet file of a table that comes in parts, each a row group of its own."""

    def __init__(self, out: BinaryIO, empty: pd.DataFrame) -> None:
        """Begins the file.

        Args:
            out: where it is written.
            empty: the table without rows; it says the types.

        Raises:
            UntakenError: ``parquet-extra-missing``.
        """
        pa, parquet = (
            load_extra(library, "parquet-extra-missing", "app", "writing Parquet needs pyarrow")
            for library in ("pyarrow", "pyarrow.parquet")
        )
        self._table = pa.Table
        self._schema = pa.Schema.from_pandas(empty, preserve_index=False)
        self._writer = parquet.ParquetWriter(out, self._schema)

    def write(self, part: pd.DataFrame) -> None:
        """One more part."""
        self._writer.write_table(self._table.from_pandas(part, self._schema, preserve_index=False))

    def close(self) -> None:
        """Ends the file."""
        self._writer.close()


def write_frames(out: BinaryIO, parts: Iterable[pd.DataFrame]) -> int:
    """Writes a table that comes in at least one part as Parquet; gives the number of its rows.

    Raises:
        UntakenError: ``parquet-extra-missing``.
    """
    coming, rows = iter(parts), 0
    first = next(coming)
    file = ParquetFrames(out, first)
    try:
        for part in chain([first], coming):
            file.write(part)
            rows += len(part)
    finally:
        file.close()
    return rows


def _table(runs: Iterable[EvaluatedRun]) -> pd.DataFrame:
    return _frame([row for each in runs for row in _rows(each)])


def _rows(each: EvaluatedRun) -> list[tuple[Any, ...]]:
    run, started = each.run, each.run.started
    about = (run.run_id, run.task_id, started.task_repeat, run.agent, started.model, run.digest)
    return [(*about, *(getattr(result, field) for field in EVALUATION_FIELDS)) for result in each.evaluations]


def _frame(rows: list[tuple[Any, ...]]) -> pd.DataFrame:
    import pandas as pd  # noqa: PLC0415 (slow)

    table = pd.DataFrame(rows, columns=list(COLUMNS), dtype=object)
    return table.astype({name: _TYPES.get(name, "string") for name in COLUMNS})
