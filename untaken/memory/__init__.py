"""Policy memory: what history says about a skill in a context (§3 of docs/concepts.md)."""

from untaken.memory.intervals import cost_interval, steps_interval, success_interval
from untaken.memory.memory_groups import Memories, by_memory
from untaken.memory.model import RUNS_NAMED, Observed, Record, Spans, ValueRange
from untaken.memory.observing import observe, outcome_key, priced
from untaken.memory.policy import PolicyMemory
from untaken.memory.preview import Effect, Flag, preview
from untaken.memory.queue import (
    Applied,
    applied_digest,
    applied_signals,
    apply_signals,
    fold_in,
    queue_path,
    queue_signals,
    read_queue,
    waiting_signals,
)
from untaken.memory.rebuild import Difference, rebuild_memory, verify_memory
from untaken.memory.signals import Direction, Signal, as_observation
from untaken.memory.snapshot import Snapshot
from untaken.memory.sums import WEAK_SHARE, WEIGHTS, Spread

__all__ = [
    "RUNS_NAMED",
    "WEAK_SHARE",
    "WEIGHTS",
    "Applied",
    "Difference",
    "Direction",
    "Effect",
    "Flag",
    "Memories",
    "Observed",
    "PolicyMemory",
    "Record",
    "Signal",
    "Snapshot",
    "Spans",
    "Spread",
    "ValueRange",
    "applied_digest",
    "applied_signals",
    "apply_signals",
    "as_observation",
    "by_memory",
    "cost_interval",
    "fold_in",
    "observe",
    "outcome_key",
    "preview",
    "priced",
    "queue_path",
    "queue_signals",
    "read_queue",
    "rebuild_memory",
    "steps_interval",
    "success_interval",
    "verify_memory",
    "waiting_signals",
]
