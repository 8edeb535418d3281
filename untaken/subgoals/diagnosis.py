"""What kind of trouble a run was in, and a sentence with its counts (§4)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from untaken.subgoals.model import Diagnosis, NodeScore, Violation
from untaken.subgoals.trace import Trace


class Diagnosed(Struct, frozen=True, kw_only=True, gc=False):
    """A diagnosis and why."""

    diagnosis: Diagnosis
    reason: str


def diagnose(nodes: Sequence[NodeScore], violations: Sequence[Violation], trace: Trace) -> Diagnosed:
    """The first that holds, the gravest first.

    ``unscored``: nothing is known. ``violation``: a sub-goal reached without a critical dependency.
    ``clean``: nothing required is known to be missing. ``not_detecting_errors``: something is missing,
    observations failed, and the plan was recorded but never revised. ``skipping``: more of what is missing
    was never attempted than was attempted in vain; ``inside``: at least as much was attempted in vain. Where
    most of what is missing may or may not have been attempted, that too is ``unscored``.

    Args:
        nodes: the required ones.
        violations: of the run.
        trace: its events.
    """
    known = [node for node in nodes if node.completed is not None]
    if not known:
        what = "none of the required sub-goals has any evidence" if nodes else "no sub-goal is required"
        return Diagnosed(diagnosis="unscored", reason=what)
    critical = [violation for violation in violations if violation.kind == "critical"]
    if critical:
        return Diagnosed(diagnosis="violation", reason=_violation_sentence(critical))
    missing = [node for node in known if not node.completed]
    if not missing:
        return Diagnosed(diagnosis="clean", reason=_clean_sentence(len(nodes), len(known)))
    return _why_missing(missing, len(nodes), trace)


def _why_missing(missing: Sequence[NodeScore], required: int, trace: Trace) -> Diagnosed:
    inside = sum(node.attempted is True for node in missing)
    skipped = sum(node.attempted is False for node in missing)
    unknown = len(missing) - inside - skipped
    head = f"{len(missing)} of {required} required sub-goals not completed"
    if unknown > max(inside, skipped):
        return Diagnosed(diagnosis="unscored", reason=f"{head}; attempts at {unknown} of them are unknown")
    counts = f"{head}: {inside} attempted in vain, {skipped} never attempted"
    counts += f", {unknown} unknown" if unknown else ""
    failures = len(trace.failures)
    if failures and trace.plans and not trace.replans:
        return Diagnosed(
            diagnosis="not_detecting_errors",
            reason=f"{_times(failures, 'observation')} failed and the plan was never revised; {counts}",
        )
    if skipped > inside:
        return Diagnosed(diagnosis="skipping", reason=f"{counts}: look at planning")
    return Diagnosed(diagnosis="inside", reason=f"{counts}: look at tool calls and reasoning")


def _violation_sentence(critical: Sequence[Violation]) -> str:
    first = critical[0].message
    return first if len(critical) == 1 else f"{first}; and {len(critical) - 1} more like it"


def _clean_sentence(required: int, known: int) -> str:
    if known == required:
        return f"all {required} required sub-goals completed"
    return f"all {known} scored sub-goals completed; {required - known} of {required} required are unscored"


def _times(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")
