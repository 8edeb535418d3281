"""Option against option, among runs of the same task by the same agent in the same state of the plan (§2d).

The state is looked at through four layers, from fine to coarse: the task and its state; how many changes are
left and made; whether any is left; anything at all. Below the first, options are compared without their
sub-goal or tool. Runs of different tasks are never compared: strata are task and agent, whatever the layer.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final, Literal, NamedTuple

import numpy as np
from msgspec import Struct

from untaken.counterfactual.plan.changes import Option, PlanDecision, PlanPath
from untaken.errors import Unscored
from untaken.stats.multiple import benjamini_hochberg
from untaken.stats.stratified import Stratum, exact_test, orders_of, risk_difference, score_interval
from untaken.stats.two_way import Block, slope_between_agents

ALPHA: Final = 0.05
"""A test whose margins could never give a p this small is dropped before the correction (Tarone)."""
Q_MAX: Final = 0.10
"""False discovery rate of the supported statements (Benjamini-Hochberg)."""
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

IN_ORDER: Final = "confounded: time and option coincide (within task and agent one came after the other)"

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

    @property
    def testable(self) -> bool:
        """Whether the margins could ever have given a p at the level."""
        return self.least_p <= ALPHA


@dataclass(frozen=True, slots=True)
class OptionPair:
    """Two options in one situation, and the runs (by position) that took each on their first visit."""

    situation: Situation
    first: Option
    second: Option
    strata: tuple[tuple[str, tuple[int, ...], tuple[int, ...]], ...]
    """(task, runs with `first`, runs with `second`) for each task and agent that took both."""
    blocks: tuple[tuple[np.ndarray, np.ndarray, tuple[str, ...]], ...]
    """Without strata, per set of agents: runs (task by agent), whether each took `first`, and the tasks."""
    in_order: bool = False
    """Whether one option came after the other inside strata, more than chance allows, in any layer."""

    @property
    def comparable(self) -> bool:
        """Whether any task lets the two be compared."""
        return bool(self.strata or self.blocks)


class _ChosenOption(NamedTuple):
    task_id: str
    agent: str
    option: Option
    run: int


def contrasts(paths: Sequence[PlanPath]) -> list[OptionPair]:
    """Every pair of options that some runs took in one situation, those that cannot be compared included."""
    chosen: dict[Situation, list[_ChosenOption]] = defaultdict(list)
    started = np.array([path.started for path in paths])
    for run, path in enumerate(paths):
        seen = set()
        for decision in path.decisions:
            for situation in situations(path, decision):
                if situation not in seen:
                    seen.add(situation)
                    option = option_in(situation.layer, decision.option)
                    chosen[situation].append(_ChosenOption(path.task_id, path.agent, option, run))
    found = [
        contrast for situation, choices in chosen.items() for contrast in _pairs(situation, choices, started)
    ]
    ordered = {_pair(contrast) for contrast in found if contrast.in_order and contrast.situation.layer > 1}
    return [replace(each, in_order=each.in_order or _pair(each) in ordered) for each in found]


def _pair(contrast: OptionPair) -> tuple[tuple[str, ...], frozenset[Option]]:
    """The kinds of the two options: a coarse layer has enough runs to show an order that a fine one hides."""
    general = frozenset((contrast.first.general, contrast.second.general))
    return contrast.situation.domain, general


def _pairs(
    situation: Situation, choices: Sequence[_ChosenOption], started: np.ndarray
) -> Iterable[OptionPair]:
    counted = Counter(choice.option for choice in choices)
    frequent = sorted(counted, key=lambda option: (-counted[option], option))[:OPTIONS_MAX]
    by_stratum: dict[tuple[str, str], dict[Option, list[int]]] = defaultdict(dict)
    for choice in choices:
        by_stratum[choice.task_id, choice.agent].setdefault(choice.option, []).append(choice.run)
    for first, second in combinations(sorted(frequent), 2):
        strata = tuple(
            (task, tuple(runs[first]), tuple(runs[second]))
            for (task, _), runs in by_stratum.items()
            if first in runs and second in runs
        )
        blocks = () if strata else _blocks(by_stratum, first, second)
        yield OptionPair(situation, first, second, strata, blocks, _in_order(strata, started))


def _in_order(strata: Sequence[tuple[str, Sequence[int], Sequence[int]]], started: np.ndarray) -> bool:
    runs = [run for _, one, two in strata for run in (*one, *two)]
    first = [took for _, one, two in strata for took in (True,) * len(one) + (False,) * len(two)]
    number = [n for n, (_, one, two) in enumerate(strata) for _ in (*one, *two)]
    one = np.zeros(len(runs), dtype=int)  # comparison
    return bool(runs) and bool(
        orders_of(started[runs], np.array(first), np.array(number), one, comparisons=1)
    )


def _blocks(
    by_stratum: dict[tuple[str, str], dict[Option, list[int]]], first: Option, second: Option
) -> tuple[tuple[np.ndarray, np.ndarray, tuple[str, ...]], ...]:
    """Tasks that several agents ran once each; none where too few tell the agents' choices apart."""
    by_task: dict[str, list[tuple[str, int, bool]]] = defaultdict(list)
    for (task, agent), runs in by_stratum.items():
        both = [(run, option == first) for option in (first, second) for run in runs.get(option, ())]
        if len(both) > 1:
            return ()  # repeats, and yet no agent took both: agent and option coincide
        by_task[task] += [(agent, run, took) for run, took in both]
    by_agents: dict[tuple[str, ...], list[tuple[str, list[tuple[str, int, bool]]]]] = defaultdict(list)
    differing = 0
    for task, rows in by_task.items():
        if len(rows) > 1:
            rows.sort()
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

    `in_order` is the contrast's.
    """

    difference: float
    p: float
    least: float
    sides: tuple[int, int]
    in_order: bool = False


class SupportRuling(NamedTuple):
    """Whether a contrast supports a statement, its q where it is testable, and why not."""

    supported: bool
    q: float | Unscored
    reason: str


def test_contrast(contrast: OptionPair, success: np.ndarray) -> Tested | None:
    """The estimate within strata, else between agents; ``None`` where no task allows a comparison."""
    if contrast.strata:
        strata = _strata(contrast, success)
        p, least = exact_test(strata)
        informative = [s for s in strata if s.informative]
        sides = sum(s.n1 for s in informative), sum(s.n0 for s in informative)
        return Tested(risk_difference(strata), p, least, sides, contrast.in_order)
    if not contrast.blocks:
        return None
    slope = slope_between_agents([Block(took, success[runs]) for runs, took, _ in contrast.blocks])
    if slope is None:
        return None
    return Tested(slope.slope, slope.p, slope.least, _sides_between(contrast, success))


def rule(tested: Sequence[Tested | None]) -> list[SupportRuling]:
    """Which contrasts support a statement: Tarone's rule, then Benjamini-Hochberg, then runs on each side."""
    testable = [i for i, each in enumerate(tested) if each is not None and each.least <= ALPHA]
    found = [each.p for each in tested if each is not None and each.least <= ALPHA]
    adjusted = dict(zip(testable, benjamini_hochberg(found), strict=True))
    return [_ruling(each, adjusted.get(i)) for i, each in enumerate(tested)]


