"""Importers: foreign traces become run ledgers and plan graphs, with an account of what was lost."""

from untaken.formats.model import Conversion, FieldCount, FileLoss, FormatInfo
from untaken.formats.registry import FORMATS, convert, formats, sniff, sniff_path

__all__ = [
    "FORMATS",
    "Conversion",
    "FieldCount",
    "FileLoss",
    "FormatInfo",
    "convert",
    "formats",
    "sniff",
    "sniff_path",
]
