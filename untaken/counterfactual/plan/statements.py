"""Option against option, among runs of the same task by the same agent in the same state of the plan (§2d).

The state is looked at through four layers, from fine to coarse: the task and its state; how many changes are
left and made; whether any is left; anything at all. Below the first, options are compared without their
sub-goal or tool. Runs of different tasks are never compared: strata are task and agent, whatever the layer.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Final, Literal, NamedTuple
from zlib import crc32

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from untaken.counterfactual.plan.changes import Option, PlanDecision, PlanPath
from untaken.counterfactual.support import (
    ALPHA,
    Q_MAX,
    ComparedRuns,
    OptionComparison,
    OptionTest,
    nested_groups,
    too_many,
)
from untaken.errors import Unscored
from untaken.stats import Block, Slope, Stratum, benjamini_hochberg, score_interval, slope_between_agents

SIDE_MIN: Final = 3
"""Fewest runs of either option in informative tasks."""
TASKS_MIN: Final = 4
"""Fewest tasks in which the agents chose differently, for a comparison between agents."""
AGREEMENT_MIN: Final = 0.95
"""Statements explain the verdict where the plan's final state is the outcome in this share of runs."""
OPTIONS_MAX: Final = 12
"""Options of one situation that are compared, the most frequent ones."""
LEFT_MAX: Final = 3
MADE_MAX: Final = 2

NEVER_BOTH: Final = "no agent chose both in one task, and too few tasks separate the agents' choices"
TOO_FEW: Final = f"too few comparable runs to reach p ≤ {ALPHA}"
FEW_A_SIDE: Final = f"fewer than {SIDE_MIN} runs on a side in informative tasks"
NO_DIFFERENCE: Final = f"no significant difference (q > {Q_MAX:.2f} or p > {ALPHA})"

Estimate = Literal["same_agent", "between_agents"]
Label = Literal["explains_the_verdict", "found"]


class Situation(Struct, frozen=True, order=True, gc=False):
    """What the runs of a statement had in common when they chose.

    Attributes:
        layer: 1 (finest) to 4.
        domain: the declared tools of their graphs; statements of other domains are apart.
        task_id, graph_id, made: of layer 1 alone.
        left, made_count: of layer 2: expected changes left (3 is "3 or more") and made (2 is "2 or more"); in
            layer 3 `left` is 1 for any.
        unplanned, handed_over: as in `PlanState`; ``None`` in layer 4.
    """

    layer: int
    domain: tuple[str, ...]
    task_id: str = ""
    graph_id: str = ""
    made: tuple[str, ...] = ()
    left: int = -1
    made_count: int = -1
    unplanned: bool | None = None
    handed_over: bool | None = None


def situations(path: PlanPath, decision: PlanDecision) -> tuple[Situation, ...]:
    """The situation of a decision in each layer, from fine to coarse."""
    state, left, domain = decision.state, decision.left, path.domain
    unplanned, handed_over = state.unplanned, state.handed_over
    return (
        Situation(
            layer=1,
            domain=domain,
            task_id=path.task_id,
            graph_id=path.graph_id,
            made=state.made,
            unplanned=unplanned,
            handed_over=handed_over,
        ),
        Situation(
            layer=2,
            domain=domain,
            left=min(left, LEFT_MAX),
            made_count=min(len(state.made), MADE_MAX),
            unplanned=unplanned,
            handed_over=handed_over,
        ),
        Situation(layer=3, domain=domain, left=int(left > 0), unplanned=unplanned, handed_over=handed_over),
        Situation(layer=4, domain=domain),
    )


def option_in(layer: int, option: Option) -> Option:
    """An option as a layer compares it."""
    return option if layer == 1 else option.general


class Statement(Struct, frozen=True, kw_only=True, gc=False):
    """One option against another in one situation. Always an association.

    Attributes:
        option: the one with the higher rate of success; `against`: the other.
        k1, n1: successes and runs of `option` where both were taken; `k0`, `n0`: of `against`.
        tasks: tasks in which both were taken; `informative_tasks`: those with successes and failures.
        estimate: ``same_agent``: strata of task and agent; ``between_agents``: one run per task and agent,
            the agents' differences compared over tasks.
        difference, low, high: of the rates of success, with its 95% interval.
        p: two-sided, exact or by permutation; `least_p`: the smallest these margins allow.
        q: after Benjamini-Hochberg over the testable statements; unscored for one that is not testable.
        reason: why it is not supported, in words; empty where it is.
        group: number of the nested group of a supported statement (`with_groups`);
            `leads` whether it represents the group.
    """

    situation: Situation
    option: Option
    against: Option
    k1: int
    n1: int
    k0: int
    n0: int
    tasks: int
    informative_tasks: int
    estimate: Estimate
    difference: float
    low: float
    high: float
    p: float
    least_p: float
    q: float | Unscored
    supported: bool
    reason: str
    label: Label
    group: int | None = None
    leads: bool = False

    @property
    def testable(self) -> bool:
        """Whether the margins could ever have given a p at the level."""
        return self.least_p <= ALPHA