def _ruling(tested: Tested | None, q: float | None) -> SupportRuling:
    if tested is None:
        return SupportRuling(False, Unscored(NEVER_BOTH), NEVER_BOTH)
    if q is None:
        return SupportRuling(False, Unscored(TOO_FEW), TOO_FEW)
    if min(tested.sides) < SIDE_MIN:
        return SupportRuling(False, q, FEW_A_SIDE)
    if q > Q_MAX or tested.p > ALPHA:
        return SupportRuling(False, q, NO_DIFFERENCE)
    return SupportRuling(False, q, IN_ORDER) if tested.in_order else SupportRuling(True, q, "")


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
    if contrast.strata:
        strata = _strata(contrast, success)
        low, high = score_interval(strata)
        sides = (
            (sum(s.k1 for s in strata), sum(s.n1 for s in strata)),
            (sum(s.k0 for s in strata), sum(s.n0 for s in strata)),
        )
        per_task = _by_task(contrast, strata)
    else:
        slope = slope_between_agents([Block(took, success[runs]) for runs, took, _ in contrast.blocks])
        low, high = (slope.low, slope.high) if slope else (-1.0, 1.0)
        sides, per_task = _between(contrast, success)
    first, second = contrast.first, contrast.second
    difference = tested.difference
    if difference < 0:
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


def _sides_between(contrast: OptionPair, success: np.ndarray) -> tuple[int, int]:
    ((_, n1), (_, n0)), _ = _between(contrast, success)
    return n1, n0


def _labels(paths: Sequence[PlanPath]) -> dict[tuple[str, ...], Label]:
    """What each domain's statements do: explain the verdict where the plan's final state is the outcome."""
    agree: dict[tuple[str, ...], list[bool]] = defaultdict(list)
    for path in paths:
        agree[path.domain].append(path.as_planned == path.success)
    return {
        domain: "explains_the_verdict" if sum(same) >= AGREEMENT_MIN * len(same) else "found"
        for domain, same in agree.items()
    }
