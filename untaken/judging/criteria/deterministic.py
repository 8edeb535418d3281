"""Criteria computed from the ledger alone, without a model: the same values every time (§8).

Each criterion measures one number and sorts it into its accepted values by lower bounds, which are data
(`LEDGER_CRITERIA`) and stand in docs/criteria.md.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Final

import msgspec

from untaken.errors import Score, Unscored
from untaken.judging.criteria.criterion import CriteriaSet, Criterion, Quantified, QuantifierRun, Value
from untaken.ledger import Observation, Run, State, ToolCall
from untaken.plans import GraphSet, PlanGraph
from untaken.scoring import AT_ONCE, NodeScore, RunScore, counted_nodes, score_together

BY: Final = "ledger"
SOME: Final = 1e-9
"""The lower bound that means "more than nothing"."""
NO_ACTIONS: Final = Unscored("the run records no action of the agent")
NO_FAILURE: Final = Unscored("no action is recorded to have failed")


class AgentAction(msgspec.Struct, frozen=True, kw_only=True):
    """One action of the agent: its call, and whether it is recorded to have worked."""

    call: ToolCall
    ok: bool | None

    @property
    def same(self) -> tuple[str, bytes]:
        """Equal for two calls of one tool with the same arguments."""
        return self.call.tool, msgspec.json.encode(self.call.arguments, order="sorted")


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """A run with what is known of it; `score` says why where it has none."""

    run: Run
    graph: PlanGraph | Unscored
    score: RunScore | Unscored

    @cached_property
    def steps(self) -> tuple[AgentAction, ...]:
        """The agent's own actions, in order; a simulated user's are left out."""
        answers: dict[str, bool | None] = {}
        before: ToolCall | None = None
        for event in self.run.events:
            if isinstance(event, ToolCall):
                before = event
            elif isinstance(event, Observation):
                # An answer without an id is taken for that of the call before it.
                call_id = event.call_id or (before.call_id if before else "")
                answers.setdefault(call_id, event.ok)
        own = (call for call in self.run.actions if call.requestor != "user")
        return tuple(AgentAction(call=call, ok=answers.get(call.call_id)) for call in own)

    @cached_property
    def failed(self) -> tuple[int, ...]:
        """Places of the actions that failed."""
        return tuple(place for place, step in enumerate(self.steps) if step.ok is False)

    @cached_property
    def nodes(self) -> tuple[NodeScore, ...]:
        """The sub-goals that count."""
        return () if isinstance(self.score, Unscored) else counted_nodes(self.score.nodes, self.score.missing)


def step_efficiency(reading: RunFacts) -> Score:
    """Fewest actions that complete what the run completed (one a sub-goal) ÷ actions made, at most 1."""
    if isinstance(reading.score, Unscored):
        return reading.score
    if not reading.steps:
        return NO_ACTIONS
    if not reading.nodes or all(node.completed is None for node in reading.nodes):
        return Unscored("no sub-goal has evidence either way")
    # One action may complete several sub-goals.
    return min(1.0, sum(node.completed is True for node in reading.nodes) / len(reading.steps))


def unrepeated_actions(reading: RunFacts) -> Score:
    """Share of actions that do not repeat one that had not failed, with no STATE recorded in between."""
    if not reading.steps:
        return NO_ACTIONS
    changes = [event.seq for event in reading.run.of(State)]
    made: dict[tuple[str, bytes], int] = {}
    fresh = 0
    for step in reading.steps:
        last = made.get(step.same)
        # After a state in between, the same call may find another world.
        fresh += last is None or bisect_right(changes, last) < bisect_left(changes, step.call.seq)
        if step.ok is not False:  # what failed may rightly be tried again
            made[step.same] = step.call.seq
    return fresh / len(reading.steps)


def valid_actions(reading: RunFacts) -> Score:
    """Share of actions that worked, of those that are recorded to have worked or failed."""
    known = [step for step in reading.steps if step.ok is not None]
    if not known:
        return (
            Unscored("no observation records whether its action succeeded") if reading.steps else NO_ACTIONS
        )
    return sum(step.ok is True for step in known) / len(known)


def changed_course(reading: RunFacts) -> Score:
    """Share of failures after which the agent did something else: naive, any random agent does."""
    # The last action has no next.
    followed = [place for place in reading.failed if place + 1 < len(reading.steps)]
    if not followed:
        return NO_FAILURE
    other = sum(reading.steps[place].same != reading.steps[place + 1].same for place in followed)
    return other / len(followed)


def recovered(reading: RunFacts) -> Score:
    """Share of failures after which the same tool, or an action for the same sub-goal, worked."""
    if not reading.failed:
        return NO_FAILURE
    goals = (
        {} if isinstance(reading.score, Unscored) else {seq: goal for seq, goal, _ in reading.score.mapped}
    )
    worked: dict[tuple[str, str | None], int] = {}
    for place, step in enumerate(reading.steps):
        if step.ok is True:
            # The last place is enough: all that counts is whether one is later than the failure.
            worked["tool", step.call.tool] = worked["goal", goals.get(step.call.seq)] = place
    recoveries = 0
    for place in reading.failed:
        call = reading.steps[place].call
        goal = goals.get(call.seq)
        later = (
            worked.get(("tool", call.tool), -1),
            worked.get(("goal", goal), -1) if goal is not None else -1,
        )
        recoveries += max(later) > place
    return recoveries / len(reading.failed)


def plan_completion(reading: RunFacts) -> Score:
    """Completed ÷ required sub-goals; unscored where none has evidence."""
    if isinstance(reading.score, Unscored):
        return reading.score
    if all(node.completed is None for node in reading.nodes):
        return Unscored("no sub-goal has evidence either way")
    return reading.score.completion


def plan_order(reading: RunFacts) -> Score:
    """0 where a sub-goal was reached without a critical dependency, 1 out of order, 2 in order."""
    if isinstance(reading.score, Unscored):
        return reading.score
    if isinstance(reading.graph, Unscored) or not any(node.deps for node in reading.graph.sub_goals):
        return Unscored("the plan has no dependencies")
    if isinstance(reading.score.attempted, Unscored) or reading.score.attempted == 0:
        return Unscored("no sub-goal is known to have been attempted")
    kinds = {violation.kind for violation in reading.score.violations}
    return 0.0 if "critical" in kinds else 1.0 if kinds else 2.0


def termination(reading: RunFacts) -> Score:
    """0 never ended, 1 stopped from outside, 2 before the plan was done, 3 later than that, 4 in time."""
    finished = reading.run.finished
    if finished is None:
        return 0.0
    if finished.limit or finished.error:
        return 1.0
    if isinstance(reading.score, Unscored):
        return reading.score
    if any(node.completed is False for node in reading.nodes):
        return 2.0
    if not reading.nodes or any(node.completed is None for node in reading.nodes):
        return Unscored("a sub-goal has no evidence, so the completion time of the plan is unknown")
    # What is done again after it was completed is done after the plan, too.
    moments = [
        max(node.events, default=-1) if node.completed_at is None else node.completed_at
        for node in reading.nodes
    ]
    if max(moments) < 0:
        return Unscored("the completion time of the plan is unknown")
    return 3.0 if reading.steps and reading.steps[-1].call.seq > max(moments) else 4.0


def outcome_support(reading: RunFacts) -> Score:
    """0 success with something critical undone, 1 failure with all of it done, 2 outcome and plan agree."""
    if isinstance(reading.score, Unscored):
        return reading.score
    success = reading.run.success
    if isinstance(success, Unscored):
        return success
    needed = [node for node in reading.nodes if node.critical] or reading.nodes
    # What the outcome itself decided would agree with it by definition.
    independent = [node for node in needed if node.decided_by != "outcome"]
    if not independent or any(node.completed is None for node in independent):
        return Unscored("the plan alone does not show whether critical sub-goals were completed")
    done = all(node.completed for node in independent)
    return 2.0 if done == success else 0.0 if success else 1.0


class LedgerCriterion(msgspec.Struct, frozen=True, kw_only=True):
    """A criterion with its measure; level n is given where the measure reaches the n-th lower bound."""

    criterion: Criterion
    measure: Callable[[RunFacts], Score]
    bounds: tuple[float, ...]

    def value(self, reading: RunFacts) -> Value | Unscored:
        """The accepted value of a run, or why there is none."""
        measured = self.measure(reading)
        if isinstance(measured, Unscored):
            return measured
        level = sum(measured >= bound for bound in self.bounds)
        return Value(text=self.criterion.accepted_values[level], level=level)


def _of(
    name: str,
    description: str,
    values: Sequence[str],
    bounds: tuple[float, ...],
    measure: Callable[[RunFacts], Score],
) -> LedgerCriterion:
    criterion = Criterion(name=name, description=description, accepted_values=list(values), origin=BY)
    return LedgerCriterion(criterion=criterion, measure=measure, bounds=bounds)


_TROUBLE: Final = ("over half", "up to half", "up to a quarter", "up to a tenth", "none")
_FREE: Final = (0.5, 0.75, 0.9, 1.0)
_SHARE: Final = ("none", "under half", "half or more", "all")
_PARTS: Final = (SOME, 0.5, 1.0)

LEDGER_CRITERIA: Final = (
    _of(
        "Step efficiency",
        "Minimum actions needed for what was completed, as a share of the actions made.",
        ("under a quarter", "a quarter or more", "half or more", "three quarters or more", "shortest path"),
        (0.25, 0.5, 0.75, 1.0),
        step_efficiency,
    ),
    _of("Repeated actions", "Share of actions that repeat one.", _TROUBLE, _FREE, unrepeated_actions),
    _of("Failed actions", "Share of illegal or failed actions.", _TROUBLE, _FREE, valid_actions),
    _of(
        "Response to feedback",
        "After a failure, how often the agent does something else. Simple measure: random agents score best.",
        _SHARE,
        _PARTS,
        changed_course,
    ),
    _of("Recovery", "Failures after which the same tool or sub-goal worked.", _SHARE, _PARTS, recovered),
    _of("Plan completion", "Completed share of the plan.", _SHARE, _PARTS, plan_completion),
    _of(
        "Plan order",
        "Whether sub-goals were reached after their dependencies.",
        ("without a critical dependency", "out of order", "in order"),
        (1.0, 2.0),
        plan_order,
    ),
    _of(
        "Termination",
        "How the run ended.",
        ("never ended", "stopped from outside", "too early", "too late", "in time"),
        (1.0, 2.0, 3.0, 4.0),
        termination,
    ),
    _of(
        "Outcome support",
        "Whether the recorded outcome agrees with the plan.",
        ("success unsupported", "failure unsupported", "supported"),
        (1.0, 2.0),
        outcome_support,
    ),
)
"""What can be computed from ledgers and plan graphs."""
_MEASURES: Final = {one.criterion.name: one for one in LEDGER_CRITERIA}


def ledger_criteria() -> CriteriaSet:
    """The criteria that need no model, as a set to write, edit and accept from."""
    return CriteriaSet(id=BY, criteria=[one.criterion for one in LEDGER_CRITERIA])


def read_runs(runs: Iterable[Run], graphs: GraphSet) -> Iterator[RunFacts]:
    """Each run with its plan graph and score, as far as it has them; some are scored together."""
    left = iter(runs)
    while some := list(islice(left, AT_ONCE)):
        plans = [graphs.for_task(run.task_id, run.started.graph)[0] for run in some]
        scores: dict[int, Iterator[RunScore]] = {}  # graphs have no hash
        for graph in plans:
            if isinstance(graph, PlanGraph) and id(graph) not in scores:
                own = [run for run, plan in zip(some, plans, strict=True) if plan is graph]
                scores[id(graph)] = score_together(own, graph, detailed=True)
        for run, graph in zip(some, plans, strict=True):
            score = graph if isinstance(graph, Unscored) else next(scores[id(graph)])
            yield RunFacts(run=run, graph=graph, score=score)


def quantify_ledgers(
    runs: Sequence[Run], graphs: GraphSet, *, criteria: Sequence[Criterion] | None = None
) -> QuantifierRun:
    """Every unbroken run by the criteria that its ledger answers.

    Args:
        runs: of one or many ledgers.
        graphs: their plan graphs; without one, a criterion that needs it is unscored.
        criteria: those wanted, by name; one that no measure here computes is unscored, with the reason.
    """
    whole = (run for run in runs if not run.integrity.broken)
    return ledger_pass([quantified_by_ledger(one, criteria) for one in read_runs(whole, graphs)], criteria)


def ledger_pass(items: Sequence[Quantified], criteria: Sequence[Criterion] | None) -> QuantifierRun:
    """What `quantified_by_ledger` gave of many runs, as one pass."""
    return QuantifierRun(name=BY, by=BY, criteria=_wanted(criteria), items=tuple(items), deterministic=True)


def _wanted(criteria: Sequence[Criterion] | None) -> tuple[Criterion, ...]:
    return tuple(one.criterion for one in LEDGER_CRITERIA) if criteria is None else tuple(criteria)


def quantified_by_ledger(reading: RunFacts, criteria: Sequence[Criterion] | None) -> Quantified:
    """One run by the criteria that its ledger answers; as `quantify_ledgers`."""
    values: dict[str, Value] = {}
    unscored: dict[str, str] = {}
    for criterion in _wanted(criteria):
        one = _MEASURES.get(criterion.name)
        # Our lower bounds say nothing about values that a person has rewritten.
        if one is None or one.criterion.accepted_values != criterion.accepted_values:
            unscored[criterion.name] = "cannot be computed from the ledger: use a model or recorded replies"
            continue
        value = one.value(reading)
        if isinstance(value, Unscored):
            unscored[criterion.name] = value.reason
        else:
            values[criterion.name] = value
    return quantified(reading.run, values, unscored=unscored)


def quantified(
    run: Run, values: dict[str, Value], *, unparseable: str = "", unscored: dict[str, str] | None = None
) -> Quantified:
    """A run's values, with the run's names."""
    return Quantified(
        subject=run.digest,
        success=None if isinstance(run.success, Unscored) else run.success,
        values=values,
        unparseable=unparseable,
        unscored=unscored or {},
        run_id=run.run_id,
        agent=run.agent,
        task_id=run.task_id,
    )
