"""Any two people who judged the same runs: share of one opinion and Cohen's κ, pair by pair (§6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import combinations
from typing import Final, Literal

from untaken.errors import Unscored
from untaken.judging.agreement import PairedOpinions, VerdictPair, estimate_agreement, independent
from untaken.judging.reviewers import ReviewedSubGoal, Reviewers

MOST_REVIEWERS: Final = 20
"""Reviewers who are paired: those with most opinions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewerPair(PairedOpinions):
    """How far two reviewers agree on the sub-goals of runs on which both could tell.

    Attributes:
        a, b: who (VERDICT.by; untrusted).
        cluster: what the intervals take for independent.
    """

    a: str
    b: str
    cluster: Literal["task", "run"]


def reviewer_pairs(found: Reviewers, *, most: int = MOST_REVIEWERS) -> tuple[ReviewerPair, ...]:
    """Every two reviewers, the least κ first; those of whom κ is unscored last.

    Args:
        found: of several reviewers.
        most: reviewers to pair, those with most opinions; pairs grow with the square of it.
    """
    opinions = Counter(by for one in found.judged for by in (*one.met, *one.not_met))
    ranked = sorted(opinions, key=lambda name: (-opinions[name], name))
    chosen = sorted(ranked[:most])
    both: dict[tuple[str, str], list[VerdictPair]] = {two: [] for two in combinations(chosen, 2)}
    for one in found.judged:
        for pair in _pairs(one, frozenset(chosen)):
            both[pair.a_by[0], pair.b_by[0]].append(pair)
    return tuple(sorted((_agreeing(a, b, pairs) for (a, b), pairs in both.items()), key=_least_first))


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
    shared = {field.name: getattr(whole, field.name) for field in fields(PairedOpinions)}
    return ReviewerPair(a=a, b=b, cluster=cluster, **shared)


def _least_first(pair: ReviewerPair) -> tuple[float, int, str, str]:
    kappa = 2.0 if isinstance(pair.kappa, Unscored) else pair.kappa
    return kappa, -pair.n, pair.a, pair.b
