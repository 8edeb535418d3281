"""Does a sub-goal's check detect when its own actions fail, or do something else? (§10)"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from untaken.analysis.auditing.mutants import compared, hollow, with_argument, with_field
from untaken.analysis.auditing.scored import PlannedRun, PlanRuns, read_paths
from untaken.errors import UntakenError
from untaken.ledger import Run
from untaken.plans import SubGoal, call_matches, expected_of, read_source
from untaken.scoring import CompiledSubGoal, score_together

RUNS: Final = 3
"""Runs that completed a sub-goal whose actions are changed: what a check overlooks in three it overlooks."""
FIELDS: Final = 6
"""Fields of the state, and arguments, that are changed for one sub-goal."""
VARIANTS: Final = 3


class Probe(Struct, frozen=True, kw_only=True):
    """What a check detected.

    Attributes:
        hollow, hollow_detected: mutants whose own actions failed, and those that no longer complete
            the sub-goal.
        changed, changed_detected: mutants with one other argument or field, likewise; no more are tried once
            one is detected.
        reads_nothing: whether its check looks at neither calls nor the state.
    """

    hollow: int = 0
    hollow_detected: int = 0
    changed: int = 0
    changed_detected: int = 0
    reads_nothing: bool = False

    @property
    def detected(self) -> bool:
        """Whether any mutant was detected."""
        return self.hollow_detected + self.changed_detected > 0

    @property
    def blind(self) -> bool:
        """At least two hollow mutants and none detected, or nothing is read."""
        return self.reads_nothing or (self.hollow >= 2 and not self.hollow_detected)

    @property
    def detects_no_change(self) -> bool:
        """Only that something was done is detected, never what."""
        return self.changed > 0 and not self.changed_detected and not self.blind


def probe(plan: PlanRuns, name: str) -> Probe:
    """Changes the actions of a sub-goal in runs that completed it, and scores them again.

    A sub-goal that a change makes not required, or that is not completed without recorded verdicts, is no
    evidence.
    """
    criterion = plan.compiled.criteria[name]
    if _reads_nothing(criterion):
        return Probe(reads_nothing=True)
    tried, detected = {"hollow": 0, "changed": 0}, {"hollow": 0, "changed": 0}
    for one in _completing(plan, name):
        bare = plan.bare(one.run)
        if not bare.completed(name):  # a verdict had decided it
            continue
        for kind, mutant in _mutants(plan, name, one, bare.run):
            if kind == "changed" and detected[kind]:  # one is enough: it looks at values
                break
            completed = _completed(plan, mutant, name)
            if completed is not None:
                tried[kind] += 1
                detected[kind] += not completed
    return Probe(
        hollow=tried["hollow"],
        hollow_detected=detected["hollow"],
        changed=tried["changed"],
        changed_detected=detected["changed"],
    )


def _completing(plan: PlanRuns, name: str) -> Sequence[PlannedRun]:
    """Runs that completed it, successes first, each of another task as far as there are some."""
    found = [one for one in plan.runs if one.completed(name)]
    found.sort(key=lambda one: one.success is not True)
    # Of several runs of a task a dictionary keeps the last: reversed before and after, the first.
    first = list({one.run.task_id: one for one in reversed(found)}.values())[::-1]
    others = {id(one) for one in found} - {id(one) for one in first}
    return [*first, *(one for one in found if id(one) in others)][:RUNS]


def _mutants(plan: PlanRuns, name: str, one: PlannedRun, run: Run) -> Iterator[tuple[str, Run]]:
    criterion = plan.compiled.criteria[name]
    parts = _parts(plan, name)
    calls = frozenset(seq for part in parts for seq in _own_calls(part, one, run))
    fields = tuple(dict.fromkeys(field for part in parts for field in part.fields))
    heeded = [part for part in parts if _heeds_answers(part)]
    if calls and heeded:
        yield "hollow", hollow(run, calls, fields)
    if criterion.options:
        return  # of several ways only one was changed
    for argument in _arguments(plan, criterion, run, calls):
        yield "changed", with_argument(run, calls, argument)
    for path in read_paths(criterion.expression)[:FIELDS] if criterion.expression else ():
        for variant in range(VARIANTS):
            mutant = with_field(run, path, variant)
            if mutant is not None:
                yield "changed", mutant


def _parts(plan: PlanRuns, name: str) -> list[CompiledSubGoal]:
    """The sub-goal itself, or the options of a group, at any depth."""
    found: dict[str, CompiledSubGoal] = {}
    waiting = [name]
    while waiting:
        at = waiting.pop()
        if at in found:
            continue
        found[at] = plan.compiled.criteria[at]
        waiting += found[at].options
    return list(found.values())


def _own_calls(part: CompiledSubGoal, one: PlannedRun, run: Run) -> Iterator[int]:
    """The calls that served it, and every other that its check would take."""
    yield from (seq for seq, sub_goal, _ in one.score.mapped if sub_goal == part.node.id)
    if part.call is not None:
        yield from (call.seq for call in run.actions if call_matches(part.call, call))


def _heeds_answers(part: CompiledSubGoal) -> bool:
    """Whether failed answers should matter: ``answered: any`` says that they do not."""
    spec = part.call
    return spec is None or spec.answered == "ok" or spec.answer is not None


def _arguments(plan: PlanRuns, criterion: CompiledSubGoal, run: Run, calls: frozenset[int]) -> Iterator[str]:
    """The arguments that its check compares; of a check that compares none, those of a call that writes."""
    spec = criterion.call
    if spec is None:
        return
    named = [name for name, value in expected_of(spec).items() if compared(value)]
    if spec.compare_args is not None:
        named = [name for name in named if name in spec.compare_args]
    if not spec.arguments and plan.changes(spec.name):
        named = sorted({name for call in run.actions if call.seq in calls for name in call.arguments})
    yield from named[:FIELDS]


def _reads_nothing(criterion: CompiledSubGoal) -> bool:
    """Whether its check gives one answer whatever the run did."""
    if criterion.kind != "expr":
        return False
    try:
        return not read_source(criterion.expression).paths
    except UntakenError:
        return False


def _completed(plan: PlanRuns, run: Run, name: str) -> bool | None:
    """Whether a run completes it; ``None`` where the run does not require it."""
    score = next(score_together([run], plan.graph))
    result = next(each for each in score.results if each.sub_goal == name)
    return None if result.status == "not_required" else result.completed is True


def expects_something(node: SubGoal) -> bool:
    """Whether its check looks at calls or at the state: a verdict and an outcome cannot be tried."""
    check = node.check
    reads = check is not None and (check.expr is not None or check.tool_call is not None)
    return bool(node.any_of) or reads
