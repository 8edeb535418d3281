"""Which sub-goals, outcome and costs differ between two versions, and how sure that is (§11)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from math import sqrt
from statistics import NormalDist, fmean
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

from untaken import stats
from untaken.analysis.versions.discordant import DiscordantRuns, discordant_pairs
from untaken.analysis.versions.sides import Field, Sides, VersionRun, sides
from untaken.ledger import Run
from untaken.plans import GraphSet

if TYPE_CHECKING:
    from untaken.stats import Stratum

NotReached = Literal["skipped", "failed"]
ALPHA: Final = 0.05
SHUFFLES: Final = 499  # with the labels as they are, 500
RESAMPLES: Final = 10_000
DROPS: Final = (0.1, 0.2, 0.3)
"""Drops whose power is shown."""
TRIED_RUNS: Final = 1_000
"""Runs up to which power is tried out: of fewer a normal approximation promises too much."""
BASE: Final = 0.85
"""Completion from which a drop is assumed where nothing was reached."""


class SubGoalChange(Struct, frozen=True, kw_only=True):
    """A sub-goal among runs that reached it, second version minus first.

    Attributes:
        sub_goal: its id, ``graph/id`` of several plans, or a tool where each task has a plan of its own.
        a_completed, a_reached: runs of the first version; `b_…` of the second.
        difference, low, high: inside task and agent, with its 95% interval; ``None`` where no task has both.
        p: exact, two-sided; `p_holm`, among those that could show a difference at all (Tarone).
        called: whether it differs.
        kind: what happened to more of the runs of the side that completes it less often.
    """

    sub_goal: str
    title: str
    critical: bool
    a_completed: int
    a_reached: int
    b_completed: int
    b_reached: int
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None
    called: bool
    kind: NotReached | None


class OutcomeChange(Struct, frozen=True, kw_only=True):
    """Success, second version minus first, as in `SubGoalChange`."""

    a_succeeded: int
    a_runs: int
    b_succeeded: int
    b_runs: int
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    called: bool


class CostChange(Struct, frozen=True, kw_only=True):
    """Retries or a cost: mean over tasks (of agents on each), second minus first; p by exact flips."""

    measure: str
    a: float
    b: float
    difference: float
    tasks: int
    p: float
    p_holm: float
    called: bool


class FirstSuspect(Struct, frozen=True, kw_only=True):
    """The sub-goal whose drop costs most runs: difference × runs that reached it."""

    sub_goal: str
    difference: float


class Power(Struct, frozen=True, kw_only=True):
    """How often a drop of this size in one sub-goal would be called, with these runs."""

    drop: float
    found: float


class VersionComparison(Struct, frozen=True, kw_only=True):
    """What changed from version `a` to version `b` of `by`.

    Attributes:
        tasks: that one agent ran under both; `a_runs`, `b_runs` in them; `left_out` in others; `copies`.
        a_silent, b_silent: runs with a plan that show nothing of any of its sub-goals; in no difference.
        sub_goals: the least p first.
        relabelled: share of shuffled labels under which some sub-goal differs by as much as `largest` does.
        a_only, b_only: pairs in which only that version succeeded; `discordant` lists both.
    """

    a: str
    b: str
    by: Field
    tasks: int
    a_runs: int
    b_runs: int
    a_silent: int
    b_silent: int
    left_out: int
    copies: int
    sub_goals: tuple[SubGoalChange, ...]
    outcome: OutcomeChange
    costs: tuple[CostChange, ...]
    largest: float | None
    relabelled: float | None
    first_suspect: FirstSuspect | None
    power: tuple[Power, ...]
    discordant: tuple[DiscordantRuns, ...]

    @property
    def called(self) -> tuple[SubGoalChange, ...]:
        """The sub-goals that differ."""
        return tuple(one for one in self.sub_goals if one.called)

    @property
    def a_only(self) -> int:
        """Pairs that only the first version succeeded in."""
        return sum(not pair.second_succeeded for pair in self.discordant)

    @property
    def b_only(self) -> int:
        """Pairs that only the second version succeeded in."""
        return sum(pair.second_succeeded for pair in self.discordant)


def compare_versions(
    runs: Iterable[Run],
    scores: Mapping[str, object],
    graphs: GraphSet,
    *,
    a: str,
    b: str,
    by: Field = "version",
    measures: Mapping[str, Callable[[Run], float | None]] | None = None,
    seed: int = 0,
) -> VersionComparison:
    """Compares two versions in the tasks that one agent ran under both.

    Args:
        runs: of any versions.
        scores: of the runs, by digest; runs without one count for outcome and costs.
        graphs: the plan graphs.
        a: the first version.
        b: the second version.
        by: what they are versions of; agents are compared inside tasks, all else inside agents, too.
        measures: costs by name, beside retries.
        seed: of shuffled labels and flipped signs.

    Raises:
        UntakenError: ``version-unknown``, ``versions-not-paired``.
    """
    both = sides(runs, scores, graphs, a=a, b=b, by=by)
    names = sorted({name for one in both.runs for name in one.endings})
    strata = {name: both.strata(partial(_completed, name)) for name in names}
    tested = _tested(strata)
    changes = sorted(
        (_sub_goal(both, name, strata[name], tested.get(name)) for name in names),
        key=lambda one: (1.0 if one.p is None else one.p, one.sub_goal),
    )
    largest = max((abs(one.difference) for one in changes if one.difference is not None), default=None)
    return VersionComparison(
        a=a,
        b=b,
        by=by,
        tasks=both.tasks,
        a_runs=sum(not one.second for one in both.runs),
        b_runs=sum(one.second for one in both.runs),
        a_silent=sum(one.silent and not one.second for one in both.runs),
        b_silent=sum(one.silent and one.second for one in both.runs),
        left_out=both.left_out,
        copies=both.copies,
        sub_goals=tuple(changes),
        outcome=_outcome(both),
        costs=_costs(both, {"retries": retries, **(measures or {})}, seed),
        largest=largest,
        relabelled=None if largest is None else _relabelled(both, names, largest, seed),
        first_suspect=_suspect(changes),
        power=tuple(_power(both, strata, len(tested), drop) for drop in DROPS),
        discordant=discordant_pairs(both, graphs),
    )


def _suspect(changes: Sequence[SubGoalChange]) -> FirstSuspect | None:
    """The drop that costs most runs: a large one among few that reached the sub-goal is likely noise."""
    drops = [
        (-change * (one.a_reached + one.b_reached), one.sub_goal, change)
        for one in changes
        if (change := one.difference) is not None and change < 0
    ]
    if not drops:
        return None
    _, name, difference = max(drops)
    return FirstSuspect(sub_goal=name, difference=difference)


def _completed(name: str, one: VersionRun) -> bool | None:
    ending = one.endings.get(name)
    return None if ending is None else ending == "completed"


def _tested(strata: Mapping[str, Sequence[Stratum]]) -> dict[str, float]:
    """By sub-goal the p adjusted by Holm among those that could ever be called (Tarone 1990)."""
    found = {name: stats.exact_test(some) for name, some in strata.items() if some}
    # The least k such that no more than k tests could reach ALPHA / k.
    family = next(
        (k for k in range(1, len(found) + 1) if sum(t.least <= ALPHA / k for t in found.values()) <= k),
        len(found),
    )
    kept = [name for name, test in found.items() if test.least <= ALPHA / family]
    adjusted = stats.holm([found[name].p for name in kept])
    return {name: float(p) for name, p in zip(kept, adjusted, strict=True)}


def _sub_goal(both: Sides, name: str, strata: Sequence[Stratum], p_holm: float | None) -> SubGoalChange:
    counts: dict[bool, dict[str, int]] = {False: defaultdict(int), True: defaultdict(int)}
    for one in both.runs:
        if name in one.endings:
            counts[one.second][one.endings[name]] += 1
    title, critical = both.titles[name]
    difference, low, high, p = _difference(strata)
    return SubGoalChange(
        sub_goal=name,
        title=title,
        critical=critical,
        a_completed=counts[False]["completed"],
        a_reached=sum(counts[False].values()),
        b_completed=counts[True]["completed"],
        b_reached=sum(counts[True].values()),
        difference=difference,
        low=low,
        high=high,
        p=p,
        p_holm=p_holm,
        called=p_holm is not None and p_holm <= ALPHA,
        kind=_kind(counts, difference),
    )


def _difference(
    strata: Sequence[Stratum],
) -> tuple[float | None, float | None, float | None, float | None]:
    if not strata:
        return None, None, None, None
    return stats.risk_difference(strata), *stats.score_interval(strata), stats.exact_test(strata).p


def _kind(counts: Mapping[bool, Mapping[str, int]], difference: float | None) -> NotReached | None:
    """Which way of not completing it grew on the side that completes it less often."""
    if not difference:
        return None
    second = difference < 0
    worse, other = counts[second], counts[not second]
    grown = {
        way: worse.get(way, 0) / sum(worse.values()) - other.get(way, 0) / sum(other.values())
        for way in ("skipped", "failed")
    }
    return "skipped" if grown["skipped"] > grown["failed"] else "failed"


def _outcome(both: Sides) -> OutcomeChange:
    known = [one for one in both.runs if isinstance(one.run.success, bool)]
    strata = both.strata(lambda one: one.run.success if isinstance(one.run.success, bool) else None)
    difference, low, high, p = _difference(strata)
    return OutcomeChange(
        a_succeeded=sum(one.run.success is True for one in known if not one.second),
        a_runs=sum(not one.second for one in known),
        b_succeeded=sum(one.run.success is True for one in known if one.second),
        b_runs=sum(one.second for one in known),
        difference=difference,
        low=low,
        high=high,
        p=p,
        called=p is not None and p <= ALPHA,
    )


def retries(run: Run) -> float:
    """Calls of a tool whose call before failed."""
    failed: set[str] = set()
    count = 0
    for call in run.actions:
        count += call.tool in failed
        answer = run.answers.get(call.seq)
        if answer is not None and answer.ok is False:
            failed.add(call.tool)
        else:
            failed.discard(call.tool)
    return float(count)


def _costs(
    both: Sides, measures: Mapping[str, Callable[[Run], float | None]], seed: int
) -> tuple[CostChange, ...]:
    found: list[tuple[str, float, float, int, float]] = []
    for name, measure in measures.items():
        cells: defaultdict[tuple[str, ...], tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
        for one in both.runs:
            value = measure(one.run)
            if value is not None:
                cells[one.stratum][one.second].append(value)
        of_task: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
        for stratum, (first, second) in cells.items():
            if first and second:
                # The task comes last, with an agent or without.
                of_task[stratum[-1]].append((fmean(first), fmean(second)))
        # What a task does to an agent it may do to all: several agents on it are one difference.
        means = [(fmean(m[0] for m in some), fmean(m[1] for m in some)) for some in of_task.values()]
        if means:
            differences = [second - first for first, second in means]
            # Where nothing differs, every flip gives the same 0.
            p = stats.sign_flips(differences, resamples=RESAMPLES, seed=seed) if any(differences) else 1.0
            found.append((name, fmean(m[0] for m in means), fmean(m[1] for m in means), len(means), p))
    adjusted = stats.holm([p for *_, p in found])
    return tuple(
        CostChange(
            measure=name, a=first, b=second, difference=second - first, tasks=tasks, p=p,
            p_holm=float(q), called=float(q) <= ALPHA,
        )
        for (name, first, second, tasks, p), q in zip(found, adjusted, strict=True)
    )  # fmt: skip


def _relabelled(both: Sides, names: Sequence[str], largest: float, seed: int) -> float:
    """Share of relabellings inside strata in which some sub-goal differs by as much; the real one counts."""
    numbers = {stratum: at for at, stratum in enumerate(dict.fromkeys(one.stratum for one in both.runs))}
    return stats.relabelled(
        reached=[[name in one.endings for one in both.runs] for name in names],
        done=[[one.endings.get(name) == "completed" for one in both.runs] for name in names],
        second=[one.second for one in both.runs],
        strata=[numbers[one.stratum] for one in both.runs],
        largest=largest,
        shuffles=SHUFFLES,
        seed=seed,
    )


def _power(both: Sides, strata: Mapping[str, Sequence[Stratum]], tests: int, drop: float) -> Power:
    """The power to call a drop from the rate of the first version.

    By trying the exact test on made-up runs, of many runs by a normal approximation.
    """
    rates = [sum(s.k0 for s in some) / sum(s.n0 for s in some) for some in strata.values() if some]
    base = max(drop, fmean(rates) if rates else BASE)  # no rate falls by more than itself
    cells = both.strata(lambda _: True)  # as if every run reached it
    if sum(s.n1 + s.n0 for s in cells) <= TRIED_RUNS:
        return Power(drop=drop, found=stats.exact_power(cells, base - drop, base, ALPHA / max(tests, 1)))
    weight = sum(s.weight for s in cells)
    low = base - drop
    variance = sum(s.weight**2 * (base * (1 - base) / s.n0 + low * (1 - low) / s.n1) for s in cells)
    error = sqrt(variance) / weight
    # The bound of Bonferroni: Holm never asks for more.
    bound = NormalDist().inv_cdf(1 - ALPHA / (2 * max(tests, 1)))
    return Power(drop=drop, found=NormalDist().cdf(drop / error - bound))
