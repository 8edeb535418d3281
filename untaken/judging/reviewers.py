"""Several people judge the same runs: how far all of them, and any two, agree, and where they differ (§6)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Final, Literal

from msgspec import Struct

from untaken import stats
from untaken.errors import Score, Unscored
from untaken.judging.agreement import PairedOpinions, VerdictPair, estimate_agreement, independent
from untaken.ledger import Run, Verdict
from untaken.scoring import not_withdrawn, whose_count

MOST_REVIEWERS: Final = 20
"""Reviewers who are paired: those with most opinions."""
Part = Literal["all", "blind", "seen", "sub_goal"]
EVERYBODY: Final = ("human:*",)


class ReviewedSubGoal(Struct, frozen=True, kw_only=True):
    """Each reviewer's latest verdict on one sub-goal of one run.

    Attributes:
        graph: the plan graph that the run names; else empty.
        met, not_met, unsure: who says so (VERDICT.by); `unsure` could not tell.
        reasons: what they wrote, by author.
        imported: whose word came with a file.
        blind: whether all who could tell, but the first, had not seen what others wrote about the run.
    """

    run_id: str
    digest: str
    agent: str
    task_id: str
    graph: str
    sub_goal: str
    met: tuple[str, ...]
    not_met: tuple[str, ...]
    unsure: tuple[str, ...]
    reasons: tuple[tuple[str, str], ...]
    imported: tuple[str, ...] = ()
    blind: bool = False

    @property
    def contradicts(self) -> bool:
        """One says met, another not met."""
        return bool(self.met and self.not_met)

    @property
    def differs(self) -> bool:
        """Whether reviewers differ; "cannot tell" differs from a verdict."""
        return sum(map(bool, (self.met, self.not_met, self.unsure))) > 1

    @property
    def opinions(self) -> stats.Unit:
        """The answers of those who could tell."""
        return [True] * len(self.met) + [False] * len(self.not_met)

    @property
    def answers(self) -> stats.Unit:
        """Every answer; "cannot tell" is one of three."""
        return [*self.opinions, *[None] * len(self.unsure)]


class Reliability(Struct, frozen=True, kw_only=True):
    """How far reviewers agree, over everything or on one sub-goal.

    Attributes:
        part: ``all``, of these ``blind`` (`ReviewedSubGoal.blind`) and ``seen``, or ``sub_goal``; `name` says
            which one, `graph` of which plan graph.
        reviewers: who judged any of it.
        items: sub-goals of runs on which two or more could tell; of these, `agreed` have one opinion.
        alone: those on which only one could tell.
        unsure: answers "could not tell"; they are no opinion, and missing in `alpha`.
        runs: that the items come from; `cluster`: what the interval takes for independent of each other.
        alpha: Krippendorff's α, met or not met, with its 95% interval.
        alpha_unsure: the same with "could not tell" as a third answer.
    """

    part: Part
    name: str
    graph: str
    reviewers: tuple[str, ...]
    items: int
    agreed: int
    alone: int
    unsure: int
    runs: int
    cluster: Literal["task", "run"]
    alpha: Score
    low: Score
    high: Score
    alpha_unsure: Score


class Reviewers(Struct, frozen=True, kw_only=True):
    """Agreement of several reviewers on the same runs.

    Attributes:
        whose: globs over VERDICT.by.
        sub_goals: the least agreement first.
        judged: every sub-goal of a run that any of them judged.
        blind, seen: agreement where all but the first read blind, and where somebody had seen another one's
            opinion; apart, as who has seen an answer agrees more easily.
    """

    whose: tuple[str, ...]
    overall: Reliability
    blind: Reliability
    seen: Reliability
    sub_goals: tuple[Reliability, ...]
    judged: tuple[ReviewedSubGoal, ...]

    @property
    def disagreements(self) -> tuple[ReviewedSubGoal, ...]:
        """Those on which they differ: contradictions first, then those with most voices."""
        found = (one for one in self.judged if one.differs)
        return tuple(sorted(found, key=lambda one: (not one.contradicts, -len(one.answers))))


def reviewers_agreement(runs: Iterable[Run], whose: Sequence[str] = EVERYBODY) -> Reviewers:
    """How far people who judged the same sub-goals of the same runs agree."""
    judged = [one for run in runs if not run.integrity.broken for one in _judged(run, whose)]
    by_goal: dict[tuple[str, str], list[ReviewedSubGoal]] = defaultdict(list)
    for one in judged:
        by_goal[one.graph, one.sub_goal].append(one)  # two plans may have sub-goals of one id
    goals = [_reliability("sub_goal", some, goal, graph) for (graph, goal), some in by_goal.items()]
    return Reviewers(
        whose=tuple(whose),
        overall=_reliability("all", judged),
        blind=_reliability("blind", [one for one in judged if one.blind]),
        seen=_reliability("seen", [one for one in judged if not one.blind and len(one.opinions) > 1]),
        sub_goals=tuple(sorted(goals, key=_least_first)),
        judged=tuple(judged),
    )


def _judged(run: Run, whose: Sequence[str]) -> list[ReviewedSubGoal]:
    latest: dict[str, dict[str, Verdict]] = defaultdict(dict)
    for verdict in whose_count(not_withdrawn(run.of(Verdict)), [whose]):
        if not verdict.settles:  # what they agreed on afterwards says nothing about how far they agree
            latest[verdict.sub_goal][verdict.by] = verdict
    return [
        ReviewedSubGoal(
            run_id=run.run_id,
            digest=run.digest,
            agent=run.agent,
            task_id=run.task_id,
            graph=run.started.graph or "",
            sub_goal=sub_goal,
            met=tuple(by for by, verdict in verdicts.items() if verdict.passed is True),
            not_met=tuple(by for by, verdict in verdicts.items() if verdict.passed is False),
            unsure=tuple(by for by, verdict in verdicts.items() if verdict.passed is None),
            reasons=tuple((by, verdict.reason) for by, verdict in verdicts.items() if verdict.reason),
            imported=tuple(by for by, verdict in verdicts.items() if run.imported(verdict)),
            blind=_blind(verdicts.values()),
        )
        for sub_goal, verdicts in latest.items()
    ]


def _blind(verdicts: Iterable[Verdict]) -> bool:
    """Whether nobody had seen another one's opinion: all but the first one read blind."""
    opinions = sorted((one for one in verdicts if one.passed is not None), key=lambda one: one.seq)
    return len(opinions) > 1 and all(one.blind for one in opinions[1:])


