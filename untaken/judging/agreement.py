"""Do two authors of verdicts agree? Raw share, Cohen's κ with its interval, and where they part (§6)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

from untaken import stats
from untaken.errors import Score, Unscored
from untaken.ledger import Run, Verdict
from untaken.scoring import not_withdrawn, ruling, whose_count


class VerdictPair(Struct, frozen=True, kw_only=True):
    """The verdicts of both authors on one sub-goal of one run.

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


class PairedOpinions(Struct, frozen=True, kw_only=True):
    """How far two authors agree on the sub-goals of runs that both decided.

    Attributes:
        n: sub-goals of runs; the four counts add up to it.
        agreement: share of one opinion, with its 95% interval.
        kappa: Cohen's κ, with its 95% interval: near 0 where nearly all answers are the same.
        ac1: Gwet's AC1, with its 95% interval: agreement beyond chance that does not depend on that.
        prevalence: share of all answers that say met.
        clusters: tasks (or runs) that these come from; those of one are not taken for independent.
    """

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
    ac1: Score
    ac1_low: Score
    ac1_high: Score
    prevalence: Score
    clusters: int

    @property
    def agreed(self) -> int:
        """The number on which they agree."""
        return self.both_met + self.both_not


class AgreementEstimate(PairedOpinions, frozen=True, kw_only=True):
    """How far both agree, over all pairs or a part of them.

    Attributes:
        part: ``all``, ``agent`` or ``sub_goal``; `name` says which one.
        graph: of a sub-goal.
    """

    part: Literal["all", "agent", "sub_goal"]
    name: str
    graph: str


class VerdictAgreement(Struct, frozen=True, kw_only=True):
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
    overall: AgreementEstimate
    agents: tuple[AgreementEstimate, ...]
    sub_goals: tuple[AgreementEstimate, ...]
    pairs: tuple[VerdictPair, ...]
    left_out: int

    @property
    def disagreements(self) -> tuple[VerdictPair, ...]:
        """The pairs of two opinions, in reading order."""
        return tuple(pair for pair in self.pairs if pair.a != pair.b)


def verdict_agreement(
    runs: Iterable[Run], a: Sequence[str] = ("human:*",), b: Sequence[str] = ("judge:*",)
) -> VerdictAgreement:
    """Compare the verdicts of two authors, or two groups of authors, on the same sub-goals of the same runs.

    Each reviewer or judge has one voice, its latest verdict; of several, the majority decides as it does
    in scoring. "Could not tell" is no opinion.

    Args:
        runs: broken ones are left out.
        a: globs over VERDICT.by, e.g. ``human:*``.
        b: those to compare them with.
    """
    pairs: list[VerdictPair] = []
    left_out = 0
    for run in runs:
        if not run.integrity.broken:
            found, alone = _pairs(run, a, b)
            pairs += found
            left_out += alone
    cluster = independent(pairs)
    by_agent: dict[str, list[VerdictPair]] = defaultdict(list)
    by_goal: dict[tuple[str, str], list[VerdictPair]] = defaultdict(list)
    for pair in pairs:
        by_agent[pair.agent].append(pair)
        by_goal[pair.graph, pair.sub_goal].append(pair)
    goals = [
        estimate_agreement("sub_goal", goal, some, cluster, graph) for (graph, goal), some in by_goal.items()
    ]
    return VerdictAgreement(
        a=tuple(a),
        b=tuple(b),
        cluster=cluster,
        overall=estimate_agreement("all", "", pairs, cluster),
        agents=tuple(
            estimate_agreement("agent", agent, by_agent[agent], cluster) for agent in sorted(by_agent)
        ),
        sub_goals=tuple(sorted(goals, key=_least_first)),
        pairs=tuple(pairs),
        left_out=left_out,
    )


def _pairs(run: Run, a: Sequence[str], b: Sequence[str]) -> tuple[list[VerdictPair], int]:
    spoken: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in not_withdrawn(run.of(Verdict)):
        spoken[verdict.sub_goal].append(verdict)
    found, alone = [], 0
    for sub_goal, verdicts in spoken.items():
        one, two = (ruling(whose_count(verdicts, [globs])) for globs in (a, b))
        if one and two and isinstance(one.passed, bool) and isinstance(two.passed, bool):  # a tie has none
            found.append(
                VerdictPair(
                    run_id=run.run_id,
                    digest=run.digest,
                    agent=run.agent,
                    task_id=run.task_id,
                    graph=run.started.graph or "",
                    sub_goal=sub_goal,
                    a=one.passed,
                    b=two.passed,
                    a_by=tuple(verdict.by for verdict in one.verdicts),
                    b_by=tuple(verdict.by for verdict in two.verdicts),
                )
            )
        else:
            alone += bool(one or two)
    return found, alone


def _least_first(one: AgreementEstimate) -> tuple[float, int, str, str]:
    # Unscored last.
    return one.agreement if isinstance(one.agreement, float) else 1.0, -one.n, one.graph, one.name


def independent(pairs: Iterable[VerdictPair]) -> Literal["task", "run"]:
    """What intervals take for independent of each other: tasks, or runs where all are of one task."""
    return "task" if len({pair.task_id for pair in pairs}) > 1 else "run"


def estimate_agreement(
    part: Literal["all", "agent", "sub_goal"],
    name: str,
    pairs: Sequence[VerdictPair],
    cluster: Literal["task", "run"],
    graph: str = "",
) -> AgreementEstimate:
    """How far both agree over some pairs; without any, every figure is unscored."""
    clusters: dict[str, list[VerdictPair]] = defaultdict(list)
    for pair in pairs:
        # What is hard in a task is hard in all its runs, so that intervals take whole tasks as their units.
        clusters[pair.task_id if cluster == "task" else pair.digest].append(pair)
    verdicts = [[(pair.a, pair.b) for pair in some] for some in clusters.values()]
    ac1, ac1_low, ac1_high = stats.gwet_ac1(verdicts, stats.agreement_share(verdicts))
    met = sum(pair.a + pair.b for pair in pairs)
    return AgreementEstimate(
        part=part,
        name=name,
        graph=graph,
        n=len(pairs),
        both_met=sum(pair.a and pair.b for pair in pairs),
        only_a=sum(pair.a and not pair.b for pair in pairs),
        only_b=sum(pair.b and not pair.a for pair in pairs),
        both_not=sum(not pair.a and not pair.b for pair in pairs),
        **stats.agreement_figures(verdicts),
        ac1=ac1,
        ac1_low=ac1_low,
        ac1_high=ac1_high,
        prevalence=met / (2 * len(pairs)) if pairs else Unscored("no sub-goal has a verdict from both"),
        clusters=len(clusters),
    )
