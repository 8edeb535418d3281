"""Sub-goals to fix first: over the scored runs, what fails first and what it holds up (§5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from math import fsum

import msgspec

from untaken import stats
from untaken.corpus import Corpus
from untaken.errors import Unscored
from untaken.fix_first.blame import First, Shape, frontier, measured, shape_of
from untaken.fix_first.findings import FailurePattern, FixFirst, Often
from untaken.fix_first.patterns import WAYS, failure_patterns, largest_first, often_of
from untaken.subgoals import RunScore

Key = tuple[str, str]
"""Graph and sub-goal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubGoalsToFix:
    """The sub-goals of a corpus.

    Attributes:
        items: those that hold up something that counts, in no order yet; `harmless`: number of the others.
        patterns: those that fail alike in several tasks.
        scored: runs behind them.
    """

    items: tuple[FixFirst, ...]
    harmless: int
    scored: int
    patterns: tuple[FailurePattern, ...] = ()


@dataclass(slots=True)
class SubGoalTally:
    """The results for each sub-goal, while they are collected.

    Attributes:
        tasks: of each run that could be measured, by digest.
        hits: where the sub-goal failed first, by digest.
        required, unknown: number of runs in which it is required, and in which it is unscored.
    """

    shapes: dict[str, Shape] = field(default_factory=dict)
    tasks: dict[str, str] = field(default_factory=dict)
    hits: dict[Key, dict[str, First]] = field(default_factory=dict)
    required: Counter[Key] = field(default_factory=Counter)
    unknown: Counter[Key] = field(default_factory=Counter)


def sub_goals_to_fix(corpus: Corpus, digests: Iterable[str]) -> SubGoalsToFix:
    """The sub-goals that fail first in some of the runs named.

    Gains are means over all scored runs, so those of different graphs can be compared: a sub-goal of a graph
    that few runs use gains little over all of them, and `FixFirst.required` says how few they are.
    """
    tally = _tally(corpus, digests)
    if not tally.tasks:
        return SubGoalsToFix(items=(), harmless=0, scored=0)
    sample = stats.TaskSample(tally.tasks)
    heavy = {
        key: {digest: first for digest, first in hits.items() if first.much > 0}
        for key, hits in tally.hits.items()
    }
    items = tuple(_item(corpus, key, hits, tally, sample) for key, hits in heavy.items() if hits)
    patterns = failure_patterns(corpus, heavy, sample)
    return SubGoalsToFix(items=items, harmless=len(heavy) - len(items), scored=sample.n, patterns=patterns)


def _tally(corpus: Corpus, digests: Iterable[str]) -> SubGoalTally:
    found = SubGoalTally()
    alike: dict[tuple[str, int], list[RunScore]] = {}
    for digest in digests:
        score = corpus.scores[digest]
        if isinstance(score, Unscored):
            continue
        key = score.graph_id, id(score.results)  # most runs share theirs with others
        if key in alike:
            alike[key].append(score)
        elif measured(score, _shape(corpus, score.graph_id, found.shapes)):
            alike[key] = [score]
        else:
            continue
        found.tasks[digest] = score.task_id
        for first in frontier(score, found.shapes[score.graph_id]):
            found.hits.setdefault((score.graph_id, first.node.sub_goal), {})[digest] = first
    for scores in alike.values():
        _count(scores[0], len(scores), found)
    return found


def _count(score: RunScore, times: int, found: SubGoalTally) -> None:
    """Counts the results of a run, and of those that ended alike."""
    left_out = ("not_required", "unscored") if score.missing == "drop" else ("not_required",)
    for node in score.results:
        key = score.graph_id, node.sub_goal
        found.required[key] += times * (node.counts and node.status not in left_out)
        found.unknown[key] += times * (node.counts and node.status == "unscored")


def _shape(corpus: Corpus, graph_id: str, known: dict[str, Shape]) -> Shape:
    if graph_id not in known:
        graph = corpus.graphs.get(graph_id)
        assert graph is not None  # noqa: S101 (a score has the graph it was made with)
        known[graph_id] = shape_of(graph)
    return known[graph_id]


def _item(
    corpus: Corpus, key: Key, hits: dict[str, First], tally: SubGoalTally, sample: stats.TaskSample
) -> FixFirst:
    values = {digest: first.much for digest, first in hits.items()}
    total = fsum(values.values())
    often = often_of(hits, sample)
    low, high = sample.interval(values)
    node = next(iter(hits.values())).node
    critical = tally.shapes[key[0]].critical
    runs = {digest: corpus.runs[digest] for digest in hits}
    return FixFirst(
        kind="sub_goal",
        digest=sha256(msgspec.json.encode(key)).hexdigest()[:16],
        graph=key[0],
        sub_goal=key[1],
        title=node.title or key[1],
        critical=node.critical,
        often=often,
        required=tally.required[key],
        unknown=tally.unknown[key],
        much=total / len(hits),
        gain=total / sample.n,
        low=low,
        high=high,
        unit="critical completion" if critical else "completion",
        reason=_reason(hits.values(), often, tally.required[key], total / len(hits), critical),
        runs=largest_first(runs, values),
        agents=dict(Counter(sorted(run.agent for run in runs.values())).most_common()),
    )


def _reason(hits: Iterable[First], often: Often, required: int, much: float, critical: bool) -> str:
    attempts = Counter(first.node.attempted for first in hits)
    how = [f"{attempts[made]} {words}" for made, words in WAYS.items() if attempts[made]]
    what = "critical" if critical else "required"
    few = f" ({required} require it)" if required < often.n else ""
    return (
        f"In {often.count} of {often.n} scored runs{few} it fails first ({', '.join(how)}); "
        f"there, it and the sub-goals that depend on it are at most {much:.0%} of the {what} ones"
    )