class OptionPair(Struct, frozen=True):
    """Two options in one situation, and the runs (by position) that took each on their first visit."""

    situation: Situation
    first: Option
    second: Option
    strata: tuple[tuple[str, tuple[int, ...], tuple[int, ...]], ...]
    """(task, runs with `first`, runs with `second`) for each task and agent that took both."""
    blocks: tuple[tuple[np.ndarray, np.ndarray, tuple[str, ...]], ...]
    """Without strata, per set of agents: runs (task by agent), whether each took `first`, and the tasks."""
    runs: tuple[int, ...] = ()
    """Every run that took either, copies left out: what `comparison` rests on."""
    comparison: OptionComparison | None = None


Choices = list[tuple[tuple[str, ...], Option, int]]
"""Of each run that made one: its stratum, what it chose, and its place."""


def contrasts(paths: Sequence[PlanPath]) -> list[OptionPair]:
    """Every pair of options that some runs took in one situation, those that cannot be compared included."""
    chosen: dict[Situation, Choices] = defaultdict(list)
    for run, path in enumerate(paths):
        if path.copy:
            continue
        seen = set()
        for decision in path.decisions:
            for situation in situations(path, decision):
                if situation not in seen:  # a run counts once in a situation, by its first visit
                    seen.add(situation)
                    option = option_in(situation.layer, decision.option)
                    chosen[situation].append((path.stratum, option, run))
    return [pair for situation, choices in chosen.items() for pair in _pairs(situation, choices, paths)]


def _pairs(situation: Situation, choices: Choices, paths: Sequence[PlanPath]) -> Iterable[OptionPair]:
    counted = Counter(option for _, option, _ in choices)
    frequent = sorted(counted, key=lambda option: (-counted[option], option))[:OPTIONS_MAX]
    by_stratum: dict[tuple[str, ...], dict[Option, list[int]]] = defaultdict(dict)
    for stratum, option, run in choices:
        by_stratum[stratum].setdefault(option, []).append(run)
    for first, second in combinations(sorted(frequent), 2):
        strata = tuple(
            (stratum[0], tuple(runs[first]), tuple(runs[second]))
            for stratum, runs in by_stratum.items()
            # An agent that took one of them alone in a task says nothing about the two.
            if first in runs and second in runs
        )
        if not strata:
            yield OptionPair(situation, first, second, strata, _blocks(by_stratum, first, second))
            continue
        one, two = ([run for _, took, run in choices if took == option] for option in (first, second))
        comparison = _comparison([paths[run] for run in (*one, *two)], len(one))
        yield OptionPair(situation, first, second, strata, (), (*one, *two), comparison)


def _comparison(runs: Sequence[PlanPath], first: int) -> OptionComparison:
    """Of so many runs with the first option, and the others."""
    parts = [run.stratum for run in runs]
    numbers: dict[tuple[str, ...], int] = {}
    sides = ComparedRuns(
        first=np.arange(len(runs)) < first,
        group=nested_groups(parts),
        # Names who ran, whatever the task.
        identity=np.array([numbers.setdefault(part[1:], len(numbers)) for part in parts]),
        start=np.array([run.started for run in runs]),
        tie=np.array([crc32(run.run_id.encode()) for run in runs]),
    )
    return OptionComparison(sides, [name for name, _ in runs[0].named])


