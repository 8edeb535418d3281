"""The same choice over many runs: what speaks for the path not taken once luck has evened out (§2a).

A *choice* is one skill taken, another left, in one context. Its runs share one history: no single run is
judged here, so both histories cover everything in the memory. With layered contexts, the context is the one
in which the two skills are compared (§2b).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from math import fsum
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
from msgspec import Struct

from untaken.counterfactual.evaluate import Evaluations
from untaken.counterfactual.levels import Situation, coarse_contexts
from untaken.counterfactual.memory import Memories, PolicyMemory, Record, Snapshot, by_memory
from untaken.counterfactual.parts import ScoreParts
from untaken.counterfactual.paths import THRESHOLD, PathDelta
from untaken.counterfactual.run_evaluation import Direction, RunEvaluation, Support
from untaken.counterfactual.scoring import Weights
from untaken.errors import Score, Unscored, number
from untaken.ledger.events import readable
from untaken.ledger.run import Run

if TYPE_CHECKING:
    from untaken.counterfactual.advantage import Trust

Key = tuple[str, str, str]
"""Selected skill, alternative, context hash."""
Pair = tuple[frozenset[str], str]
"""Two skills in a context, whichever was selected."""

SMALL_Q: Final = 0.05
"""An alternative is said to succeed more (or less) often up to this q (§2e)."""
NO_TEST: Final = "too few comparable runs for any test"
UNSEEN = Unscored("no run chose this alternative in this context")
NO_DELTA = Unscored("the alternative had no history when any of the runs began")


class Point(NamedTuple):
    """Where a choice was made: content digest of the run, `seq` of its SKILL_SELECTION event."""

    run: str
    decision_point: int


class Choice(Struct, frozen=True, kw_only=True, gc=False):
    """A skill taken, an alternative left, in a context: over all runs that made this choice.

    Attributes:
        context: readable form of the context, where a run recorded one; of a coarser layer, what the contexts
            in it have in common.
        advantage, low, high: score of the alternative's history minus that of the selected skill's, with its
            95% interval; `p_better`: probability that it exceeds the threshold.
        direction: what is supported: the alternative is ``better`` or ``worse``; ``None`` where nothing is.
        q: adjusted by Benjamini and Hochberg, the share of false ones to expect among all choices with a `q`
            as small as this; over a family of `q_family` pairs of skills. Unscored where no
            test could tell them apart.
        parts: what the two differ in, in units, each with its interval between runs of one task and agent.
        taken, other: histories of the selected skill and of the alternative; ``None`` without any.
        deltas: the source's delta at each point that has one: history against that run's own outcome.
        may_be_better, was_better, equivalent, unknown: number of points with that verdict.
        points: every decision point that made this choice, by agent, task and run.
        level: of `levels` layers of the situation at the first of these points, the one compared at.
    """

    selected: str
    alternative: str
    context_hash: str
    context: str | None
    advantage: Score
    low: Score
    high: Score
    p_better: Score
    support: Support
    support_reason: str
    q: Score
    q_family: int
    parts: ScoreParts
    taken: Record | None
    other: Record | None
    deltas: tuple[float, ...]
    may_be_better: int
    was_better: int
    equivalent: int
    unknown: int
    points: tuple[Point, ...]
    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    level: int = 1
    levels: int = 1
    direction: Direction | None = None

    @property
    def succeeds(self) -> int:
        """1 where the alternative is supported to succeed more often at a small q, -1 less often, else 0.

        By success alone: whatever the score says, the interval of the difference in success excludes 0.
        """
        small = self.direction is not None and not isinstance(self.q, Unscored) and self.q <= SMALL_Q
        way = self.parts.success.sign
        return way if small and way == (1 if self.direction == "better" else -1) else 0

    @property
    def called(self) -> str:
        """What may be said of the alternative, the part that differs first (§2e)."""
        return self.parts.called(self.succeeds)

    @property
    def n_selected(self) -> int:
        """Outcomes in the selected skill's history."""
        return self.taken.n if self.taken else 0

    @property
    def n_alternative(self) -> int:
        """Outcomes in the alternative's history."""
        return self.other.n if self.other else 0

    @property
    def mean_delta(self) -> Score:
        """Mean of `deltas`."""
        return fsum(self.deltas) / len(self.deltas) if self.deltas else NO_DELTA

    @property
    def max_delta(self) -> Score:
        """Largest of `deltas`."""
        return max(self.deltas, default=NO_DELTA)

    @property
    def digest(self) -> str:
        """Short content digest of skill, alternative and context: a stable id for links."""
        named = [self.selected, self.alternative, self.context_hash]
        return sha256(msgspec.json.encode(named)).hexdigest()[:16]


