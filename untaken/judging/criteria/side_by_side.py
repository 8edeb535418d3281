"""Two agents by each criterion, over the tasks that both ran (§8)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean

from msgspec import Struct

from untaken import stats
from untaken.errors import Score, Unscored
from untaken.judging.criteria.criterion import QuantifierRun
from untaken.judging.criteria.means import level_interval, levels_by_subject

ALIKE = 1e-12
ONE_TASK = Unscored("one common task has no spread")


class CriterionDifference(Struct, frozen=True, kw_only=True):
    """One criterion, two agents; a task counts once, as the mean over its repeats.

    Attributes:
        first, second: mean level over `tasks`, 0 is worst, with 95% intervals (`level_interval`).
        tasks: that both ran and that have a value for both; `runs` of both together.
        difference: first − second, task by task, with its 95% interval.
        top: the best level.
    """

    name: str
    first: float
    first_low: Score
    first_high: Score
    second: float
    second_low: Score
    second_high: Score
    difference: float
    low: Score
    high: Score
    tasks: int
    runs: int
    top: int

    @property
    def clear_difference(self) -> bool:
        """Whether the interval of the difference leaves 0 out."""
        if isinstance(self.low, Unscored) or isinstance(self.high, Unscored):
            return False
        return self.low > 0 or self.high < 0


def agents_of(passes: Iterable[QuantifierRun]) -> tuple[str, ...]:
    """The agents whose runs have values, by name; recorded replies do not say whose they are."""
    return tuple(sorted({item.agent for run in passes for item in run.items if item.agent}))


def compare_agents(
    passes: Sequence[QuantifierRun], first: str, second: str
) -> tuple[CriterionDifference, ...]:
    """Both agents by each criterion that has values for both on some common task, in the criteria's order."""
    tops = {c.name: len(c.accepted_values) - 1 for run in passes for c in run.criteria}
    found = (_compared(passes, name, (first, second), top) for name, top in tops.items())
    return tuple(one for one in found if one is not None)


def _compared(
    passes: Sequence[QuantifierRun], name: str, agents: tuple[str, str], top: int
) -> CriterionDifference | None:
    whose = {item.subject: (item.agent, item.task_id) for run in passes for item in run.items}
    levels: dict[tuple[str, str], list[float]] = {}
    for subject, given in levels_by_subject(passes, name).items():
        if whose[subject][0] in agents:
            levels.setdefault(whose[subject], []).append(fmean(given))
    tasks = [task for agent, task in levels if agent == agents[0] and (agents[1], task) in levels]
    if not tasks:
        return None
    first, second = ([fmean(levels[agent, task]) for task in tasks] for agent in agents)
    apart = [a - b for a, b in zip(first, second, strict=True)]
    (first_low, first_high), (second_low, second_high) = (level_interval(v, top) for v in (first, second))
    low, high = _interval_of_difference(apart, top)
    return CriterionDifference(
        name=name,
        first=fmean(first),
        first_low=first_low,
        first_high=first_high,
        second=fmean(second),
        second_low=second_low,
        second_high=second_high,
        difference=fmean(apart),
        low=low,
        high=high,
        tasks=len(tasks),
        runs=sum(len(levels[agent, task]) for agent in agents for task in tasks),
        top=top,
    )


def _interval_of_difference(apart: Sequence[float], top: int) -> tuple[Score, Score]:
    if len(apart) < 2:
        return ONE_TASK, ONE_TASK
    most = float(top)
    if max(apart) - min(apart) > ALIKE:
        return stats.mean_interval(apart, least=-most, most=most)
    return stats.interval_of_alike(apart[0], len(apart), most=most)
