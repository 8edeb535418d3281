"""The results on runs as one table: CSV that no spreadsheet takes for formulas, or Parquet."""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from untaken.csv_export import csv_text
from untaken.errors import UntakenError
from untaken.exporting.evaluations import EVALUATION_FIELDS, EvaluatedRun

if TYPE_CHECKING:
    import pandas as pd

GROUP_RUNS: Final = 2_000
"""Runs whose rows are one row group of a Parquet file."""
COLUMNS: Final = ("run_id", "task_id", "task_repeat", "agent", "model", "digest", *EVALUATION_FIELDS)
"""One row a result."""
_TYPES: Final = {"task_repeat": "Int64", "value": "Float64", "seq": "Int64"}
"""Nullable: what is unscored is missing, never 0. Every other column is text."""


def csv_table(runs: Iterable[EvaluatedRun]) -> bytes:
    """The results as CSV (UTF-8)."""
    return csv_text(_table(runs)).encode("utf-8")


def parquet_table(runs: Iterable[EvaluatedRun]) -> bytes:
    """The results as Parquet, in row groups of some runs: only the rows of one group are held at once.

    Raises:
        UntakenError: ``parquet-extra-missing``.
    """
    try:
        import pyarrow as pa  # type: ignore[import-untyped]  # noqa: PLC0415 (an extra)
        from pyarrow import parquet  # noqa: PLC0415
    except ImportError as error:
        raise UntakenError(
            "parquet-extra-missing", "writing Parquet needs pyarrow", hint="pip install 'untaken[app]'"
        ) from error
    buffer, rest = BytesIO(), iter(runs)
    schema = pa.Schema.from_pandas(_table(()), preserve_index=False)
    with parquet.ParquetWriter(buffer, schema) as writer:
        while some := list(islice(rest, GROUP_RUNS)):
            writer.write_table(pa.Table.from_pandas(_table(some), schema, preserve_index=False))
    return buffer.getvalue()


def _table(runs: Iterable[EvaluatedRun]) -> pd.DataFrame:
    import pandas as pd  # noqa: PLC0415 (slow)

    rows: list[tuple[Any, ...]] = []
    for each in runs:
        run, started = each.run, each.run.started
        about = (run.run_id, run.task_id, started.task_repeat, run.agent, started.model, run.digest)
        rows += [
            (*about, *(getattr(result, field) for field in EVALUATION_FIELDS)) for result in each.evaluations
        ]
    table = pd.DataFrame(rows, columns=list(COLUMNS), dtype=object)
    return table.astype({name: _TYPES.get(name, "string") for name in COLUMNS})
