"""Where a run's recorded head meets the chain that was just added (docs/concepts.md §1).

The chain has been read and compared with its own sidecar before; here it meets what the workspace recorded
earlier. The first chain seen of a run is recorded, and from then on the run is anchored.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from untaken.errors import Finding, Where
from untaken.ledger import Head, Integrity, IntegrityVerdict

WAITS: Final = "run-extension-waits"
"""Code of the finding on events that follow a recorded head and wait for somebody to confirm them."""
DIFFERS: Final = "run-conversion-waits"
"""Code of the finding on a conversion whose run is not the recorded one, and waits to be confirmed."""


class Anchored(Struct, frozen=True, kw_only=True):
    """The verdict after the meeting.

    Attributes:
        expected: the head to compare this file's run with whenever it is read again.
        accepted: `expected` is the run's recorded head from now on.
    """

    integrity: Integrity
    expected: Head | None
    accepted: bool
    finding: Finding | None = None

    @classmethod
    def alone(cls, run_id: str, head: Head) -> Anchored:
        """A head that came without its ledger."""
        unseen = Integrity(run_id=run_id, verdict="UNANCHORED", reason="No chain recorded yet.", head=head)
        return cls(integrity=unseen, expected=head, accepted=True)


def anchor(
    own: Integrity,
    *,
    sidecar: Head | None,
    recorded: Head | None,
    extends: bool = False,
    reimported: bool = False,
    reconverted: bool = False,
    earlier: bool = False,
    trusted: bool = False,
) -> Anchored:
    """Compares a run's chain with the head recorded for it.

    Args:
        own: verdict of the chain against its own sidecar, if it came with one.
        sidecar: the head the sidecar gave.
        recorded: the head the workspace holds for this run id.
        extends: the chain's link at the recorded head's end is the recorded one.
        reimported: the recorded head belongs to a conversion of the same foreign format; a new one that
            differs is offered in its place.
        reconverted: besides, everything that the recorded conversion was made from went into this one too,
            and nobody wrote about the run here: the new one takes the place of the recorded one.
        earlier: the recorded chain is this one, and goes on with what was written about the run since.
        trusted: the file is of a folder that its owner opened. An upload moves no recorded head by itself:
            its heads come from the same stranger as its events.
    """
    if own.broken or own.head is None:
        return Anchored(integrity=own, expected=sidecar, accepted=False)
    if earlier:
        reason = "The chain is valid. It matches the recorded one before events were added here."
        return Anchored(
            integrity=replace(own, verdict="INTACT", reason=reason), expected=own.head, accepted=False
        )
    if recorded is None or (reimported and reconverted):
        return Anchored(integrity=_from_now_on(own), expected=own.head, accepted=True)
    if own.head == recorded:
        reason = "The chain is valid and matches the head recorded in this workspace."
        intact = replace(own, verdict="INTACT", reason=reason)
        return Anchored(integrity=intact, expected=recorded, accepted=False)
    # Who writes such a file can write its sidecar, too.
    if extends and own.verdict == "INTACT" and not trusted:
        more = own.head.events - recorded.events
        reason = f"{more} events follow the {recorded.events} recorded here, in an uploaded file"
        return _wait(own, recorded, WAITS, reason)
    if extends and own.verdict == "INTACT":
        note = Finding(
            code="run-extended",
            message="events were appended after the recorded head, and the sidecar's head moved with them",
            where=Where(run=own.run_id),
            severity="note",
        )
        return Anchored(integrity=own, expected=own.head, accepted=True, finding=note)
    if reimported:
        return _wait(own, recorded, DIFFERS, "a new conversion of this run differs from the recorded one")
    return _refuse(own, own.head, recorded, extends=extends)


def _wait(own: Integrity, recorded: Head, code: str, reason: str) -> Anchored:
    """The file is kept; what it says of the run does not count until a person confirms it."""
    note = Finding(
        code=code,
        message=f"{reason}; this does not count until somebody confirms it",
        where=Where(run=own.run_id),
        hint="Confirm it on the Data page if you know where it comes from, or remove the file.",
        severity="warning",
    )
    integrity = replace(own, verdict="ALTERED", reason=f"The links are valid, but {reason}: not confirmed.")
    return Anchored(integrity=integrity, expected=recorded, accepted=False, finding=note)


def _from_now_on(own: Integrity) -> Integrity:
    if own.verdict == "INTACT":
        return own
    return replace(own, reason=f"{own.reason}; its head is now recorded, so later changes will be detected")


def _refuse(own: Integrity, head: Head, recorded: Head, *, extends: bool) -> Anchored:
    known = f"{recorded.events} events ending in {recorded.sha256[:12]}…"
    verdict: IntegrityVerdict = "ALTERED"
    if head.events < recorded.events:
        verdict, reason = "TRUNCATED", f"{head.events} events, where {known} are recorded"
    elif extends:
        more = head.events - recorded.events
        reason = f"the chain goes on by {more} after the recorded {known}, with no intent recorded"
    else:
        reason = f"a different chain than the one recorded here ({known})"
    finding = Finding(
        code="run-head-differs",
        message=reason,
        where=Where(run=own.run_id),
        hint="Use a new run id for a new run. If the file was replaced, check its source.",
        severity="error",
    )
    integrity = replace(own, verdict=verdict, reason=f"The links are valid, but: {reason}.")
    return Anchored(integrity=integrity, expected=recorded, accepted=False, finding=finding)
