"""What the first page of the app shows, small enough to be kept (`untaken.views.stored_answers`)."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from untaken.analysis import (
    ITEMS_SHOWN,
    OUTCOME,
    Agreement,
    Corpus,
    DiscordantPair,
    FixItem,
    RankReport,
    Triage,
    remarks,
    runs_without_graph,
    triage,
)
from untaken.errors import Score, Unscored
from untaken.plans import teaches
from untaken.scoring import RunScore
from untaken.views.advising import AdvisedChoice, CheaperOption, advised
from untaken.views.review import OrderedRun, ReviewItem, contradictory, review_items, review_order
from untaken.views.spending import MEASURES, by_task, measured
from untaken.views.unhandled_failures import runs_not_detecting_errors

CHOICES_SHOWN: Final = 3
"""Choices that are shown, each with at most so many runs."""
READ_NEXT: Final = 4
MOST_LOOKED_AT: Final = 200
"""Runs that are looked into for what went wrong first, until enough of them differ."""
UNHANDLED_SHOWN: Final = 6


class ShownRuns(Struct, frozen=True, kw_only=True):
    """The first few of `count` runs."""

    count: int
    items: tuple[ReviewItem, ...]


class RunBehind(Struct, frozen=True, kw_only=True):
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


class ShownChoice(Struct, frozen=True, kw_only=True):
    """A choice that succeeded more often, with the first runs that took the other option."""

    choice: AdvisedChoice
    runs: tuple[RunBehind, ...]


class ShownChoices(Struct, frozen=True, kw_only=True):
    """The first few of `count` choices and of `cheaper_count` cheaper ones; `silent`: why there are none."""

    count: int
    choices: tuple[ShownChoice, ...]
    cheaper_count: int
    cheaper: tuple[CheaperOption, ...]
    skipping: int
    silent: str


class WithoutGraph(Struct, frozen=True, kw_only=True):
    """How many unbroken runs no plan graph covers.

    `draft`: whether a graph can be drafted from them; `unused`: how many graphs no run has.
    """

    runs: int
    draft: bool
    unused: int


def first_numbers(corpus: Corpus) -> Overview:
    """`overview` by critical completion; by completion where no successful run has a critical sub-goal."""
    seen = overview(corpus, metric="critical_completion")
    return overview(corpus, metric="completion") if isinstance(seen.lucky.rate, Unscored) else seen


def without_graph(corpus: Corpus) -> WithoutGraph:
    """How many unbroken runs no plan graph covers, and whether a draft of one can learn from them."""
    found = runs_without_graph(corpus)
    used = {score.graph_id for score in corpus.scores.values() if isinstance(score, RunScore)}
    unused = sum(graph.id not in used for graph in corpus.graphs.graphs)
    return WithoutGraph(runs=len(found), draft=any(map(teaches, found)), unused=unused)


def ranks_alone(corpus: Corpus) -> RankReport:
    """The ranking without its runs, for what compares standings."""
    return dataclasses.replace(corpus.ranking, runs=(), contradictions=())


def ranking_remarks(corpus: Corpus) -> tuple[str, ...]:
    """What a ranking of these runs cannot say: one agent, outcomes that are all alike, too few tasks."""
    return remarks(corpus.ranking)


def read_next(corpus: Corpus, order: Sequence[OrderedRun] | None = None) -> ShownRuns:
    """Of the runs in which something went wrong, a few that differ in what went wrong first.

    Those whose outcome hides it come first. `order` as of `review_order`.
    """
    failing = [run for run in (review_order(corpus) if order is None else order) if run.failing]
    hidden = contradictory(failing)
    known = {run.digest for run in hidden}
    ranked = [*hidden, *(run for run in failing if run.digest not in known)]
    shown: dict[tuple[str, str], ReviewItem] = {}
    # One at a time: looking into a run takes long, and a few that differ are mostly found among the first.
    for item in (review_items(corpus, [run])[0] for run in ranked[:MOST_LOOKED_AT]):
        shown.setdefault((item.kind, item.cause.sub_goal or item.cause.headline), item)
        if len(shown) == READ_NEXT:
            break
    return ShownRuns(count=len(failing), items=tuple(shown.values()))


def runs_with_unhandled_failures(corpus: Corpus, order: Sequence[OrderedRun] | None = None) -> ShownRuns:
    """Runs that saw failures and never changed their plan, in the order of review; `order` as above."""
    digests = set(runs_not_detecting_errors(corpus))
    # Where no run is meant, the order need not be computed.
    every = (review_order(corpus) if order is None else order) if digests else ()
    runs = [run for run in every if run.digest in digests]
    return ShownRuns(count=len(runs), items=review_items(corpus, runs[:UNHANDLED_SHOWN]))


def runs_behind(corpus: Corpus, item: FixItem) -> tuple[RunBehind, ...]:
    """The first runs behind an item to fix, each agent in turn."""
    return tuple(_behind(corpus, item, at) for at in range(min(ITEMS_SHOWN, len(item.runs))))


def runs_behind_items(corpus: Corpus, found: Triage | None = None) -> dict[str, tuple[RunBehind, ...]]:
    """`runs_behind` the items shown of all agents together, by digest of the item."""
    seen = triage(corpus) if found is None else found
    return {item.digest: runs_behind(corpus, item) for item in seen.items[:ITEMS_SHOWN]}


def choices_to_change(corpus: Corpus) -> ShownChoices:
    """The first of `untaken.views.advising.advised`, with the runs behind each."""
    found = advised(corpus)
    return ShownChoices(
        count=len(found.choices),
        choices=tuple(
            ShownChoice(
                choice=replace(one, runs=one.runs[:CHOICES_SHOWN]),
                runs=tuple(_run(corpus, digest, seq=seq) for digest, seq in one.runs[:CHOICES_SHOWN]),
            )
            for one in found.choices[:CHOICES_SHOWN]
        ),
        cheaper_count=len(found.cheaper),
        cheaper=found.cheaper[:CHOICES_SHOWN],
        skipping=found.skipping,
        silent="" if found.choices else found.silent,
    )


def _behind(corpus: Corpus, item: FixItem, at: int) -> RunBehind:
    digest = item.runs[at]
    if not item.goals:
        return _run(corpus, digest, seq=item.seqs[at])
    score = corpus.scores[digest]
    reason = score.reason if isinstance(score, Unscored) else score.node(item.goals[at]).reason
    return _run(corpus, digest, sub_goal=item.goals[at], reason=reason)


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


class Share(Struct, frozen=True, kw_only=True):
    """`count` of `n`; `left_out` have no evidence."""

    count: int
    n: int
    left_out: int

    @property
    def rate(self) -> Score:
        """`count` over `n`."""
        return self.count / self.n if self.n else Unscored("nothing to count")


class Overview(Struct, frozen=True, kw_only=True):
    """A corpus in a few numbers.

    Attributes:
        runs, agents, tasks, graphs: how much there is.
        broken: runs whose ledger is not to be trusted; they are in no rate.
        succeeded: runs that succeeded, of those with a recorded outcome: pooled, whatever their tasks.
        task_mean, task_low, task_high: the mean over tasks of each task's share of successes, so that every
            task counts once, and its 95% interval.
        lucky: successes without a critical sub-goal, of the successes with evidence.
        unlucky: failures with every sub-goal completed, of the failures that were scored.
        metric: the sub-goal metric whose ranking is compared with the outcome's.
        agreement: how the two rankings agree; ``None`` where there is no ranking by `metric`.
        discordant: the pairs of agents that the two rankings order oppositely.
        pairs: number of pairs of agents ranked by both.
    """

    runs: int
    agents: int
    tasks: int
    graphs: int
    broken: int
    succeeded: Share
    task_mean: Score
    task_low: Score
    task_high: Score
    lucky: Share
    unlucky: Share
    metric: str
    agreement: Agreement | None
    discordant: tuple[DiscordantPair, ...]
    pairs: int


def graphs_by_misses(corpus: Corpus) -> list[str]:
    """The plan graphs of the scored runs, those first in whose runs most sub-goals were missed."""
    missed: Counter[str] = Counter()
    for score in corpus.scores.values():
        if isinstance(score, RunScore):
            missed[score.graph_id] += sum(node.status in {"attempted", "skipped"} for node in score.results)
    return sorted(missed, key=lambda graph: (-missed[graph], graph))


def overview(corpus: Corpus, *, metric: str = "critical_completion") -> Overview:
    """The numbers above, under the rules of the corpus."""
    runs = [run for run in corpus.runs.values() if not run.integrity.broken]
    scores = [score for score in corpus.scores.values() if isinstance(score, RunScore)]
    agreement = next((a for a in corpus.ranking.agreement if {a.a, a.b} == {OUTCOME, metric}), None)
    ranked = agreement.n if agreement else 0
    outcomes = [run.success for run in runs]
    known = [bit for bit in outcomes if not isinstance(bit, Unscored)]
    # By task: else one that was run more often than others would count for more.
    task_mean, task_low, task_high, _ = measured(by_task(runs), MEASURES["success"], share=True)
    return Overview(
        runs=len(corpus.runs),
        agents=len({run.agent for run in runs}),
        tasks=len({run.task_id for run in runs}),
        graphs=len({score.graph_id for score in scores}),
        broken=len(corpus.runs) - len(runs),
        succeeded=Share(count=sum(known), n=len(known), left_out=len(outcomes) - len(known)),
        task_mean=task_mean,
        task_low=task_low,
        task_high=task_high,
        lucky=_contradictory(corpus, "lucky", [_has_critical(s) for s in scores if s.success is True]),
        unlucky=_contradictory(
            corpus, "unlucky", [s.required > 0 and s.unscored == 0 for s in scores if s.success is False]
        ),
        metric=metric,
        agreement=agreement,
        discordant=tuple(
            p for p in corpus.ranking.discordant if {p.a_metric, p.b_metric} == {OUTCOME, metric}
        ),
        pairs=ranked * (ranked - 1) // 2,
    )


def _contradictory(corpus: Corpus, kind: str, known: Sequence[bool]) -> Share:
    """Contradictions of a kind, of the runs of which it is known whether they are one."""
    count = sum(c.kind == kind for c in corpus.contradictions)
    return Share(count=count, n=sum(known), left_out=len(known) - sum(known))


def _has_critical(score: RunScore) -> bool:
    """Whether some critical sub-goal has evidence either way."""
    return any(n.critical and n.completed is not None and n.status != "not_required" for n in score.results)
