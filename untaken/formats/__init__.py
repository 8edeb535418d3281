"""Importers: foreign traces become run ledgers and plan graphs, with an account of what was lost."""

from untaken.formats.conversion import convert as convert, sniff_path as sniff_path
from untaken.formats.graph_import import (
    ImportedGraphs as ImportedGraphs,
    filled as filled,
    graphs_in as graphs_in,
)
from untaken.formats.importer import Importer as Importer
from untaken.formats.intake import Intake as Intake
from untaken.formats.format_info import (
    Conversion as Conversion,
    FileLoss as FileLoss,
    FormatInfo as FormatInfo,
)
from untaken.formats.recording import RunDraft as RunDraft
from untaken.formats.mapped import mapped_importer as mapped_importer, read_mapping as read_mapping
from untaken.formats.registry import (
    formats as formats,
    importers as importers,
    own_importers as own_importers,
    recognise as recognise,
    recognise_files as recognise_files,
    sniff as sniff,
)
from untaken.formats.sample import Confidence as Confidence, Sample as Sample, sample_of as sample_of
from untaken.formats.sources import Source as Source
