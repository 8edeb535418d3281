"""Importers: foreign traces become run ledgers and plan graphs, with an account of what was lost."""

from typing import TYPE_CHECKING

from untaken.lazy_imports import imported_on_first_use

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

# fmt: off
if TYPE_CHECKING:
    from untaken.traces.archives import Archive as Archive
    from untaken.traces.format_info import FieldCount as FieldCount
    from untaken.traces.jsontext import JsonReader as JsonReader, decode_text as decode_text
    from untaken.traces.literals import parse_document as parse_document, values_in as values_in
    from untaken.traces.losses import Findings as Findings, clip as clip
    from untaken.traces.mapped.checking import (
        ListCount as ListCount, MappingCheck as MappingCheck, check_mapping as check_mapping,
        drafted_from as drafted_from, drafted_mapping as drafted_mapping, preview_mapping as preview_mapping,
    )
    from untaken.traces.mapped.mapped_importer import built_in_mappings as built_in_mappings
    from untaken.traces.mapped.mapping_file import SUFFIX as SUFFIX, parse_mapping as parse_mapping
    from untaken.traces.output import file_stem as file_stem
    from untaken.traces.registry import usable_importers as usable_importers
    from untaken.traces.resembling import (
        NAMED as NAMED, ignored as ignored, likeness as likeness, not_a_ledger as not_a_ledger,
    )
    from untaken.traces.sources import (
        InMemory as InMemory, OnDisk as OnDisk, decompressed as decompressed, found_sources as found_sources,
        stem_of as stem_of,
    )
# fmt: on

__getattr__, __dir__ = imported_on_first_use(__name__)
