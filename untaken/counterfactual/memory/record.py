"""Policy memory: an append-only log of what happened, and what a fold of it says (§3 of docs/concepts.md)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from untaken import limits
from untaken.counterfactual.memory.sums import Spread, Sums
from untaken.errors import Score
from untaken.ledger import Instant, Layers, Name, check_layers

RUNS_NAMED: Final = 20
"""Most run ids that a record names; it counts all of them."""
Kind = Literal["outcome", "weak"]
Amount = Annotated[float, Meta(ge=0.0)]


class Observed(Struct, frozen=True, kw_only=True, gc=False, forbid_unknown_fields=True):
    """One line of the log: how a skill fared in a context, in one run.

    `kind` ``outcome`` is an observation, ``weak`` a speculation with a smaller `weight`. `key` makes an
    append idempotent. `cost` and `steps` are the run's own, ``None`` where it did not record them. `ts` is
    the moment from which the observation is known: the run's RUN_FINISHED. `context_layers` is set if the
    decision point had layers (never in a ``weak`` one, which only concerns the finest context).
    `task_id`, `agent`, `model`, `version` and `prompt_version` are the run's, as far as they are known, and
    `started` is when it began; a ``weak`` one has none of them, nor have files of earlier versions all.
    `named` is what the run's metadata has under the names that the workspace adds to its identity.
    `trail` is set if the run may have copies among those that the memory was built of (`Run.trail`).
    """

    key: Annotated[str, Meta(min_length=1, max_length=limits.MEMORY_KEY_CHARS)]
    kind: Kind
    skill: Name
    context_hash: Name
    success: Annotated[float, Meta(ge=0.0, le=1.0)]
    cost: Amount | None
    steps: Amount | None
    weight: Annotated[float, Meta(gt=0.0, le=1.0)]
    run_id: Name
    ts: Instant
    cost_unit: str = "usd"
    # UNSET is not written: lines of earlier versions, which lack a field, stay canonical.
    context_layers: Layers | UnsetType = UNSET
    task_id: Name | UnsetType = UNSET
    agent: Name | UnsetType = UNSET
    model: str | UnsetType = UNSET
    version: str | UnsetType = UNSET
    prompt_version: str | UnsetType = UNSET
    started: Instant | UnsetType = UNSET
    trail: str | UnsetType = UNSET
    named: tuple[tuple[Name, str], ...] | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.context_layers is not UNSET:
            check_layers(self.context_hash, self.context_layers)

    @property
    def without_trail(self) -> Observed:
        """What it says by itself: a trail says that there are other runs, which may be later ones."""
        return self if self.trail is UNSET else replace(self, trail=UNSET)

    @property
    def unit(self) -> tuple[object, ...]:
        """What copies of its run have in common, and nobody else: they count as one run in tests (§2a)."""
        if self.trail is UNSET:
            return (self.run_id,)
        identity = self.agent, self.model, self.version, self.prompt_version, self.named
        return self.task_id, *identity, self.trail

    @property
    def layers(self) -> tuple[str, ...]:
        """Every context that it counts in, from fine to coarse."""
        return (self.context_hash,) if self.context_layers is UNSET else self.context_layers


@dataclass(frozen=True, kw_only=True)
class Record:
    """History of one (skill, context) in a snapshot.

    Attributes:
        n: number of ``outcome`` records (weak ones never count), at least 1.
        success_rate: weighted mean of success over both kinds; weak weight capped at half of `n`.
        avg_cost, avg_steps: means over outcome records that have the figure; unscored where none has.
        weak_weight: weight that the weak records have in `success_rate`, after the cap.
        n_runs: number of different runs behind the outcomes.
        sums: what all of this is computed from.
        oldest, newest: from when the first and the last of the outcomes were known.
        runs: their ids in log order, the latest `RUNS_NAMED` of them (naming all would make N evaluations
            O(N²)).
    """

    skill: str
    context_hash: str
    n: int
    success_rate: Score
    avg_cost: Score
    avg_steps: Score
    weak_weight: float
    n_runs: int
    runs: tuple[str, ...]
    sums: Sums = field(repr=False)
    oldest: datetime
    newest: datetime

    @cached_property
    def spread(self) -> Spread:
        """How far the outcomes scatter; computed when first asked for."""
        return self.sums.spread


class ValueRange(Struct, frozen=True, kw_only=True, gc=False):
    """Smallest and largest of a quantity over all runs in the snapshot, for normalising."""

    low: float
    high: float

    def normalise(self, value: float) -> float:
        """(value − low) / (high − low), clamped to [0, 1]; 0 where high = low (§2.3)."""
        if self.high <= self.low:
            return 0.0
        # A run is left out of the spans that it is scored by: its own figures can lie outside.
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))


class Spans(Struct, frozen=True, kw_only=True, gc=False):
    """Span of cost and of steps; ``None`` where no run in the snapshot has the figure."""

    cost: ValueRange | None
    steps: ValueRange | None