def choices(
    evaluations: Mapping[str, RunEvaluation],
    runs: Mapping[str, Run],
    memory: PolicyMemory | Snapshot | Memories,
    *,
    weights: Weights = Weights(),  # noqa: B008 - frozen
    threshold: float = THRESHOLD,
) -> tuple[Choice, ...]:
    """Every choice that an evaluated run made, once for each (selected, alternative, context).

    Args:
        evaluations: by run digest; skipped and aborted ones hold no decision.
        runs: of at least these evaluations, by digest; their contexts make a choice readable.
        memory: what both histories are taken from, all that it knows; or that of each run, by digest: then
            runs with different memories make no choice in common.
        weights: of success, cost and steps.
        threshold: of `Choice.p_better`.

    Returns:
        First the supported ones whose alternative has a better history, by advantage × number of points;
        then the others with an advantage, in the same order; then those without, the most frequent first.
    """
    parts: Iterable[tuple[PolicyMemory | Snapshot, Iterable[str]]]
    parts = (
        [(memory, evaluations)]
        if isinstance(memory, PolicyMemory | Snapshot)
        else by_memory(memory, evaluations)
    )
    made: list[Choice] = []
    for one, digests in parts:
        comparer = PairComparer(one.snapshot() if isinstance(one, PolicyMemory) else one, weights)
        met = _met({digest: runs[digest] for digest in digests}, evaluations, comparer)
        trusts, adjusted = comparer.trusts(met, threshold)
        differ = comparer.parts(met)
        made += [
            _choice(key, seen, comparer, trust=trusts[key], adjusted=adjusted, parts=differ[key])
            for key, seen in met.items()
        ]
    return tuple(sorted(made, key=_weight))


@dataclass(slots=True)
class Met:
    """The results for one choice, while they are collected."""

    level: int
    levels: int
    context: str | None = None
    paths: list[PathDelta] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)
    agents: set[str] = field(default_factory=set)
    tasks: set[str] = field(default_factory=set)


class PairComparer:
    """Choices under one snapshot: histories, levels and trusts, all computed at once."""

    def __init__(self, snapshot: Snapshot, weights: Weights) -> None:
        from untaken.counterfactual.pairs import (  # noqa: PLC0415 (slow: it loads NumPy)
            Pair,
            among_all,
            compare_pairs,
            levels_compared,
        )
        from untaken.counterfactual.parts_compared import parts_between  # noqa: PLC0415

        self._snapshot, self._weights = snapshot, weights
        self._compare, self._pair, self._among_all = compare_pairs, Pair, among_all
        self._levels, self._parts = levels_compared, parts_between

    def record(self, skill: str, context_hash: str) -> Record | None:
        """The skill's history in the context."""
        return self._snapshot.record(skill, context_hash)

    def levels(self, situations: Iterable[Situation]) -> dict[Situation, int]:
        """The layer at which two skills are compared, in each situation."""
        return self._levels(self._snapshot, situations, self._weights)

    def parts(self, keys: Iterable[Key]) -> dict[Key, ScoreParts]:
        """What the two skills of each choice differ in."""
        return self._parts(self._snapshot, keys)

    def trusts(
        self, keys: Iterable[Key], threshold: float
    ) -> tuple[dict[Key, Trust | None], dict[Pair, float]]:
        """The advantage of each alternative, and its support among all of them; ``None`` where never chosen.

        Then the q of each pair of skills that any test could tell apart; a pair met both ways is one test.
        """
        asked = list(keys)
        pairs = [self._pair(context, selected, alternative) for selected, alternative, context in asked]
        found = self._compare(self._snapshot, pairs, self._weights, threshold)
        trusts, adjusted = self._among_all(found, list(map(_pair, asked)))
        return dict(zip(asked, trusts, strict=True)), adjusted


