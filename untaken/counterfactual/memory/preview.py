"""What each waiting signal would do to its estimate, before it is applied (§3).

A signal claims a success rate of its own: 0.7 for a selected skill *raises* an estimate below 0.7, though it
is meant against the skill. Such signals are flagged, and so are those that move nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from untaken.counterfactual.memory.record import Record
from untaken.counterfactual.memory.signals import Signal, as_observation
from untaken.counterfactual.memory.snapshot import Snapshot
from untaken.counterfactual.memory.sums import WEAK_SHARE, Sums, summed
from untaken.errors import Score, Unscored, number

Flag = Literal["none", "against", "no_effect", "no_outcome"]
_EQUAL: Final = 1e-12
"""Estimates closer than this are one."""
_ANY: Final = datetime.min.replace(tzinfo=UTC)
"""A signal's moment plays no part in what it does."""
_NOTHING: Final = Unscored("no outcome of the skill was observed in this context")


class Effect(Struct, frozen=True, kw_only=True):
    """What one signal would do.

    Attributes:
        n: outcomes behind the estimate.
        before: current success rate of (skill, context); unscored without an outcome.
        after: the same with this signal alone; `after_all` with all that wait for the same (skill, context).
        weak_before, weak_after: weak weight in these two; `cap`: what it can never exceed.
        flag: ``against`` where the estimate moves against the signal's direction, ``no_effect`` where it
            does not move, ``no_outcome`` if there is none; else ``none``.
        flag_reason: why, in words; empty without a flag.
    """

    signal: Signal
    n: int
    before: Score
    after: Score
    after_all: Score
    weak_before: float
    weak_after: float
    cap: float
    flag: Flag
    flag_reason: str

    @property
    def advised(self) -> bool:
        """Whether to apply it: it is supported, and does not push its estimate against its direction."""
        return self.signal.supported and self.flag != "against"

    @property
    def move(self) -> float:
        """How far this signal alone moves the estimate; 0 if there is none."""
        return (number(self.after) or 0.0) - (number(self.before) or 0.0)


def preview(snapshot: Snapshot, signals: Iterable[Signal]) -> tuple[Effect, ...]:
    """What each signal would do to its estimate in this snapshot, in the order given."""
    given = tuple(signals)
    together: defaultdict[tuple[str, str], list[Signal]] = defaultdict(list)
    for signal in given:
        together[signal.skill, signal.context_hash].append(signal)
    whole = {place: _added(some) for place, some in together.items()}
    records = {place: snapshot.record(*place) for place in together}
    alike: dict[tuple[object, ...], Effect] = {}  # thousands of signals make a few different claims
    found = []
    for signal in given:
        place = signal.skill, signal.context_hash
        claim = *place, signal.outcome, signal.direction
        if claim not in alike:
            alike[claim] = _effect(signal, records[place], whole[place])
        found.append(replace(alike[claim], signal=signal))
    return tuple(found)


def _effect(signal: Signal, record: Record | None, everything: Sums) -> Effect:
    if record is None:
        return Effect(
            signal=signal, n=0, before=_NOTHING, after=_NOTHING, after_all=_NOTHING, weak_before=0.0,
            weak_after=0.0, cap=0.0, flag="no_outcome", flag_reason=_NOTHING.reason,
        )  # fmt: skip
    now, then = record.sums, record.sums.plus(_added([signal]))
    flag, reason = _flagged(signal, now, then)
    return Effect(
        signal=signal,
        n=record.n,
        before=now.success_rate,
        after=then.success_rate,
        after_all=now.plus(everything).success_rate,
        weak_before=now.weak_weight,
        weak_after=then.weak_weight,
        cap=WEAK_SHARE * record.n,
        flag=flag,
        flag_reason=reason,
    )


def _flagged(signal: Signal, now: Sums, then: Sums) -> tuple[Flag, str]:
    before, after = number(now.success_rate) or 0.0, number(then.success_rate) or 0.0
    if abs(after - before) < _EQUAL:
        if then.weak_weight == now.weak_weight:
            return "no_effect", f"the weak weight is at its cap, {WEAK_SHARE * now.n:g}"
        return "no_effect", f"the estimate is {signal.outcome:g} already"
    if (after > before) == (signal.direction == "positive"):
        return "none", ""
    moves = "raises" if after > before else "lowers"
    wanted = "for" if signal.direction == "positive" else "against"
    return "against", f"meant {wanted} the skill, but it {moves} the estimate, {before:.3f}, to {after:.3f}"


def _added(signals: Iterable[Signal]) -> Sums:
    return summed(as_observation(signal, ts=_ANY) for signal in signals)
