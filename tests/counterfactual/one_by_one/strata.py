"""Two skills compared within task and agent: what a supported difference must also hold in (§2a).

An interval over runs of different tasks or agents mixes the worth of a skill with what was easy and who was
able. Inside one task and one agent neither differs. What still may is *when*: where one skill came first in
stratum after stratum, an agent that learns, or one that retries until it succeeds, looks like a better skill.
"""

from __future__ import annotations

from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from msgspec import UnsetType

from one_by_one.records import MeanDifference, mean_difference, order_of
from one_by_one.terms import in_force
from untaken.counterfactual.scoring import Scale, Terms
from untaken.counterfactual.words import N_MIN, end_words
from untaken.memory import Observed, Snapshot
from untaken.memory.history import History

UNKNOWN: Final = -1
"""The stratum of a run whose task and agent the memory does not name."""


class Stratum(NamedTuple):
    """Runs that can be compared: of one task, by one agent."""

    task_id: str
    agent: str


class Runs(NamedTuple):
    """The runs that took a skill in a context, as columns of one length, in log order.

    Attributes:
        position: of the run's first outcome there in the log; its choices share its one outcome.
        moment: when that was known, in seconds.
        run, stratum: numbers in `Numbers`; `UNKNOWN` where the log names no task and agent.
        success, cost, steps: of the run; NaN where it has no such figure.
    """

    position: np.ndarray
    moment: np.ndarray
    run: np.ndarray
    stratum: np.ndarray
    success: np.ndarray
    cost: np.ndarray
    steps: np.ndarray

    def where(self, kept: np.ndarray) -> Runs:
        """Those marked."""
        return self if kept.all() else Runs(*(column[kept] for column in self))

    def scores(self, scale: Scale, terms: Terms) -> np.ndarray:
        """The score of each run; NaN where it lacks a figure that the terms use."""
        weights = in_force(scale.weights, terms)
        scores = weights.success * self.success
        for used, span, weight, figures in (
            (terms.cost, scale.spans.cost, weights.cost, self.cost),
            (terms.steps, scale.spans.steps, weights.steps, self.steps),
        ):
            if used and span is not None:
                width = span.high - span.low
                scaled = (figures - span.low) / width if width > 0 else 0.0 * figures
                scores = scores + weight * (1 - np.clip(scaled, 0.0, 1.0))
        return scores


class Numbers:
    """The runs and strata of a history by number, and the columns made of it."""

    def __init__(self, history: History) -> None:
        outcomes = [observed for observed in history.log if observed.kind == "outcome"]
        self.run = {run_id: n for n, run_id in enumerate(dict.fromkeys(o.run_id for o in outcomes))}
        self.strata = list(dict.fromkeys(s for o in outcomes if (s := stratum_of(o)) is not None))
        self._stratum = {stratum: n for n, stratum in enumerate(self.strata)}
        self._runs: dict[tuple[str, str], Runs] = {}

    def runs(self, history: History, skill: str, context_hash: str) -> Runs:
        """Every run that ever took the skill in the context."""
        key = skill, context_hash
        if key not in self._runs:
            firsts: dict[str, int] = {}
            for position, observed in enumerate(history.log):
                there = observed.skill == skill and context_hash in observed.layers
                if there and observed.kind == "outcome":
                    firsts.setdefault(observed.run_id, position)
            positions = list(firsts.values())
            first = [history.log[position] for position in positions]
            strata = [stratum_of(observed) for observed in first]
            self._runs[key] = Runs(
                position=np.array(positions, dtype=int),
                moment=np.array([observed.ts.timestamp() for observed in first], dtype=float),
                run=np.array([self.run[observed.run_id] for observed in first], dtype=int),
                stratum=np.array([self._stratum[s] if s else UNKNOWN for s in strata], dtype=int),
                success=np.array([observed.success for observed in first], dtype=float),
                cost=np.array([observed.cost for observed in first], dtype=float),
                steps=np.array([observed.steps for observed in first], dtype=float),
            )
        return self._runs[key]


_NUMBERS: WeakKeyDictionary[History, Numbers] = WeakKeyDictionary()


