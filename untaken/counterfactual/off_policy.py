"""What skills are worth where the odds of each choice were logged (§2a).

A history compares the runs that happened to take a skill, and these may have been the easier ones. Where the
ledger says with which probability every skill was to be chosen, weighing each choice by the inverse of its
odds undoes that preference, whatever it was based on. For a skill a in a context, over the choices i that
gave it positive odds μᵢ(a), with yᵢ the score of the run's own outcome (§2.3) and wᵢ = 1[aᵢ = a] / μᵢ(a):

* SNIPS (self-normalised inverse propensity; Swaminathan & Joachims 2015): Σ wᵢyᵢ / Σ wᵢ;
* DR (doubly robust; Dudík, Langford & Li 2011): (1/n) Σ [q₋ᵢ + wᵢ(yᵢ − q₋ᵢ)], where q₋ᵢ is the mean score of
  the skill's choices in all *other* runs, so that no run predicts itself.

A run and its copies are one. The standard errors are those of the sums over runs, since choices of one run
share its outcome: for SNIPS of wᵢ(yᵢ − V) / Σ w, for DR of the bracket's distance from its mean. The quantile
is Student's t with one degree of freedom fewer than there are effective runs (Kish): (Σ W)² / Σ W², W being
the weight of a run. The variance is at least that of a success rate Beta(½ + s, ½ + f) of as many runs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from typing import Any, Final, NamedTuple

from msgspec import Struct

from untaken import stats
from untaken.counterfactual.memory import Snapshot, observe
from untaken.counterfactual.memory.observing import Left
from untaken.counterfactual.run_evaluation import outcome_of
from untaken.counterfactual.scoring import Outcome, Scale, Terms, Weights, difference, score_placed
from untaken.counterfactual.words import N_SPREAD
from untaken.errors import Score, Unscored
from untaken.ledger import Run, SkillSelection, copies_of

FROM_ODDS: Final = "estimate from logged probabilities"
ASSOCIATION: Final = "association"
"""What a figure is called, with logged probabilities and without."""
ONE_RUN: Final = Unscored("fewer than two runs took the skill with logged probabilities")
NEVER: Final = Unscored("no run took the skill with logged probabilities")
FEW_RUNS: Final = (
    "below 10 runs' worth, intervals are too narrow: they hold the truth in about 85 to 93%, not 95%"
)
ENOUGH_RUNS: Final = 10
"""With fewer effective runs, intervals hold the truth in 85 to 93% of confounded worlds instead of 95%."""
LEAST_ODDS: Final = 1e-9
"""Smaller odds count as none: one choice against them would outweigh all others there can be."""
LEAST_FREEDOM: Final = 1e-9


class LoggedChoice(Struct, frozen=True, kw_only=True, gc=False):
    """One decision point of a run whose outcome is known.

    Attributes:
        run: content digest of the run; `unit` that of the first of its copies, its own where it has none.
        odds: probability of each skill; ``None`` where none were logged, or none for the skill taken.
        outcome: how the run came out, cost and steps on the scale of the snapshot.
        coarser: further layers of the context; the choice counts in each.
    """

    run: str
    unit: str
    context_hash: str
    skill: str
    odds: Mapping[str, float] | None
    outcome: Outcome
    coarser: tuple[str, ...] = ()


class Estimates(Struct, frozen=True, kw_only=True, gc=False):
    """An expected score from logged probabilities, or a difference of two, with 95% intervals.

    Attributes:
        offered: choices with positive logged odds, whatever was taken.
        left_out: choices of the skill, or of either, without logged odds.
        effective: Kish effective number of runs; of two skills the smaller.
        largest_share: largest share of one run in all the weight; of two skills the larger.
    """

    context_hash: str
    offered: int
    left_out: int
    effective: Score
    largest_share: Score
    snips: Score
    snips_low: Score
    snips_high: Score
    dr: Score
    dr_low: Score
    dr_high: Score

    @property
    def caution(self) -> str:
        """That the intervals are too narrow, where they are; else empty."""
        if isinstance(self.snips_high, Unscored) or isinstance(self.effective, Unscored):
            return ""
        return FEW_RUNS if self.effective < ENOUGH_RUNS else ""


class OffPolicy(Estimates, frozen=True, kw_only=True, gc=False):
    """The expected score of a skill in a context, over `n` choices with logged probabilities."""

    skill: str
    n: int
    runs: int


class OffPolicyContrast(Estimates, frozen=True, kw_only=True, gc=False):
    """Expected score of an alternative minus the selected skill's, over the choices that offered both."""

    selected: str
    alternative: str
    n_selected: int
    n_alternative: int


def logged_choices(
    runs: Iterable[Run],
    snapshot: Snapshot,
    weights: Weights = Weights(),  # noqa: B008 - frozen
) -> tuple[LoggedChoice, ...]:
    """Every decision point of the runs that policy memory would take, those without odds included.

    Args:
        runs: as a reader gives them; a run given twice counts once.
        snapshot: its spans, over all runs, normalise cost and steps.
        weights: of success, cost and steps.
    """
    scale = Scale(spans=snapshot.spans(), weights=weights)
    taken = {run.digest: run for run in runs if not isinstance(observe(run), Left)}
    copies = copies_of(taken.values())
    return tuple(
        [
            _choice(run.digest, copies.get(run.digest, run.digest), event, placed)
            for run in taken.values()
            for placed in [scale.place(outcome_of(run, snapshot.cost_unit))]
            for event in run.selections
        ]
    )


