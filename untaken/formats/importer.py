"""The seam between the registry and the importers: three things each of them can do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from untaken.formats.intake import Intake
from untaken.formats.model import FormatInfo
from untaken.formats.sources import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Importer:
    """One foreign format.

    Attributes:
        info: what it is.
        recognises: true for the name and the first bytes (decompressed) of a file of the format.
        convert: reads the sources and writes their runs and graphs through the intake.
        passes: how often each source is read, for reporting progress.
    """

    info: FormatInfo
    recognises: Callable[[str, bytes], bool]
    convert: Callable[[Sequence[Source], Intake], None]
    passes: int
