"""Policy memory at a moment (§3)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from msgspec import Struct

from untaken.counterfactual.memory.record import Observed, Record, Spans, ValueRange

if TYPE_CHECKING:
    from untaken.counterfactual.memory.history import History, Series


class Snapshot(Struct, frozen=True, kw_only=True):
    """A pure fold of the log up to a moment.

    An outcome is known from its run's RUN_FINISHED.ts on, that very moment included: a run that starts at or
    after it may use it.

    Attributes:
        as_of: the moment; ``None`` for everything in the log.
        cost_unit: what costs are counted in; ``None`` where no outcome has a cost.
        observations: number of observations known.
    """

    history: History
    as_of: datetime | None
    cost_unit: str | None
    observations: int

    @property
    def digest(self) -> str:
        """Content digest: SHA-256 of the canonical lines known at the moment, in order of (ts, key)."""
        return self.history.digest(self.observations)

    @property
    def runs(self) -> int:
        """Number of runs with a known outcome."""
        return self.history.runs(self.observations)

    @property
    def costs(self) -> ValueRange | None:
        """Smallest and largest cost over all known runs; ``None`` where none is priced."""
        return self.spans().cost

    @property
    def steps(self) -> ValueRange | None:
        """Smallest and largest number of steps over all known runs."""
        return self.spans().steps

    def spans(self, *, without_run: str | None = None) -> Spans:
        """Both spans, over all known runs but one."""
        return Spans(
            cost=self.history.span("cost", self.observations, without_run),
            steps=self.history.span("steps", self.observations, without_run),
        )

    def record(self, skill: str, context_hash: str, *, without_run: str | None = None) -> Record | None:
        """What is known of the skill in the context; ``None`` without any outcome.

        Args:
            skill: what would be, or was, selected.
            context_hash: the situation, exactly as the ledger names it.
            without_run: leave out all that this run put in, exactly as if it had never been logged.
        """
        return self._record(self.history.series(skill, context_hash), without_run)

    def _record(self, series: Series | None, without: str | None) -> Record | None:
        if series is None:
            return None
        if without is None or not self.knows_run(without):
            return series.record(self.observations)
        own = self.history.share(without, series.place, self.observations)
        if not any(own):  # the run never took the skill in this context
            return series.record(self.observations)
        sums = series.sums(self.observations).minus(own)
        return series.described(sums, self.observations, without if own.n else None)

    def course(self, skill: str, context_hash: str) -> Iterator[tuple[Observed, Record | None]]:
        """Each known observation of the skill in the context, and what was known after it, in log order."""
        if series := self.history.series(skill, context_hash):
            for position in series.known(self.observations):
                yield self.history.log[position], series.record(position + 1)

    def records(self) -> Iterator[Record]:
        """Every record with an outcome, by skill and context."""
        for skill, context_hash in self.history.skills():
            if record := self.record(skill, context_hash):
                yield record

    def knows_run(self, run_id: str) -> bool:
        """Whether the run has put anything into what is known."""
        return bool(self.history.of_run(run_id, self.observations))

    def at(self, moment: datetime) -> Snapshot:
        """The memory at an earlier moment, never later than this snapshot's own."""
        known = min(self.observations, self.history.cut(moment))
        as_of = moment if self.as_of is None else min(moment, self.as_of)
        return Snapshot(history=self.history, as_of=as_of, cost_unit=self.cost_unit, observations=known)
