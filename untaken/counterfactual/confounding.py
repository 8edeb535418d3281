"""The guard on support: a difference over all runs must hold within task and agent, too (§2a)."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from untaken.counterfactual.model import Direction, Support
from untaken.counterfactual.scoring import common_terms
from untaken.counterfactual.trust import Arm, Trust, compare_arms
from untaken.memory import Snapshot


def compare_within(
    first: Arm, second: Arm | None, threshold: float, snapshot: Snapshot, without: str | None = None
) -> Trust:
    """`compare_arms`, its support `guarded`."""
    trust = compare_arms(first, second, threshold)
    call = Call(trust.support, trust.reason, trust.direction)
    support, reason, direction = guarded(call, first, second, snapshot, without)
    return msgspec.structs.replace(trust, support=support, reason=reason, direction=direction)


class Call(NamedTuple):
    """What is said of a comparison, why, and which side is better where that is supported."""

    support: Support
    reason: str
    direction: Direction | None


def guarded(call: Call, first: Arm, second: Arm | None, snapshot: Snapshot, without: str | None) -> Call:
    """The call, or a weak one where the runs of single tasks and agents do not bear it out.

    Args:
        call: from an interval over all runs; only a supported one is looked at again.
        first: history of the alternative.
        second: history of the selected skill in the same context.
        snapshot: holds the runs behind both.
        without: run that both histories leave out.
    """
    if call.support != "supported" or second is None:
        return call
    from untaken.counterfactual.strata import Sides  # noqa: PLC0415 (loads numpy and scipy)

    context_hash, terms = first.record.context_hash, common_terms(first.placed, second.placed)
    sides = Sides(snapshot, context_hash, first.record.skill, second.record.skill, without)
    doubt = sides.doubt(first.scale, terms, call.direction == "better")
    return call if doubt is None else Call("weak", doubt, None)
