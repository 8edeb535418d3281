"""How many failure modes are still to be found, and how many more runs to read for them (§9)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from untaken import stats
from untaken.errors import Unscored
from untaken.failure_modes.reading import ReadRun, modes_seen

POINTS: Final = 200
"""Points of a curve at the most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Saturation:
    """What reading more failed runs would show.

    Attributes:
        unseen: Good and Turing's estimate over the failed runs that were read.
        unread: failed runs that nobody has read; `successes`: successful runs that were read, which do not
            count here.
        curve: (runs read, modes seen by then on average over all orders of reading), from 0 on.
    """

    unseen: stats.Unseen
    unread: int
    successes: int
    curve: tuple[tuple[int, float], ...]

    @property
    def words(self) -> str:
        """The estimate as a sentence, with what to do next."""
        seen = self.unseen
        if isinstance(seen.share, Unscored):
            return "No failure mode assigned yet. Read a failed run and assign one."
        if seen.samples < 2:
            return "One run read. Read a few more to see how much is still unseen."
        share = f"About {seen.share:.0%} of failures are of a mode nobody has seen yet"
        if isinstance(seen.low, float) and isinstance(seen.high, float):
            share += f" (95% interval {seen.low:.0%} to {seen.high:.0%})"
        return f"{share}. {self._next}"

    @property
    def _next(self) -> str:
        more = self.unseen.more
        if not more:
            return "At least 95% is probably seen; the interval shows how sure this is."
        runs = "run" if more == 1 else "runs"
        if not self.unread:
            return f"About {more:,} more failed {runs} would show 95%; every failed run here was read."
        if more > self.unread:
            return (
                f"Read about {more:,} more failed {runs} to see 95%; there are only {self.unread:,} unread."
            )
        return f"Read about {more:,} more failed {runs} to see 95%."


def saturation(runs: Iterable[ReadRun], *, unread: int) -> Saturation:
    """Estimates what share of failures is of a mode that nobody has seen yet."""
    everyone = list(runs)
    failed = [run for run in everyone if run.failed]
    counts = [sum(run.has(mode) for run in failed) for mode in modes_seen(failed)]
    return Saturation(
        unseen=stats.unseen_share(counts, len(failed)),
        unread=unread,
        successes=len(everyone) - len(failed),
        curve=_curve(counts, len(failed)),
    )


def _curve(counts: list[int], runs: int) -> tuple[tuple[int, float], ...]:
    """Rarefaction: a mode of c of m runs is missed by the first t with probability C(m − c, t) / C(m, t)."""
    step = max(1, runs // POINTS)
    missed, points = [1.0] * len(counts), [(0, 0.0)]
    for read in range(1, runs + 1):
        missed = [
            share * max(0, runs - count - read + 1) / (runs - read + 1)
            for share, count in zip(missed, counts, strict=True)
        ]
        if read % step == 0 or read == runs:
            points.append((read, len(counts) - sum(missed)))
    return tuple(points) if counts else ()
