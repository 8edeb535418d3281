"""The three numbers that matter: how often it worked, how often that misleads, whether rankings agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from untaken.analysis import OUTCOME, Agreement, Corpus, DiscordantPair
from untaken.errors import Score, Unscored
from untaken.ledger import Run
from untaken.scoring import RunScore


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """`count` of `n`; `left_out` have no evidence."""

    count: int
    n: int
    left_out: int

    @property
    def rate(self) -> Score:
        """`count` over `n`."""
        return self.count / self.n if self.n else Unscored("nothing to count")


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """A corpus in a few numbers.

    Attributes:
        runs, agents, tasks, graphs: how much there is.
        broken: runs whose ledger is not to be trusted; they are in no rate.
        succeeded: runs that succeeded, of those with a recorded outcome: pooled, whatever their tasks.
        task_mean: the mean over tasks of each task's share of successes: every task counts once.
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
    return Overview(
        runs=len(corpus.runs),
        agents=len({run.agent for run in runs}),
        tasks=len({run.task_id for run in runs}),
        graphs=len({score.graph_id for score in scores}),
        broken=len(corpus.runs) - len(runs),
        succeeded=Share(count=sum(known), n=len(known), left_out=len(outcomes) - len(known)),
        task_mean=_task_mean(runs),
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


def _task_mean(runs: Iterable[Run]) -> Score:
    by_task: dict[str, list[bool]] = {}
    for run in runs:
        if not isinstance(run.success, Unscored):
            by_task.setdefault(run.task_id, []).append(run.success)
    # Else a task that was run more often than others would count for more.
    return fmean(map(fmean, by_task.values())) if by_task else Unscored("nothing to count")


def _contradictory(corpus: Corpus, kind: str, known: Sequence[bool]) -> Share:
    """Contradictions of a kind, of the runs of which it is known whether they are one."""
    count = sum(c.kind == kind for c in corpus.contradictions)
    return Share(count=count, n=sum(known), left_out=len(known) - sum(known))


def _has_critical(score: RunScore) -> bool:
    """Whether some critical sub-goal has evidence either way."""
    return any(n.critical and n.completed is not None and n.status != "not_required" for n in score.results)
