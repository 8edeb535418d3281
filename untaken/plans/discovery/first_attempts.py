"""When a run first attempted each sub-goal (§4, discovery)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from untaken import limits
from untaken.ledger import Plan, Run
from untaken.plans.discovery.proposed_graph import Source
from untaken.plans.globs import escape_glob
from untaken.plans.mapping import map_actions
from untaken.plans.plan_graph import Check, PlanGraph, Rule, SubGoal, ToolCallSpec


class FirstAttempts(Struct, frozen=True):
    """One run: `first` is the seq of the first attempt at each sub-goal, `unmapped` counts other actions."""

    agent: str
    first: Mapping[str, int]
    unmapped: int = 0


def orders_by_graph(runs: Iterable[Run], graph: PlanGraph) -> list[FirstAttempts]:
    """First attempts by a graph's tags, rules and checks; a group is attempted where an option is."""
    groups = {node.id: node.any_of for node in graph.sub_goals if node.any_of}
    found = []
    for run in runs:
        mapping = map_actions(run, graph)
        first: dict[str, int] = {}
        for seq, sub_goal, _ in mapping.mapped:
            first.setdefault(sub_goal, seq)
        found.append(FirstAttempts(run.agent, _with_groups(first, groups), len(mapping.extra)))
    return found


def _with_groups(first: dict[str, int], groups: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Groups may hold groups: as often as there are groups, what is known of them is carried upwards."""
    for _ in groups:
        before = len(first)
        for group, options in groups.items():
            known = [first[option] for option in (group, *options) if option in first]
            if known:
                first[group] = min(known)
        if len(first) == before:
            break
    return first


def orders_by_names(runs: Sequence[Run]) -> tuple[list[FirstAttempts], list[SubGoal]]:
    """First attempts without a graph: tags name sub-goals, and any other tool is a sub-goal of its own.

    A tool all of whose tagged calls, over all runs, serve one sub-goal serves it in untagged calls, too.

    Returns:
        The orders; and the sub-goals they speak of, with a rule for each such tool, and a call of it as the
        check where the sub-goal is the tool itself.
    """
    served = _served(runs)
    found = [FirstAttempts(run.agent, _first(run, served)) for run in runs]
    tools: dict[str, list[str]] = {name: [] for order in found for name in order.first}
    for tool, name in served.items():
        if name in tools:
            tools[name].append(tool)
    goals = []
    for name, serving in tools.items():
        globs = [glob for glob in map(escape_glob, serving) if len(glob) <= limits.PATTERN_CHARS]
        rules = [Rule(tool=glob) for glob in globs[: limits.RULES_PER_SUB_GOAL]]
        check = Check(tool_call=ToolCallSpec(name=name)) if serving == [name] else None
        goals.append(SubGoal(id=name, rules=rules, check=check))
    return found, goals


def orders_by_plans(runs: Iterable[Run]) -> tuple[list[FirstAttempts], list[SubGoal]]:
    """The steps of the plans that runs wrote down are the sub-goals, in the order in which they were planned.

    Nothing maps actions to free text, so each is decided by a verdict.
    """
    found: list[FirstAttempts] = []
    for run in runs:
        steps = (step for plan in run.of(Plan) for step in planned_steps(plan))
        # A plan that is written again keeps the first place of a step.
        first = {step: place for place, step in enumerate(dict.fromkeys(steps))}
        found.append(FirstAttempts(run.agent, first))
    named = dict.fromkeys(step for order in found for step in order.first)
    return found, [SubGoal(id=step, check=Check(verdict=True)) for step in named]


def planned_steps(plan: Plan) -> list[str]:
    """The steps of a plan as ids: white space made one space, and cut where an id ends."""
    steps = (" ".join(step.split())[: limits.NAME_CHARS] for step in plan.sub_goals)
    return [step for step in steps if step]


def _served(runs: Iterable[Run]) -> dict[str, str]:
    """The sub-goal that each tool serves where no tag says so; by itself where tags disagree."""
    tags: dict[str, set[str]] = {}
    for run in runs:
        for call in run.actions:
            named = tags.setdefault(call.tool, set())
            if call.sub_goal is not None:
                named.add(call.sub_goal)
    return {tool: next(iter(named)) if len(named) == 1 else tool for tool, named in tags.items()}


def _first(run: Run, served: Mapping[str, str]) -> dict[str, int]:
    first: dict[str, int] = {}
    for call in run.actions:
        if call.sub_goal is not None:
            first.setdefault(call.sub_goal, call.seq)
        elif call.requestor != "user":  # a user's call is no attempt, unless a tag says so
            first.setdefault(served[call.tool], call.seq)
    return first


def unusable(run: Run, source: Source) -> str | None:
    """Why a draft learns nothing from a run; ``None`` where it does."""
    if run.integrity.broken:
        return "with a broken ledger"
    if run.success is False:
        return "failed"
    if source == "plans":
        return None if any(map(planned_steps, run.of(Plan))) else "without a plan"
    if run.success is not True:
        return "without a recorded success"
    return None if run.actions else "without actions"


def teaches(run: Run) -> bool:
    """Whether a draft of a plan graph can learn from a run."""
    return unusable(run, "actions") is None or unusable(run, "plans") is None
