"""Plan decisions as a person would say them (§2d)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from untaken.counterfactual import plan
from untaken.errors import Unscored
from untaken.numbers import counted

if TYPE_CHECKING:
    from untaken.counterfactual import (
        EvaluatedPath,
        Option,
        PlanAlternative,
        PlanDecision,
        PlanEvaluation,
        PlanState,
        ScoreParts,
        Situation,
        Statement,
    )

LABELS: Final = {"explains_the_verdict": "explains the verdict", "found": "found"}
RESTATES: Final = "restates the plan's check"
"""What *explains the verdict* means, for a reader."""
POWER: Final = (
    "A difference of 30 points is found in 59% of cases with 25 tasks of 4 trials, in 88% with 50 tasks of "
    "4 trials."
)
"""How much data a statement takes (simulated with the rule of §2d)."""


RUNS_ENOUGH: Final = 200
"""50 tasks of 4 trials."""


def option_words(option: Option) -> str:
    """An option as something to do."""
    match option.kind:
        case "advance":
            return f"complete “{option.name}”" if option.name else "make a planned change"
        case "unplanned":
            return f"call {option.name} (not in the plan)" if option.name else "make an unplanned change"
        case "hand_over":
            return "hand over"
        case "stop_open":
            return "stop with planned changes left"
        case "stop_done":
            return "stop with nothing left"


_FORMS: Final = {
    "make": ("made", "making"),
    "complete": ("completed", "completing"),
    "call": ("called", "calling"),
    "stop": ("stopped", "stopping"),
    "hand": ("handed", "handing"),
}


def did_words(option: Option) -> str:
    """An option as what a run did: ``made …``, ``stopped …``, ``handed over``."""
    verb, rest = option_words(option).split(" ", 1)
    return f"{_FORMS[verb][0]} {rest}"


def doing_words(option: Option) -> str:
    """An option as a way to go on: ``making …``, ``stopping …``, ``handing over``."""
    verb, rest = option_words(option).split(" ", 1)
    return f"{_FORMS[verb][1]} {rest}"


def situation_words(situation: Situation) -> str:
    """What the compared runs had in common."""
    if situation.layer == 4:
        return "in any state"
    if situation.layer == 1:
        made = ", ".join(situation.made)
        parts = [
            f"{situation.task_id}: after {made}" if made else f"{situation.task_id}: nothing changed yet"
        ]
    elif situation.layer == 2:
        planned = "change" if situation.left < 2 else "changes"
        made = "none" if situation.made_count == 0 else _count(situation.made_count, plan.MADE_MAX)
        parts = [f"{_count(situation.left, plan.LEFT_MAX)} planned {planned} left", f"{made} made"]
    else:
        parts = ["planned changes left" if situation.left else "no planned change left"]
    if situation.unplanned:
        parts.append("after an unplanned change")
    if situation.handed_over:
        parts.append("after a hand-over")
    return ", ".join(parts)


def state_words(state: PlanState) -> str:
    """A state of the plan in short."""
    parts = [", ".join(state.made) or "nothing made"]
    if state.unplanned:
        parts.append("unplanned change")
    if state.handed_over:
        parts.append("handed over")
    return " · ".join(parts)


def statement_words(statement: Statement) -> str:
    """A statement as one paragraph: situation, counts, q, and what it may be used for."""
    where = situation_words(statement.situation)
    if statement.situation.layer > 1:  # else it begins with a task's name, which is left as it is
        where = f"{where[0].upper()}{where[1:]}"
    sides = _sides(statement, statement.option)
    return f"{where}. In {_tasks(statement)}, {sides}. {verdict_words(statement)}"


def statement_in_units(statement: Statement, parts: ScoreParts) -> str:
    """A statement with what its options differ in: inside task and agent, else over all their runs."""
    if statement.estimate == "same_agent":
        return f"{statement_words(statement)} Inside task and agent: {parts.within_words}."
    return f"{statement_words(statement)} Over all runs: {parts.words}."


def alternative_words(decision: PlanDecision, alternative: PlanAlternative) -> str:
    """One alternative of a run's decision, in at most four sentences; names from ledgers are in it.

    ``Nothing was left to change; this run made an unplanned change (cancel). In the same 4 tasks, stopping
    with nothing left: 5 of 5 succeeded; making an unplanned change: 0 of 8. Supported, q = 0.02. …``
    """
    start = f"{_left_words(decision)}; this run {did_words(decision.option)}."
    statement = alternative.statement
    if statement is None or not statement.testable:
        succeeded, known = alternative.siblings_succeeded
        return (
            f"{start} In the same state of this task, {doing_words(alternative.option)}: "
            f"{succeeded} of {counted(known, 'run')} succeeded. Not supported: {alternative.reason}."
        )
    # Only the finest layer knows names.
    first = alternative.option if statement.situation.layer == 1 else alternative.option.general
    sides = _sides(statement, first)
    return f"{start} In {_tasks(statement)}, {sides}. {verdict_words(statement)}"


def verdict_words(statement: Statement) -> str:
    """Whether a statement is supported, and what it may be used for."""
    if not statement.supported:
        return f"Not supported: {statement.reason}."
    q = "" if isinstance(statement.q, Unscored) else f", q = {statement.q:.2g}"
    restates = "" if statement.label == "found" else f"; {RESTATES}"
    return f"Supported{q}{restates}."


def groups_words(evaluation: PlanEvaluation) -> str:
    """How many groups of supported statements there are, and how many only restate what the plan checks."""
    found, explaining = evaluation.groups["found"], evaluation.groups["explains_the_verdict"]
    words = counted(found + explaining, "finding")
    if not explaining:
        return words
    return f"{words}, {'all' if not found else f'{explaining:,}'} restating what the plan checks"


def plan_silence(run: EvaluatedPath) -> str:
    """Why no alternative of a run is supported; empty where one is."""
    alternatives = [a for decision in run.decisions for a in decision.alternatives]
    if any(a.supported for a in alternatives):
        return ""
    if not alternatives:
        return "No other run of this task took another option in the same state."
    if any(a.reason == plan.TOO_FEW for a in alternatives):
        return f"Too few trials to show a difference ({plan.TOO_FEW}). {POWER}"
    return f"Nothing is supported: {alternatives[0].reason}."


def data_needed(evaluation: PlanEvaluation) -> str:
    """How much data there is, how much a difference of 30 points takes, and about how much is missing."""
    paths = [run.path for run in evaluation.runs.values() if not run.path.copy]  # a copy is no more data
    runs = Counter(path.stratum for path in paths)
    tasks = len({path.task_id for path in paths})
    repeated = sum(count for count in runs.values() if count > 1)
    runs_words = counted(repeated, "run", "repeat")
    words = f"Here {runs_words} a task with the same agent, in {counted(tasks, 'task')}. {POWER}"
    missing = RUNS_ENOUGH - repeated
    return f"{words} About {counted(missing, 'more such run', 'are')} needed." if missing > 0 else words


def distinct(statements: Iterable[Statement]) -> list[Statement]:
    """Statements without those that repeat the counts of a finer layer, in order."""
    finest: dict[tuple[object, ...], Statement] = {}
    every = list(statements)
    # The finest says most: it comes first and stays.
    for statement in sorted(every, key=lambda s: s.situation.layer):
        finest.setdefault(_counts(statement), statement)
    kept = {id(statement) for statement in finest.values()}
    return [statement for statement in every if id(statement) in kept]


def runs_against(evaluation: PlanEvaluation, statement: Statement) -> list[tuple[str, int]]:
    """Failed runs that took the worse option where this evidence supports the other: digest, `seq`."""
    same = _counts(statement)
    found: dict[str, int] = {}
    for digest, run in evaluation.runs.items():
        for decision in run.decisions if run.path.success is False else ():
            against = (a.statement for a in decision.alternatives if a.better)
            if any(other is not None and _counts(other) == same for other in against):
                found.setdefault(digest, decision.decision.seq)
    return list(found.items())


def _counts(statement: Statement) -> tuple[object, ...]:
    """What makes two statements the same evidence: options without names, and all counts."""
    s = statement
    options = s.option.general, s.against.general
    return (s.situation.domain, *options, s.k1, s.n1, s.k0, s.n0, s.tasks, s.informative_tasks, s.p)


def _left_words(decision: PlanDecision) -> str:
    if not decision.left:
        words = "Nothing was left to change"
    else:
        words = (
            "One planned change was left"
            if decision.left == 1
            else f"{decision.left} planned changes were left"
        )
    if decision.state.unplanned:
        words += " after an unplanned change"
    return f"{words} after a hand-over" if decision.state.handed_over else words


def _sides(statement: Statement, first: Option) -> str:
    """Counts of both options, `first` before the other."""
    sides = [(statement.option, statement.k1, statement.n1), (statement.against, statement.k0, statement.n0)]
    if first != statement.option:
        sides.reverse()
    (one, k1, n1), (two, k0, n0) = sides
    return f"runs that {did_words(one)} succeeded {k1} of {n1}; those that {did_words(two)} {k0} of {n0}"


def _tasks(statement: Statement) -> str:
    return "the same task" if statement.tasks == 1 else f"the same {statement.tasks} tasks"


def _count(count: int, most: int) -> str:
    """A count that is cut at `most`."""
    return f"{count} or more" if count >= most else str(count or "no")
