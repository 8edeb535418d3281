"""The JSON documents of policy memory: what it says, what waits, what was folded in, what differs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from untaken.answers.documents import Document, entry, finding_entries
from untaken.errors import Finding
from untaken.memory import Applied, Difference, Effect, PolicyMemory, Signal, Snapshot, ValueRange


def memory_document(snapshot: Snapshot, *, findings: Iterable[Finding] = ()) -> Document:
    """``untaken.memory/1``: the record of each skill in each context."""
    spans = snapshot.spans()
    return {
        "schema": "untaken.memory/1",
        "as_of": snapshot.as_of.isoformat() if snapshot.as_of else None,
        "digest": snapshot.digest,
        "observations": snapshot.observations,
        "runs": snapshot.runs,
        "cost_unit": snapshot.cost_unit,
        **_span("cost", spans.cost),
        **_span("steps", spans.steps),
        "records": [entry(record) for record in snapshot.records()],
        "findings": finding_entries(findings),
    }


def _span(figure: str, span: ValueRange | None) -> Document:
    if span is None:
        return {figure: None, f"{figure}_reason": f"no known run records {figure}"}
    return {figure: entry(span)}


def memory_queue_document(
    waiting: Sequence[Signal], *, queued: int, applied: int, findings: Iterable[Finding] = ()
) -> Document:
    """``untaken.memory-queue/1``: the weak signals that wait.

    Args:
        waiting: queued and not in the memory.
        queued: how many of them are new in the queue, or in a newer form.
        applied: how many weak signals the memory holds.
        findings: what was noticed.
    """
    return {
        "schema": "untaken.memory-queue/1",
        "queued": queued,
        "applied": applied,
        "waiting": [entry(signal) for signal in waiting],
        "findings": finding_entries(findings),
    }


def memory_preview_document(snapshot: Snapshot, effects: Sequence[Effect]) -> Document:
    """``untaken.memory-preview/1``: what each waiting signal would do to its estimate in the snapshot."""
    return {
        "schema": "untaken.memory-preview/1",
        "digest": snapshot.digest,
        "effects": [entry(effect.signal) | entry(effect) for effect in effects],
    }


def memory_apply_document(applied: Applied) -> Document:
    """``untaken.memory-apply/1``: what was folded in, and what still waits."""
    return {
        "schema": "untaken.memory-apply/1",
        "digest": applied.memory.snapshot().digest,
        "applied": [entry(observed) for observed in applied.observations],
        "waiting": [entry(signal) for signal in applied.waiting],
    }


def memory_verify_document(
    memory: PolicyMemory, differences: Sequence[Difference], *, findings: Iterable[Finding] = ()
) -> Document:
    """``untaken.memory-verify/1``: whether a memory file is what it was made of."""
    return {
        "schema": "untaken.memory-verify/1",
        "same": not differences,
        "digest": memory.snapshot().digest,
        "observations": len(memory),
        "differences": [entry(difference) for difference in differences],
        "findings": finding_entries(findings),
    }
