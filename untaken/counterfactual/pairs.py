"""Skills of one snapshot set against each other, many pairs at once (§2a, §2b)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np

from untaken import stats
from untaken.counterfactual.advantage import AdvantageEstimate, Advantages, Trust, advantages
from untaken.counterfactual.histories import Histories, Scales, finest
from untaken.counterfactual.levels import Situation
from untaken.counterfactual.memory import Snapshot
from untaken.counterfactual.memory.totals import NOWHERE, Moment
from untaken.counterfactual.scoring import Weights
from untaken.counterfactual.strata import Claims, Rulings, called
from untaken.counterfactual.support import Q_MAX, too_many


class Pair(NamedTuple):
    """Two skills in a context, to be compared without what one run put in, where it is named."""

    context_hash: str
    selected: str
    alternative: str
    without: str | None = None


def compare_pairs(
    snapshot: Snapshot, pairs: Sequence[Pair], weights: Weights, threshold: float
) -> list[Trust | None]:
    """The advantage of each alternative, and its support; ``None`` where it has no history."""
    found, known, both = advantages_of(snapshot, pairs, weights, threshold)
    compared = [(p.context_hash, p.alternative, p.selected) for p in pairs]
    cut, own = np.full(len(pairs), snapshot.observations), _runs_without(snapshot, pairs)
    rulings = Rulings(snapshot.history, Claims(compared, np.arange(len(pairs)), cut, own))
    return [
        _trust(estimate, rulings, claim, one_sided=not taken) if there else None
        for claim, (estimate, there, taken) in enumerate(
            zip(found.estimates(), known.tolist(), both.tolist(), strict=True)
        )
    ]


def advantages_of(
    snapshot: Snapshot, pairs: Sequence[Pair], weights: Weights, threshold: float
) -> tuple[Advantages, np.ndarray, np.ndarray]:
    """The advantage of each alternative; whether it has a history, and whether the selected skill has one."""
    own, cut = _runs_without(snapshot, pairs), np.full(len(pairs), snapshot.observations)
    cost, steps = (snapshot.history.spans(figure, cut, own) for figure in ("cost", "steps"))
    scales = Scales(cost, steps, weights)
    other, taken = (
        _histories(snapshot, zip(skills, (p.context_hash for p in pairs), strict=True), own, scales)
        for skills in ((p.alternative for p in pairs), (p.selected for p in pairs))
    )
    return advantages(other, taken, scales, threshold), other.known, taken.known


def _runs_without(snapshot: Snapshot, pairs: Sequence[Pair]) -> np.ndarray:
    numbers = snapshot.history.run_numbers
    left = [NOWHERE if p.without is None else numbers.get(p.without, NOWHERE) for p in pairs]
    return np.array(left, dtype=np.int64)


def _trust(estimate: AdvantageEstimate, rulings: Rulings, claim: int, *, one_sided: bool) -> Trust:
    support, reason, direction = called(rulings, NOWHERE if one_sided else claim)
    return Trust(
        **msgspec.structs.asdict(estimate),
        support=support,
        reason=reason,
        direction=direction,
        ruling=None if one_sided else rulings.ruling(claim),
    )


def among_all(
    trusts: Sequence[Trust | None], tests: Sequence[Hashable]
) -> tuple[list[Trust | None], dict[Any, float]]:
    """Support over the choices of a log: what p supports must have a small q, too.

    Args:
        trusts: of the choices.
        tests: of each choice, which test it is: two choices may be one.

    Returns:
        The trusts, and the adjusted p (Benjamini and Hochberg) of each test that can tell anything apart.
    """
    p_values = {
        test: trust.ruling.p
        for test, trust in zip(tests, trusts, strict=True)
        if trust and trust.ruling and trust.ruling.testable
    }
    adjusted = dict(zip(p_values, stats.benjamini_hochberg(list(p_values.values())), strict=True))
    found = []
    for test, trust in zip(tests, trusts, strict=True):
        if trust and trust.ruling and trust.support == "supported" and adjusted[test] > Q_MAX:
            reason = too_many(trust.ruling, adjusted[test], len(adjusted))
            trust = msgspec.structs.replace(trust, support="weak", reason=reason, direction=None)  # noqa: PLW2901
        found.append(trust)
    return found, adjusted


def levels_compared(
    snapshot: Snapshot, situations: Iterable[Situation], weights: Weights
) -> dict[Situation, int]:
    """The layer at which the two are compared, or else that in which one of them has a history."""
    by_layers: dict[int, list[Situation]] = {}
    for situation in dict.fromkeys(situations):
        by_layers.setdefault(len(situation[2]), []).append(situation)  # columns of one call have one length
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
        # Where neither has a history in any layer, the finest is as good.
        found |= zip(some, np.maximum(1, np.where(both > 0, both, one)).tolist(), strict=True)
    return found


def _histories(
    snapshot: Snapshot, places: Iterable[tuple[str, str]], own: np.ndarray, scales: Scales
) -> Histories:
    """Histories of each (skill, context) in the snapshot."""
    totals = snapshot.history.totals
    numbers = np.array([totals.places.get(place, NOWHERE) for place in places], dtype=np.int64)
    with np.errstate(all="ignore"):  # without a history a mean divides 0 by 0: its NaN says so
        rows = Moment(numbers, np.full(own.size, snapshot.observations), own)
        return Histories.of(totals.figures(rows), scales)