def _reliability(
    part: Part, judged: Sequence[ReviewedSubGoal], name: str = "", graph: str = ""
) -> Reliability:
    several = [one for one in judged if len(one.opinions) > 1]
    tasks = len({one.task_id for one in several}) > 1
    clusters: dict[str, list[stats.Unit]] = defaultdict(list)
    for one in several:
        clusters[one.task_id if tasks else one.digest].append(one.opinions)
    low, high = stats.alpha_interval(clusters)
    return Reliability(
        part=part,
        name=name,
        graph=graph,
        reviewers=tuple(sorted({by for one in judged for by in (*one.met, *one.not_met, *one.unsure)})),
        items=len(several),
        agreed=sum(not one.contradicts for one in several),
        alone=sum(len(one.opinions) == 1 for one in judged),
        unsure=sum(len(one.unsure) for one in judged),
        runs=len({one.digest for one in several}),
        cluster="task" if tasks else "run",
        alpha=stats.nominal_alpha([one.opinions for one in several]),
        low=low,
        high=high,
        alpha_unsure=stats.nominal_alpha([one.answers for one in judged]),
    )


def _least_first(one: Reliability) -> tuple[float, int, str, str]:
    return one.agreed / one.items if one.items else 2.0, -one.items, one.graph, one.name  # no items last


class ReviewerPair(PairedOpinions, frozen=True, kw_only=True):
    """How far two reviewers agree on the sub-goals of runs on which both could tell.

    Attributes:
        a, b: who (VERDICT.by; untrusted).
        cluster: what the intervals take for independent.
    """

    a: str
    b: str
    cluster: Literal["task", "run"]

    @property
    def beyond_chance(self) -> bool:
        """Whether κ's whole interval is above 0."""
        return not isinstance(self.kappa_low, Unscored) and self.kappa_low > 0


def reviewer_pairs(found: Reviewers, *, most: int = MOST_REVIEWERS) -> tuple[ReviewerPair, ...]:
    """Every two reviewers, the least κ first; those of whom κ is unscored last.

    Args:
        found: of several reviewers.
        most: reviewers to pair, those with most opinions; pairs grow with the square of it.
    """
    opinions = Counter(by for one in found.judged for by in (*one.met, *one.not_met))
    ranked = sorted(opinions, key=lambda name: (-opinions[name], name))
    chosen = sorted(ranked[:most])  # by name, so that a pair is always the same way round
    # Those with nothing in common are listed, too.
    both: dict[tuple[str, str], list[VerdictPair]] = {two: [] for two in combinations(chosen, 2)}
    for one in found.judged:
        for pair in _pairs(one, frozenset(chosen)):
            both[pair.a_by[0], pair.b_by[0]].append(pair)
    return tuple(sorted((_agreeing(a, b, pairs) for (a, b), pairs in both.items()), key=_least_kappa_first))


def _pairs(one: ReviewedSubGoal, among: frozenset[str]) -> Iterator[VerdictPair]:
    verdicts = dict.fromkeys(one.met, True) | dict.fromkeys(one.not_met, False)
    for a, b in combinations(sorted(verdicts.keys() & among), 2):
        yield VerdictPair(
            run_id=one.run_id,
            digest=one.digest,
            agent=one.agent,
            task_id=one.task_id,
            graph=one.graph,
            sub_goal=one.sub_goal,
            a=verdicts[a],
            b=verdicts[b],
            a_by=(a,),
            b_by=(b,),
        )


def _agreeing(a: str, b: str, pairs: list[VerdictPair]) -> ReviewerPair:
    cluster = independent(pairs)
    whole = estimate_agreement("all", "", pairs, cluster)
    shared = {name: getattr(whole, name) for name in PairedOpinions.__struct_fields__}
    return ReviewerPair(a=a, b=b, cluster=cluster, **shared)


def _least_kappa_first(pair: ReviewerPair) -> tuple[float, int, str, str]:
    kappa = 2.0 if isinstance(pair.kappa, Unscored) else pair.kappa
    return kappa, -pair.n, pair.a, pair.b
