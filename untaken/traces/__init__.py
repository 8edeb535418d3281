"""Importers: foreign traces become run ledgers and plan graphs, with an account of what was lost."""

from untaken.traces.conversion import convert as convert, sniff_path as sniff_path
from untaken.traces.graph_import import (
    ImportedGraphs as ImportedGraphs,
    filled as filled,
    graphs_in as graphs_in,
)
from untaken.traces.importer import Importer as Importer
from untaken.traces.intake import Intake as Intake
from untaken.traces.format_info import (
    Conversion as Conversion,
    FileLoss as FileLoss,
    FormatInfo as FormatInfo,
)
from untaken.traces.recording import RunDraft as RunDraft
from untaken.traces.mapped import mapped_importer as mapped_importer, read_mapping as read_mapping
from untaken.traces.registry import (
    formats as formats,
    importers as importers,
    own_importers as own_importers,
    recognise as recognise,
    recognise_files as recognise_files,
    sniff as sniff,
)
from untaken.traces.sample import Confidence as Confidence, Sample as Sample, sample_of as sample_of
from untaken.traces.sources import Source as Source
