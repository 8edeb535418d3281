"""A command applied to a plan graph: the next graph, or why it is refused (§4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from untaken import limits
from untaken.errors import UntakenError, Where
from untaken.plans.editing.edits import Add, Connect, Delete, Disconnect, Edit, Move, Rename, Set, SetGraph
from untaken.plans.files import spelled_out
from untaken.plans.plan_graph import PlanGraph, SubGoal
from untaken.plans.strict_document import decode, read_json
from untaken.plans.validation import validate

Whole = TypeVar("Whole", SubGoal, PlanGraph)

_HINTS = {
    "graph-cycle": "Remove this dependency, or remove another one in the cycle first.",
    "graph-any-of-cycle": "Remove this option.",
    "graph-duplicate-id": "Choose an id that no other sub-goal uses.",
    "graph-any-of-unknown": "Check the spelling, or add that sub-goal first.",
    "graph-empty": "Add another sub-goal first.",
}
"""What to do next if an edit, not a file, caused the problem."""
_REFUSED = frozenset({"graph-any-of-unknown"})
"""Suspicious in a file, which may be unfinished; a mistake in an edit."""


def apply(graph: PlanGraph, edit: Edit) -> PlanGraph:
    """The graph after one command; the one given is not changed.

    Raises:
        UntakenError: ``sub-goal-unknown``, ``edit-invalid``, or what `untaken.plans.validate` says of the
            graph as it would be: ``graph-cycle`` with its path, ``graph-duplicate-id``, an expression that
            does not compile, …
    """
    match edit:
        case Add():
            after = _added(graph, edit)
        case Rename():
            after = _renamed(graph, edit)
        case Delete():
            after = _deleted(graph, edit.sub_goal)
        case Connect() | Disconnect():
            after = _linked(graph, edit)
        case Move():
            after = _moved(graph, edit)
        case Set():
            after = _with(graph, edit.sub_goal, lambda node: _field(node, edit.field, edit.value))
        case SetGraph():
            read = _read({"id": graph.id, "sub_goals": [], **_given(edit.field, edit.value)}, PlanGraph)
            after = replace(graph, **{edit.field: getattr(read, edit.field)})
    return _valid(graph, after)


def apply_all(graph: PlanGraph, edits: Iterable[Edit]) -> PlanGraph:
    """The graph after several commands, one after the other.

    Raises:
        UntakenError: as `apply`; then none of them is applied.
    """
    for edit in edits:
        graph = apply(graph, edit)
    return graph


def sub_goal_of(graph: PlanGraph, name: str) -> SubGoal:
    """The sub-goal with this id.

    Raises:
        UntakenError: ``sub-goal-unknown``.
    """
    found = next((node for node in graph.sub_goals if node.id == name), None)
    if found is None:
        raise UntakenError(
            "sub-goal-unknown",
            f"there is no sub-goal {name!r}",
            where=Where(file=graph.id),
            hint="It may have been renamed or deleted. Choose an existing sub-goal.",
        )
    return found


def _valid(before: PlanGraph, after: PlanGraph) -> PlanGraph:
    """Refuse an edit that adds a problem."""
    if len(after.sub_goals) > limits.SUB_GOALS:
        raise _invalid(f"a plan graph has at most {limits.SUB_GOALS:,} sub-goals")
    faults = [found for found in validate(after) if found.severity == "error" or found.code in _REFUSED]
    known = [found.message for found in validate(before)] if faults else []  # not this edit's doing
    fresh = next((fault for fault in faults if fault.message not in known), None)
    if fresh is not None:
        hint = _HINTS.get(fresh.code, fresh.hint)
        raise UntakenError(fresh.code, fresh.message, where=Where(file=after.id), hint=hint)
    return after


def _added(graph: PlanGraph, edit: Add) -> PlanGraph:
    node = _read_again(edit.sub_goal)
    if any(known.id == node.id for known in graph.sub_goals):
        raise _id_in_use(graph, node.id)
    at = len(graph.sub_goals) if edit.at is None else max(0, edit.at)  # -1 would count from the end
    return replace(graph, sub_goals=[*graph.sub_goals[:at], node, *graph.sub_goals[at:]])


def _renamed(graph: PlanGraph, edit: Rename) -> PlanGraph:
    sub_goal_of(graph, edit.sub_goal)
    _read_again(SubGoal(id=edit.id))
    if edit.id != edit.sub_goal and any(node.id == edit.id for node in graph.sub_goals):
        raise _id_in_use(graph, edit.id)

    def called(name: str) -> str:
        return edit.id if name == edit.sub_goal else name

    return _each(graph, lambda node: replace(node, id=called(node.id), **_links(node, called)))


def _deleted(graph: PlanGraph, name: str) -> PlanGraph:
    sub_goal_of(graph, name)

    def still(other: str) -> str | None:
        return None if other == name else other

    left = replace(graph, sub_goals=[node for node in graph.sub_goals if node.id != name])
    return _each(left, lambda node: replace(node, **_links(node, still)))


def _linked(graph: PlanGraph, edit: Connect | Disconnect) -> PlanGraph:
    sub_goal_of(graph, edit.dependency)
    connect = isinstance(edit, Connect)

    def linked(node: SubGoal) -> SubGoal:
        if (edit.dependency in node.deps) == connect:
            return node
        others = [dep for dep in node.deps if dep != edit.dependency]
        return replace(node, deps=[*others, edit.dependency] if connect else others)

    return _with(graph, edit.sub_goal, linked)


def _moved(graph: PlanGraph, edit: Move) -> PlanGraph:
    node = sub_goal_of(graph, edit.sub_goal)
    others = [other for other in graph.sub_goals if other is not node]
    at = max(0, edit.at)
    return replace(graph, sub_goals=[*others[:at], node, *others[at:]])


def _links(node: SubGoal, called: Callable[[str], str | None]) -> dict[str, list[str]]:
    """Dependencies and options by their new names; ``None`` leaves one out."""
    return {
        field: [new for name in names if (new := called(name)) is not None]
        for field, names in (("deps", node.deps), ("any_of", node.any_of))
    }


def _each(graph: PlanGraph, change: Callable[[SubGoal], SubGoal]) -> PlanGraph:
    return replace(graph, sub_goals=[change(node) for node in graph.sub_goals])


def _with(graph: PlanGraph, name: str, change: Callable[[SubGoal], SubGoal]) -> PlanGraph:
    sub_goal_of(graph, name)
    return _each(graph, lambda node: change(node) if node.id == name else node)


def _field(node: SubGoal, field: str, value: Any) -> SubGoal:
    """The sub-goal with another value for a field, read as strictly as from a file, shorthand included."""
    document = spelled_out({"sub_goals": [{"id": node.id, **_given(field, value)}]})
    read = _read(document["sub_goals"][0], SubGoal)
    times = {"times": read.times} if read.times is not None else {}  # may be written inside the check
    return replace(node, **{field: getattr(read, field), **times})


def _given(field: str, value: Any) -> dict[str, Any]:
    """The value as a file would give it; ``None`` is a field left out."""
    return {} if value is None else {field: _strict(value)}


def _read_again(node: SubGoal) -> SubGoal:
    """A sub-goal that did not come from a file, read as if it had."""
    return _read(_strict(node), SubGoal)


def _strict(value: Any) -> Any:
    try:
        # As text, then read like a file: what no file could hold must not get into a graph.
        text = decode(msgspec.json.encode(value), "edit")
    except (TypeError, ValueError, RecursionError) as error:
        raise _invalid(str(error)) from None
    return read_json(text, "edit").value


def _read(value: Any, kind: type[Whole]) -> Whole:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise _invalid(str(error)) from None


def _invalid(message: str) -> UntakenError:
    hint = "See docs/interface.md for valid values."
    return UntakenError("edit-invalid", f"edit rejected: {message}", hint=hint)


def _id_in_use(graph: PlanGraph, name: str) -> UntakenError:
    return UntakenError(
        "graph-duplicate-id",
        f"there is a sub-goal {name!r} already",
        where=Where(file=graph.id),
        hint=_HINTS["graph-duplicate-id"],
    )