def _blocks(
    by_stratum: dict[tuple[str, ...], dict[Option, list[int]]], first: Option, second: Option
) -> tuple[tuple[np.ndarray, np.ndarray, tuple[str, ...]], ...]:
    """Tasks that several agents ran once each; none where too few tell the agents' choices apart."""
    by_task: dict[str, list[tuple[tuple[str, ...], int, bool]]] = defaultdict(list)
    for (task, *agent), runs in by_stratum.items():
        both = [(run, option == first) for option in (first, second) for run in runs.get(option, ())]
        if len(both) > 1:
            return ()  # repeats, and yet no agent took both: agent and option coincide
        by_task[task] += [(tuple(agent), run, took) for run, took in both]
    by_agents: dict[object, list[tuple[str, list[tuple[tuple[str, ...], int, bool]]]]] = defaultdict(list)
    differing = 0
    for task, rows in by_task.items():
        if len(rows) > 1:  # an agent alone in a task has nobody to be compared with
            rows.sort()  # by agent: tasks that the same agents ran are one block
            by_agents[tuple(agent for agent, _, _ in rows)].append((task, rows))
            differing += len({took for _, _, took in rows}) > 1
    if differing < TASKS_MIN:
        return ()
    return tuple(
        (
            np.array([[run for _, run, _ in rows] for _, rows in tasks]),
            np.array([[float(took) for _, _, took in rows] for _, rows in tasks]),
            tuple(task for task, _ in tasks),
        )
        for tasks in by_agents.values()
    )


class Tested(NamedTuple):
    """A contrast's estimate: `difference` of first minus second, its p and least p, and informative runs.

    `ruling` is that of runs of one agent, `slope` that between agents; the other is ``None``.
    """

    difference: float
    p: float
    least: float
    sides: tuple[int, int]
    ruling: OptionTest | None = None
    slope: Slope | None = None


class SupportRuling(NamedTuple):
    """Whether a contrast supports a statement, its q where it is testable, and why not."""

    supported: bool
    q: float | Unscored
    reason: str


def test_contrast(contrast: OptionPair, success: np.ndarray) -> Tested | None:
    """The estimate within strata, else between agents; ``None`` where no task allows a comparison."""
    if contrast.comparison is not None:
        ruling = contrast.comparison.ruling(success[list(contrast.runs)])
        return Tested(ruling.difference, ruling.p, ruling.least, (ruling.n1, ruling.n0), ruling)
    if not contrast.blocks:
        return None
    slope = slope_between_agents([Block(took, success[runs]) for runs, took, _ in contrast.blocks])
    if slope is None:
        return None
    ((_, n1), (_, n0)), _ = _between(contrast, success)
    return Tested(slope.slope, slope.p, slope.least, (n1, n0), slope=slope)


def rule(tested: Sequence[Tested | None]) -> list[SupportRuling]:
    """Which contrasts support a statement: Tarone's rule, then Benjamini-Hochberg, then the rule of §2a."""
    testable = [i for i, each in enumerate(tested) if each is not None and each.least <= ALPHA]
    found = [each.p for each in tested if each is not None and each.least <= ALPHA]
    adjusted = dict(zip(testable, benjamini_hochberg(found), strict=True))
    return [_ruling(each, adjusted.get(i), len(testable)) for i, each in enumerate(tested)]


def _ruling(tested: Tested | None, q: float | None, tests: int) -> SupportRuling:
    if tested is None or q is None:
        return SupportRuling(False, Unscored(TOO_FEW), TOO_FEW)
    if tested.ruling is not None and not tested.ruling.holds:
        return SupportRuling(False, q, tested.ruling.reason)
    if min(tested.sides) < SIDE_MIN:
        return SupportRuling(False, q, FEW_A_SIDE)
    if q > Q_MAX or tested.p > ALPHA:
        return SupportRuling(False, q, too_many(tested.ruling, q, tests) if tested.ruling else NO_DIFFERENCE)
    return SupportRuling(True, q, "")


def statements(
    contrasts: Sequence[OptionPair], paths: Sequence[PlanPath], success: np.ndarray
) -> list[Statement | None]:
    """The statement of each contrast; ``None`` where no task lets its options be compared."""
    tested = [test_contrast(contrast, success) for contrast in contrasts]
    labels = _labels(paths)
    return [
        None if test is None else _statement(contrast, test, ruling, success, labels)
        for contrast, test, ruling in zip(contrasts, tested, rule(tested), strict=True)
    ]


def _statement(
    contrast: OptionPair,
    tested: Tested,
    ruling: SupportRuling,
    success: np.ndarray,
    labels: dict[tuple[str, ...], Label],
) -> Statement:
    if tested.slope is None:
        strata = _strata(contrast, success)
        low, high = score_interval(strata)
        sides = (
            (sum(s.k1 for s in strata), sum(s.n1 for s in strata)),
            (sum(s.k0 for s in strata), sum(s.n0 for s in strata)),
        )
        per_task = _by_task(contrast, strata)
    else:
        low, high = tested.slope.low, tested.slope.high
        sides, per_task = _between(contrast, success)
    first, second = contrast.first, contrast.second
    difference = tested.difference
    if difference < 0:  # a statement names the option with more success first
        first, second, sides = second, first, sides[::-1]
        difference, low, high = -difference, -high, -low
    (k1, n1), (k0, n0) = sides
    return Statement(
        situation=contrast.situation,
        option=first,
        against=second,
        k1=k1,
        n1=n1,
        k0=k0,
        n0=n0,
        tasks=len(per_task),
        informative_tasks=sum(per_task.values()),
        estimate="same_agent" if contrast.strata else "between_agents",
        difference=difference,
        low=low,
        high=high,
        p=tested.p,
        least_p=tested.least,
        q=ruling.q,
        supported=ruling.supported,
        reason=ruling.reason,
        label=labels[contrast.situation.domain],
    )


