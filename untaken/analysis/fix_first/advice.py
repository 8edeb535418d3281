"""Choices that may be advised, by success alone; and apart from them what is only cheaper (§2e).

A recommendation needs more success: supported, at a small q, and at no cost to a critical sub-goal. What
saves money or steps at the same success is no recommendation: it has a list of its own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from msgspec import Struct

from untaken import stats
from untaken.caching import cached_property
from untaken.counterfactual import (
    SMALL_Q,
    Choice,
    CriticalCost,
    Outcome,
    ScorePart,
    ScoreParts,
    critical_costs,
    outcome_of,
    plan,
    priced,
)
from untaken.errors import Unscored

if TYPE_CHECKING:
    from untaken.analysis.corpus import Corpus
    from untaken.counterfactual import Option, Situation, Statement

BETWEEN_AGENTS: Final = "compared between agents, which is never a recommendation"
LARGE_Q: Final = f"q > {SMALL_Q:g}"


class Often(Struct, frozen=True, kw_only=True):
    """How often: in `count` of `n` runs; `low` and `high` are the 95% interval of the share, over tasks."""

    count: int
    n: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """`count` over `n`."""
        return self.count / self.n


class ChoiceAdvice(Struct, frozen=True, kw_only=True):
    """An option whose runs succeeded more often than those of the option that was taken, in one situation.

    Attributes:
        kind: ``skill``: a choice at SKILL_SELECTION events (§2a); ``plan``: at plan changes (§2d).
        parts: success, cost and steps of both options.
        choice: of a skill; `statement`: of a plan change; the other is ``None``. Names in them are untrusted.
        difference, low, high: of the rates of success inside task and agent, with its 95% interval.
        critical: what the alternative costs, to be said first; the largest difference first.
        recommended: supported by success, q ≤ `SMALL_Q`, and at no critical cost.
        reason: why it is not recommended; empty where it is.
        often: runs that made this choice (of a plan change: failed runs that took the worse option), of the
            evaluated ones; `runs` are they, with the `seq` of the choice, and `agents` their number by agent.
        gain: `often` × `difference`: successes that could be won, by association; `gain_low`, `gain_high` its
            95% interval.
    """

    kind: Literal["skill", "plan"]
    choice: Choice | None = None
    statement: Statement | None = None
    parts: ScoreParts
    difference: float
    low: float
    high: float
    q: float
    critical: tuple[CriticalCost, ...]
    recommended: bool
    reason: str
    often: Often
    gain: float
    gain_low: float
    gain_high: float
    runs: tuple[tuple[str, int], ...]
    agents: Mapping[str, int]

    @property
    def cautions(self) -> str:
        """What the alternative costs, in words to put first; empty where nothing (titles are untrusted)."""
        return "; ".join(cost.words for cost in self.critical)


class CheaperChoice(Struct, frozen=True, kw_only=True):
    """An alternative that costs less, or takes fewer steps, at the same success; never a recommendation.

    Attributes:
        cost, steps: saved a run, inside task and agent, with the 95% interval; ``None`` where the interval
            holds 0 or nothing is recorded.
        runs: that made this choice, with the `seq` of it; the total is the amount times their number.
    """

    choice: Choice
    cost: Saving | None
    steps: Saving | None
    runs: tuple[tuple[str, int], ...]


class Saving(Struct, frozen=True, kw_only=True):
    """What is saved a run (positive), `low` to `high`; and over all runs that made the choice."""

    per_run: float
    low: float
    high: float
    total: float


class Advice(Struct, frozen=True, kw_only=True):
    """What may be said of the choices of some runs.

    Attributes:
        choices: those whose alternative succeeded more often: the recommended ones first, by gain.
        cheaper: at the same success, by what is saved in total.
        skipping: number of alternatives that are cheaper or shorter, and cost a critical sub-goal: they are
            not listed.
    """

    choices: tuple[ChoiceAdvice, ...]
    cheaper: tuple[CheaperChoice, ...]
    skipping: int

    @property
    def recommended(self) -> tuple[ChoiceAdvice, ...]:
        """Those that may be followed."""
        return tuple(one for one in self.choices if one.recommended)


def advice(corpus: Corpus, digests: Collection[str] | None = None) -> Advice:
    """What may be said of the choices that some runs made; of all runs by default.

    What history says is always drawn from the whole memory, and what an alternative costs from all runs.
    """
    kept = corpus.runs.keys() if digests is None else set(digests) & corpus.runs.keys()
    takers = SkillTakers(corpus)
    more, cheaper, skipping = [], [], 0
    sample = stats.TaskSample(
        {d: corpus.runs[d].task_id for d in kept if corpus.evaluations.status(d) == "evaluated"}
    )
    for choice in corpus.choices.listed:  # nothing is known of the others
        runs = _runs_of(choice, sample)
        if not runs:
            continue
        if choice.succeeds > 0:
            more.append(_more(corpus, choice, takers.costs(choice), runs, sample))
        elif choice.succeeds == 0 and choice.parts.saves:
            # Cheaper because something critical is left out is no saving.
            if takers.costs(choice):
                skipping += 1
            else:
                cheaper.append(_cheaper(choice, runs))
    more += _plan_changes(corpus, kept)
    more.sort(key=lambda one: (not one.recommended, -one.gain, -one.often.count, one.kind, one.runs))
    return Advice(
        choices=tuple(more),
        cheaper=tuple(sorted(cheaper, key=_by_saving)),
        skipping=skipping,
    )


@dataclass
class SkillTakers:
    """Which runs of a corpus took a skill in a context, and what an alternative costs them."""

    corpus: Corpus

    def costs(self, choice: Choice) -> tuple[CriticalCost, ...]:
        """The critical sub-goals that runs which took the alternative complete less often."""
        one, two = ((skill, choice.context_hash) for skill in (choice.alternative, choice.selected))
        return critical_costs(self.corpus.scores, self._takers.get(one, ()), self._takers.get(two, ()))

    @cached_property
    def _takers(self) -> dict[tuple[str, str], dict[str, None]]:
        # On first use: it reads every decision of every run.
        found: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
        for digest, run in self.corpus.runs.items():
            for selection in run.selections:
                for context in selection.layers:  # a choice is compared in any of them
                    found[selection.selected, context][digest] = None
        return found


def _runs_of(choice: Choice, sample: stats.TaskSample) -> tuple[tuple[str, int], ...]:
    """The runs that made a choice, each with the first point at which it did."""
    points: dict[str, int] = {}
    for run, seq in choice.points:
        if run in sample:
            points.setdefault(run, seq)
    return tuple(points.items())


def _more(
    corpus: Corpus,
    choice: Choice,
    critical: tuple[CriticalCost, ...],
    runs: tuple[tuple[str, int], ...],
    sample: stats.TaskSample,
) -> ChoiceAdvice:
    part = choice.parts.success
    # An alternative that succeeds more often has an interval and a q.
    within, low, high, q = (cast("float", one) for one in (part.within, part.low, part.high, choice.q))
    return ChoiceAdvice(
        kind="skill",
        choice=choice,
        parts=choice.parts,
        difference=within,
        low=low,
        high=high,
        q=q,
        critical=critical,
        recommended=not critical,
        reason=critical[0].words if critical else "",
        **_often(corpus, runs, sample, (within, low, high)),
    )


def _cheaper(choice: Choice, runs: tuple[tuple[str, int], ...]) -> CheaperChoice:
    cost, steps = (_saving(part, len(runs)) for part in (choice.parts.cost, choice.parts.steps))
    return CheaperChoice(choice=choice, cost=cost, steps=steps, runs=runs)


def _saving(part: ScorePart, runs: int) -> Saving | None:
    if part.sign != -1:
        return None
    within, low, high = (cast("float", one) for one in (part.within, part.low, part.high))
    # Differences are alternative minus selected: what is less is saved.
    return Saving(per_run=-within, low=-high, high=-low, total=-within * runs)


def _by_saving(one: CheaperChoice) -> tuple[object, ...]:
    cost, steps = (saving.total if saving else 0.0 for saving in (one.cost, one.steps))
    return -cost, -steps, one.choice.selected, one.choice.alternative, one.choice.context_hash


def _plan_changes(corpus: Corpus, digests: Collection[str]) -> list[ChoiceAdvice]:
    """Supported statements, with the failed runs that took the worse option; each run counts in one."""
    looked = [run for digest, run in corpus.plans.runs.items() if digest in digests]
    # Keyed by identity: alternatives refer to the statement object itself.
    met: dict[int, tuple[Statement, list[tuple[str, int]]]] = {}
    for run in looked:
        if (found := run.better_way) and (statement := found[1].statement) is not None:
            _, runs = met.setdefault(id(statement), (statement, []))
            runs.append((run.path.digest, found[0].decision.seq))
    paths = [run.path for run in looked if not isinstance(run.path.success, Unscored)]
    sample = stats.TaskSample({path.digest: path.task_id for path in paths})
    takers = option_takers(corpus, [statement for statement, _ in met.values()])
    return [_statement(corpus, one, tuple(runs), sample, takers) for one, runs in met.values()]


def _statement(
    corpus: Corpus,
    statement: Statement,
    runs: tuple[tuple[str, int], ...],
    sample: stats.TaskSample,
    takers: OptionTakers,
) -> ChoiceAdvice:
    situation, q = statement.situation, cast("float", statement.q)  # a supported statement has a q
    critical = critical_costs(
        corpus.scores, takers[situation, statement.option], takers[situation, statement.against]
    )
    if critical:
        reason = critical[0].words
    elif statement.estimate == "between_agents":
        reason = BETWEEN_AGENTS
    else:
        reason = "" if q <= SMALL_Q else LARGE_Q
    return ChoiceAdvice(
        kind="plan",
        statement=statement,
        parts=_parts_of(corpus, statement, takers),
        difference=statement.difference,
        low=statement.low,
        high=statement.high,
        q=q,
        critical=critical,
        recommended=not reason,
        reason=reason,
        **_often(corpus, runs, sample, (statement.difference, statement.low, statement.high)),
    )


def statement_parts(corpus: Corpus, statement: Statement) -> ScoreParts:
    """How the runs that took the two options of a statement differ in success, cost and steps."""
    return _parts_of(corpus, statement, option_takers(corpus, [statement]))


def _parts_of(corpus: Corpus, statement: Statement, takers: OptionTakers) -> ScoreParts:
    """Copies and runs without an outcome are left out; costs are compared in the unit of the first."""
    numbers: dict[tuple[str, ...], int] = {}
    unit: str | None = None
    sides: list[list[tuple[int, Outcome]]] = []
    for option in (statement.option, statement.against):
        sides.append([])
        for digest in takers[statement.situation, option]:
            run, path = corpus.runs[digest], corpus.plans.runs[digest].path
            if path.copy or run.finished is None or isinstance(path.success, Unscored):
                continue
            if unit is None and priced(run.finished) is not None:
                unit = run.finished.cost_unit
            stratum = numbers.setdefault(path.stratum, len(numbers))
            sides[-1].append((stratum, outcome_of(run, unit)))
    return plan.parts_of_runs(sides[0], sides[1], unit or "")


OptionTakers = dict[tuple["Situation", "Option"], list[str]]


def option_takers(corpus: Corpus, statements: Sequence[Statement]) -> OptionTakers:
    """The runs that took each option of the statements on their first visit to its situation."""
    wanted = {statement.situation for statement in statements}
    found: OptionTakers = defaultdict(list)
    for run in corpus.plans.runs.values() if wanted else ():
        seen = set()
        for one in run.decisions:
            for situation in plan.situations(run.path, one.decision):
                if situation in wanted and situation not in seen:
                    seen.add(situation)
                    option = plan.option_in(situation.layer, one.decision.option)
                    found[situation, option].append(run.path.digest)
    return found


def _often(
    corpus: Corpus,
    runs: tuple[tuple[str, int], ...],
    sample: stats.TaskSample,
    much: tuple[float, float, float],
) -> dict[str, Any]:
    """The attributes of `ChoiceAdvice` that say how often and how much."""
    hits = dict.fromkeys(dict(runs), 1.0)
    share_low, share_high = sample.interval(hits)
    often = Often(count=len(hits), n=sample.n, low=share_low, high=share_high)
    ends = max(1e-6, much[1]), much[2]  # the interval of a supported difference may just reach 0
    low, high = stats.product(often.share, (often.low, often.high), much[0], ends)
    return {
        "often": often,
        "gain": often.share * much[0],
        "gain_low": low,
        "gain_high": high,
        "runs": runs,
        # Sorted first: among equal counts names decide, not the order of files.
        "agents": dict(Counter(sorted(corpus.runs[digest].agent for digest, _ in runs)).most_common()),
    }
