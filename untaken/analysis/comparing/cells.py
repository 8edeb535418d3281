"""What one run did about each sub-goal; where runs share no plan, with each tool."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import cast

from untaken.analysis.comparing.aligned import KNOWN, AlignedRow, Cell, CellStatus, ComparedRun
from untaken.errors import Unscored
from untaken.ledger import Run, ToolCall
from untaken.plans import PlanGraph, topological
from untaken.scoring import NodeScore, RunScore, Trace

Pattern = Mapping[str, CellStatus]
"""The status of each row in one run."""


class Side:
    """One run as it is compared: its score, and its events sorted once, when they are asked for."""

    def __init__(self, run: Run, score: RunScore | Unscored) -> None:
        self.run = run
        self.score = score

    @property
    def plan(self) -> tuple[str, int] | None:
        """Id and version of the graph it was scored against."""
        score = self.score
        if isinstance(score, RunScore) and score.graph_id:
            return score.graph_id, score.graph_version
        return None

    @cached_property
    def trace(self) -> Trace:
        """Its events up to the end of the run."""
        return Trace(self.run)

    @cached_property
    def calls(self) -> tuple[ToolCall, ...]:
        """The agent's own tool calls during the run."""
        # A simulated user's calls are not the agent's.
        return tuple([call for call in self.trace.calls if call.requestor != "user"])

    @cached_property
    def failed(self) -> Counter[int]:
        """`seq` of a call → its observations that failed."""
        return Counter(call.seq for _, call in self.trace.failures if call is not None)

    @cached_property
    def tools(self) -> Mapping[int, str]:
        """`seq` of each tool call → its tool."""
        return {call.seq: call.tool for call in self.trace.calls}

    @cached_property
    def nodes(self) -> Mapping[str, NodeScore]:
        """Its sub-goals; empty where it is unscored."""
        return {node.sub_goal: node for node in self.score.nodes} if isinstance(self.score, RunScore) else {}

    def pattern(self, by_tool: Sequence[str] | None) -> Pattern:
        """The status of each sub-goal; given tools, whether each of them was called."""
        if by_tool is None:
            return {name: node.status for name, node in self.nodes.items()}
        used = {call.tool for call in self.calls}
        return {tool: "called" if tool in used else "not_called" for tool in by_tool}

    @cached_property
    def column(self) -> ComparedRun:
        """The head of its column."""
        score, run = self.score, self.run
        return ComparedRun(
            run_id=run.run_id,
            digest=run.digest,
            agent=run.agent,
            task_id=run.task_id,
            task_repeat=run.started.task_repeat,
            mark="" if run.started.task_repeat is None else f"#{run.started.task_repeat}",
            model=run.started.model,
            success=run.success,
            completed=score if isinstance(score, Unscored) else score.completed,
            required=score if isinstance(score, Unscored) else score.required,
            completion=score if isinstance(score, Unscored) else score.completion,
            actions=len(self.calls),
        )


def tools_of(sides: Iterable[Side]) -> tuple[str, ...]:
    """Every tool called, by first use: the first run's in order, then what the others add."""
    return tuple(dict.fromkeys(call.tool for side in sides for call in side.calls))


def sub_goal_rows(sides: Sequence[Side], graph: PlanGraph) -> tuple[AlignedRow, ...]:
    """One row per sub-goal, after its dependencies."""
    goals = {goal.id: goal for goal in graph.sub_goals}
    rows = []
    for name in topological(graph):
        cells = tuple(_cell(side, (node := side.nodes[name]).status, node.events, node) for side in sides)
        title = goals[name].title or name
        rows.append(
            AlignedRow(key=name, title=title, critical=goals[name].critical, parts=_part(cells), cells=cells)
        )
    return tuple(rows)


def tool_rows(sides: Sequence[Side]) -> tuple[AlignedRow, ...]:
    """One row per tool."""
    rows = []
    for tool in tools_of(sides):
        cells = tuple(_of_tool(side, tool) for side in sides)
        rows.append(AlignedRow(key=tool, title=tool, critical=False, parts=_part(cells), cells=cells))
    return tuple(rows)


def _part(cells: Sequence[Cell]) -> bool:
    return len({cell.status for cell in cells} & KNOWN) > 1


def _of_tool(side: Side, tool: str) -> Cell:
    events = tuple([call.seq for call in side.calls if call.tool == tool])
    return _cell(side, "called" if events else "not_called", events, None)


def _cell(side: Side, status: str, events: tuple[int, ...], node: NodeScore | None) -> Cell:
    return Cell(
        digest=side.run.digest,
        status=cast(CellStatus, status),
        first=events[0] if events else None,
        last=events[-1] if events else None,
        steps=len(events),
        # An action that is not a call is a message.
        tools=tuple(Counter(side.tools.get(seq, "message") for seq in events).items()),
        failures=sum(side.failed[seq] for seq in events),
        decided_by=node.decided_by if node else "",
        reason=node.reason if node else "",
        completed_at=node.completed_at if node else None,
        events=events,
    )
