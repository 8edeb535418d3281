"""Runs with their scores and verdicts in the formats of other tools."""

from untaken.views.exporting.atif import atif_documents as atif_documents
from untaken.views.exporting.evaluations import EvaluatedRun as EvaluatedRun, evaluated_run as evaluated_run
from untaken.views.exporting.otel import otlp_lines as otlp_lines
from untaken.views.exporting.evaluations import csv_table as csv_table
from untaken.views.exporting.write_back import (
    inspect_lines as inspect_lines,
    langfuse_lines as langfuse_lines,
    phoenix_lines as phoenix_lines,
)
from untaken.views.exporting.xes import xes_log as xes_log
