"""The documents of formats, conversions and exports."""

from __future__ import annotations

from typing import Final

from untaken.errors import Finding
from untaken.traces import Conversion, FileLoss, FormatInfo
from untaken.views.documents import Count, Keys

FORMATS_DOCUMENT: Final = Keys.given(schema="untaken.formats/1", formats=[FormatInfo])
"""Every importer."""
_FILE: Final = Keys(FileLoss, "file=name records runs kept held")
CONVERT_DOCUMENT: Final = Keys(
    Conversion,
    "format runs ledgers graphs loss_report files=losses findings",
    schema="untaken.convert/1",
    files=[_FILE],
)
"""What a conversion wrote; of each source file, how many of its values were kept."""
EXPORT_DOCUMENT: Final = Keys.given(
    schema="untaken.export/1", to=str, files=[str], runs=Count, results=Count, findings=[Finding]
)
"""Which files were written, of how many runs and results."""