def off_policy(
    choices: Iterable[LoggedChoice],
    weights: Weights = Weights(),  # noqa: B008 - frozen
) -> Mapping[tuple[str, str], OffPolicy]:
    """The expected score of every skill that was ever taken, by (context, skill).

    Args:
        choices: of all runs (`logged_choices`).
        weights: of success, cost and steps; a figure that any choice of a context lacks is left out in it.
    """
    return {
        (context_hash, skill): _one(context_hash, skill, _Context(some, weights))
        for context_hash, some in by_context(choices).items()
        for skill in sorted({choice.skill for choice in some})
    }


def contrast(
    choices: Iterable[LoggedChoice],
    context_hash: str,
    *,
    selected: str,
    alternative: str,
    weights: Weights = Weights(),  # noqa: B008 - frozen
) -> OffPolicyContrast:
    """How much more the alternative is worth than the selected skill in a context, as `off_policy`."""
    here = [c for c in choices if c.context_hash == context_hash or context_hash in c.coarser]
    context = _Context(here, weights)
    offered = context.offered(selected, alternative)
    first, second = (_weighed(offered, skill, context.worth) for skill in (alternative, selected))
    return OffPolicyContrast(
        context_hash=context_hash,
        selected=selected,
        alternative=alternative,
        n_selected=sum(choice.skill == selected for choice, _ in offered),
        n_alternative=sum(choice.skill == alternative for choice, _ in offered),
        offered=len(offered),
        left_out=context.left_out(selected, alternative),
        **_figures(_apart(first, second)),
    )


class Weighed(NamedTuple):
    """Estimates before their intervals: values, and how far each run pulls them."""

    snips: float
    dr: Score
    snips_influence: Mapping[str, float]
    dr_influence: Mapping[str, float]
    effective: float
    largest_share: float
    unseen: float
    """Variance that the success rate has at least: where all runs succeeded, one that fails is yet unseen."""
    least: float = 0.0
    """The least that can be: scores lie from 0 to 1."""

    def minus(self, other: Weighed) -> Weighed:
        """The difference of two estimates from the same runs."""
        return Weighed(
            self.snips - other.snips,
            difference(self.dr, other.dr),
            _difference(self.snips_influence, other.snips_influence),
            _difference(self.dr_influence, other.dr_influence),
            min(self.effective, other.effective),
            max(self.largest_share, other.largest_share),
            self.unseen + other.unseen,
            -1.0,
        )


Scored = tuple[LoggedChoice, float]


class _Context:
    """The choices of one context, scored over the terms that all of them have."""

    def __init__(self, choices: Sequence[LoggedChoice], weights: Weights) -> None:
        self._choices = choices
        # One choice without a cost leaves cost out of all: a mean over two scales would say nothing.
        placed = [choice.outcome for choice in choices if choice.odds is not None]
        terms = Terms(
            cost=all(outcome.cost is not None for outcome in placed),
            steps=all(outcome.steps is not None for outcome in placed),
        )
        self._scored = [
            (choice, score)
            for choice in choices
            if choice.odds is not None
            and not isinstance(score := score_placed(choice.outcome, terms, weights), Unscored)
        ]
        self.worth = difference(
            *(score_placed(Outcome(success=s, cost=0.0, steps=0.0), terms, weights) for s in (1.0, 0.0))
        )
        """What success alone adds to a score."""

    def offered(self, *skills: str) -> list[Scored]:
        """The choices that gave positive odds to all of the skills, with their scores."""
        return [
            (choice, score)
            for choice, score in self._scored
            if all(_odds(choice, skill) >= LEAST_ODDS for skill in skills)
        ]

    def left_out(self, *skills: str) -> int:
        """How many choices of the skills have no logged odds."""
        return sum(choice.odds is None and choice.skill in skills for choice in self._choices)


def _one(context_hash: str, skill: str, context: _Context) -> OffPolicy:
    offered = context.offered(skill)
    taken = [choice.run for choice, _ in offered if choice.skill == skill]
    return OffPolicy(
        context_hash=context_hash,
        skill=skill,
        n=len(taken),
        runs=len(set(taken)),
        offered=len(offered),
        left_out=context.left_out(skill),
        **_figures(_weighed(offered, skill, context.worth)),
    )


