"""Runs with their scores and verdicts in the formats of other tools."""

from untaken.exporting.atif import atif_documents as atif_documents
from untaken.exporting.evaluations import EvaluatedRun as EvaluatedRun, evaluated_run as evaluated_run
from untaken.exporting.otel import otlp_lines as otlp_lines
from untaken.exporting.tabular import (
    ParquetFrames as ParquetFrames,
    ParquetResults as ParquetResults,
    csv_table as csv_table,
    packed_rows as packed_rows,
    parquet_table as parquet_table,
    results_of as results_of,
    write_frames as write_frames,
)
from untaken.exporting.xes import xes_log as xes_log
