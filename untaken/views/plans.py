"""The JSON documents about two versions of a plan graph, and about a draft of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from untaken.errors import Finding
from untaken.plans import (
    Alternatives,
    ChangedSubGoal,
    Edge,
    FieldChange,
    FoundSubGoal,
    GraphDiff,
    ProposedGraph,
    Renamed,
    Reordered,
    SharedCall,
    SubGoal,
    Support,
)
from untaken.views.documents import Count, DocumentPart


class CheckedGraph(DocumentPart, frozen=True, kw_only=True):
    """The file of a plan graph; figures of an invalid one are ``null``."""

    file: str
    valid: bool
    id: str | None
    version: int | None
    sub_goals: Count | None
    edges: Count | None
    findings: Sequence[Finding]


class GraphCheckDocument(DocumentPart, frozen=True, kw_only=True, tag="untaken.graph-check/1"):
    """What is wrong with plan graphs."""

    graphs: Sequence[CheckedGraph]


class GraphDrawDocument(DocumentPart, frozen=True, kw_only=True, tag="untaken.graph-draw/1"):
    """The picture that was written."""

    file: str
    bytes: Count
    graph: str
    version: int
    run_id: str | None


class ComparedVersion(DocumentPart, frozen=True, kw_only=True):
    """A version of a plan graph, and its file."""

    file: str
    id: str
    version: int
    title: str


class TitledSubGoal(DocumentPart, frozen=True, kw_only=True):
    """A sub-goal of one version only."""

    sub_goal: str
    title: str


class GraphDiffDocument(DocumentPart, frozen=True, kw_only=True, tag="untaken.graph-diff/1"):
    """What differs between two versions, as far as it can matter."""

    before: ComparedVersion
    after: ComparedVersion
    equal: bool
    fields: Sequence[FieldChange]
    added: Sequence[TitledSubGoal]
    removed: Sequence[TitledSubGoal]
    changed: Sequence[ChangedSubGoal]
    edges_added: Sequence[Edge]
    edges_removed: Sequence[Edge]
    renamed: Sequence[Renamed]
    reordered: Sequence[Reordered]


def graph_diff_document(diff: GraphDiff, *, before: str, after: str) -> GraphDiffDocument:
    """The document of `diff`; `before` and `after` are the files of the older and the newer version."""
    return GraphDiffDocument.of(
        diff,
        before=ComparedVersion.of(diff.before, file=before),
        after=ComparedVersion.of(diff.after, file=after),
        added=_titled(diff.added),
        removed=_titled(diff.removed),
    )


def _titled(nodes: Sequence[SubGoal]) -> list[TitledSubGoal]:
    return [TitledSubGoal(sub_goal=node.id, title=node.title or node.id) for node in nodes]


class GraphDiscoverDocument(DocumentPart, frozen=True, kw_only=True, tag="untaken.graph-discover/1"):
    """A draft of a plan graph, and what each part of it rests on."""

    graph: str
    version: int
    current: int | None
    theta: float
    min_share: float
    min_runs: Count
    runs: Count
    agents: Mapping[str, Count]
    left_out: Mapping[str, Count]
    unmapped: Count
    sub_goals: Sequence[FoundSubGoal]
    rare: Sequence[FoundSubGoal]
    edges: Sequence[Support]
    dropped: Sequence[Support]
    implied: Sequence[Support]
    alternatives: Sequence[Alternatives]
    offered: Sequence[SharedCall]
    findings: Sequence[Finding]


def graph_discover_document(
    draft: ProposedGraph, *, findings: Sequence[Finding] = ()
) -> GraphDiscoverDocument:
    """The document of `draft`; `findings` were noticed while reading and come before the draft's own."""
    return GraphDiscoverDocument.of(
        draft,
        graph=draft.graph.id,
        version=draft.graph.version,
        current=draft.current.version if draft.current else None,
        findings=[*findings, *draft.findings],
    )
