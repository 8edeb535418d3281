"""How likely success was after each plan change, from runs of other tasks (§2d).

From coarse to fine over the layers below the task's own: m_l = (Σ y + k m_{l+1}) / (n + k), starting from the
mean of all other tasks. The run's own task is left out, so a forecast never knows its answer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import Struct

from untaken.counterfactual.plan.changes import Option, PlanDecision, PlanPath
from untaken.counterfactual.plan.statements import Situation, option_in, situations
from untaken.errors import Score, Unscored

PRIOR: Final = 8
"""Runs that the next coarser layer weighs."""
FINEST_PRIOR: Final = 3
"""The same for the finest layer used."""

_ROUNDING: Final = 1e-12

NO_OTHER_TASK: Final = Unscored("no run of another task has an outcome to forecast from")


class _Tally(Struct):
    """Successes and runs, with those of each task, which can be left out."""

    successes: float = 0.0
    runs: int = 0
    by_task: dict[str, list[float]] = msgspec.field(default_factory=lambda: defaultdict(lambda: [0.0, 0]))

    def add(self, task: str, success: bool) -> None:
        self.successes += success
        self.runs += 1
        own = self.by_task[task]
        own[0] += success
        own[1] += 1

    def without(self, task: str) -> tuple[float, float]:
        own = self.by_task.get(task, (0.0, 0))
        return self.successes - own[0], self.runs - own[1]


class Forecaster:
    """Forecasts of success, by situation and option, from runs with a recorded outcome."""

    def __init__(self, paths: Sequence[PlanPath]) -> None:
        self._all: dict[tuple[str, ...], _Tally] = defaultdict(_Tally)
        self._taken: dict[tuple[Situation, Option | None], _Tally] = defaultdict(_Tally)
        for path in paths:
            if isinstance(path.success, Unscored):
                continue
            self._all[path.domain].add(path.task_id, path.success)
            seen = set()
            for decision in path.decisions:
                # The first layer is of one task, which is left out.
                for situation in situations(path, decision)[1:]:
                    for option in (None, option_in(situation.layer, decision.option)):
                        if (situation, option) not in seen:  # a run counts once in a situation
                            seen.add((situation, option))
                            self._taken[situation, option].add(path.task_id, path.success)

    def after(self, path: PlanPath, decision: PlanDecision) -> Score:
        """The chance of success once the run's own option is taken in that state."""
        return self._forecast(path, decision, decision.option)

    def change(self, path: PlanPath, decision: PlanDecision) -> Score:
        """What the run's own option did to its chance of success."""
        before, after = self._forecast(path, decision, None), self.after(path, decision)
        if isinstance(before, Unscored) or isinstance(after, Unscored):
            return NO_OTHER_TASK
        return after - before

    def _forecast(self, path: PlanPath, decision: PlanDecision, option: Option | None) -> Score:
        successes, runs = self._all[path.domain].without(path.task_id)
        if not runs:
            return NO_OTHER_TASK
        chance = successes / runs
        for situation in reversed(situations(path, decision)[1:]):
            tally = self._taken.get((situation, option and option_in(situation.layer, option)))
            if tally is not None:
                successes, runs = tally.without(path.task_id)
                prior = FINEST_PRIOR if situation.layer == 2 else PRIOR
                chance = (successes + prior * chance) / (runs + prior)
        return chance


def decisive(path: PlanPath, forecaster: Forecaster) -> int | None:
    """`seq` of the decision of a failed run at which its chance fell most; ``None`` where it never fell."""
    if path.success is not False:
        return None
    falls = [(forecaster.change(path, decision), decision.seq) for decision in path.decisions]
    known = [
        (change, seq) for change, seq in falls if not isinstance(change, Unscored) and change < -_ROUNDING
    ]
    return min(known)[1] if known else None  # of equal falls the earlier
