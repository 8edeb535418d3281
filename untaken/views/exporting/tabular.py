"""The results on runs as one table: CSV that no spreadsheet takes for formulas."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from untaken.csv_export import csv_text
from untaken.views.exporting.evaluations import EVALUATION_FIELDS, EvaluatedRun

COLUMNS: Final = ("run_id", "task_id", "task_repeat", "agent", "model", "digest", *EVALUATION_FIELDS)
"""One row a result."""
_TYPES: Final = {"task_repeat": "Int64", "value": "Float64", "seq": "Int64"}
"""Nullable: what is unscored is missing, never 0. Every other column is text."""


def csv_table(runs: Iterable[EvaluatedRun]) -> bytes:
    """The results as CSV (UTF-8)."""
    import pandas as pd  # noqa: PLC0415 (slow)

    table = pd.DataFrame([row for each in runs for row in _rows(each)], columns=list(COLUMNS), dtype=object)
    typed = table.astype({name: _TYPES.get(name, "string") for name in COLUMNS})
    return csv_text(typed).encode("utf-8")


def _rows(each: EvaluatedRun) -> list[tuple[Any, ...]]:
    run, started = each.run, each.run.started
    about = (run.run_id, run.task_id, started.task_repeat, run.agent, started.model, run.digest)
    return [(*about, *(getattr(result, field) for field in EVALUATION_FIELDS)) for result in each.evaluations]
