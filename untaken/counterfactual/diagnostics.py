"""Whether comparisons can be believed, on demand: a placebo, and what hangs on a single run (§2a)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import cycle
from random import Random
from statistics import fmean
from typing import TYPE_CHECKING, Final, NamedTuple, cast

import msgspec
from msgspec import Struct

from untaken import stats
from untaken.counterfactual.balance import Balance, balance_of
from untaken.counterfactual.evaluate import evaluate_runs
from untaken.counterfactual.memory import Memories, Observed, PolicyMemory, Snapshot, by_memory
from untaken.counterfactual.off_policy import (
    OffPolicyContrast,
    by_context,
    contrast,
    logged_choices,
)
from untaken.counterfactual.run_evaluation import THRESHOLD, RunEvaluation, Support
from untaken.counterfactual.scoring import Weights
from untaken.errors import Score, Unscored, number
from untaken.ledger import Run

if TYPE_CHECKING:
    from untaken.counterfactual.advantage import Trust

ROUNDS: Final = 10
"""How often the placebo shuffles."""
FEWEST: Final = 2
FEW_ROUNDS: Final = Unscored("the spread between rounds needs at least two rounds with comparisons")
FEW_RUNS: Final = Unscored("the spread between runs needs at least two compared runs")
NOTHING_COMPARED: Final = Unscored("no round had a comparison")


class Placebo(Struct, frozen=True, kw_only=True, gc=False):
    """What the comparisons say where there is nothing to find: means should be about 0.

    Attributes:
        rounds: how often the skills of each context were shuffled among its runs.
        comparisons: alternatives with a delta and an interval of their advantage, over all rounds.
        advantage: their mean, with a 95% interval from the spread between rounds.
        delta: their mean, with a 95% interval from the spread between runs, whose own luck stays as it is.
        supported: share of comparisons that are called, with an interval from the spread between rounds; up
            to about 0.05 by chance.
    """

    rounds: int
    comparisons: int
    advantage: Score
    advantage_low: Score
    advantage_high: Score
    delta: Score
    delta_low: Score
    delta_high: Score
    supported: Score
    supported_low: Score
    supported_high: Score


class Without(Struct, frozen=True, kw_only=True, gc=False):
    """A comparison as it is without one run."""

    run_id: str
    advantage: Score
    low: Score
    high: Score
    support: Support


class Influence(Struct, frozen=True, kw_only=True, gc=False):
    """A comparison, and what it owes to single runs.

    Attributes:
        runs: number of runs behind it, on either side.
        moved_by: the run without which the advantage is most different; empty where no run is behind it.
        advantage_without: the advantage without that run.
        lost_without: runs without which the comparison is no longer supported, or in the other direction.
        without: the comparison without each run, in log order.
    """

    context_hash: str
    selected: str
    alternative: str
    advantage: Score
    low: Score
    high: Score
    support: Support
    runs: int
    moved_by: str
    advantage_without: Score
    lost_without: tuple[str, ...]
    without: tuple[Without, ...]


class Diagnostics(Struct, frozen=True, kw_only=True, gc=False):
    """The placebo, the balance of each comparison, the influence of single runs on what is supported, and
    the estimate from logged probabilities.
    """

    placebo: Placebo
    balance: tuple[Balance, ...]
    influence: tuple[Influence, ...]
    contrasts: tuple[OffPolicyContrast, ...]


def placebo(
    runs: Sequence[Run],
    memory: PolicyMemory | Memories,
    *,
    weights: Weights = Weights(),  # noqa: B008 - frozen
    threshold: float = THRESHOLD,
    rounds: int = ROUNDS,
    seed: int = 0,
) -> Placebo:
    """Evaluate the runs against memories in which no skill is better than another.

    In each context, of layers the coarsest, the skills change places among the runs of one task and agent
    that chose there, a run's choices staying together. What happened to each run stays; what it chose does
    not. Weak signals are left out, for they speak of a skill.

    Args:
        runs: to evaluate.
        memory: what is shuffled; or the memory of each run, by digest.
        weights: of success, cost and steps.
        threshold: of a delta, as in `evaluate_run`.
        rounds: how many shuffles; each costs one evaluation of all runs.
        seed: of the shuffles; the same seed gives the same figures.
    """
    known = {run.digest: memory for run in runs} if isinstance(memory, PolicyMemory) else memory
    by_round: list[list[Compared]] = []
    for turn in range(rounds):
        # A seed of its own: a round is the same, however many there are.
        shuffled = _all_shuffled(known, runs, f"{seed}/{turn}")
        evaluated = evaluate_runs(runs, shuffled, weights=weights, threshold=threshold)
        compared = [one for run in runs for one in _compared(evaluated[run.digest])]
        if compared:
            by_round.append(compared)
    # Comparisons of one round share its shuffle: each round counts as one observation.
    advantage = _over_rounds([fmean(one.advantage for one in some) for some in by_round])
    supported = _over_rounds([fmean(one.supported for one in some) for some in by_round])
    delta = _over_runs([one for some in by_round for one in some])
    return Placebo(
        rounds=rounds,
        comparisons=sum(map(len, by_round)),
        advantage=advantage[0],
        advantage_low=advantage[1],
        advantage_high=advantage[2],
        delta=delta[0],
        delta_low=delta[1],
        delta_high=delta[2],
        supported=supported[0],
        supported_low=supported[1],
        supported_high=supported[2],
    )


def influence(
    memory: PolicyMemory | Snapshot,
    context_hash: str,
    *,
    selected: str,
    alternative: str,
    weights: Weights = Weights(),  # noqa: B008 - frozen
    threshold: float = THRESHOLD,
) -> Influence | Unscored:
    """Compare two skills in a context once more without each run behind them, as if it had never been logged.

    Returns:
        What single runs do to the advantage; unscored where the alternative has no history.
    """
    pair = _Pair(
        snapshot=memory.snapshot() if isinstance(memory, PolicyMemory) else memory,
        context_hash=context_hash,
        selected=selected,
        alternative=alternative,
        weights=weights,
        threshold=threshold,
    )
    (whole,) = pair.compared(None)
    if whole is None:
        return Unscored("no earlier run chose this alternative in this context")
    return pair.influence(whole)


def diagnose(
    runs: Sequence[Run],
    memory: PolicyMemory | Memories,
    evaluations: Iterable[RunEvaluation],
    *,
    weights: Weights = Weights(),  # noqa: B008 - frozen
    threshold: float = THRESHOLD,
    rounds: int = ROUNDS,
) -> Diagnostics:
    """The placebo, and a closer look at every comparison that the evaluations met and the memory supports.

    Returns:
        Of two skills that were each taken instead of the other, one direction is looked at: the better for
        the worse.
    """
    by_digest = {run.digest: run for run in runs}
    known = dict.fromkeys(by_digest, memory) if isinstance(memory, PolicyMemory) else memory
    made = {evaluation.digest: evaluation for evaluation in evaluations}
    balances: list[Balance] = []
    looked_at: list[Influence] = []
    contrasts: list[OffPolicyContrast] = []
    for one, digests in by_memory(known, by_digest):
        there = [by_digest[digest] for digest in digests]
        met = _Met(there, one.snapshot(), made, weights, threshold)
        balances += met.balance()
        looked_at += met.influence()
        contrasts += met.contrasts()
    return Diagnostics(
        placebo=placebo(runs, memory, weights=weights, threshold=threshold, rounds=rounds),
        balance=tuple(balances),
        influence=tuple(looked_at),
        contrasts=tuple([one for one in contrasts if not isinstance(one.snips, Unscored)]),
    )


class _Met:
    """The comparisons that the evaluations of some runs met, each in the layer it is made in."""

    def __init__(
        self,
        runs: Sequence[Run],
        snapshot: Snapshot,
        evaluations: Mapping[str, RunEvaluation],
        weights: Weights,
        threshold: float,
    ) -> None:
        from untaken.counterfactual.pairs import levels_compared  # noqa: PLC0415 (slow: it loads NumPy)

        self._logged = by_context(logged_choices(runs, snapshot, weights))
        situations = set()
        for run in runs:
            layers = {selection.seq: selection.layers for selection in run.selections}
            for decision in evaluations[run.digest].decisions if run.digest in evaluations else ():
                for branch in decision.branches:
                    there = layers[decision.decision_point]
                    situations.add((decision.selected, branch.alternative, there))
        levels = levels_compared(snapshot, situations, weights)
        places = {(layers[level - 1], s, a) for (s, a, layers), level in levels.items()}
        self._both = {(w, s, a) for w, s, a in places if (w, a, s) in places}
        self._pairs = [
            _Pair(
                snapshot=snapshot,
                context_hash=where,
                selected=selected,
                alternative=alternative,
                weights=weights,
                threshold=threshold,
            )
            for where, selected, alternative in sorted(places)
        ]

    def influence(self) -> Iterator[Influence]:
        """Influence on each supported difference; of two skills met both ways, the better for the worse."""
        for pair in self._pairs:
            (whole,) = pair.compared(None)
            if whole is None or whole.support != "supported":
                continue
            if pair.place not in self._both or (number(whole.advantage) or 0) > 0:
                yield pair.influence(whole)

    def balance(self) -> Iterator[Balance]:
        """Balance of every two skills that both have a history, once each."""
        for pair in self._once():
            found = balance_of(pair.snapshot, pair.context_hash, pair.alternative, pair.selected)
            if found.runs_selected and found.runs_alternative:
                yield found

    def contrasts(self) -> Iterator[OffPolicyContrast]:
        """What logged odds say, of two skills met both ways once."""
        for pair in self._once():
            yield contrast(
                self._logged.get(pair.context_hash, ()), pair.context_hash, selected=pair.selected,
                alternative=pair.alternative, weights=pair.weights,
            )  # fmt: skip

    def _once(self) -> Iterator[_Pair]:
        for pair in self._pairs:
            if pair.place not in self._both or pair.selected < pair.alternative:
                yield pair


class _Pair(Struct, frozen=True, kw_only=True):
    """Two skills in a context, to be compared over a whole snapshot."""

    snapshot: Snapshot
    context_hash: str
    selected: str
    alternative: str
    weights: Weights
    threshold: float

    @property
    def place(self) -> tuple[str, str, str]:
        """Context, selected skill, alternative."""
        return self.context_hash, self.selected, self.alternative

    def compared(self, *without: str | None) -> list[Trust | None]:
        """The advantage without each run, ``None`` leaving out none; ``None`` where there is no history."""
        from untaken.counterfactual.pairs import Pair, compare_pairs  # noqa: PLC0415 (slow: it loads NumPy)

        pairs = [Pair(self.context_hash, self.selected, self.alternative, run_id) for run_id in without]
        return compare_pairs(self.snapshot, pairs, self.weights, self.threshold)

    def influence(self, whole: Trust) -> Influence:
        """What single runs do to the comparison."""
        runs = self._runs()
        each = tuple(map(_without, runs, self.compared(*runs)))
        most = max(each, key=lambda one: _moved(whole.advantage, one.advantage), default=None)
        return Influence(
            context_hash=self.context_hash,
            selected=self.selected,
            alternative=self.alternative,
            advantage=whole.advantage,
            low=whole.low,
            high=whole.high,
            support=whole.support,
            runs=len(each),
            moved_by="" if most is None else most.run_id,
            advantage_without=NOTHING_COMPARED if most is None else most.advantage,
            lost_without=tuple([one.run_id for one in each if _lost(whole, one)]),
            without=each,
        )

    def _runs(self) -> list[str]:
        """The runs behind both histories, in log order."""
        known = self.snapshot.history.log[: self.snapshot.observations]
        skills = {self.selected, self.alternative}
        behind = [o.run_id for o in known if o.skill in skills and self.context_hash in o.layers]
        return list(dict.fromkeys(behind))


def _all_shuffled(memories: Memories, runs: Sequence[Run], seed: str) -> dict[str, PolicyMemory]:
    """The memory of each run with its skills shuffled."""
    shuffled: dict[str, PolicyMemory] = {}
    for memory, digests in by_memory(memories, [run.digest for run in runs]):
        log = memory.snapshot().history.log
        # The same whatever other memories there are.
        shuffled |= dict.fromkeys(digests, PolicyMemory(_shuffled(log, Random(seed))))
    return shuffled


def _shuffled(log: Iterable[Observed], random: Random) -> Iterator[Observed]:
    """The outcomes with the runs' lists of skills shuffled; a list that is too short is repeated."""
    chosen: dict[tuple[object, ...], dict[str, list[Observed]]] = {}
    for observed in log:
        if observed.kind == "outcome":
            # What tasks and agents differ in stays: a difference that they alone make is not hidden.
            identity = observed.model, observed.version, observed.prompt_version, observed.named
            # The coarsest layer: in a fine one there may be a single run.
            place = observed.layers[-1], observed.task_id, observed.agent, *identity
            chosen.setdefault(place, {}).setdefault(observed.run_id, []).append(observed)
    for runs in chosen.values():
        drawn = [[one.skill for one in outcomes] for outcomes in runs.values()]
        random.shuffle(drawn)
        for outcomes, skills in zip(runs.values(), drawn, strict=True):
            for one, skill in zip(outcomes, cycle(skills), strict=False):  # the lists may differ in length
                yield msgspec.structs.replace(one, skill=skill)


