"""Successful runs against the plan: what they do without, and in which order they go (§10)."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any, Final

from msgspec import Struct, to_builtins

from untaken import stats
from untaken.analysis.auditing.scored import PlannedRun, PlanRuns, read_paths
from untaken.plans import Check, Disconnect, Edit, Set, SubGoal, ToolCallSpec, as_literal
from untaken.scoring import alike, nearest_call, shown, unmet_arguments

MIN_SUCCESSES: Final = 3
"""Successes from which a sub-goal that none completes is doubted."""
MIN_CONTESTED: Final = 5
MIN_RUNS: Final = 5
"""Runs, one of them a success, from which a name that none of them knows is taken for a misspelling."""
ALPHA: Final = 0.05
HALF: Final = 0.5
"""Share of successes that complete a sub-goal below which it is no common step."""
MOST: Final = 0.9
"""Share of successes that complete a sub-goal that is needed, at least."""
REVERSED: Final = 0.1
"""Share of successes that may go against an edge by chance."""
NEEDED: Final = 0.2
"""A success difference that a needed sub-goal has at least."""
_JSON: Final = (str, int, float, list, dict, type(None))


class Completion(Struct, frozen=True, kw_only=True):
    """How often successes complete a sub-goal, and whether completing it goes with success.

    Attributes:
        successes, completed: successful runs that can say something, and those that completed it.
        low, high: 95% interval of the success rate with it minus that without, inside task and agent;
            ``None`` where no task has runs on both sides.
    """

    successes: int
    completed: int
    low: float | None = None
    high: float | None = None

    @property
    def nobody(self) -> bool:
        """Successes do without it: none of three completes it, or surely fewer than half."""
        c, s = self.completed, self.successes
        return (s >= MIN_SUCCESSES and c == 0) or (s > 0 and _at_most(c, s, HALF) < ALPHA)

    @property
    def contested(self) -> bool:
        """Some successes do without it, more than chance explains, and nothing says that it is needed."""
        enough = self.successes >= MIN_CONTESTED
        rare = enough and _at_most(self.completed, self.successes, MOST) < ALPHA
        return rare and not (self.low is not None and self.low > 0)

    @property
    def needless(self) -> bool:
        """Of a contested one: completing it does not go with success."""
        return self.low is not None and self.high is not None and self.low <= 0 and self.high < NEEDED


def completion(plan: PlanRuns, name: str) -> Completion:
    """Counts the runs of a plan."""
    speaking = [one for one in plan.runs if one.speaks(name)]
    successes = [one for one in speaking if one.success is True]
    found = Completion(successes=len(successes), completed=sum(one.completed(name) for one in successes))
    if found.nobody or not found.contested:  # only a contested sub-goal needs the interval
        return found
    strata = stats.strata_of(
        ((one.run.task_id, *one.run.identity), one.completed(name), one.success)
        for one in speaking
        if isinstance(one.success, bool)
    )
    if not strata:
        return found
    low, high = stats.score_interval(strata)
    return Completion(successes=found.successes, completed=found.completed, low=low, high=high)


class Order(Struct, frozen=True, kw_only=True):
    """How often runs go against an edge: they do the later sub-goal first, and finish it first.

    Attributes:
        both, reversed: successes that completed the later one and tried the earlier one, and those of them
            that went against it.
        runs, runs_reversed: the same of all runs.
        against: digests of the successes that went against it.
    """

    both: int
    reversed: int
    runs: int
    runs_reversed: int
    against: tuple[str, ...] = ()

    @property
    def doubtful(self) -> bool:
        """More often than chance explains, or no run at all goes along it."""
        # Where every run goes against it, failed ones are evidence, too.
        nobody = self.both > 0 and self.runs == self.runs_reversed
        k, n = (self.runs_reversed, self.runs) if nobody else (self.reversed, self.both)
        return stats.at_least_p(k, n, REVERSED) < ALPHA

    @property
    def sound(self) -> bool:
        """Enough successes have both ends, in this order."""
        return self.both >= MIN_SUCCESSES and self.reversed <= REVERSED * self.both


def order(plan: PlanRuns, name: str, dependency: str) -> Order:
    """Counts the runs that completed an end of an edge and tried what it needs, in whatever order."""
    found = [(one, back) for one in plan.runs if (back := _against(one, name, dependency)) is not None]
    against = [one for one, back in found if back]
    against_well = tuple(one.run.digest for one in against if one.success is True)
    return Order(
        both=sum(one.success is True for one, _ in found),
        reversed=len(against_well),
        runs=len(found),
        runs_reversed=len(against),
        against=against_well,
    )


def _against(one: PlannedRun, name: str, dependency: str) -> bool | None:
    """Whether a run goes against an edge; ``None`` where it cannot tell."""
    first = one.first_attempts
    if not one.completed(name) or not {name, dependency} <= first.keys():
        return None  # without a try of both there is no order
    if first[name] == first[dependency]:  # one action serves both
        return None
    if first[name] > first[dependency]:
        return False
    done = one.completions  # trying early and in vain is no order
    return done.get(name, first[name]) < done.get(dependency, first[dependency])


def other_order(name: str, dependency: str) -> Edit:
    """The edit that a reversed edge asks for."""
    return Disconnect(dependency=dependency, sub_goal=name)


def misspelt(plan: PlanRuns, node: SubGoal, tools: Collection[str]) -> tuple[Edit, str] | None:
    """The edit of a name in its check that no run knows where every run has nearly the same one; in words.

    Args:
        plan: its runs; fewer than `MIN_RUNS`, or none successful, say nothing.
        node: that no success completes.
        tools: all tools that any run calls.
    """
    check = node.check
    if check is None or len(plan.runs) < MIN_RUNS or not plan.successes:
        return None
    if check.tool_call is not None:
        return None if check.tool_call.name in tools else _other_tool(plan, node, check.tool_call)
    return _other_field(node, check, plan)


def other_arguments(plan: PlanRuns, node: SubGoal) -> tuple[Edit, str] | None:
    """The arguments that all successes give instead of those expected, as an edit and in words."""
    if node.check is None or node.check.tool_call is None:
        return None
    successes = [one for one in plan.successes if one.speaks(node.id)]
    return _other_arguments(node, node.check.tool_call, successes)


def everybody_differs(plan: PlanRuns, node: SubGoal) -> bool:
    """Whether no run completes it, and all that try it give the same arguments, a success among them."""
    tried = [one for one in plan.runs if one.speaks(node.id) and node.id in one.first_attempts]
    if len(tried) < MIN_RUNS or any(one.completed(node.id) for one in tried):
        return False
    if not any(one.success is True for one in tried) or node.check is None or node.check.tool_call is None:
        return False
    return _other_arguments(node, node.check.tool_call, tried) is not None


def _other_tool(plan: PlanRuns, node: SubGoal, spec: ToolCallSpec) -> tuple[Edit, str] | None:
    near = alike(spec.name, {tool for one in plan.runs for tool in one.tools_beside(node.id)})
    if not near:
        return None
    name = near[0][1]
    return _call_edit(node, {"name": name}), f"tool {name} instead of {spec.name}"


def _other_arguments(
    node: SubGoal, spec: ToolCallSpec, successes: Sequence[PlannedRun]
) -> tuple[Edit, str] | None:
    """The values that the nearest calls of all successes with any share where the plan expects others."""
    shared: dict[str, tuple[Any, Any]] | None = None
    for one in successes:
        calls = [call for call in one.run.actions if call.tool == spec.name]
        near = nearest_call(spec, calls)
        if near is None:
            continue
        unmet = {name: (expected, actual) for name, expected, actual in unmet_arguments(spec, near[0])}
        # `==` would take 1, 1.0 and True for the same value.
        if not unmet or (shared is not None and repr(shared) != repr(unmet)):
            return None
        shared = unmet
    # An argument that the calls lack is of no JSON type: there is no value to expect instead.
    if not shared or any(n not in spec.arguments or not isinstance(v[1], _JSON) for n, v in shared.items()):
        return None
    values = {name: as_literal(actual) for name, (_, actual) in shared.items()}
    words = [
        f"{name} {shown(to)} instead of {shown(spec.arguments[name])}" for name, (_, to) in shared.items()
    ]
    return _call_edit(node, {"arguments": spec.arguments | values}), ", ".join(words)


def _call_edit(node: SubGoal, changed: dict[str, Any]) -> Edit:
    check = to_builtins(node.check)
    check["tool_call"] |= changed
    return Set(sub_goal=node.id, field="check", value=check)


def _other_field(node: SubGoal, check: Check, plan: PlanRuns) -> tuple[Edit, str] | None:
    """A field that every success has, spelled nearly as one that no run has."""
    if check.expr is None:
        return None
    states = [one.final_state for one in plan.runs]
    ended_well = [one.final_state for one in plan.successes]
    for path in read_paths(check.expr):
        parts = [path[: at + 1] for at in range(len(path))]
        # Where the path leaves the state of every run: that part is the one misspelled.
        lost = (
            at for at, part in enumerate(parts) if not any(part[-1] in _below(s, part[:-1]) for s in states)
        )
        place = next(lost, None)
        if place is None:
            continue
        # A field that a successful run lacks cannot be the one that was meant.
        everywhere = set.intersection(*(set(_below(state, path[:place])) for state in ended_well))
        near = alike(path[place], everywhere)
        if near:
            expression = _renamed(check.expr, path[: place + 1], near[0][1])
            value = to_builtins(check) | {"expr": expression}
            words = f"field {near[0][1]} instead of {path[place]}"
            return Set(sub_goal=node.id, field="check", value=value), words
    return None


def _renamed(expression: str, path: tuple[str, ...], name: str) -> str:
    old, new = (re.escape(".".join(("state", *path))), ".".join(("state", *path[:-1], name)))
    # A function, so that a backslash in a name is no escape.
    return re.sub(rf"\b{old}\b", lambda _: new, expression)


def _below(state: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    inner: Any = state
    for name in path:
        inner = inner.get(name) if isinstance(inner, dict) else None
    return inner if isinstance(inner, dict) else {}


def _at_most(k: int, n: int, chance: float) -> float:
    """P(X ≤ k) of a binomial distribution."""
    return stats.at_least_p(n - k, n, 1 - chance)
