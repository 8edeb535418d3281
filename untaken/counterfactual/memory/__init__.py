"""Policy memory: what history says about a skill in a context (§3 of docs/concepts.md)."""

from untaken.counterfactual.memory.record import (
    cost_interval as cost_interval,
    steps_interval as steps_interval,
    success_interval as success_interval,
)
from untaken.counterfactual.memory.record import (
    RUNS_NAMED as RUNS_NAMED,
    Observed as Observed,
    Record as Record,
    Spans as Spans,
    ValueRange as ValueRange,
)
from untaken.counterfactual.memory.observing import observe as observe, priced as priced
from untaken.counterfactual.memory.policy import (
    Memories as Memories,
    PolicyMemory as PolicyMemory,
    by_memory as by_memory,
)
from untaken.counterfactual.memory.preview import Effect as Effect, Flag as Flag, preview as preview
from untaken.counterfactual.memory.queue import (
    applied_digest as applied_digest,
    applied_signals as applied_signals,
    apply_signals as apply_signals,
    fold_in as fold_in,
    queue_path as queue_path,
    queue_signals as queue_signals,
    read_queue as read_queue,
    waiting_signals as waiting_signals,
)
from untaken.counterfactual.memory.rebuild import (
    rebuild_memory as rebuild_memory,
    verify_memory as verify_memory,
)
from untaken.counterfactual.memory.signals import (
    Direction as Direction,
    Signal as Signal,
    as_observation as as_observation,
)
from untaken.counterfactual.memory.snapshot import Snapshot as Snapshot
from untaken.counterfactual.memory.sums import WEIGHTS as WEIGHTS
