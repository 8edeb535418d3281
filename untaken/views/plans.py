"""The JSON documents about two versions of a plan graph, and about a draft of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from untaken.errors import Finding
from untaken.plans import GraphDiff, PlanGraph, ProposedGraph, SubGoal
from untaken.views.documents import Count, Keys, Part

CHECKED_GRAPH: Final = Keys.given(
    file=str,
    valid=bool,
    id=str | None,
    version=int | None,
    sub_goals=Count | None,
    edges=Count | None,
    findings=[Finding],
)
"""The file of a plan graph; figures of an invalid one are ``null``."""
GRAPH_CHECK_DOCUMENT: Final = Keys.given(schema="untaken.graph-check/1", graphs=[CHECKED_GRAPH])
"""What is wrong with plan graphs."""
GRAPH_DRAW_DOCUMENT: Final = Keys.given(
    schema="untaken.graph-draw/1", file=str, bytes=Count, graph=str, version=int, run_id=str | None
)
"""The picture that was written."""


def _title(node: SubGoal) -> str:
    return node.title or node.id


_VERSION: Final = Keys(PlanGraph, "file id version title", file=str, version=int, title=str)
_TITLED: Final = Keys(SubGoal, "sub_goal=id title", sub_goal=str, title=_title)
GRAPH_DIFF_DOCUMENT: Final = Keys(
    GraphDiff,
    "before after equal fields added removed changed edges_added edges_removed renamed reordered",
    schema="untaken.graph-diff/1",
    before=_VERSION,
    after=_VERSION,
    added=[_TITLED],
    removed=[_TITLED],
)
"""What differs between two versions, as far as it can matter."""
GRAPH_DISCOVER_DOCUMENT: Final = Keys(
    ProposedGraph,
    "graph=graph.id version=graph.version current theta min_share min_runs runs agents left_out unmapped"
    " sub_goals rare edges dropped implied alternatives offered findings",
    schema="untaken.graph-discover/1",
    version=int,
    current=int | None,
    agents={str: Count},
    left_out={str: Count},
)
"""A draft of a plan graph, and what each part of it rests on."""


def graph_diff_document(diff: GraphDiff, *, before: str, after: str) -> Part:
    """The document of `diff`; `before` and `after` are the files of the older and the newer version."""
    return GRAPH_DIFF_DOCUMENT(
        diff, before=_VERSION(diff.before, file=before), after=_VERSION(diff.after, file=after)
    )


def graph_discover_document(draft: ProposedGraph, *, findings: Sequence[Finding] = ()) -> Part:
    """The document of `draft`; `findings` were noticed while reading and come before the draft's own."""
    return GRAPH_DISCOVER_DOCUMENT(
        draft,
        current=draft.current.version if draft.current else None,
        findings=[*findings, *draft.findings],
    )
