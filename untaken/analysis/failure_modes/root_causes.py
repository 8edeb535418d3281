"""Where people say that a run went wrong first, how far they agree, and how far automatic blame does (§9).

No automatic blame can be shown to do better than two people agree, so their agreement is beside it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from statistics import median
from typing import Final

from msgspec import Struct

from untaken import stats
from untaken.analysis.failure_modes.agreement import MOST_PEOPLE, NEAR, steps_of
from untaken.analysis.failure_modes.assignments import counted
from untaken.errors import Score, Unscored
from untaken.ledger import Run, Verdict
from untaken.scoring import not_withdrawn

DECISIVE: Final = "rule:decisive step"
"""Author of automatic blame: the plan change at which the forecast of success falls most."""

TWO_PEOPLE: Final = "two people name the same step in 6 of 24 (Who&When: 25%, 95% 11% to 47%)"
NAMED_BY_PEOPLE: Final = "a person names it in 3 of 13 failed runs of public records"
"""How often the decisive step is right, for a legend; like the others from `benchmarks/blame_rivals.py`."""
DECISIVE_RECORD: Final = (
    "On public records the decisive step is the one that a person named in 3 of 13 failed runs (AgentRx: "
    f"23%, 95% 7% to 54%; by chance 5%), as often as the first plan change; {TWO_PEOPLE}"
)
FIRST_FAILED_RECORD: Final = (
    "On public records the step of the first failed sub-goal is the one that a person named in 2 of 13 runs "
    f"(AgentRx: 15%, 95% 4% to 47%; by chance 5%); {TWO_PEOPLE}"
)


class RootCause(Struct, frozen=True, kw_only=True):
    """Where one author says that a run went wrong first.

    Attributes:
        event: its `seq`.
        sub_goal: that failed there, or whose work it was (untrusted); empty where none is named.
    """

    event: int
    sub_goal: str = ""


class RootCauseAgreement(Struct, frozen=True, kw_only=True):
    """Two authors on where the same runs went wrong first.

    Attributes:
        a, b: ``human:…`` (untrusted), or `DECISIVE` for automatic blame.
        runs: for which both name an event.
        same_step, near_step: of these, the same step of the run (`steps_of`), or at most one step apart.
        same, near: their shares, each with its 95% interval, clustered by task.
        median_distance: steps of the run between the two.
        named: runs for which both also name a sub-goal (or whose work it was); `same_sub_goal` of them the
            same one.
        kappa: Cohen's κ of these names, with its 95% interval.
    """

    a: str
    b: str
    runs: int
    same_step: int
    near_step: int
    same: Score
    same_low: Score
    same_high: Score
    near: Score
    near_low: Score
    near_high: Score
    median_distance: Score
    named: int
    same_sub_goal: int
    kappa: Score
    kappa_low: Score
    kappa_high: Score

    @property
    def automatic(self) -> bool:
        """Whether one of the two is automatic blame."""
        return DECISIVE in (self.a, self.b)


def root_causes(run: Run) -> dict[str, RootCause]:
    """The root cause that each person names in a run, by person; none for a broken run.

    It is the earliest evidence of their failing verdicts; without such evidence, the earliest event at which
    they accepted a failure mode.
    """
    if run.integrity.broken:
        return {}
    found: dict[str, list[RootCause]] = defaultdict(list)
    # In order of the ledger: a later verdict takes the place of an earlier one.
    latest = {(v.by, v.sub_goal): v for v in not_withdrawn(run.of(Verdict)) if v.by.startswith("human:")}
    for (by, sub_goal), verdict in latest.items():
        if verdict.passed is False and verdict.evidence:
            event = min(quote.seq for quote in verdict.evidence)
            found[by].append(RootCause(event=event, sub_goal=sub_goal))
    judged = {*found}
    for one in counted(run):
        if one.by not in judged and one.place.event is not None:  # who judged has said it by the verdict
            found[one.by].append(RootCause(event=one.place.event, sub_goal=one.place.sub_goal or ""))
    return {by: min(causes, key=lambda cause: cause.event) for by, causes in found.items()}


def root_cause_agreement(
    runs: Iterable[Run], blamed: Mapping[str, int] | None = None
) -> tuple[RootCauseAgreement, ...]:
    """Every two people who name root causes of the same runs; then automatic blame and each person."""
    named: dict[str, dict[str, tuple[Run, RootCause]]] = defaultdict(dict)
    for run in runs:
        for person, cause in root_causes(run).items():
            named[person][run.digest] = run, cause
        if blamed is not None and (event := blamed.get(run.digest)) is not None:
            named[DECISIVE][run.digest] = run, RootCause(event=event)
    people = sorted(named.keys() - {DECISIVE}, key=lambda person: (-len(named[person]), person))
    # By name, so that which of two is `a` does not depend on who read more.
    pairs = [*combinations(sorted(people[:MOST_PEOPLE]), 2)]
    pairs += [(DECISIVE, person) for person in sorted(people[:MOST_PEOPLE]) if DECISIVE in named]
    return tuple(
        _of_two(a, b, [(*named[a][run], named[b][run][1]) for run in named[a] if run in named[b]])
        for a, b in pairs
        if named[a].keys() & named[b].keys()
    )


def _of_two(a: str, b: str, causes: Sequence[tuple[Run, RootCause, RootCause]]) -> RootCauseAgreement:
    apart = [
        (run.task_id, abs(steps[one.event] - steps[other.event]))
        for run, one, other in causes
        for steps in [steps_of(run)]
    ]
    names = [(run.task_id, (x.sub_goal, y.sub_goal)) for run, x, y in causes if x.sub_goal and y.sub_goal]
    # `agreement_share` takes pairs of answers: (True, True) is a hit.
    same = stats.agreement_share(_by_task((task, (True, gap == 0)) for task, gap in apart))
    near = stats.agreement_share(_by_task((task, (True, gap <= NEAR)) for task, gap in apart))
    kappa: tuple[Score, Score, Score] = (Unscored("they did not both name a sub-goal"),) * 3
    if names:
        kappa = stats.cohen_kappa(_by_task(names), stats.agreement_share(_by_task(names)))
    return RootCauseAgreement(
        a=a,
        b=b,
        runs=len(causes),
        same_step=sum(gap == 0 for _, gap in apart),
        near_step=sum(gap <= NEAR for _, gap in apart),
        same=same[0],
        same_low=same[1],
        same_high=same[2],
        near=near[0],
        near_low=near[1],
        near_high=near[2],
        median_distance=float(median(gap for _, gap in apart)),
        named=len(names),
        same_sub_goal=sum(x == y for _, (x, y) in names),
        kappa=kappa[0],
        kappa_low=kappa[1],
        kappa_high=kappa[2],
    )


def _by_task(given: Iterable[tuple[str, tuple[Hashable, Hashable]]]) -> list[list[stats.Pair]]:
    clusters: dict[str, list[stats.Pair]] = defaultdict(list)
    for task, pair in given:
        clusters[task].append(pair)
    return [*clusters.values()]


def blame_words(found: Sequence[RootCauseAgreement]) -> str:
    """How often people name the decisive step, and agree with each other: here, and in public records."""
    hits = [f"{one.same_step:,} of {one.runs:,} runs ({one.b})" for one in found if one.automatic]
    agrees = (
        f"It is the step that a person named in {', '.join(hits)}." if hits else "No person named a step."
    )
    return f"{agrees} {ceiling_words(found)}. {DECISIVE_RECORD}."


def ceiling_words(found: Iterable[RootCauseAgreement]) -> str:
    """How far two people agree, for beside automatic blame: of the pair with most runs in common."""
    pairs = [one for one in found if not one.automatic]
    if not pairs:
        return "Agreement of people not known: no two have named the root cause of the same run"
    most = max(pairs, key=lambda one: one.runs)
    same = _share_words(most.same, most.same_low, most.same_high)
    near = _share_words(most.near, most.near_low, most.near_high)
    return (
        f"Human ceiling: two people named the same step in {most.same_step:,} of {most.runs:,} runs "
        f"({same}), at most one step apart in {most.near_step:,} ({near})"
    )


def _share_words(share: Score, low: Score, high: Score) -> str:
    if isinstance(low, Unscored) or isinstance(high, Unscored):
        return f"{share:.0%}"
    return f"{share:.0%}, 95% {low:.0%} to {high:.0%}"
