"""The pooled advantage: a skill's histories at every level of a situation, fine drawn to coarse (§2c).

Empirical Bayes. At each level the skill's worth is taken to lie about its worth one level coarser, as far off
as σ² / k is large; in the coarsest, about the mean of every choice made in that context. So

    m_l = (n_l · mean_l + k · m_{l+1}) / (n_l + k),    V_l = σ² / (n_l + k) + (k / (n_l + k))² · V_{l+1}

from coarse to fine. k is the one that best foretells the outcomes of each run from all other runs in the
memory itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

from one_by_one.levels import Layered
from one_by_one.records import mean_of, record_of_context
from one_by_one.terms import common_terms
from one_by_one.trust import Arm
from untaken.counterfactual.memory import Record, Snapshot
from untaken.counterfactual.memory.history import History
from untaken.counterfactual.memory.record import Observed
from untaken.counterfactual.run_evaluation import ONE_LAYER
from untaken.counterfactual.scoring import Outcome, Scale, Terms, Weights, score_placed
from untaken.errors import Score, Unscored, number
from untaken.stats.rates import Z_95

STRENGTHS: Final = (1, 2, 4, 8, 16, 32, 64)
"""What k is chosen from, in runs."""
UNTRIED: Final = 8
"""k where the memory cannot foretell any run from others."""
LATEST: Final = 2000
"""Outcomes that k is chosen by at the most, the latest."""

_CHOSEN: WeakKeyDictionary[History, dict[tuple[int, Weights], int]] = WeakKeyDictionary()


class Pooled(NamedTuple):
    """The pooled advantage with its 95% interval, and the k it was shrunk with."""

    value: Score
    low: Score
    high: Score
    strength: int


NOT_POOLED: Final = Pooled(ONE_LAYER, ONE_LAYER, ONE_LAYER, 0)


class Level(NamedTuple):
    """What is known of a skill at one level: effective runs, and their mean score."""

    n: float
    mean: float


class Worth(NamedTuple):
    """Mean score that is expected of a skill, and the variance of that."""

    mean: float
    variance: float


def shrunk(levels: list[Level], base: float, variance: float, strength: float) -> Worth:
    """The worth of a skill from its histories, coarsest first.

    Args:
        levels: one a layer; n = 0 where nothing is known.
        base: mean score of every choice in the coarsest context.
        variance: σ², of one run's score.
        strength: k.
    """
    mean, doubt = base, 0.0
    for level in levels:
        total = level.n + strength
        mean = (level.n * level.mean + strength * mean) / total
        doubt = variance / total + (strength / total) ** 2 * doubt
    return Worth(mean, doubt)


def pooled_advantage(
    alternative: Layered, selected: Layered, everything: Arm | None, strength: int
) -> Pooled:
    """The alternative's worth minus the selected skill's.

    Args:
        alternative: its histories.
        selected: those of the path taken, in the same layers.
        everything: history of every choice in the coarsest of these contexts.
        strength: k.
    """
    if everything is None:
        return _unscored(Unscored("no earlier run chose anything in this context"))
    terms = common_terms(everything.placed, everything.placed)
    sample = everything.sample(terms)
    if isinstance(sample, Unscored):
        return _unscored(sample)
    # The rate of success as its interval has it, so that a few runs that all came out alike are no certainty.
    success = sample.weight**2 * sample.rate * (1 - sample.rate)
    variance = max(0.0, success + sample.rest + 2 * sample.weight * (sample.together or 0.0))
    base = number(score_placed(everything.placed, terms, everything.scale.weights)) or 0.0
    first, second = (
        shrunk(list(_levels(skill, terms)), base, variance, strength) for skill in (alternative, selected)
    )
    value, reach = first.mean - second.mean, Z_95 * sqrt(first.variance + second.variance)
    return Pooled(value, max(-1.0, value - reach), min(1.0, value + reach), strength)


def _unscored(why: Unscored) -> Pooled:
    return Pooled(why, why, why, 0)


def _levels(skill: Layered, terms: Terms) -> Iterator[Level]:
    for level in range(skill.levels, 0, -1):
        arm = skill.at(level)
        yield NOT_KNOWN if arm is None else _level(arm.record, arm.placed, terms, arm.scale)


NOT_KNOWN: Final = Level(0.0, 0.0)


def _level(record: Record, placed: Outcome, terms: Terms, scale: Scale) -> Level:
    """A level whose history lacks a figure that the others have tells nothing comparable."""
    if (terms.cost and placed.cost is None) or (terms.steps and placed.steps is None):
        return NOT_KNOWN
    mean = number(score_placed(placed, terms, scale.weights))
    return NOT_KNOWN if mean is None else Level(record.sums.n**2 / record.sums.squares, mean)


def strength_for(snapshot: Snapshot, weights: Weights) -> int:
    """The k that predicts best; chosen again only when the memory has doubled, to keep the cost low."""
    if not snapshot.observations:
        return UNTRIED
    cut = 1 << (snapshot.observations.bit_length() - 1)
    chosen = _CHOSEN.setdefault(snapshot.history, {})
    if (cut, weights) not in chosen:
        known = Snapshot(history=snapshot.history, as_of=None, cost_unit=snapshot.cost_unit, observations=cut)
        chosen[cut, weights] = _chosen(known, weights)
    return chosen[cut, weights]


def _chosen(snapshot: Snapshot, weights: Weights) -> int:
    """Leave one run out: the mean squared error of each k over the outcomes of all runs."""
    scale = Scale(spans=snapshot.spans(), weights=weights)
    errors, predicted = dict.fromkeys(STRENGTHS, 0.0), 0
    for observed in snapshot.history.log[: snapshot.observations][-LATEST:]:
        if observed.kind == "outcome" and len(observed.layers) > 1:
            predicted += _predict(observed, snapshot, scale, errors)
    least = min(errors.values())
    return max(k for k in STRENGTHS if errors[k] <= least + 1e-9 * least) if predicted else UNTRIED


def _predict(observed: Observed, snapshot: Snapshot, scale: Scale, errors: dict[int, float]) -> bool:
    """Adds the squared error of each k; false where no other run chose anything in that context."""
    rest = record_of_context(snapshot, observed.layers[-1], without_run=observed.run_id)
    if rest is None:
        return False
    own = scale.place(Outcome(success=observed.success, cost=observed.cost, steps=observed.steps))
    everything = scale.place(mean_of(rest))
    terms = common_terms(own, everything)
    levels = []
    for context_hash in reversed(observed.layers):
        record = snapshot.record(observed.skill, context_hash, without_run=observed.run_id)
        levels.append(
            NOT_KNOWN if record is None else _level(record, scale.place(mean_of(record)), terms, scale)
        )
    came = number(score_placed(own, terms, scale.weights))
    base = number(score_placed(everything, terms, scale.weights))
    if came is None or base is None:
        return False
    for k in STRENGTHS:
        errors[k] += (came - shrunk(levels, base, 0.0, k).mean) ** 2
    return True
