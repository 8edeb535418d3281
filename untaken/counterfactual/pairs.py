"""Skills of one snapshot set against each other, many pairs at once (§2a, §2b)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from untaken.counterfactual.advantage import AdvantageEstimate, advantages
from untaken.counterfactual.confounding import HOLDS, Claims, doubts_of
from untaken.counterfactual.histories import Histories, Scales, Used, finest
from untaken.counterfactual.levels import Situation
from untaken.counterfactual.scoring import Weights
from untaken.memory import Snapshot
from untaken.memory.totals import NOWHERE, Moment


class Pair(NamedTuple):
    """Two skills in a context, to be compared without what one run put in, where it is named."""

    context_hash: str
    selected: str
    alternative: str
    without: str | None = None


def compare_pairs(
    snapshot: Snapshot, pairs: Sequence[Pair], weights: Weights, threshold: float
) -> list[AdvantageEstimate | None]:
    """The advantage of each alternative, its support guarded; ``None`` where it has no history."""
    history = snapshot.history
    runs = [NOWHERE if p.without is None else history.run_numbers.get(p.without, NOWHERE) for p in pairs]
    own, cut = np.array(runs, dtype=np.int64), np.full(len(pairs), snapshot.observations)
    cost, steps = (history.spans(figure, cut, own) for figure in ("cost", "steps"))
    scales = Scales(cost, steps, weights)

    def histories(skills: Iterable[str]) -> Histories:
        return _histories(snapshot, zip(skills, (p.context_hash for p in pairs), strict=True), own, scales)

    other = histories(p.alternative for p in pairs)
    found = advantages(other, histories(p.selected for p in pairs), scales, threshold)
    trusts: list[AdvantageEstimate | None] = [*found.trusts()]
    claimed = np.flatnonzero(found.direction)
    compared = [(p.context_hash, p.alternative, p.selected) for p in map(pairs.__getitem__, claimed.tolist())]
    claims = Claims(
        compared=compared,
        which=np.arange(claimed.size),
        cut=cut[claimed],
        without=own[claimed],
        scales=scales.rows(claimed),
        used=Used(*(column[claimed] for column in found.used)),
        above=found.direction[claimed] > 0,
    )
    doubts = doubts_of(history, claims)
    for at, row in enumerate(claimed.tolist()):
        trust = trusts[row]
        if doubts.outcome[at] != HOLDS and trust is not None:
            why = doubts.words(at)
            trusts[row] = msgspec.structs.replace(trust, support="weak", reason=why, direction=None)
    return [trust if known else None for trust, known in zip(trusts, other.known, strict=True)]


def levels_compared(
    snapshot: Snapshot, situations: Iterable[Situation], weights: Weights
) -> dict[Situation, int]:
    """The layer at which the two are compared, or else that in which one of them has a history."""
    by_layers: dict[int, list[Situation]] = {}
    for situation in dict.fromkeys(situations):
        by_layers.setdefault(len(situation[2]), []).append(situation)
    scales, found = Scales.of(snapshot.spans(), weights), dict[Situation, int]()
    for some in by_layers.values():
        layers = list(zip(*(layers for *_, layers in some), strict=True))
        taken, other = (
            [
                _histories(snapshot, zip(skills, level, strict=True), np.full(len(some), NOWHERE), scales)
                for level in layers
            ]
            for skills in ([selected for selected, _, _ in some], [other for _, other, _ in some])
        )
        taken_runs, other_runs = ([h.figures.runs for h in skill] for skill in (taken, other))
        both, alone = finest(other_runs, taken_runs), finest(other_runs)
        one = np.where(alone > 0, alone, finest(taken_runs))
        found |= zip(some, np.maximum(1, np.where(both > 0, both, one)).tolist(), strict=True)
    return found


def _histories(
    snapshot: Snapshot, places: Iterable[tuple[str, str]], own: np.ndarray, scales: Scales
) -> Histories:
    """Histories of each (skill, context) in the snapshot."""
    totals = snapshot.history.totals
    numbers = np.array([totals.places.get(place, NOWHERE) for place in places], dtype=np.int64)
    with np.errstate(all="ignore"):
        rows = Moment(numbers, np.full(own.size, snapshot.observations), own)
        return Histories.of(totals.figures(rows), scales)
