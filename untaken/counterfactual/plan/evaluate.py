"""The paths that other runs of the same task took: every plan decision, and what is supported (§2d)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final, cast

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from untaken.counterfactual.plan.changes import Mapped, Option, PlanDecision, PlanPath, plan_paths
from untaken.counterfactual.plan.forecast import Forecaster, decisive
from untaken.counterfactual.plan.statements import (
    NEVER_BOTH,
    NO_DIFFERENCE,
    TOO_FEW,
    Label,
    OptionPair,
    Situation,
    Statement,
    SupportRuling,
    contrasts,
    option_in,
    rule,
    situations,
    statements,
    test_contrast,
    with_groups,
)
from untaken.errors import Score, Unscored
from untaken.ledger import Run
from untaken.plans import PlanGraph

SHUFFLES: Final = 40
"""Times that outcomes are shuffled for the placebo."""
SIBLINGS_MAX: Final = 50
"""Runs that are named for one alternative."""

ONE_SIDED: Final = "not both chosen on a first visit by runs with a recorded outcome"
NO_ALTERNATIVES: Final = Unscored("no run chose another option in the same state")


class PlanAlternative(Struct, frozen=True, kw_only=True, gc=False):
    """An option that another run of the same task took in the same state.

    Attributes:
        statement: of the finest layer that decides, the option against what the run did or the reverse;
            ``None`` where none does.
        difference: in the rate of success, the alternative's minus the chosen option's; unscored without a
            statement.
        siblings: digests of the runs that took it, in order.
        siblings_succeeded: of them, how many of how many with a recorded outcome.
    """

    option: Option
    supported: bool
    q: float | Unscored
    difference: Score
    statement: Statement | None
    reason: str
    siblings: tuple[str, ...]
    siblings_succeeded: tuple[int, int]

    @property
    def better(self) -> bool:
        """Whether it is supported that the alternative goes with more success."""
        return self.supported and not isinstance(self.difference, Unscored) and self.difference > 0


class EvaluatedDecision(Struct, frozen=True, kw_only=True, gc=False):
    """One plan decision of a run.

    Attributes:
        forecast: the chance of success after it, from other tasks.
        change: that minus the chance before it.
    """

    decision: PlanDecision
    forecast: Score
    change: Score
    alternatives: tuple[PlanAlternative, ...]


class EvaluatedPath(Struct, frozen=True, kw_only=True):
    """A run's path through its plan.

    Attributes:
        decisive_seq: of a failed run, the decision at which its chance of success fell most.
    """

    path: PlanPath
    decisions: tuple[EvaluatedDecision, ...]
    decisive_seq: int | None

    @property
    def better_way(self) -> tuple[EvaluatedDecision, PlanAlternative] | None:
        """The supported alternative of a failed run to report first, with its decision.

        At the decisive step if there is one, else that of the largest difference.
        """
        if self.path.success is not False:
            return None
        found = [(d, a) for d in self.decisions for a in d.alternatives if a.better]
        return min(found, key=lambda pair: self._urgency(*pair), default=None)

    def _urgency(
        self, decision: EvaluatedDecision, alternative: PlanAlternative
    ) -> tuple[bool, float, int, Option]:
        seq, difference = decision.decision.seq, cast("float", alternative.difference)  # it is better
        return seq != self.decisive_seq, -difference, seq, alternative.option


class PlanEvaluation(Struct, frozen=True, kw_only=True):
    """All plan decisions of many runs, and the statements about them.

    Attributes:
        runs: by digest, in order; `silent`: why another run has no plan decisions.
        statements: those that any task lets be compared, the supported ones first, then by p.
        alternatives: over all decisions of all runs; `supported` of them.
        shuffled_supported_share: mean share of alternatives supported once outcomes are shuffled within task
            and agent (within the task where each agent ran it once).
        silent_alternatives: (reason, alternatives) for those that are not supported.
    """

    runs: dict[str, EvaluatedPath]
    silent: dict[str, Unscored]
    statements: tuple[Statement, ...]
    decisions: int
    alternatives: int
    supported: int
    supported_share: Score
    shuffled_supported_share: Score
    silent_alternatives: tuple[tuple[str, int], ...]
    shuffles: int = SHUFFLES

    @property
    def silent_runs(self) -> dict[str, int]:
        """Runs without plan decisions by why they have none."""
        return dict(sorted(Counter(why.reason for why in self.silent.values()).items()))

    @property
    def groups(self) -> dict[Label, int]:
        """Supported statements, counted by nested group: those found, and those that explain the verdict."""
        seen = {(s.label, s.group) for s in self.statements if s.supported}
        return {label: sum(each == label for each, _ in seen) for label in ("found", "explains_the_verdict")}

    def among(self, digests: Collection[str]) -> PlanEvaluation:
        """The decisions of some of the runs, and the statements about their tasks."""
        runs = {digest: run for digest, run in self.runs.items() if digest in digests}
        tasks = {run.path.task_id for run in runs.values()}
        domains = {run.path.domain for run in runs.values()}
        kept = (
            statement
            for statement in self.statements
            if statement.situation.domain in domains and statement.situation.task_id in ("", *tasks)
        )
        # q and the placebo stay those of all runs: a part of the runs is not a test of its own.
        return replace(
            self,
            runs=runs,
            silent={digest: why for digest, why in self.silent.items() if digest in digests},
            statements=tuple(kept),
            **_counts(runs.values()),
        )


def evaluate_plans(
    runs: Iterable[tuple[Run, PlanGraph | Unscored, Mapped]],
    *,
    identity: Sequence[str] = (),
    shuffles: int = SHUFFLES,
) -> PlanEvaluation:
    """Compares every plan decision with those of other runs of its task.

    Args:
        runs: each run with its plan graph, or why it has none, and its actions mapped to sub-goals
            (`RunScore.mapped`).
        identity: names of metadata that can change an agent: only runs that share it are compared.
        shuffles: of the placebo.
    """
    paths, silent = plan_paths(runs, identity=identity)
    scored = [path for path in paths if isinstance(path.success, bool)]
    success = np.array([path.success for path in scored], dtype=float)
    pairs = contrasts(scored)
    places = {(pair.situation, pair.first, pair.second): at for at, pair in enumerate(pairs)}
    found = with_groups(statements(pairs, scored, success), pairs)
    by_option = _by_option(paths)
    weights = _weights(paths, by_option, places)
    forecaster = Forecaster(scored)
    evaluated = {path.digest: _evaluated(path, by_option, places, found, forecaster) for path in paths}
    known = [statement for statement in found if statement is not None]
    return PlanEvaluation(
        runs=evaluated,
        silent=silent,
        statements=tuple(
            sorted(known, key=lambda s: (not s.supported, s.p, s.situation, s.option, s.against))
        ),
        shuffled_supported_share=_placebo(pairs, scored, success, weights, shuffles),
        shuffles=shuffles,
        **_counts(evaluated.values()),
    )


def _counts(runs: Collection[EvaluatedPath]) -> dict[str, Any]:
    """The attributes of `PlanEvaluation` that count decisions and alternatives."""
    every = [a for run in runs for d in run.decisions for a in d.alternatives]
    supported = sum(a.supported for a in every)
    reasons = Counter(_kind(a.reason) for a in every if not a.supported)
    return {
        "decisions": sum(len(run.decisions) for run in runs),
        "alternatives": len(every),
        "supported": supported,
        "supported_share": supported / len(every) if every else NO_ALTERNATIVES,
        "silent_alternatives": tuple(sorted(reasons.items(), key=lambda item: (-item[1], item[0]))),
    }


def _kind(reason: str) -> str:
    """A reason without its numbers, so that alternatives with the same are counted together."""
    return NO_DIFFERENCE if reason.startswith("needs ") else reason


Places = dict[tuple[Situation, Option, Option], int]
"""The position of each contrast, the lesser option first."""


def _layers(places: Places, where: Sequence[Situation], option: Option, against: Option) -> list[int]:
    """Positions of the contrasts of `option` and `against`, from fine to coarse."""
    found = []
    for situation in where:
        one, two = sorted((option_in(situation.layer, option), option_in(situation.layer, against)))
        if (at := places.get((situation, one, two))) is not None:
            found.append(at)
    return found


PathsByOption = dict[Situation, dict[Option, list[PlanPath]]]


def _by_option(paths: Sequence[PlanPath]) -> PathsByOption:
    """Who took what in each state of each task."""
    by_option: PathsByOption = defaultdict(lambda: defaultdict(list))
    for path in paths:
        for decision in path.decisions:
            runs = by_option[situations(path, decision)[0]][decision.option]
            if not runs or runs[-1] is not path:  # a run may be in one state more than once
                runs.append(path)
    return by_option


def _others(
    path: PlanPath, decision: PlanDecision, by_option: PathsByOption
) -> list[tuple[Option, list[PlanPath]]]:
    """Options that another run of the task took in this state, and who."""
    options = by_option[situations(path, decision)[0]]
    found = []
    for option in sorted(options):
        # A run may come back and choose otherwise.
        if option != decision.option and (runs := [other for other in options[option] if other is not path]):
            found.append((option, runs))
    return found


def _evaluated(
    path: PlanPath,
    by_option: PathsByOption,
    places: Places,
    found: Sequence[Statement | None],
    forecaster: Forecaster,
) -> EvaluatedPath:
    decisions = []
    for decision in path.decisions:
        where = situations(path, decision)
        alternatives = tuple(
            _alternative(option, runs, [found[i] for i in _layers(places, where, option, decision.option)])
            for option, runs in _others(path, decision, by_option)
        )
        forecast, change = forecaster.after(path, decision), forecaster.change(path, decision)
        decisions.append(
            EvaluatedDecision(decision=decision, forecast=forecast, change=change, alternatives=alternatives)
        )
    return EvaluatedPath(path=path, decisions=tuple(decisions), decisive_seq=decisive(path, forecaster))


def _alternative(
    option: Option, runs: Sequence[PlanPath], layers: Sequence[Statement | None]
) -> PlanAlternative:
    compared = [statement for statement in layers if statement is not None]
    statement = next((s for s in compared if s.testable), None)
    known = [run for run in runs if isinstance(run.success, bool)]
    silence = TOO_FEW if compared else NEVER_BOTH if layers else ONE_SIDED
    reason = statement.reason if statement else silence
    difference: Score = Unscored(reason)
    if statement is not None:
        # A statement may speak of the two the other way round.
        ours = option_in(statement.situation.layer, option) == statement.option
        difference = statement.difference if ours else -statement.difference
    return PlanAlternative(
        option=option,
        supported=statement is not None and statement.supported,
        q=statement.q if statement else Unscored(reason),
        difference=difference,
        statement=statement,
        reason=reason,
        siblings=tuple(run.digest for run in runs[:SIBLINGS_MAX]),
        siblings_succeeded=(sum(run.success is True for run in known), len(known)),
    )


def _weights(paths: Sequence[PlanPath], by_option: PathsByOption, places: Places) -> Counter[tuple[int, ...]]:
    """How many alternatives hang on each chain of contrasts; those on none count, too."""
    weights: Counter[tuple[int, ...]] = Counter()
    for path in paths:
        for decision in path.decisions:
            where = situations(path, decision)
            for option, _ in _others(path, decision, by_option):
                weights[tuple(_layers(places, where, option, decision.option))] += 1
    return weights


def _placebo(
    pairs: Sequence[OptionPair],
    paths: Sequence[PlanPath],
    success: np.ndarray,
    weights: Counter[tuple[int, ...]],
    shuffles: int,
) -> Score:
    """Mean share of alternatives supported where outcomes are shuffled and nothing can be true."""
    if not weights:
        return NO_ALTERNATIVES
    groups = _exchangeable(paths)
    rng = np.random.default_rng(0)  # the same figure whenever it is worked out
    total = 0
    for _ in range(shuffles):
        shuffled = success.copy()
        for group in groups:
            shuffled[group] = shuffled[rng.permutation(group)]
        rulings = rule([test_contrast(pair, shuffled) for pair in pairs])
        total += sum(count for layers, count in weights.items() if _supports(layers, rulings))
    return total / (shuffles * sum(weights.values()))


def _supports(layers: Sequence[int], rulings: Sequence[SupportRuling]) -> bool:
    """Whether the finest layer that decides supports a statement."""
    for at in layers:
        if not isinstance(rulings[at].q, Unscored):
            return rulings[at].supported
    return False


def _exchangeable(paths: Sequence[PlanPath]) -> list[np.ndarray]:
    """Runs whose outcomes may be shuffled: of one task and agent, or of one task that each ran once."""
    by_task: dict[str, dict[tuple[str, ...], list[int]]] = defaultdict(lambda: defaultdict(list))
    for position, path in enumerate(paths):
        if not path.copy:  # no test counts a copy: its outcome is not dealt to others
            by_task[path.task_id][path.stratum].append(position)
    groups: list[list[int]] = []
    for agents in by_task.values():
        if all(len(runs) == 1 for runs in agents.values()):
            groups.append([runs[0] for runs in agents.values()])
        else:
            groups += agents.values()
    return [np.array(group) for group in groups if len(group) > 1]
