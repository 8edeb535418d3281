"""The JSON documents of policy memory: what it says, what waits, what was folded in, what differs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

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
from untaken.views.documents import Count, Document, DocumentPart, Flat, Spread, entry
from untaken.views.shapes import Schema, shape


class MemoryDocument(DocumentPart, frozen=True, kw_only=True, tag="untaken.memory/1"):
    """The record of each skill in each context."""

    as_of: str | None
    digest: str
    observations: Count
    runs: Count
    cost_unit: str | None
    cost: ValueRange | Unscored
    steps: ValueRange | Unscored
    records: Sequence[Flat[Record]]
    findings: Sequence[Finding]


def memory_document(snapshot: Snapshot, *, findings: Sequence[Finding] = ()) -> MemoryDocument:
    """The document of `snapshot`."""
    spans = snapshot.spans()
    return MemoryDocument.of(
        snapshot,
        as_of=snapshot.as_of.isoformat() if snapshot.as_of else None,
        cost=spans.cost or Unscored("no known run records cost"),
        steps=spans.steps or Unscored("no known run records steps"),
        records=list(snapshot.records()),
        findings=findings,
    )


class MemoryQueueDocument(DocumentPart, frozen=True, kw_only=True, tag="untaken.memory-queue/1"):
    """The weak signals that wait.

    Attributes:
        queued: how many of them are new in the queue, or in a newer form.
        applied: how many weak signals the memory holds.
        waiting: queued and not in the memory.
    """

    queued: Count
    applied: Count
    waiting: Sequence[Signal]
    findings: Sequence[Finding]


class SignalEffect(DocumentPart, frozen=True, kw_only=True):
    """A waiting signal, and what it would do to its estimate."""

    signal: Spread[Signal]
    effect: Spread[Effect]


class MemoryPreviewDocument(DocumentPart, frozen=True, kw_only=True, tag="untaken.memory-preview/1"):
    """What each waiting signal would do to its estimate in the snapshot."""

    digest: str
    effects: Sequence[SignalEffect]


def _weak_shape() -> Schema:
    """A weak observation: nothing of a run, and the finest layer alone."""
    whole = shape(Observed)
    of_run = "task_id", "agent", "model", "version", "prompt_version", "started", "trail", "named"
    left_out = "context_layers", *of_run
    for name in left_out:
        del whole["properties"][name]
    return whole | {"required": [name for name in whole["required"] if name not in left_out]}


class MemoryApplyDocument(DocumentPart, frozen=True, kw_only=True, tag="untaken.memory-apply/1"):
    """What was folded in, and what still waits."""

    digest: str
    applied: Sequence[Annotated[Document, _weak_shape]]
    waiting: Sequence[Signal]


def memory_apply_document(applied: Applied) -> MemoryApplyDocument:
    """The document of signals that were `applied`."""
    return MemoryApplyDocument(
        digest=applied.memory.snapshot().digest,
        applied=[entry(observed) for observed in applied.observations],
        waiting=applied.waiting,
    )


class MemoryVerifyDocument(DocumentPart, frozen=True, kw_only=True, tag="untaken.memory-verify/1"):
    """Whether a memory file is what it was made of."""

    same: bool
    digest: str
    observations: Count
    differences: Sequence[Difference]
    findings: Sequence[Finding]
