"""Policy memory: what history says about a skill in a context (§3 of docs/concepts.md)."""

from untaken.memory.history import RUNS_NAMED
from untaken.memory.model import Observed, Record, Span, Spans
from untaken.memory.observing import observe, outcome_key, priced
from untaken.memory.policy import PolicyMemory
from untaken.memory.snapshot import Snapshot
from untaken.memory.sums import WEAK_SHARE, WEIGHTS, Spread

__all__ = [
    "RUNS_NAMED",
    "WEAK_SHARE",
    "WEIGHTS",
    "Observed",
    "PolicyMemory",
    "Record",
    "Snapshot",
    "Span",
    "Spans",
    "Spread",
    "observe",
    "outcome_key",
    "priced",
]
