"""The JSON document about two versions of a plan graph."""

from __future__ import annotations

from untaken.plans import GraphDiff, PlanGraph, SubGoal
from untaken.plans.diff import FieldChange
from untaken.report.documents import Document, entry


def graph_diff_document(diff: GraphDiff, *, before: str, after: str) -> Document:
    """``untaken.graph-diff/1``: what differs, as far as it can matter.

    Args:
        diff: from one version to the other.
        before: the file that the older version was read from.
        after: the file of the newer one.
    """
    return {
        "schema": "untaken.graph-diff/1",
        "before": _version(diff.before, before),
        "after": _version(diff.after, after),
        "equal": diff.equal,
        "fields": [_change(change) for change in diff.fields],
        "added": [_sub_goal(node) for node in diff.added],
        "removed": [_sub_goal(node) for node in diff.removed],
        "changed": [entry(c) | {"fields": [_change(change) for change in c.fields]} for c in diff.changed],
        "edges_added": [entry(edge) for edge in diff.edges_added],
        "edges_removed": [entry(edge) for edge in diff.edges_removed],
        "renamed": [entry(pair) for pair in diff.renamed],
        "reordered": [entry(pair) for pair in diff.reordered],
    }


def _change(change: FieldChange) -> Document:
    return {"field": change.field, "before": change.before, "after": change.after}


def _version(graph: PlanGraph, file: str) -> Document:
    return {"file": file, "id": graph.id, "version": graph.version, "title": graph.title}


def _sub_goal(node: SubGoal) -> Document:
    return {"sub_goal": node.id, "title": node.title or node.id}