def _met(
    runs: Mapping[str, Run], evaluations: Mapping[str, RunEvaluation], comparer: PairComparer
) -> dict[Key, Met]:
    """Gathered in an order that does not depend on which file was read first."""
    met: dict[Key, Met] = {}
    ordered = sorted(runs.values(), key=lambda run: (run.agent, run.task_id, run.run_id, run.digest))
    paths = {run.digest: _paths_of(evaluations, run.digest) for run in ordered}
    levels = comparer.levels(
        (selection.selected, path.alternative, selection.layers)
        for run in ordered
        for selection, branches in zip(run.selections, paths[run.digest], strict=False)
        if len(selection.layers) > 1
        for path in branches
    )
    for run in ordered:
        agent, task_id = run.agent, run.task_id
        for selection, branches in zip(run.selections, paths[run.digest], strict=False):
            layers, level = selection.layers, 1
            point = Point(run.digest, selection.seq)
            for path in branches:
                if len(layers) > 1:
                    level = levels.get((selection.selected, path.alternative, layers), 1)
                key = selection.selected, path.alternative, layers[level - 1]
                seen = met.get(key)
                if seen is None:
                    seen = met[key] = Met(level, len(layers))
                seen.paths.append(path)
                seen.points.append(point)
                seen.agents.add(agent)
                seen.tasks.add(task_id)
                if seen.context is None and level == 1 and selection.context is not None:
                    seen.context = readable(selection.context)
    _name_coarse(met, runs.values())
    return dict(sorted(met.items()))


def _paths_of(evaluations: Mapping[str, RunEvaluation], digest: str) -> list[list[PathDelta]]:
    """The paths of each decision point, from columns where there are any: counting makes no objects."""
    if isinstance(evaluations, Evaluations):
        return evaluations.paths(digest)
    return [
        [PathDelta(branch.alternative, branch.delta, branch.verdict) for branch in decision.branches]
        for decision in evaluations[digest].decisions
    ]


def _name_coarse(met: Mapping[Key, Met], runs: Iterable[Run]) -> None:
    if any(seen.level > 1 for seen in met.values()):
        names = coarse_contexts(runs)
        for (_, _, context_hash), seen in met.items():
            if seen.level > 1:
                seen.context = names.get(context_hash)


def _choice(
    key: Key,
    met: Met,
    comparer: PairComparer,
    *,
    trust: Trust | None,
    adjusted: Mapping[Pair, float],
    parts: ScoreParts,
) -> Choice:
    selected, alternative, context_hash = key
    verdicts = [path.verdict for path in met.paths]
    deltas = [number(path.delta) for path in met.paths]
    return Choice(
        selected=selected,
        alternative=alternative,
        context_hash=context_hash,
        context=met.context,
        advantage=trust.advantage if trust else UNSEEN,
        low=trust.low if trust else UNSEEN,
        high=trust.high if trust else UNSEEN,
        p_better=trust.p_better if trust else UNSEEN,
        support=trust.support if trust else "none",
        support_reason=trust.reason if trust else UNSEEN.reason,
        direction=trust.direction if trust else None,
        q=adjusted.get(_pair(key), Unscored(NO_TEST)),
        q_family=len(adjusted),
        parts=parts,
        taken=comparer.record(selected, context_hash),
        other=comparer.record(alternative, context_hash),
        deltas=tuple(delta for delta in deltas if delta is not None),
        may_be_better=verdicts.count("alternative_may_be_better"),
        was_better=verdicts.count("actual_was_better"),
        equivalent=verdicts.count("equivalent"),
        unknown=verdicts.count("unknown"),
        points=tuple(met.points),
        agents=tuple(sorted(met.agents)),
        tasks=tuple(sorted(met.tasks)),
        level=met.level,
        levels=met.levels,
    )


def _pair(key: Key) -> Pair:
    selected, alternative, context_hash = key
    return frozenset((selected, alternative)), context_hash


def _weight(choice: Choice) -> tuple[object, ...]:
    """Ascending, so what counts most is negated."""
    advantage, often = number(choice.advantage), len(choice.points)
    name = choice.selected, choice.alternative, choice.context_hash
    if advantage is None:
        return (2, -often, *name)
    return (0 if choice.direction == "better" else 1, -advantage * often, *name)
