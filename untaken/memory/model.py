"""Policy memory: an append-only log of what happened, and what a fold of it says (domain §3)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

from untaken.errors import Score


class Observed(Struct, frozen=True, kw_only=True, gc=False):
    """One line of the log: how a skill fared in a context, in one run.

    `kind` ``outcome`` is an observation, ``weak`` a speculation with a smaller `weight`. `key` makes an append
    idempotent. `cost` and `steps` are ``None`` where the run did not record them.
    """

    key: str
    kind: Literal["outcome", "weak"]
    skill: str
    context_hash: str
    success: Annotated[float, Meta(ge=0.0, le=1.0)]
    cost: float | None
    steps: float | None
    weight: float
    run_id: str
    ts: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """History of one (skill, context) in a snapshot.

    Attributes:
        n: number of ``outcome`` records (weak ones never count).
        success_rate: weighted mean of success over both kinds; weak weight capped at half of `n`.
        avg_cost, avg_steps: means over outcome records that have the figure; unscored where none has.
        runs: run ids behind the outcomes, in log order.
    """

    skill: str
    context_hash: str
    n: int
    success_rate: Score
    avg_cost: Score
    avg_steps: Score
    weak_weight: float
    runs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Smallest and largest of a quantity over all runs in the snapshot, for normalising."""

    low: float
    high: float

    def normalise(self, value: float) -> float:
        """(value − low) / (high − low), clamped to [0, 1]; 0 where high = low (domain §2.3)."""
        if self.high <= self.low:
            return 0.0
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))
