"""The documents of formats, conversions and exports."""

from __future__ import annotations

from collections.abc import Sequence

from untaken.errors import Finding
from untaken.traces import Conversion, FormatInfo
from untaken.views.documents import Count, DocumentPart


class FormatsDocument(DocumentPart, frozen=True, kw_only=True, tag="untaken.formats/1"):
    """Every importer."""

    formats: Sequence[FormatInfo]


class ConvertedFile(DocumentPart, frozen=True, kw_only=True):
    """A source file, with how many of its values were kept."""

    file: str
    records: Count
    runs: Count
    kept: Count
    held: Count


class ConvertDocument(DocumentPart, frozen=True, kw_only=True, tag="untaken.convert/1"):
    """What a conversion wrote."""

    format: str
    runs: Count
    ledgers: Sequence[str]
    graphs: Sequence[str]
    loss_report: str
    files: Sequence[ConvertedFile]
    findings: Sequence[Finding]


def convert_document(done: Conversion) -> ConvertDocument:
    """The document of a conversion."""
    return ConvertDocument.of(
        done,
        ledgers=[path.as_posix() for path in done.ledgers],
        graphs=[path.as_posix() for path in done.graphs],
        loss_report=done.loss_report.as_posix(),
        files=[ConvertedFile.of(loss, file=loss.name) for loss in done.losses],
    )


class ExportDocument(DocumentPart, frozen=True, kw_only=True, tag="untaken.export/1"):
    """Which files were written, of how many runs and results."""

    to: str
    files: Sequence[str]
    runs: Count
    results: Count
    findings: Sequence[Finding]
