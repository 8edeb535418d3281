"""Do two authors of verdicts agree? Raw share, Cohen's κ with its interval, and where they part (§6)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from untaken.errors import Score, Unscored
from untaken.ledger import Run
from untaken.ledger.events import Verdict
from untaken.subgoals.verdicts import ruling, whose_count


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """What both authors said of one sub-goal of one run.

    Attributes:
        graph: the plan graph that the run names; else empty.
        a, b: whether it was met.
        a_by, b_by: who said so.
    """

    run_id: str
    digest: str
    agent: str
    task_id: str
    graph: str
    sub_goal: str
    a: bool
    b: bool
    a_by: tuple[str, ...]
    b_by: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Concord:
    """How far both agree, over all pairs or a part of them.

    Attributes:
        part: ``all``, ``agent`` or ``sub_goal``; `name` says which one.
        graph: of a sub-goal.
        n: pairs; the four counts add up to it.
        agreement: share of pairs of one opinion, with its 95 % interval.
        kappa: Cohen's κ, with its 95 % interval.
        clusters: tasks (or runs) that the pairs come from; pairs of one are not taken for independent.
    """

    part: Literal["all", "agent", "sub_goal"]
    name: str
    graph: str
    n: int
    both_met: int
    only_a: int
    only_b: int
    both_not: int
    agreement: Score
    low: Score
    high: Score
    kappa: Score
    kappa_low: Score
    kappa_high: Score
    clusters: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictAgreement:
    """Two authors' verdicts, compared.

    Attributes:
        a, b: globs over VERDICT.by.
        cluster: what the intervals take for independent of each other.
        agents, sub_goals: by agent, and by sub-goal with the least agreement first.
        pairs: every sub-goal of a run on which both have an opinion.
        left_out: sub-goals of runs on which only one of them has an opinion.
    """

    a: tuple[str, ...]
    b: tuple[str, ...]
    cluster: Literal["task", "run"]
    overall: Concord
    agents: tuple[Concord, ...]
    sub_goals: tuple[Concord, ...]
    pairs: tuple[Pair, ...]
    left_out: int

    @property
    def disagreements(self) -> tuple[Pair, ...]:
        """The pairs of two opinions, in reading order."""
        return tuple(pair for pair in self.pairs if pair.a != pair.b)


def verdict_agreement(
    runs: Iterable[Run], a: Sequence[str] = ("human:*",), b: Sequence[str] = ("judge:*",)
) -> VerdictAgreement:
    """Compare what two authors, or two kinds of them, say of the same sub-goals of the same runs.

    Each reviewer or judge has one voice, its latest verdict; of several, the majority decides as it does
    in scoring. "Could not tell" is no opinion.

    Args:
        runs: broken ones are left out.
        a: globs over VERDICT.by, e.g. ``human:*``.
        b: those to compare them with.
    """
    pairs: list[Pair] = []
    left_out = 0
    for run in runs:
        if not run.integrity.broken:
            found, alone = _pairs(run, a, b)
            pairs += found
            left_out += alone
    cluster = independent(pairs)
    by_agent: dict[str, list[Pair]] = defaultdict(list)
    by_goal: dict[tuple[str, str], list[Pair]] = defaultdict(list)
    for pair in pairs:
        by_agent[pair.agent].append(pair)
        by_goal[pair.graph, pair.sub_goal].append(pair)
    goals = [concord("sub_goal", goal, some, cluster, graph) for (graph, goal), some in by_goal.items()]
    return VerdictAgreement(
        a=tuple(a),
        b=tuple(b),
        cluster=cluster,
        overall=concord("all", "", pairs, cluster),
        agents=tuple(concord("agent", agent, by_agent[agent], cluster) for agent in sorted(by_agent)),
        sub_goals=tuple(sorted(goals, key=_least_first)),
        pairs=tuple(pairs),
        left_out=left_out,
    )


def _pairs(run: Run, a: Sequence[str], b: Sequence[str]) -> tuple[list[Pair], int]:
    spoken: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in run.of(Verdict):
        spoken[verdict.sub_goal].append(verdict)
    found, alone = [], 0
    for sub_goal, verdicts in spoken.items():
        one, two = (ruling(whose_count(verdicts, [globs])) for globs in (a, b))
        if one and two and isinstance(one.passed, bool) and isinstance(two.passed, bool):
            found.append(
                Pair(
                    run_id=run.run_id,
                    digest=run.digest,
                    agent=run.agent,
                    task_id=run.task_id,
                    graph=run.started.graph or "",
                    sub_goal=sub_goal,
                    a=one.passed,
                    b=two.passed,
                    a_by=tuple(voice.by for voice in one.voices),
                    b_by=tuple(voice.by for voice in two.voices),
                )
            )
        else:
            alone += bool(one or two)
    return found, alone


def _least_first(concord: Concord) -> tuple[float, int, str, str]:
    share = concord.agreement if isinstance(concord.agreement, float) else 1.0
    return share, -concord.n, concord.graph, concord.name


def independent(pairs: Iterable[Pair]) -> Literal["task", "run"]:
    """What intervals take for independent of each other: tasks, or runs where all are of one task."""
    return "task" if len({pair.task_id for pair in pairs}) > 1 else "run"


def concord(
    part: Literal["all", "agent", "sub_goal"],
    name: str,
    pairs: Sequence[Pair],
    cluster: Literal["task", "run"],
    graph: str = "",
) -> Concord:
    """How far both agree over some pairs; without any, every figure is unscored."""
    clusters: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        clusters[pair.task_id if cluster == "task" else pair.digest].append(pair)
    share = _agreement(clusters)
    kappa = _kappa(clusters, share)
    return Concord(
        part=part,
        name=name,
        graph=graph,
        n=len(pairs),
        both_met=sum(pair.a and pair.b for pair in pairs),
        only_a=sum(pair.a and not pair.b for pair in pairs),
        only_b=sum(pair.b and not pair.a for pair in pairs),
        both_not=sum(not pair.a and not pair.b for pair in pairs),
        agreement=share[0],
        low=share[1],
        high=share[2],
        kappa=kappa[0],
        kappa_low=kappa[1],
        kappa_high=kappa[2],
        clusters=len(clusters),
    )


Interval = tuple[Score, Score, Score]
"""A value with both ends of its 95 % interval."""


def _agreement(clusters: Mapping[str, Sequence[Pair]]) -> Interval:
    """Wilson's interval, n divided by the design effect of the clusters, with Student's t for few of them."""
    same = {name: [float(pair.a == pair.b) for pair in pairs] for name, pairs in clusters.items()}
    n = sum(map(len, same.values()))
    if not n:
        none = Unscored("no sub-goal has an opinion of both")
        return none, none, none
    share = sum(map(sum, same.values())) / n
    if len(same) < 2:
        few = Unscored("an interval needs at least two tasks or runs")
        return share, few, few
    spread = _cluster_variance([[one - share for one in ones] for ones in same.values()], n)
    alone = share * (1 - share) / n
    size = n / max(1.0, spread / alone) if alone else float(len(same))
    t = _student(len(same) - 1)
    centre = (share + t * t / (2 * size)) / (1 + t * t / size)
    half = t * math.sqrt(share * (1 - share) / size + t * t / (4 * size * size)) / (1 + t * t / size)
    return share, max(0.0, centre - half), min(1.0, centre + half)


def _kappa(clusters: Mapping[str, Sequence[Pair]], share: Interval) -> Interval:
    """κ = (pₒ − pₑ) / (1 − pₑ), by the delta method over clusters.

    Where both agree in everything, or in nothing, the delta method gives an interval of no width: there κ is
    taken at both ends of the share's interval. It gives one too where the clusters resemble each other: pairs
    are never taken for more than independent. Where one of them always says the same, κ is 0 whatever the
    other says: there is no interval.
    """
    pairs = [pair for some in clusters.values() for pair in some]
    n = len(pairs)
    observed = share[0]
    if isinstance(observed, Unscored):
        return observed, observed, observed
    a, b = sum(pair.a for pair in pairs) / n, sum(pair.b for pair in pairs) / n
    chance = a * b + (1 - a) * (1 - b)
    if chance == 1:
        same = Unscored("both say the same of everything, so chance alone explains it")
        return same, same, same
    kappa = round((observed - chance) / (1 - chance), 12) + 0.0  # never -0
    low, high = share[1:]
    if isinstance(low, Unscored) or isinstance(high, Unscored):
        return kappa, low, high
    if a in (0, 1) or b in (0, 1):
        always = Unscored("one of the two always says the same, so κ is 0 whatever the other says")
        return kappa, always, always
    if observed in (0, 1):
        ends = [(end - chance) / (1 - chance) for end in (low, high)]
        return kappa, max(-1.0, min(ends[0], kappa)), min(1.0, max(ends[1], kappa))
    pulls = [[_pull(pair, observed, chance, a, b) for pair in some] for some in clusters.values()]
    alone = _cluster_variance([[pull] for some in pulls for pull in some], n)
    half = _student(len(clusters) - 1) * math.sqrt(max(alone, _cluster_variance(pulls, n)))
    return kappa, max(-1.0, kappa - half), min(1.0, kappa + half)


def _pull(pair: Pair, observed: float, chance: float, a: float, b: float) -> float:
    """How far one pair moves κ: its derivative by the pair's weight."""
    moved = (2 * b - 1) * (pair.a - a) + (2 * a - 1) * (pair.b - b)
    return float(((pair.a == pair.b) - observed) * (1 - chance) - (1 - observed) * moved) / (1 - chance) ** 2


def _cluster_variance(pulls: Sequence[Sequence[float]], n: int) -> float:
    """Variance of a mean of n values that are independent between clusters only."""
    groups = len(pulls)
    return groups / (groups - 1) * math.fsum(math.fsum(group) ** 2 for group in pulls) / n**2


def _student(freedom: int) -> float:
    from scipy.special import stdtrit  # noqa: PLC0415 (slow)

    return float(stdtrit(freedom, 0.975))