def _weighed(offered: Sequence[Scored], skill: str, worth: Score) -> Weighed | Unscored:
    taken = [
        (choice.unit, 1 / _odds(choice, skill), score) for choice, score in offered if choice.skill == skill
    ]
    if not taken:
        return NEVER
    by_unit = _summed((unit, weight) for unit, weight, _ in taken)
    whole = sum(by_unit.values())
    snips = sum(weight * score for _, weight, score in taken) / whole
    others = _Others(taken)
    won = sum(choice.outcome.success / _odds(choice, skill) for choice, _ in offered if choice.skill == skill)
    brackets = [(choice.unit, _bracket(choice, score, skill, others)) for choice, score in offered]
    dr = sum(bracket for _, bracket in brackets) / len(offered)
    effective = whole**2 / sum(weight**2 for weight in by_unit.values())
    return Weighed(
        snips=snips,
        dr=dr if len(by_unit) >= N_SPREAD else ONE_RUN,  # no other run to predict from
        snips_influence=_summed((unit, weight * (score - snips) / whole) for unit, weight, score in taken),
        dr_influence=_summed((unit, (bracket - dr) / len(offered)) for unit, bracket in brackets),
        effective=effective,
        largest_share=max(by_unit.values()) / whole,
        unseen=0.0 if isinstance(worth, Unscored) else worth**2 * _variance(won / whole, effective),
    )


def _variance(rate: float, n: float) -> float:
    """Of the posterior Beta(½ + s, ½ + f) of a success rate, s + f = n."""
    return (rate * n + 0.5) * ((1 - rate) * n + 0.5) / ((n + 1) ** 2 * (n + 2))


class _Others:
    """Mean score of a skill's choices in all runs but one and its copies."""

    def __init__(self, taken: Sequence[tuple[str, float, float]]) -> None:
        self._score = _summed((unit, score) for unit, _, score in taken)
        self._count = _summed((unit, 1.0) for unit, _, _ in taken)
        self._whole = sum(self._score.values()), sum(self._count.values())

    def mean(self, unit: str) -> float:
        """The estimate without the unit; 0 where no other run took the skill (it is unscored then)."""
        score, count = self._whole
        rest = count - self._count.get(unit, 0.0)
        return (score - self._score.get(unit, 0.0)) / rest if rest else 0.0


def _bracket(choice: LoggedChoice, score: float, skill: str, others: _Others) -> float:
    expected = others.mean(choice.unit)
    return expected + (score - expected) / _odds(choice, skill) if choice.skill == skill else expected


def _figures(weighed: Weighed | Unscored) -> dict[str, Any]:
    """The figures of `Estimates`."""
    if isinstance(weighed, Unscored):
        # Its first three are known all the same.
        return dict.fromkeys(Estimates.__struct_fields__[3:], weighed)
    snips_low, snips_high = _interval(weighed.snips, weighed.snips_influence, weighed)
    dr_low, dr_high = _interval(weighed.dr, weighed.dr_influence, weighed)
    return {
        "effective": weighed.effective,
        "largest_share": weighed.largest_share,
        "snips": weighed.snips,
        "snips_low": snips_low,
        "snips_high": snips_high,
        "dr": weighed.dr,
        "dr_low": dr_low,
        "dr_high": dr_high,
    }


def _interval(value: Score, influence: Mapping[str, float], weighed: Weighed) -> tuple[Score, Score]:
    effective = weighed.effective
    if isinstance(value, Unscored):
        return value, value
    if effective - 1 < LEAST_FREEDOM:  # one run's weights may sum to a trace more than 1
        return ONE_RUN, ONE_RUN
    unseen = sqrt(weighed.unseen * (effective - 1) / effective)
    reach = max(stats.reach_of_sum(some, effective) for some in (influence.values(), [unseen]))
    # An estimate may lie outside what is possible: the interval always holds it.
    return min(value, max(weighed.least, value - reach)), max(value, min(1.0, value + reach))


def _choice(run: str, unit: str, event: SkillSelection, placed: Outcome) -> LoggedChoice:
    odds = event.propensities
    return LoggedChoice(
        run=run,
        unit=unit,
        context_hash=event.context_hash,
        skill=event.selected,
        # Odds that rule out what was taken are not those it was drawn with.
        odds=odds if odds and odds.get(event.selected, 0.0) >= LEAST_ODDS else None,
        outcome=placed,
        coarser=event.layers[1:],
    )


def _odds(choice: LoggedChoice, skill: str) -> float:
    return choice.odds.get(skill, 0.0) if choice.odds else 0.0


def by_context(choices: Iterable[LoggedChoice]) -> Mapping[str, list[LoggedChoice]]:
    """The choices of each context, of every layer."""
    found: dict[str, list[LoggedChoice]] = {}
    for choice in choices:
        for context_hash in (choice.context_hash, *choice.coarser):
            found.setdefault(context_hash, []).append(choice)
    return found


def _summed(parts: Iterable[tuple[str, float]]) -> dict[str, float]:
    total: dict[str, float] = defaultdict(float)
    for run, part in parts:
        total[run] += part
    return total


def _apart(first: Weighed | Unscored, second: Weighed | Unscored) -> Weighed | Unscored:
    if isinstance(first, Unscored):
        return first
    return second if isinstance(second, Unscored) else first.minus(second)


def _difference(first: Mapping[str, float], second: Mapping[str, float]) -> dict[str, float]:
    return _summed([*first.items(), *((run, -part) for run, part in second.items())])
