"""A plan graph as rows of a table, and edited rows as a graph again (§4).

A row holds everything a sub-goal says; rules and checks stand in it as JSON, so that a table alone is enough
to write a graph.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any, Final

import msgspec

from untaken.errors import UntakenError, Where
from untaken.plans.editing.differing import edits_between
from untaken.plans.editing.edits import Edit
from untaken.plans.files import parse_graph, spelled_out
from untaken.plans.plan_graph import PlanGraph, SubGoal
from untaken.plans.strict_document import decode, read_json

JSON_FIELDS: Final = ("check", "rules")


class SubGoalRow(msgspec.Struct, frozen=True, kw_only=True):
    """One sub-goal as a row.

    Attributes:
        was: the id that it had; ``None`` for a new row.
        check, rules: as JSON; empty for none.
    """

    was: str | None
    id: str
    title: str = ""
    critical: bool = False
    deps: tuple[str, ...] = ()
    any_of: tuple[str, ...] = ()
    check: str = ""
    rules: str = ""
    kind: str = "subgoal"
    description: str = ""


def rows_of(graph: PlanGraph) -> list[SubGoalRow]:
    """One row per sub-goal, in graph order."""
    return [
        SubGoalRow(
            was=node.id,
            id=node.id,
            title=node.title,
            critical=node.critical,
            deps=tuple(node.deps),
            any_of=tuple(node.any_of),
            check=value_json(node.check),
            rules=value_json(node.rules),
            kind=node.kind,
            description=node.description,
        )
        for node in graph.sub_goals
    ]


def edits_of_rows(
    graph: PlanGraph, rows: Sequence[SubGoalRow], *, now: PlanGraph | None = None
) -> list[Edit]:
    """The commands that make of a graph what edited rows say.

    A row whose id changed renames its sub-goal, and what names it elsewhere by the old id follows. Rows
    without an id are still being written: they say nothing yet.

    Args:
        graph: as it is now; a sub-goal that no row is left of is deleted, with all links to it.
        rows: in the order that is wanted, made of `graph` and edited.
        now: the graph to begin from, where some of these edits went into it already.

    Raises:
        UntakenError: ``edit-invalid`` where a cell cannot be read; what is wrong with the graph they make.
    """
    known = {node.id: node for node in graph.sub_goals}
    written = [row for row in rows if row.id.strip()]  # a row may be added and left empty
    renamed = {row.was: row.id for row in written if row.was and row.was in known and row.was != row.id}
    gone = known.keys() - {row.was for row in written} - {row.id for row in written}
    nodes = [_node(row, known.get(row.was or ""), renamed, gone) for row in written]
    plain = msgspec.to_builtins(graph) | {"version": 1, "sub_goals": nodes}
    wanted = parse_graph(msgspec.json.encode(plain), name=graph.id, format="json")
    begun = graph if now is None else now
    here = {node.id for node in begun.sub_goals}
    return edits_between(begun, wanted, renamed={a: b for a, b in renamed.items() if a in here})


def value_json(value: object) -> str:
    """A check or rules as one line of JSON; empty for none."""
    return msgspec.json.encode(value).decode() if value else ""


def read_value(text: str, place: str) -> Any:
    """JSON that somebody typed; ``None`` where nothing was.

    Raises:
        UntakenError: ``edit-invalid``, saying where.
    """
    if not text.strip():
        return None
    try:
        return read_json(decode(text, place), place).value
    except UntakenError as error:
        raise UntakenError(
            "edit-invalid",
            f"{place}: {error.message}",
            where=Where(line=error.where.line, column=error.where.column),
            hint='Write JSON, as in {"expr": "state.done == true"} or [{"tool": "search*"}].',
        ) from None


def read_call(text: str) -> Any:
    """An expected call that somebody typed, as JSON or as the name of a tool; ``None`` where nothing was.

    Raises:
        UntakenError: ``edit-invalid``, saying where.
    """
    name = text.strip()
    if name[:1] in '{["':  # nothing is in it, too
        return read_value(text, "the expected call")
    return {"name": name}


def _node(row: SubGoalRow, known: SubGoal | None, renamed: dict[str, str], gone: Set[str]) -> dict[str, Any]:
    shown = row.id[:80]
    fields = {
        "id": row.id,
        "title": row.title,
        "critical": row.critical,
        "deps": [renamed.get(name, name) for name in row.deps if name not in gone],
        "any_of": [renamed.get(name, name) for name in row.any_of if name not in gone],
        "kind": row.kind,
        "description": row.description,
    }
    typed = {field: read_value(getattr(row, field), f"{field} of {shown!r}") for field in JSON_FIELDS}
    fields |= {field: value for field, value in typed.items() if value is not None}
    # What has no column, as `weight` and `when`, stays; `times` may be typed inside the check.
    kept = msgspec.to_builtins(known) if known else {}
    others = {field: value for field, value in kept.items() if field not in JSON_FIELDS}
    made: dict[str, Any] = others | spelled_out({"sub_goals": [fields]})["sub_goals"][0]
    return made
