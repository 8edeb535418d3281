"""Importers: foreign traces become run ledgers and plan graphs, with an account of what was lost."""

from untaken.formats.conversion import convert, sniff_path
from untaken.formats.importer import Importer
from untaken.formats.intake import Intake
from untaken.formats.model import Conversion, FieldCount, FileLoss, FormatInfo
from untaken.formats.recording import RunDraft
from untaken.formats.registry import formats, importers, recognise, recognise_files, sniff
from untaken.formats.sample import Confidence, Sample, sample_of
from untaken.formats.sources import Source

__all__ = [
    "Confidence",
    "Conversion",
    "FieldCount",
    "FileLoss",
    "FormatInfo",
    "Importer",
    "Intake",
    "RunDraft",
    "Sample",
    "Source",
    "convert",
    "formats",
    "importers",
    "recognise",
    "recognise_files",
    "sample_of",
    "sniff",
    "sniff_path",
]
