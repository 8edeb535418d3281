"""What the first page of the app shows, small enough to be kept (`untaken.answers.stored_answers`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from untaken.answers.overview import Overview, overview
from untaken.answers.plan_words import statement_words
from untaken.answers.review import OrderedRun, ReviewItem, contradictory, review_items, review_order
from untaken.answers.unhandled_failures import runs_not_detecting_errors
from untaken.corpus import Corpus, runs_without_graph
from untaken.discovery import teaches
from untaken.errors import Unscored
from untaken.fix_first import (
    ITEMS_SHOWN,
    BetterWay,
    FailurePattern,
    FixFirst,
    Often,
    Triage,
    better_ways,
    triage_by_agent,
)
from untaken.ranking import RankReport

WAYS_SHOWN: Final = 3
"""Plan changes to fix first that are shown, each with at most so many runs."""
CONTRADICTORY_SHOWN: Final = 3
REVIEWS_SHOWN: Final = 200
UNHANDLED_SHOWN: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRuns:
    """The first few of `count` runs."""

    count: int
    items: tuple[ReviewItem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunBehind:
    """A run behind something to fix.

    Attributes:
        seq: of its event that is meant; `sub_goal`: the one that failed; ``None`` where another is meant.
        reason: why the sub-goal counts as it does, in words (untrusted); empty for an event.
    """

    digest: str
    agent: str
    task_id: str
    task_repeat: int | None
    success: bool | Unscored
    seq: int | None = None
    sub_goal: str | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownWay:
    """A plan change to fix first, in words, with the first runs behind it."""

    words: str
    gain: float
    low: float
    high: float
    often: Often
    runs: tuple[RunBehind, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownWays:
    """The first few of `count` plan changes to fix first; `decided`: whether any run has plan decisions."""

    decided: bool
    count: int
    ways: tuple[ShownWay, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WithoutGraph:
    """How many unbroken runs no plan graph covers; `draft`: whether one can be drafted from them."""

    runs: int
    draft: bool


def first_numbers(corpus: Corpus) -> Overview:
    """`overview` by critical completion; by completion where no successful run has a critical sub-goal."""
    seen = overview(corpus, metric="critical_completion")
    return overview(corpus, metric="completion") if isinstance(seen.lucky.rate, Unscored) else seen


def without_graph(corpus: Corpus) -> WithoutGraph:
    """How many unbroken runs no plan graph covers, and whether a draft of one can learn from them."""
    found = runs_without_graph(corpus)
    return WithoutGraph(runs=len(found), draft=any(map(teaches, found)))


def ranks_alone(corpus: Corpus) -> RankReport:
    """The ranking without its runs, for what compares standings."""
    return replace(corpus.ranking, runs=(), contradictions=())


def first_to_review(corpus: Corpus, order: Sequence[OrderedRun] | None = None) -> ShownRuns:
    """The first runs in the order of review; `order` as of `review_order`."""
    return _shown(corpus, review_order(corpus) if order is None else order, REVIEWS_SHOWN)


def contradictory_runs(corpus: Corpus, order: Sequence[OrderedRun] | None = None) -> ShownRuns:
    """Runs whose outcome and sub-goals disagree, largest effect first; `order` as above."""
    found = contradictory(review_order(corpus) if order is None else order)
    return _shown(corpus, found, CONTRADICTORY_SHOWN)


def runs_with_unhandled_failures(corpus: Corpus, order: Sequence[OrderedRun] | None = None) -> ShownRuns:
    """Runs that saw failures and never changed their plan, in the order of review; `order` as above."""
    digests = set(runs_not_detecting_errors(corpus))
    every = (review_order(corpus) if order is None else order) if digests else ()
    return _shown(corpus, [run for run in every if run.digest in digests], UNHANDLED_SHOWN)


def _shown(corpus: Corpus, runs: Sequence[OrderedRun], most: int) -> ShownRuns:
    return ShownRuns(count=len(runs), items=review_items(corpus, runs[:most]))


def shown_items(seen: Triage) -> tuple[FixFirst, ...]:
    """The items to fix first that a page shows: of each kind, and of the patterns."""
    kinds = (seen.of_kind("sub_goal"), seen.of_kind("decision"), seen.patterns)
    return tuple(item for items in kinds for item in items[:ITEMS_SHOWN])


def runs_behind(corpus: Corpus, item: FixFirst) -> tuple[RunBehind, ...]:
    """The first runs behind an item to fix, largest effect first."""
    return tuple(_behind(corpus, item, at) for at in range(min(ITEMS_SHOWN, len(item.runs))))


def runs_behind_items(
    corpus: Corpus, found: Mapping[str | None, Triage] | None = None
) -> dict[str, tuple[RunBehind, ...]]:
    """`runs_behind` what is shown of all agents together, by digest of the item."""
    seen = (triage_by_agent(corpus) if found is None else found)[None]
    return {item.digest: runs_behind(corpus, item) for item in shown_items(seen)}


def plan_changes_to_fix(corpus: Corpus) -> ShownWays:
    """The first of `better_ways`, with the runs behind each."""
    decided = any(graph.mutates for graph in corpus.graphs.graphs) and bool(corpus.plans.runs)
    found = better_ways(corpus) if decided else ()
    ways = tuple(_way(corpus, way) for way in found[:WAYS_SHOWN])
    return ShownWays(decided=decided, count=len(found), ways=ways)


def _behind(corpus: Corpus, item: FixFirst, at: int) -> RunBehind:
    digest = item.runs[at]
    if item.kind == "decision":
        return _run(corpus, digest, seq=item.points[at])
    goal = item.goals[at] if isinstance(item, FailurePattern) else str(item.sub_goal)
    score = corpus.scores[digest]
    reason = score.reason if isinstance(score, Unscored) else score.node(goal).reason
    return _run(corpus, digest, sub_goal=goal, reason=reason)


def _run(
    corpus: Corpus, digest: str, *, seq: int | None = None, sub_goal: str | None = None, reason: str = ""
) -> RunBehind:
    run = corpus.runs[digest]
    return RunBehind(
        digest=digest,
        agent=run.agent,
        task_id=run.task_id,
        task_repeat=run.started.task_repeat,
        success=run.success,
        seq=seq,
        sub_goal=sub_goal,
        reason=reason,
    )


def _way(corpus: Corpus, way: BetterWay) -> ShownWay:
    return ShownWay(
        words=statement_words(way.statement),
        gain=way.gain,
        low=way.low,
        high=way.high,
        often=way.often,
        runs=tuple(_run(corpus, digest, seq=seq) for digest, seq in way.runs[:WAYS_SHOWN]),
    )
