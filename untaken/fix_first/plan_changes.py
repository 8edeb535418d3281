"""Plan changes to fix first: supported statements whose worse option failed runs took (§5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from untaken import stats
from untaken.errors import Unscored
from untaken.fix_first.findings import Often
from untaken.fix_first.patterns import often_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from untaken.corpus import Corpus
    from untaken.counterfactual.plan import Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class BetterWay:
    """A supported statement, and the failed runs that took its worse option.

    Attributes:
        often: those runs, of all runs with plan decisions and an outcome.
        gain: `often` × the difference in success, an association; `low` and `high` its 95% interval.
        runs: content digest of each run, and the `seq` of its plan change; each run counts in one item only.
    """

    statement: Statement
    often: Often
    gain: float
    low: float
    high: float
    runs: tuple[tuple[str, int], ...]
    agents: Mapping[str, int]


def better_ways(corpus: Corpus, digests: Collection[str] | None = None) -> tuple[BetterWay, ...]:
    """The better ways of failed runs, by expected gain; a run counts at one plan change, `better_way`'s."""
    if not any(graph.mutates for graph in corpus.graphs.graphs):
        return ()
    looked = [run for digest, run in corpus.plans.runs.items() if digests is None or digest in digests]
    paths = [run.path for run in looked if not isinstance(run.path.success, Unscored)]
    met: dict[int, tuple[Statement, list[tuple[str, int]]]] = {}
    for run in looked:
        if found := run.better_way:
            decision, alternative = found
            if alternative.statement is not None:
                _, runs = met.setdefault(id(alternative.statement), (alternative.statement, []))
                runs.append((run.path.digest, decision.decision.seq))
    sample = stats.TaskSample({path.digest: path.task_id for path in paths})
    ways = (_way(corpus, statement, runs, sample) for statement, runs in met.values())
    return tuple(sorted(ways, key=lambda way: (-way.gain, way.statement.situation, way.statement.option)))


def _way(
    corpus: Corpus, statement: Statement, runs: list[tuple[str, int]], sample: stats.TaskSample
) -> BetterWay:
    often = often_of(dict(runs), sample)
    least = max(statement.low, 1e-6)  # the score interval of a supported difference may just reach 0
    low, high = stats.product(
        often.share, (often.low, often.high), statement.difference, (least, statement.high)
    )
    return BetterWay(
        statement=statement,
        often=often,
        gain=often.share * statement.difference,
        low=low,
        high=high,
        runs=tuple(runs),
        agents=dict(Counter(sorted(corpus.runs[digest].agent for digest, _ in runs)).most_common()),
    )
