"""The JSON documents about two versions of a plan graph, and about a draft of one."""

from __future__ import annotations

from collections.abc import Iterable

from untaken.answers.documents import Document, entry, finding_entries
from untaken.discovery import ProposedGraph
from untaken.errors import Finding
from untaken.plans import GraphDiff, PlanGraph, SubGoal
from untaken.plans.diff import FieldChange


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


def graph_discover_document(draft: ProposedGraph, *, findings: Iterable[Finding] = ()) -> Document:
    """``untaken.graph-discover/1``: a draft of a plan graph, and what each part of it rests on.

    Args:
        draft: what was proposed.
        findings: what was noticed while reading, to stand before what the draft itself says.
    """
    return {
        "schema": "untaken.graph-discover/1",
        "graph": draft.graph.id,
        "version": draft.graph.version,
        "current": draft.current.version if draft.current else None,
        "theta": draft.theta,
        "min_share": draft.min_share,
        "min_runs": draft.min_runs,
        "runs": draft.runs,
        "agents": dict(draft.agents),
        "left_out": dict(draft.left_out),
        "unmapped": draft.unmapped,
        "sub_goals": [entry(found) for found in draft.sub_goals],
        "rare": [entry(found) for found in draft.rare],
        "edges": [entry(edge) for edge in draft.edges],
        "dropped": [entry(edge) for edge in draft.dropped],
        "implied": [entry(edge) for edge in draft.implied],
        "alternatives": [entry(group) for group in draft.alternatives],
        "findings": finding_entries([*findings, *draft.findings]),
    }