def _strata(contrast: OptionPair, success: np.ndarray) -> list[Stratum]:
    return [
        Stratum(int(success[list(one)].sum()), len(one), int(success[list(two)].sum()), len(two))
        for _, one, two in contrast.strata
    ]


def _by_task(contrast: OptionPair, strata: Sequence[Stratum]) -> dict[str, bool]:
    """Each task, and whether it is informative."""
    found: dict[str, bool] = {}
    for (task, _, _), stratum in zip(contrast.strata, strata, strict=True):
        found[task] = found.get(task, False) or stratum.informative
    return found


Sides = tuple[tuple[int, int], tuple[int, int]]
"""(successes, runs) with the first option and with the second."""


def _between(contrast: OptionPair, success: np.ndarray) -> tuple[Sides, dict[str, bool]]:
    """Counts over the tasks in which the agents chose differently."""
    counts = np.zeros((2, 2), dtype=int)
    tasks: dict[str, bool] = {}
    for runs, took, named in contrast.blocks:
        outcomes = success[runs]
        for task, option, outcome in zip(named, took, outcomes, strict=True):
            if option.min() == option.max():
                continue
            tasks[task] = bool(outcome.min() != outcome.max())
            for side, chosen in enumerate((option == 1, option == 0)):
                counts[side] += int(outcome[chosen].sum()), int(chosen.sum())
    (k1, n1), (k0, n0) = counts.tolist()
    return ((k1, n1), (k0, n0)), tasks


def _labels(paths: Sequence[PlanPath]) -> dict[tuple[str, ...], Label]:
    """What each domain's statements do: explain the verdict where the plan's final state is the outcome."""
    agree: dict[tuple[str, ...], list[bool]] = defaultdict(list)
    for path in paths:
        agree[path.domain].append(path.as_planned == path.success)
    return {
        domain: "explains_the_verdict" if sum(same) >= AGREEMENT_MIN * len(same) else "found"
        for domain, same in agree.items()
    }


def with_groups(found: Sequence[Statement | None], contrasts: Sequence[OptionPair]) -> list[Statement | None]:
    """The statements, each supported one with the number of its nested group.

    A statement is nested in another whose option runs and tasks include its own. The coarsest supported one
    that is nested in no other represents the group.
    """
    supported = [at for at, statement in enumerate(found) if statement is not None and statement.supported]
    behind = {at: _behind(found[at], contrasts[at]) for at in supported}
    # From the most runs on, of as many the coarser layer first: a later one is nested in an earlier one.
    order = sorted(supported, key=lambda at: (-len(behind[at][0]), -contrasts[at].situation.layer, at))
    leading: list[int] = []
    grouped = list(found)
    for at in order:
        runs, tasks = behind[at]
        around = (n for n, lead in enumerate(leading) if runs <= behind[lead][0] and tasks <= behind[lead][1])
        group = next(around, None)
        leads = group is None
        if group is None:
            group = len(leading)
            leading.append(at)
        statement = grouped[at]
        assert statement is not None  # noqa: S101 (it is supported)
        grouped[at] = replace(statement, group=group + 1, leads=leads)
    return grouped


def _behind(statement: Statement | None, contrast: OptionPair) -> tuple[frozenset[int], frozenset[str]]:
    """The runs with the option of a statement, and the tasks."""
    assert statement is not None  # noqa: S101
    first = statement.option == contrast.first
    if contrast.strata:
        runs = (run for _, one, two in contrast.strata for run in (one if first else two))
        return frozenset(runs), frozenset(task for task, _, _ in contrast.strata)
    between = [
        (run, task)
        for block, took, tasks in contrast.blocks
        for row, chosen, task in zip(block.tolist(), took.tolist(), tasks, strict=True)
        for run, option in zip(row, chosen, strict=True)
        if bool(option) == first
    ]
    return frozenset(run for run, _ in between), frozenset(task for _, task in between)
