"""Runs with their scores and verdicts in the formats of other tools."""

from untaken.exporting.atif import atif_documents as atif_documents
from untaken.exporting.evaluations import EvaluatedRun as EvaluatedRun, evaluated_run as evaluated_run
from untaken.exporting.otel import otlp_lines as otlp_lines
from untaken.exporting.tabular import csv_table as csv_table
from untaken.exporting.xes import xes_log as xes_log
