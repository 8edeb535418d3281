"""Which layer of a situation history is taken from (§2b), and all layers pooled, fine drawn to coarse (§2c).

At each level a skill's worth is taken to lie about its worth one level coarser, as far off as σ² / k is
large; in the coarsest, about the mean of every choice made in that context. So, from coarse to fine,

    m_l = (n_l · mean_l + k · m_{l+1}) / (n_l + k),    V_l = σ² / (n_l + k) + (k / (n_l + k))² · V_{l+1}

and k is the one that best foretells the outcomes of each run from all other runs in the memory itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from math import sqrt
from typing import Final, NamedTuple

from one_by_one.histories import Arm, common_terms, mean_of
from untaken.counterfactual.memory import Record, Snapshot
from untaken.counterfactual.memory.history import ANY, History
from untaken.counterfactual.memory.record import Observed
from untaken.counterfactual.run_evaluation import ONE_LAYER
from untaken.counterfactual.scoring import Outcome, Scale, Terms, Weights, score_placed
from untaken.counterfactual.words import N_MIN
from untaken.errors import Score, Unscored, number
from untaken.stats.rates import Z_95

STRENGTHS: Final = (1, 2, 4, 8, 16, 32, 64)
"""What k is chosen from, in runs."""
UNTRIED: Final = 8
"""k where the memory cannot foretell any run from others."""
LATEST: Final = 2000
"""Outcomes that k is chosen by at the most, the latest."""

Lookup = Callable[[str, str], Arm | None]
"""The history of a skill in a context, as far as it is known."""


def finest(lookup: Lookup, layers: tuple[str, ...], *skills: str) -> tuple[int, list[Arm]] | None:
    """The finest level at which each skill has `N_MIN` runs, else at which each has any; levels count from 1.

    Of one skill for its delta, of two for their advantage: a fine situation, which may be an easy one, is
    never set against a coarse one.
    """
    for enough in (N_MIN, 1):
        for level, layer in enumerate(layers, start=1):
            arms = [a for skill in skills if (a := lookup(skill, layer)) and a.record.n_runs >= enough]
            if len(arms) == len(skills):
                return level, arms
    return None


class Pooled(NamedTuple):
    """The pooled advantage with its 95% interval, and the k it was shrunk with."""

    value: Score
    low: Score
    high: Score
    strength: int


NOT_POOLED: Final = Pooled(ONE_LAYER, ONE_LAYER, ONE_LAYER, 0)
Level = tuple[float, float]
"""What is known of a skill at one level: effective runs, and their mean score."""
NOT_KNOWN: Final = 0.0, 0.0


def shrunk(levels: Iterable[Level], base: float, variance: float, strength: float) -> tuple[float, float]:
    """The worth of a skill from its histories, coarsest first, and the variance of that."""
    mean, doubt = base, 0.0
    for n, level in levels:
        total = n + strength
        mean = (n * level + strength * mean) / total
        doubt = variance / total + (strength / total) ** 2 * doubt
    return mean, doubt


def pooled_advantage(
    lookup: Lookup, layers: tuple[str, ...], skills: tuple[str, str], everything: Arm | None, strength: int
) -> Pooled:
    """The worth of the first skill minus the second's; `everything` was chosen in the coarsest layer."""
    if everything is None:
        why = Unscored("no earlier run chose anything in this context")
        return Pooled(why, why, why, 0)
    terms = common_terms(everything.placed, everything.placed)
    sample = everything.sample(terms)
    if isinstance(sample, Unscored):
        return Pooled(sample, sample, sample, 0)
    # The rate of success as its interval has it, so that a few runs that all came out alike are no certainty.
    success = sample.weight**2 * sample.rate * (1 - sample.rate)
    variance = max(0.0, success + sample.rest + 2 * sample.weight * (sample.together or 0.0))
    base = number(score_placed(everything.placed, terms, everything.scale.weights)) or 0.0
    known = [[lookup(skill, layer) for layer in reversed(layers)] for skill in skills]
    levels = [
        [NOT_KNOWN if arm is None else _level(arm.record, arm.placed, terms, arm.scale) for arm in arms]
        for arms in known
    ]
    (first, doubt), (second, other) = (shrunk(each, base, variance, strength) for each in levels)
    value, reach = first - second, Z_95 * sqrt(doubt + other)
    return Pooled(value, max(-1.0, value - reach), min(1.0, value + reach), strength)


def _level(record: Record, placed: Outcome, terms: Terms, scale: Scale) -> Level:
    """A level whose history lacks a figure that the others have tells nothing comparable."""
    if (terms.cost and placed.cost is None) or (terms.steps and placed.steps is None):
        return NOT_KNOWN
    mean = number(score_placed(placed, terms, scale.weights))
    return NOT_KNOWN if mean is None else (record.sums.n**2 / record.sums.squares, mean)


def record_of_context(snapshot: Snapshot, context_hash: str, *, without_run: str) -> Record | None:
    """What is known of every choice in the context, whichever skill was chosen, but one run's."""
    every = snapshot.history._over_time((ANY, context_hash), snapshot.history.totals_of_contexts)
    return snapshot._record(every, without_run)


def strength_for(snapshot: Snapshot, weights: Weights) -> int:
    """The k that predicts best; chosen again only when the memory has doubled."""
    if not snapshot.observations:
        return UNTRIED
    cut = 1 << (snapshot.observations.bit_length() - 1)
    return _chosen(snapshot.history, snapshot.cost_unit, cut, weights)


@lru_cache(maxsize=64)
def _chosen(history: History, cost_unit: str | None, cut: int, weights: Weights) -> int:
    """Leave one run out: the mean squared error of each k over the outcomes of all runs."""
    snapshot = Snapshot(history=history, as_of=None, cost_unit=cost_unit, observations=cut)
    scale = Scale(spans=snapshot.spans(), weights=weights)
    errors, predicted = dict.fromkeys(STRENGTHS, 0.0), 0
    for observed in history.log[:cut][-LATEST:]:
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
    records = [snapshot.record(observed.skill, c, without_run=observed.run_id) for c in observed.layers[::-1]]
    levels = [
        NOT_KNOWN if record is None else _level(record, scale.place(mean_of(record)), terms, scale)
        for record in records
    ]
    came = number(score_placed(own, terms, scale.weights))
    base = number(score_placed(everything, terms, scale.weights))
    if came is None or base is None:
        return False
    for k in STRENGTHS:
        errors[k] += (came - shrunk(levels, base, 0.0, k)[0]) ** 2
    return True
