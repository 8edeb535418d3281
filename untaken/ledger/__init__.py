"""Run ledgers: typed events, readers, a crash-safe writer, hash chain, recorded heads and verdicts."""

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
    readable as readable,
)
from untaken.ledger.heads import heads_path as heads_path, load_heads as load_heads, save_heads as save_heads
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
