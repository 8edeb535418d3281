"""Weak signals: what an evaluation suggests of a skill, until somebody decides to believe it (§3)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta, Struct

from untaken import limits
from untaken.counterfactual.memory.lines import encode, parse
from untaken.counterfactual.memory.record import Observed
from untaken.counterfactual.memory.sums import WEIGHTS
from untaken.errors import UntakenError, Where
from untaken.ledger import Count, Instant, Name

Direction = Literal["negative", "positive"]
_HINT: Final = "remove the queue and fill it again with `untaken memory queue`; applied signals are kept"


class Signal(Struct, frozen=True, kw_only=True, gc=False, forbid_unknown_fields=True):
    """A weak signal: `direction` is what it is meant to do to the skill's estimate.

    Attributes:
        key: makes queueing and applying idempotent; once applied, the key of a ``weak`` observation.
        outcome: success that it claims, 0 to 1.
        supported: one of the insights behind it has support ``supported`` and an advantage above 0.
        delta: the largest delta of the insights behind it.
        ended: when the run finished; the signal is never known before.
    """

    key: Annotated[str, Meta(min_length=1, max_length=limits.MEMORY_KEY_CHARS)]
    run_id: Name
    decision_point: Count
    skill: Name
    context_hash: Name
    outcome: Annotated[float, Meta(ge=0.0, le=1.0)]
    direction: Direction
    supported: bool
    delta: float
    ended: Instant


_decoder = msgspec.json.Decoder(Signal)


def as_observation(signal: Signal, *, ts: datetime) -> Observed:
    """The signal as policy memory takes it in: weak, without cost or steps of its own, known from `ts` on."""
    return Observed(
        key=signal.key,
        kind="weak",
        skill=signal.skill,
        context_hash=signal.context_hash,
        success=signal.outcome,
        cost=None,
        steps=None,
        weight=WEIGHTS["weak"],
        run_id=signal.run_id,
        ts=max(ts, signal.ended).astimezone(UTC),  # never known before its run ended
    )


def signal_line(signal: Signal) -> bytes:
    """The signal as one canonical line, newline included."""
    return encode(signal) + b"\n"


def parse_signal(line: bytes, where: Where) -> Signal:
    """The signal on one line of a queue, its moment in UTC.

    Raises:
        UntakenError: ``memory-malformed``.
    """
    signal = parse(line, _decoder, where, what="a weak signal", hint=_HINT)
    try:
        return msgspec.structs.replace(signal, ended=signal.ended.astimezone(UTC))
    except OverflowError as error:
        message = "not a weak signal: the time is outside the supported range in UTC"
        raise UntakenError("memory-malformed", message, where=where, hint=_HINT) from error


def same_signal(known: Signal, other: Signal, where: Where) -> None:
    """Make sure that two signals under one key are one.

    Raises:
        UntakenError: ``memory-conflict``.
    """
    if known != other:
        message = f"the signal {other.key!r} is queued with another payload"
        raise UntakenError(
            "memory-conflict", message, where=where, hint=f"two runs may share one run id: {_HINT}"
        )


def same_meaning(known: Signal, other: Signal, where: Where) -> None:
    """Make sure that two signals under one key are one, but for the figures of their evaluations.

    Raises:
        UntakenError: ``memory-conflict``.
    """
    same_signal(known, msgspec.structs.replace(other, supported=known.supported, delta=known.delta), where)