def stratum_of(observed: Observed) -> Stratum | None:
    """The task and agent of an observation; ``None`` where the log does not name both."""
    task_id, agent = observed.task_id, observed.agent
    if isinstance(task_id, UnsetType) or isinstance(agent, UnsetType):
        return None
    return Stratum(task_id, agent)


class Sides:
    """The runs that took an alternative, and those that took the selected skill, known at a moment.

    A run that took both says nothing of the two, and is on neither side.
    """

    def __init__(
        self, snapshot: Snapshot, context_hash: str, alternative: str, selected: str, without: str | None
    ) -> None:
        history = snapshot.history
        numbers = _NUMBERS.get(history)
        if numbers is None:
            numbers = _NUMBERS[history] = Numbers(history)
        own = UNKNOWN if without is None else numbers.run.get(without, UNKNOWN)
        taken = [numbers.runs(history, skill, context_hash) for skill in (alternative, selected)]
        taken = [one.where((one.position < snapshot.observations) & (one.run != own)) for one in taken]
        first, second = (
            one.where(~np.isin(one.run, other.run)) for one, other in zip(taken, taken[::-1], strict=True)
        )
        self.first, self.second, self._strata = first, second, numbers.strata
        self.runs = int(np.unique(np.concatenate([one.run for one in taken])).size)
        self.known = all(bool((one.stratum != UNKNOWN).all()) for one in taken)
        self.single = self.known and np.unique(np.concatenate([one.stratum for one in taken])).size <= 1

    def strata(self) -> tuple[frozenset[Stratum], frozenset[Stratum]]:
        """Tasks and agents of the alternative's runs, and of the selected skill's; unknown ones left out."""
        first, second = (
            frozenset(self._strata[number] for number in np.unique(side.stratum) if number != UNKNOWN)
            for side in (self.first, self.second)
        )
        return first, second

    def coinciding(self) -> str:
        """What coincides with the skill, where no stratum has both: ``agent`` or ``task``."""
        first, second = self.strata()
        return "agent" if {s.task_id for s in first} & {s.task_id for s in second} else "task"

    def doubt(self, scale: Scale, terms: Terms, above: bool) -> str | None:
        """Why a difference over all runs is not supported; ``None`` where it also holds in strata.

        Args:
            scale: of the comparison.
            terms: that it uses.
            above: whether the alternative has the better histories over all runs.
        """
        if self.single or self.runs == 1:
            return None
        if not self.known:
            return "the memory does not name the task and agent of every run: rebuild it from its ledgers"
        return self._doubt_within(scale, terms, above)

    def _doubt_within(self, scale: Scale, terms: Terms, above: bool) -> str | None:
        scored = [side.scores(scale, terms) for side in (self.first, self.second)]
        sides = [
            side.where(~np.isnan(scores))
            for side, scores in zip((self.first, self.second), scored, strict=True)
        ]
        shared = np.intersect1d(sides[0].stratum, sides[1].stratum)
        if not shared.size:
            return f"confounded: {self.coinciding()} and skill coincide"
        one, other = (side.where(np.isin(side.stratum, shared)) for side in sides)
        first = np.arange(one.run.size + other.run.size) < one.run.size
        runs = Runs(*map(np.concatenate, zip(one, other, strict=True)))
        stratum = np.searchsorted(shared, runs.stratum)
        found = mean_difference(runs.scores(scale, terms), first, stratum)
        if min(one.run.size, other.run.size) < N_MIN or not _excludes_zero(found, above):
            return _words(found, one.run.size, other.run.size)
        when = order_of(runs.moment, first, stratum)
        if when is None:
            return None
        return f"confounded: time and skill coincide (within task and agent the alternative came {when})"


def _excludes_zero(found: MeanDifference | None, above: bool) -> bool:
    return found is not None and (found.low > 0 if above else found.high < 0)


def _words(found: MeanDifference | None, n1: int, n0: int) -> str:
    runs = f"{n1} and {n0} runs"
    if found is None:
        return f"compared within task and agent: nothing varied, {runs}"
    low, high = (end_words(end) for end in (max(-1.0, found.low), min(1.0, found.high)))
    return f"compared within task and agent: {found.value:+.2f} ({low} to {high}), {runs}"
