"""Run ledgers: typed events, readers, a crash-safe writer, hash chain, recorded heads and verdicts."""

from typing import TYPE_CHECKING

from untaken.lazy_imports import imported_on_first_use

from untaken.ledger.context import context_hash as context_hash
from untaken.ledger.events import (
    AFTER_RUN as AFTER_RUN,
    GENESIS as GENESIS,
    AnyEvent as AnyEvent,
    CounterfactualInsight as CounterfactualInsight,
    EvaluationSummary as EvaluationSummary,
    Event as Event,
    Evidence as Evidence,
    MadeWith as MadeWith,
    MemoryReference as MemoryReference,
    Message as Message,
    ModeAssignment as ModeAssignment,
    Observation as Observation,
    Plan as Plan,
    ReviewNote as ReviewNote,
    RunFinished as RunFinished,
    RunStarted as RunStarted,
    SkillSelection as SkillSelection,
    State as State,
    ToolCall as ToolCall,
    Verdict as Verdict,
    as_mapping as as_mapping,
    event_type as event_type,
    cut as cut,
    readable as readable,
)
from untaken.ledger.chain import heads_path as heads_path, load_heads as load_heads, save_heads as save_heads
from untaken.ledger.run import (
    Draft as Draft,
    Head as Head,
    Integrity as Integrity,
    IntegrityVerdict as IntegrityVerdict,
    Run as Run,
)
from untaken.ledger.reader import (
    read_ledger as read_ledger,
    unread_runs as unread_runs,
    verify_ledger as verify_ledger,
)
from untaken.ledger.run_writer import RunWriter as RunWriter
from untaken.ledger.signature import has_event_signature as has_event_signature
from untaken.ledger.writer import (
    LedgerWriter as LedgerWriter,
    append_events as append_events,
    recover as recover,
)

# fmt: off
if TYPE_CHECKING:
    from untaken.ledger.run import paired as paired
    from untaken.ledger.chain import Chain as Chain, SPANS as SPANS, intact as intact
    from untaken.ledger.context import check_layers as check_layers, in_common as in_common
    from untaken.ledger.decoding import run_of as run_of
    from untaken.ledger.disk import (
        replace as replace, replacing_path as replacing_path, write_all as write_all,
    )
    from untaken.ledger.events import (
        ABOUT_RUN as ABOUT_RUN, ActionMapping as ActionMapping, BLAMED as BLAMED, Count as Count,
        Instant as Instant, Layers as Layers, MappedAction as MappedAction, Name as Name,
    )
    from untaken.ledger.chain import heads_text as heads_text, parse_heads as parse_heads
    from untaken.ledger.infrastructure import (
        INFRASTRUCTURE_KINDS as INFRASTRUCTURE_KINDS, InfrastructureKind as InfrastructureKind,
        OUTSIDE as OUTSIDE, infrastructure_kind as infrastructure_kind,
        infrastructure_of as infrastructure_of,
    )
    from untaken.ledger.journal import journal_path as journal_path
    from untaken.ledger.ledger_file import HeldLedger as HeldLedger, HeldLedgers as HeldLedgers
    from untaken.ledger.source import (
        Readable as Readable, is_compressed as is_compressed, plain_chunks as plain_chunks,
    )
    from untaken.ledger.reader import read_runs_as as read_runs_as
    from untaken.ledger.reading import Reading as Reading, read_one as read_one
    from untaken.ledger.repeats import without_repeats as without_repeats
    from untaken.ledger.run import (
        BROKEN as BROKEN, TEXTS_TO_JUDGES as TEXTS_TO_JUDGES, copies_of as copies_of,
        trails_of_copies as trails_of_copies,
    )
    from untaken.ledger.reading import (
        CHANGED as CHANGED, RunLines as RunLines, ledger_changed as ledger_changed,
    )
    from untaken.ledger.signature import is_tar as is_tar, not_a_ledger as not_a_ledger
    from untaken.ledger.source import (
        Front as Front, View as View, naming as naming, open_view as open_view, require_path as require_path,
    )
    from untaken.ledger.span_files import SpanFileExporter as SpanFileExporter
    from untaken.ledger.strict_json import JsonFault as JsonFault, parse_json as parse_json
    from untaken.ledger.writer import Clock as Clock
# fmt: on

__getattr__, __dir__ = imported_on_first_use(__name__)
