"""How many failure modes are still to be found, and what to read for them (§9)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, Literal

from msgspec import Struct

from untaken import stats
from untaken.analysis.failure_modes.reading import ReadRun, modes_seen
from untaken.errors import Unscored
from untaken.numbers import counted, decimal

POINTS: Final = 200
"""Points of a curve at the most."""


class Saturation(Struct, frozen=True, kw_only=True):
    """What reading more failed runs would show.

    Attributes:
        unseen: Good and Turing's estimate for tasks like those of the failed runs that were read: a sample is
            a task, in which a mode counts once.
        again: the same for more runs of these tasks, where a sample is a run; of the tasks that were read
            twice or more, and unscored with fewer than two of them.
        failed: failed runs that were read; `unread`: those that nobody has read; `successes`: successful runs
            that were read, which do not count here.
        curve: (runs read, modes seen by then on average over all orders of reading), from 0 on.
    """

    unseen: stats.Unseen
    again: stats.Unseen | Unscored
    failed: int
    unread: int
    successes: int
    curve: tuple[tuple[int, float], ...]

    @property
    def target(self) -> Literal["tasks like these"]:
        """What `unseen` is about."""
        return "tasks like these"

    @property
    def words(self) -> str:
        """The estimate as sentences, with what to do next."""
        seen = self.unseen
        if not self.failed and not self.unread:
            return "No run here failed."
        if isinstance(seen.share, Unscored):
            return "No failed run has a failure mode yet. Read one and name what failed."
        if isinstance(seen.low, Unscored) or isinstance(seen.high, Unscored):
            return "One task read. Read a few more to see how much is still unseen."
        each = decimal(self.failed / seen.samples, 1).removesuffix(".0")
        share = f"{seen.share:.0%} ({seen.low:.0%} to {seen.high:.0%})"
        return (
            f"In tasks like these, read in {each} failed {'run' if each == '1' else 'runs'} each, about "
            f"{share} of what goes wrong is of a mode not seen yet "
            f"({counted(seen.samples, 'task')}). {self._next(seen.high)} {self._of_these}"
        )

    def _next(self, high: float) -> str:
        # The upper end: said by the estimate alone, it was true in 0 to 54% of draws, by simulated world.
        if high <= stats.AIM:
            return "At least 95% is seen."
        if not self.unread:
            return "Every failed run here was read."
        more = self.unseen.more
        if not more:
            return "Read failed runs of more tasks to be sure that 95% is seen."
        return f"Read failed runs of about {counted(more, 'more task')} to see 95%."

    @property
    def _of_these(self) -> str:
        again = self.again
        if isinstance(again, Unscored):
            return f"More runs of these tasks: {again.reason}."
        if isinstance(again.share, Unscored) or isinstance(again.low, Unscored):
            return "More runs of these tasks: cannot tell."
        return f"More runs of these tasks: about {again.share:.0%} ({again.low:.0%} to {again.high:.0%})."


def saturation(runs: Iterable[ReadRun], *, unread: int) -> Saturation:
    """Estimates what share of what goes wrong is of a mode that nobody has seen yet."""
    everyone = list(runs)
    failed = [run for run in everyone if run.failed]
    by_task: dict[str, list[ReadRun]] = defaultdict(list)
    for run in failed:
        by_task[run.task_id].append(run)
    modes = modes_seen(failed)
    in_tasks = [sum(any(run.has(mode) for run in some) for some in by_task.values()) for mode in modes]
    return Saturation(
        unseen=stats.unseen_share(in_tasks, len(by_task)),
        again=_again([some for some in by_task.values() if len(some) > 1]),
        failed=len(failed),
        unread=unread,
        successes=len(everyone) - len(failed),
        curve=_curve([sum(run.has(mode) for run in failed) for mode in modes], len(failed)),
    )


def _again(tasks: Sequence[Sequence[ReadRun]]) -> stats.Unseen | Unscored:
    """For more runs of the same tasks, each of which was read at least twice."""
    if len(tasks) < 2:
        return Unscored(f"cannot tell: {'only one task' if tasks else 'no task'} was read in two runs")
    runs = [run for some in tasks for run in some]
    return stats.unseen_share([sum(run.has(mode) for run in runs) for mode in modes_seen(runs)], len(runs))


def _curve(counts: list[int], runs: int) -> tuple[tuple[int, float], ...]:
    """Rarefaction: a mode of c of m runs is missed by the first t with probability C(m − c, t) / C(m, t)."""
    step = max(1, runs // POINTS)
    missed, points = [1.0] * len(counts), [(0, 0.0)]
    for read in range(1, runs + 1):
        # Each factor from the one before it: the binomials themselves grow too large.
        missed = [
            share * max(0, runs - count - read + 1) / (runs - read + 1)
            for share, count in zip(missed, counts, strict=True)
        ]
        if read % step == 0 or read == runs:
            points.append((read, len(counts) - sum(missed)))
    return tuple(points) if counts else ()
