"""Plan graphs: two versions, a draft, what an edit would change, how actions are mapped (§4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from untaken.errors import Finding
from untaken.plans import (
    Contested,
    GraphDiff,
    MappingSummary,
    PlanGraph,
    ProposedGraph,
    Rule,
    RuleUse,
    SubGoal,
    Support,
    Unmapped,
)
from untaken.scoring import RunScore
from untaken.views.documents import Count, Keys, Part
from untaken.views.frame import Columns, as_facts, count, figure, frame, interval, moment, text, truth

if TYPE_CHECKING:
    import pandas as pd

    from untaken.analysis import AgentEffect, Corpus, Preview, StatusChange
    from untaken.workspace import GraphVersion


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


CHANGES: Final[Columns[StatusChange]] = {
    **as_facts("agent run_id sub_goal"),
    "before": text("its status with the current graph; empty if it has none", "before"),
    "after": text("its status with the edited graph; empty if it has none", "after"),
    **as_facts("digest"),
}


EFFECTS: Final[Columns[AgentEffect]] = {
    **as_facts("agent"),
    "runs": count("its runs with the current graph", "before?.runs"),
    "runs_after": count("its runs under the edited graph", "after?.runs"),
    "completion": figure("completed of the required sub-goals now, pooled", "before?.completion", "percent"),
    "completion_after": figure("the same with the edited graph", "after?.completion", "percent"),
    "critical_completion": figure("the same of critical ones, now", "before?.critical_completion", "percent"),
    "critical_completion_after": figure(
        "the same with the edited graph", "after?.critical_completion", "percent"
    ),
    "violations": count("reached without a critical dependency, now", "before?.violations"),
    "violations_after": count("the same with the edited graph", "after?.violations"),
    "unscored": count("sub-goals without evidence, now", "before?.unscored"),
    "unscored_after": count("the same with the edited graph", "after?.unscored"),
}


def rule_words(rule: Rule) -> str:
    """A rule as one line of JSON, as in a graph file (untrusted text)."""
    return msgspec.json.encode(rule).decode()


UNMAPPED: Final[Columns[Unmapped]] = {
    "tool": text("the tool that was called", "tool"),
    "arguments": text("names of the arguments given", lambda one: ", ".join(one.arguments)),
    "actions": count("calls that serve no sub-goal", "actions"),
    "runs": count("runs that contain them", "runs"),
    "agents": count("agents that made them", "agents"),
    "failed_runs": count("of these runs, those that failed", "failed_runs"),
    "example": text("a run that contains one", lambda one: one.examples[0].run_id),
    "seq": count("position of that event in the run", lambda one: one.examples[0].seq),
    "likely": text("sub-goals that share words with the tool", lambda one: ", ".join(one.likely)),
    "digest": text("content digest of that run, for links", lambda one: one.examples[0].digest),
}

CONTESTED: Final[Columns[Contested]] = {
    "served": text(
        "the sub-goal that gets these actions, because its rules come first", lambda c: c.sub_goals[0]
    ),
    "rivals": text("the others whose rules claim them, too", lambda c: ", ".join(c.sub_goals[1:])),
    "actions": count("number of actions", "actions"),
    "runs": count("runs that contain them", "runs"),
    "example": text("a run that contains one", lambda one: one.examples[0].run_id),
    "seq": count("position of that event in the run", lambda one: one.examples[0].seq),
    "digest": text("content digest of that run, for links", lambda one: one.examples[0].digest),
}

RULES: Final[Columns[RuleUse]] = {
    "sub_goal": text("the sub-goal that has the rule", "sub_goal"),
    "place": count("index of the rule, from 0", "place"),
    "rule": text("the rule, as JSON", lambda use: rule_words(use.rule)),
    "claims": count("actions that it fits and that no tag of their own places", "claims"),
    "serves": count("of them, those that its sub-goal gets", "serves"),
    "idle": truth("whether the rule has no effect", "idle"),
    "taken_by": text("sub-goals whose rules come first and take the others", lambda u: ", ".join(u.taken_by)),
}

SUPPORT: Final[Columns[Support]] = {
    "dependency": text("what came first", "dependency"),
    "sub_goal": text("what came after it", "sub_goal"),
    "first": count("runs in which it did", "first"),
    "both": count("runs that attempted both", "both"),
    "share": figure("the share", "share", "percent"),
    **interval(shown="percent"),
    "alone": count("runs that attempted the second one without the first", "alone"),
    "agents": count("agents behind these runs", "agents"),
}

VERSIONS: Final[Columns[GraphVersion]] = {
    "version": count("its number", "version"),
    "author": text("who saved it; upload for a file", "author"),
    "message": text("the author's message", "message"),
    "saved_at": moment("when", "saved_at"),
    "based_on": count("the version it was made from", "based_on"),
    "removed": truth("whether its file was removed from the workspace", "removed"),
    "file": text("SHA-256 of its bytes", "file"),
}


def changes_table(seen: Preview) -> pd.DataFrame:
    """One row per sub-goal of a run whose status would change (columns: `CHANGES`)."""
    return frame(CHANGES, seen.changes)


def effects_table(seen: Preview) -> pd.DataFrame:
    """One row per agent, now and under the edited graph (columns: `EFFECTS`)."""
    return frame(EFFECTS, seen.agents)


def unmapped_table(summary: MappingSummary) -> pd.DataFrame:
    """One row per shape of action that serves no sub-goal, the most frequent first (columns: `UNMAPPED`)."""
    return frame(UNMAPPED, summary.unmapped)


def contested_table(summary: MappingSummary) -> pd.DataFrame:
    """One row per set of sub-goals whose rules claim the same actions (columns: `CONTESTED`)."""
    return frame(CONTESTED, summary.contested)


def rules_table(summary: MappingSummary) -> pd.DataFrame:
    """One row per rule of the graph (columns: `RULES`)."""
    return frame(RULES, summary.rules)


def support_table(draft: ProposedGraph) -> pd.DataFrame:
    """One row per edge of a discovered draft, with what it rests on (columns: `SUPPORT`)."""
    return frame(SUPPORT, draft.edges)


def versions_table(versions: Iterable[GraphVersion]) -> pd.DataFrame:
    """One row per version of a plan graph (columns: `VERSIONS`)."""
    return frame(VERSIONS, versions)


def most_used_graph(corpus: Corpus, known: Sequence[str]) -> str:
    """Of these plan graphs, by id, the one that most runs are scored against; the first on a tie."""
    used = Counter(score.graph_id for score in corpus.scores.values() if isinstance(score, RunScore))
    # A `Counter` gives 0 for graphs that no run is scored against.
    return max(known, key=used.__getitem__)
