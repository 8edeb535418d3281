"""Plan graphs out of what a benchmark expected, and the book that keeps one graph a name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final

import msgspec

from untaken import limits
from untaken.errors import UntakenError
from untaken.plans import Check, Match, PlanGraph, SubGoal, ToolCallSpec, as_literal, escape_glob
from untaken.traces.losses import FileLog, clip
from untaken.traces.readings import cut_name

MUTATES: Final[Mapping[str, tuple[str, ...]]] = {
    "airline": ("book_reservation", "cancel_reservation", "send_certificate", "update_reservation_*"),
    "retail": (
        *("cancel_pending_order", "exchange_delivered_order_items", "modify_*"),
        "return_delivered_order_items",
    ),
    "telecom": (  # the agent's tools, then those of the user
        *("suspend_line", "resume_line", "enable_roaming", "disable_roaming", "refuel_data"),
        *("send_payment_request", "set_*", "toggle_*", "reset_*", "reseat_*", "unseat_*", "connect_vpn"),
        *("disconnect_vpn", "grant_app_permission", "make_payment", "reboot_device"),
    ),
    "mock": ("create_task", "update_task_status"),
}
"""The tools of tau-bench and tau2-bench that change the database or the user's device, by domain."""
HAND_OVER: Final = ("transfer_to_human_agents",)

_TITLE_CHARS: Final = 80
_BYTES: Final = limits.GRAPH_FILE_BYTES // 2
"""Most bytes of a graph as compact JSON: as indented YAML it then stays below the limit for graph files."""


class Expected(msgspec.Struct, frozen=True, kw_only=True):
    """An action a benchmark's reference path holds; `source_id` is what the benchmark calls it."""

    name: str
    arguments: Mapping[str, Any]
    compare_args: tuple[str, ...] | None = None
    source_id: str | None = None
    requestor: str | None = None

    def sub_goal(self, index: int, match: Match, title: str = "") -> SubGoal:
        """Its sub-goal: without dependencies, for a reference path is one way, not the required order."""
        metadata = {"source_id": self.source_id, "requestor": self.requestor}
        compared = None if self.compare_args is None else list(self.compare_args)
        spec = ToolCallSpec(
            name=self.name,
            arguments={name: as_literal(value) for name, value in self.arguments.items()},
            match=match,
            compare_args=compared,
            answered="any",  # the benchmarks compare the calls alone, whatever was answered
        )
        return SubGoal(
            id=sub_goal_id(index, self.name),
            title=title,
            check=Check(tool_call=spec),
            kind="action",
            metadata={key: value for key, value in metadata.items() if value is not None},
        )


def titles_of(actions: Sequence[Expected]) -> list[str]:
    """A title for each action: its tool, with as few arguments as distinguish it from others of that tool."""
    alike: dict[str, list[Expected]] = {}
    for action in actions:
        alike.setdefault(action.name, []).append(action)
    arguments = {name: _distinguishing(same) for name, same in alike.items()}
    titles = []
    for action in actions:
        names = [name for name in arguments[action.name] if name in action.arguments]
        given = ", ".join(f"{name}={clip(action.arguments[name], 40)}" for name in names)
        titles.append(clip(f"{action.name}({given})" if given else action.name, _TITLE_CHARS))
    return titles


def _distinguishing(same: Sequence[Expected]) -> list[str]:
    """The first argument that reads differently in all of these calls, else each that does in some."""
    values = {
        name: {clip(action.arguments.get(name), 40) for action in same}
        for name in dict.fromkeys(name for action in same for name in action.arguments)
    }
    alone = [name for name, found in values.items() if len(found) == len(same) > 1]
    return alone[:1] or [name for name, found in values.items() if len(found) > 1]


def sub_goal_id(index: int, tool: str) -> str:
    """The id of the sub-goal for the expected action at `index` (from 0), e.g. ``a0_book_reservation``."""
    return cut_name(f"a{index}_{tool}")


def task_globs(task_id: str) -> list[str]:
    """A glob for exactly this task; none where it would be too long (runs name their graph anyway)."""
    escaped = escape_glob(task_id)
    return [escaped] if len(escaped) <= limits.PATTERN_CHARS else []


def action_graph(
    task_id: str,
    title: str,
    actions: Sequence[Expected],
    match: Match,
    metadata: Mapping[str, Any],
    *,
    domain: str,
) -> PlanGraph:
    """The graph of one task, named like the task. One that expects nothing says so, and scores nothing."""
    nothing = {} if actions else {"nothing_expected": True}
    kept = actions[: limits.SUB_GOALS]
    titles = titles_of(kept)
    return PlanGraph(
        id=task_id,
        title=clip(title, limits.NAME_CHARS),
        tasks=task_globs(task_id),
        mutates=list(MUTATES.get(domain, ())),  # those of another domain are not known
        hand_over=list(HAND_OVER),
        sub_goals=[action.sub_goal(i, match, titles[i]) for i, action in enumerate(kept)],
        metadata={**nothing, **metadata},
    )


class GraphBook:
    """The graphs of a conversion, one a name; `write` puts a new one into the output."""

    def __init__(self, write: Callable[[PlanGraph], None]) -> None:
        self._write = write
        self._graphs: dict[str, PlanGraph] = {}  # by id, as they are compared
        self._refused: set[str] = set()

    def __contains__(self, graph_id: str) -> bool:
        return graph_id in self._graphs

    def __len__(self) -> int:
        return len(self._graphs)

    def add(self, graph: PlanGraph, log: FileLog) -> str | None:
        """Keeps a graph; returns the id under which, or ``None`` where no graph file can hold it.

        The same graph again is no second one, whatever the order of its arguments. A graph that differs
        under a known name is kept beside it, under a name with a digest and without task globs: only the
        runs it belongs to name it.
        """
        if self._graphs.get(graph.id) == _compared(graph):
            log.graphs += 1
            return graph.id
        if graph.id in self._graphs:
            mark = sha256(msgspec.json.encode(_compared(graph), order="sorted")).hexdigest()[:8]
            other = f"{graph.id[: limits.NAME_CHARS - 9]}@{mark}"
            if other not in self._graphs:
                message = (
                    f"{clip(graph.id)!r} differs from an earlier file; kept separately as {clip(other)!r}"
                )
                log.findings.add("graph-differs", message)
            return self.add(msgspec.structs.replace(graph, id=other, tasks=[]), log)
        return graph.id if self._keep(graph, log) else None

    def _keep(self, graph: PlanGraph, log: FileLog) -> bool:
        if graph.id in self._refused:
            return False
        try:
            if len(msgspec.json.encode(graph)) > _BYTES:
                raise UntakenError("graph-too-large", f"the plan graph of {clip(graph.id)!r} is too large")
            self._write(graph)
        except UntakenError as error:
            log.findings.add(error.code, f"{error.message}; its runs have none", severity="error")
            self._refused.add(graph.id)  # every run of the task would try it again
            return False
        self._graphs[graph.id] = _compared(graph)
        log.graphs += 1
        return True


def _compared(graph: PlanGraph) -> PlanGraph:
    """The graph without the titles of actions: they show arguments in the order of the record."""
    untitled = [
        msgspec.structs.replace(node, title="") if node.kind == "action" else node for node in graph.sub_goals
    ]
    return msgspec.structs.replace(graph, sub_goals=untitled)
