"""What an alternative costs: critical sub-goals that the runs which took it complete less often (§2e)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final, Literal

from msgspec import Struct

from untaken import stats
from untaken.errors import Unscored
from untaken.numbers import counted
from untaken.scoring import RunScore

ALARM: Final = 0.5
"""Two-sided p up to which a lower rate counts as a cost: a false alarm costs one recommendation, a missed one
a policy check. 2 of 10 against 0 of 10 is one, 1 of 10 is not."""
SINGLE: Final = ""
"""The one stratum of all runs, where no task and agent has both options."""

Row = tuple[tuple[str, str], bool, bool]
"""One run's (task, agent), whether it happened there, whether the sub-goal was skipped."""
Counts = tuple[int, int]
"""(runs in which it happened, runs)."""


class CriticalCost(Struct, frozen=True, kw_only=True, gc=False):
    """A critical sub-goal that runs which took the alternative complete less often, or violate more often.

    Attributes:
        kind: ``skipped``: most of these runs never attempted it; ``not completed``; ``violated``: reached
            without it.
        title: of the sub-goal (untrusted); sub-goals of one title in the graphs of several tasks are one.
        alternative, selected: (runs in which that happened, runs) of either option; inside tasks and agents
            that have both, where any has.
        p: exact and two-sided, inside them.
    """

    kind: Literal["skipped", "not completed", "violated"]
    title: str
    alternative: Counts
    selected: Counts
    p: float

    @property
    def words(self) -> str:
        """``skips ★ Check policy in 8 of 10 runs (the other: 1 of 10)``."""
        verb = {"skipped": "skips", "not completed": "does not complete", "violated": "goes on without"}
        k1, n1 = self.alternative
        k0, n0 = self.selected
        others = f"the other: {k0:,} of {n0:,}"
        return f"{verb[self.kind]} ★ {self.title} in {k1:,} of {counted(n1, 'run')} ({others})"


def critical_costs(
    scores: Mapping[str, RunScore | Unscored], alternative: Iterable[str], selected: Iterable[str]
) -> tuple[CriticalCost, ...]:
    """The critical sub-goals that cost something: those of the largest difference first.

    Args:
        scores: by run digest; runs without one say nothing.
        alternative: digests of the runs that took it; a run that took both is on neither side.
        selected: of those that took the other.
    """
    one, two = dict.fromkeys(alternative), dict.fromkeys(selected)  # each once, in order
    sides = [d for d in one if d not in two], [d for d in two if d not in one]
    met: dict[tuple[str, str], tuple[list[Row], list[Row]]] = defaultdict(lambda: ([], []))
    for side, digests in enumerate(sides):
        for digest in digests:
            score = scores.get(digest)
            if isinstance(score, RunScore):
                for title, kind, happened, skipped in _happened(score):
                    stratum = score.task_id, score.agent
                    met[title, kind][side].append((stratum, happened, skipped))
    found = (_cost(title, kind, one, two) for (title, kind), (one, two) in met.items())
    costs = sorted((c for c in found if c is not None), key=lambda pair: (-pair[0], pair[1].title))
    return tuple(cost for _, cost in costs)


def _happened(score: RunScore) -> Iterable[tuple[str, str, bool, bool]]:
    """Of each critical requirement: its title, missed or violated, whether so, and whether it was skipped."""
    violated = {v.dependency for v in score.violations if v.kind == "critical"}
    for node in score.counted:
        if node.critical and node.completed is not None:
            yield node.title, "missed", not node.completed, node.status == "skipped"
            yield node.title, "violated", node.sub_goal in violated, False


def _cost(
    title: str, kind: str, alternative: list[Row], selected: list[Row]
) -> tuple[float, CriticalCost] | None:
    shared = {stratum for stratum, *_ in alternative} & {stratum for stratum, *_ in selected}
    # Tasks and agents that have one option alone say as much about themselves as about the option.
    if shared:
        alternative, selected = (
            [row for row in side if row[0] in shared] for side in (alternative, selected)
        )
    strata = stats.strata_of(
        (stratum if shared else SINGLE, not place, happened)
        for place, side in enumerate((alternative, selected))
        for stratum, happened, _ in side
    )
    if not alternative or not selected or (more := stats.risk_difference(strata)) <= 0:
        return None
    if (test := stats.exact_test(strata)).p > ALARM:
        return None
    skipped = [skipped for _, happened, skipped in alternative if happened]
    missed: Literal["skipped", "not completed"]
    missed = "skipped" if 2 * sum(skipped) > len(skipped) else "not completed"
    return more, CriticalCost(
        kind="violated" if kind == "violated" else missed,
        title=title,
        alternative=(sum(s.k1 for s in strata), sum(s.n1 for s in strata)),
        selected=(sum(s.k0 for s in strata), sum(s.n0 for s in strata)),
        p=test.p,
    )
