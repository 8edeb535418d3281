"""The JSON documents of policy memory: what it says, what waits, what was folded in, what differs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from untaken.counterfactual import (
    Applied,
    Difference,
    Effect,
    Observed,
    Record,
    Signal,
    Snapshot,
    ValueRange,
)
from untaken.errors import Finding, Unscored
from untaken.views.documents import Count, Keys, Part

MEMORY_DOCUMENT: Final = Keys(
    Snapshot,
    "as_of digest observations runs cost_unit cost steps records findings",
    schema="untaken.memory/1",
    as_of=str | None,
    cost=ValueRange | Unscored,
    steps=ValueRange | Unscored,
    records=[Keys(Record, "*")],
)
"""The record of each skill in each context."""
QUEUE_DOCUMENT: Final = Keys.given(
    schema="untaken.memory-queue/1", queued=Count, applied=Count, waiting=[Signal], findings=[Finding]
)
"""The weak signals that wait.

`queued` are new in the queue, or in a newer form; `applied` are in the memory; `waiting` in the queue alone.
"""
PREVIEW_DOCUMENT: Final = Keys.given(
    schema="untaken.memory-preview/1", digest=str, effects=[Keys(Effect, "signal.* *")]
)
"""What each waiting signal would do to its estimate in the snapshot."""
_WEAK: Final = Keys(Observed, "key kind skill context_hash success cost steps weight run_id ts cost_unit")
APPLY_DOCUMENT: Final = Keys.given(
    schema="untaken.memory-apply/1", digest=str, applied=[_WEAK], waiting=[Signal]
)
"""What was folded in, and what still waits."""
VERIFY_MEMORY_DOCUMENT: Final = Keys.given(
    schema="untaken.memory-verify/1",
    same=bool,
    digest=str,
    observations=Count,
    differences=[Difference],
    findings=[Finding],
)
"""Whether a memory file is what it was made of."""


def memory_document(snapshot: Snapshot, *, findings: Sequence[Finding] = ()) -> Part:
    """The document of `snapshot`."""
    spans = snapshot.spans()
    return MEMORY_DOCUMENT(
        snapshot,
        as_of=snapshot.as_of.isoformat() if snapshot.as_of else None,
        cost=spans.cost or Unscored("no known run records cost"),
        steps=spans.steps or Unscored("no known run records steps"),
        records=list(snapshot.records()),
        findings=findings,
    )


def memory_apply_document(applied: Applied) -> Part:
    """The document of signals that were `applied`."""
    return APPLY_DOCUMENT(
        digest=applied.memory.snapshot().digest,
        applied=applied.observations,
        waiting=applied.waiting,
    )
