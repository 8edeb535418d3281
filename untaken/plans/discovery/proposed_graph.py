"""What discovery gives: a draft, and what each part of it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from msgspec import Struct

from untaken.errors import Finding
from untaken.plans.plan_graph import PlanGraph

THETA: Final = 0.95
MIN_SHARE: Final = 0.2
MIN_RUNS: Final = 5
"""In fewer runs, the same order in all of them may be chance: ½⁵ = 3%, ½⁴ = 6%."""
Source = Literal["actions", "plans", "calls"]


class FoundSubGoal(Struct, frozen=True, kw_only=True):
    """A sub-goal, and the `runs` that attempted it; `share` of all runs used, 95% Wilson interval."""

    sub_goal: str
    runs: int
    share: float
    low: float
    high: float


class Support(Struct, frozen=True, kw_only=True):
    """What speaks for "`sub_goal` needs `dependency`": an order seen in runs, not a proof of need.

    Attributes:
        first: runs in which the dependency was first attempted before the sub-goal was.
        both: runs that attempted both.
        share: `first` / `both`, with its 95% Wilson interval, as if runs were independent.
        alone: runs that attempted the sub-goal without the dependency.
        agents: agents among the runs that attempted both.
    """

    dependency: str
    sub_goal: str
    first: int
    both: int
    share: float
    low: float
    high: float
    alone: int
    agents: int


class Alternatives(Struct, frozen=True, kw_only=True):
    """Sub-goals that stand at the same place and hardly ever in one run: proposed as an `any_of`.

    Attributes:
        sub_goal: id of the proposed group.
        options: what it is of.
        runs: runs that attempted any of them.
        both: runs that attempted more than one.
    """

    sub_goal: str
    options: tuple[str, ...]
    runs: int
    both: int


class SharedCall(Struct, frozen=True, kw_only=True):
    """A call that every success makes; `changes` where its tool changes something."""

    sub_goal: str
    tool: str
    arguments: Mapping[str, Any]
    changes: bool


class ProposedGraph(Struct, frozen=True, kw_only=True):
    """A draft of a plan graph.

    Attributes:
        graph: marked ``draft: true``, so that no run is scored by it until a person takes the mark away.
        current: the graph whose tags and rules said what served which sub-goal, where there was one.
        runs: successful runs used.
        agents: number of them by agent.
        left_out: number of other runs by the reason in words.
        unmapped: actions of the runs used that serve no sub-goal.
        sub_goals: of the draft, in its order; proposed groups are in `alternatives`.
        rare: attempted in too few runs to be in the draft.
        edges: of the draft.
        dropped: strong enough, but they would close a circle of stronger ones.
        implied: follow from the draft's edges although enough runs that hold both say otherwise.
        alternatives: proposed groups.
        offered: of a draft of calls, those that all successes share, with and without a place in the draft.
        theta, min_share, min_runs: the thresholds in force.
        findings: why the draft may say too much.
    """

    graph: PlanGraph
    current: PlanGraph | None
    runs: int
    agents: Mapping[str, int]
    left_out: Mapping[str, int]
    unmapped: int
    sub_goals: tuple[FoundSubGoal, ...]
    rare: tuple[FoundSubGoal, ...]
    edges: tuple[Support, ...]
    dropped: tuple[Support, ...]
    implied: tuple[Support, ...]
    alternatives: tuple[Alternatives, ...]
    theta: float
    min_share: float
    min_runs: int
    findings: tuple[Finding, ...]
    offered: tuple[SharedCall, ...] = ()
