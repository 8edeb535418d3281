"""The results on runs as one table: CSV that no spreadsheet takes for formulas."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from untaken.csv_export import csv_text
from untaken.ledger import Run
from untaken.views.exporting.evaluations import EvaluatedRun, Evaluation
from untaken.views.frame import Columns, RowWith, as_facts, count, figure, frame, text

RESULTS: Final[Columns[RowWith[Run, Evaluation]]] = {
    **as_facts("run_id task_id task_repeat=started.task_repeat agent model=started.model digest", at="row."),
    "name": text(
        "`success`, `completion`, `critical_completion`, `diagnosis`, `sub_goal:ID` or `verdict:ID`",
        "beside.name",
    ),
    "value": figure("1 for passed and 0 for failed, or a rate", "beside.value"),
    "label": text("`pass`, `fail`, `unscored`, a status or a diagnosis; empty for a rate", "beside.label"),
    "by": text(
        "`ledger` (recorded), `untaken` (computed), what decided it, or the verdict's author", "beside.by"
    ),
    "explanation": text("in words; of an unscored result, why", "beside.explanation"),
    "sub_goal": text("that it is about", "beside.sub_goal"),
    "seq": count("of the event that it rests on or was recorded as", "beside.seq"),
}


def csv_table(runs: Iterable[EvaluatedRun]) -> bytes:
    """The results as CSV (UTF-8)."""
    results = (RowWith(each.run, says) for each in runs for says in each.evaluations)
    return csv_text(frame(RESULTS, results)).encode("utf-8")
