"""The document of an export: what was written, of how many runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from untaken.answers.documents import Document, finding_entries
from untaken.answers.shapes import COUNT, TEXT, Schema, document, findings, list_of
from untaken.errors import Finding
from untaken.exporting import EvaluatedRun


def export_document(
    runs: Sequence[EvaluatedRun], *, to: str, files: Iterable[Path], findings: Iterable[Finding]
) -> Document:
    """``untaken.export/1``."""
    return {
        "schema": "untaken.export/1",
        "to": to,
        "files": [path.as_posix() for path in files],
        "runs": len(runs),
        "results": sum(len(each.evaluations) for each in runs),
        "findings": finding_entries(findings),
    }


def export_schema() -> Schema:
    """Its schema."""
    return document(
        "untaken.export/1", to=TEXT, files=list_of(TEXT), runs=COUNT, results=COUNT, findings=findings()
    )
