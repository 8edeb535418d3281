"""Two versions of a plan graph, in a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from untaken.cli.console import NOTHING, Console, plain
from untaken.numbers import counted
from untaken.plans import GraphDiff, flow


def print_diff(found: GraphDiff, console: Console) -> None:
    """The differences as a table, and the renames that they may be."""
    old, new = (f"{graph.id} version {graph.version}" for graph in (found.before, found.after))
    console.say(plain(f"{old} → {new}"))
    rows = list(_diff_rows(found))
    if rows:
        console.table(("", "what", "where", "before", "after"), rows)
    for pair in found.renamed:
        console.say(plain(f"{pair.before!r} may now be called {pair.after!r}: all but the id is the same"))
    console.say(counted(len(rows), "difference") if rows else "no differences")


def _diff_rows(found: GraphDiff) -> Iterator[tuple[object, ...]]:
    for change in found.fields:
        yield "~", change.field, "(graph)", _value(change.before), _value(change.after)
    yield from (("-", "sub-goal", node.id, node.title or node.id, "") for node in found.removed)
    yield from (("+", "sub-goal", node.id, "", node.title or node.id) for node in found.added)
    for goal in found.changed:
        for change in goal.fields:
            yield "~", change.field, goal.sub_goal, _value(change.before), _value(change.after)
    yield from (("-", "edge", f"{edge.dependency} → {edge.sub_goal}", "", "") for edge in found.edges_removed)
    yield from (("+", "edge", f"{edge.dependency} → {edge.sub_goal}", "", "") for edge in found.edges_added)
    for pair in found.reordered:
        order = f"{pair.first}, {pair.second}"
        yield "~", "first to claim", order, pair.second, pair.first


def _value(value: Any) -> str:
    return NOTHING if value in (None, "", [], {}) else flow(value)
