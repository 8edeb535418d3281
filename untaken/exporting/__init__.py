"""Runs with their scores and verdicts in the formats of other tools."""

from untaken.exporting.atif import atif_documents
from untaken.exporting.evaluations import EVALUATION_FIELDS, EvaluatedRun, Evaluation, evaluated_run
from untaken.exporting.otel import otlp_lines
from untaken.exporting.tabular import csv_table, parquet_table
from untaken.exporting.xes import xes_log

__all__ = [
    "EVALUATION_FIELDS",
    "EvaluatedRun",
    "Evaluation",
    "atif_documents",
    "csv_table",
    "evaluated_run",
    "otlp_lines",
    "parquet_table",
    "xes_log",
]
