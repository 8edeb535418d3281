"""The document of an export: what was written, of how many runs."""

from __future__ import annotations

from collections.abc import Sequence

from untaken.answers.documents import Count, DocumentPart
from untaken.errors import Finding


class ExportDocument(DocumentPart, frozen=True, kw_only=True, tag="untaken.export/1"):
    """Which files were written, of how many runs and results."""

    to: str
    files: Sequence[str]
    runs: Count
    results: Count
    findings: Sequence[Finding]