class Compared(NamedTuple):
    """An alternative with a delta and an interval of its advantage."""

    run: str
    advantage: float
    delta: float
    supported: bool


def _compared(evaluation: RunEvaluation) -> Iterator[Compared]:
    for branch in (branch for decision in evaluation.decisions for branch in decision.branches):
        advantage, delta = number(branch.advantage), number(branch.delta)
        if advantage is not None and delta is not None and not isinstance(branch.low, Unscored):
            yield Compared(evaluation.digest, advantage, delta, branch.support == "supported")


def _over_rounds(means: Sequence[float]) -> tuple[Score, Score, Score]:
    """The mean of the rounds' means, and its 95% interval."""
    if not means:
        return NOTHING_COMPARED, NOTHING_COMPARED, NOTHING_COMPARED
    if len(means) < FEWEST:
        return means[0], FEW_ROUNDS, FEW_ROUNDS
    return fmean(means), *stats.mean_interval(means)


def _over_runs(compared: Sequence[Compared]) -> tuple[Score, Score, Score]:
    """The mean delta, and its 95% interval from sums over runs: how lucky a run was is not shuffled."""
    if not compared:
        return NOTHING_COMPARED, NOTHING_COMPARED, NOTHING_COMPARED
    deltas: dict[str, list[float]] = defaultdict(list)
    for one in compared:
        deltas[one.run].append(one.delta)
    if len(deltas) < FEWEST:
        return fmean(one.delta for one in compared), FEW_RUNS, FEW_RUNS
    whole, reach = stats.mean_of_groups(deltas.values())
    return whole, whole - reach, whole + reach


def _without(run_id: str, trust: Trust | None) -> Without:
    if trust is None:
        gone = Unscored("no other run chose this alternative")
        return Without(run_id=run_id, advantage=gone, low=gone, high=gone, support="none")
    return Without(
        run_id=run_id, advantage=trust.advantage, low=trust.low, high=trust.high, support=trust.support
    )


def _moved(whole: Score, without: Score) -> float:
    """How far; a comparison that cannot be made any more is moved furthest."""
    before, after = number(whole), number(without)
    return float("inf") if before is None or after is None else abs(after - before)


def _lost(whole: Trust, one: Without) -> bool:
    if whole.support != "supported":
        return False
    if one.support != "supported":
        return True
    # What is supported has an advantage.
    return (cast("float", one.advantage) > 0) != (cast("float", whole.advantage) > 0)
