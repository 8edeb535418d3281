"""The plan audit as tables and as a document (§10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from untaken.analysis import (
    Corpus,
    EdgeAudit,
    EdgeVerdict,
    ExpectedWrite,
    NodeAudit,
    NodeVerdict,
    PlanAudit,
    Probe,
    TaskAudit,
    audit_plans,
)
from untaken.errors import Finding
from untaken.ledger import Run
from untaken.numbers import counted
from untaken.plans import Edit
from untaken.scoring import RunScore
from untaken.views.documents import Count, DocumentPart
from untaken.views.frame import Columns, count, figure, frame, text, truth

if TYPE_CHECKING:
    import pandas as pd


def audit_corpus(corpus: Corpus) -> PlanAudit:
    """The audit of the plans of a corpus by its runs."""
    scored = [
        (run, score)
        for digest, run in corpus.runs.items()
        if isinstance(score := corpus.scores[digest], RunScore)
    ]
    called = frozenset[str]().union(*(run.tools for run in corpus.runs.values()))
    return audit_plans(corpus.graphs.graphs, scored, tools=called)


def writes_in_words(one: TaskAudit) -> str | None:
    """The proposed writes as calls; ``no write`` where most others write nothing."""
    if one.proposed is None:
        return None
    calls = [f"{w.tool}({msgspec.json.encode(dict(w.arguments)).decode()})" for w in one.proposed]
    return "; ".join(calls) or "no write"


AUDITED_NODES: Final[Columns[NodeAudit]] = {
    "graph": text("the plan graph", "graph"),
    "sub_goal": text("id of the sub-goal", "sub_goal"),
    "title": text("its title", lambda one: one.title or None),
    "critical": truth("whether it is critical", "critical"),
    "verdict": text("doubtful, blind, contested, sound or untested", "verdict"),
    "why": text("the verdict in words", "why"),
    "proposed": text("the edit that runs suggest", lambda one: one.proposed_words or None),
    "completed": count("successful runs that complete it", lambda one: one.completion.completed),
    "successes": count("successful runs that can tell", lambda one: one.completion.successes),
    "low": figure("success with it minus without: 95% interval", lambda one: one.completion.low),
    "high": figure("its upper end", lambda one: one.completion.high),
    "hollow": count("tries in which its own actions failed", lambda one: _tried(one).hollow),
    "hollow_detected": count("of them, detected by its check", lambda one: _tried(one).hollow_detected),
    "changed": count("tries with one other value", lambda one: _tried(one).changed),
    "changed_detected": count("of them, detected by its check", lambda one: _tried(one).changed_detected),
}
AUDITED_EDGES: Final[Columns[EdgeAudit]] = {
    "graph": text("the plan graph", "graph"),
    "from": text("what must be done first", "dependency"),
    "to": text("the sub-goal that needs it", "sub_goal"),
    "verdict": text("doubtful, sound or untested", "verdict"),
    "why": text("the verdict in words", "why"),
    "reversed": count("successes that go the other way", lambda one: one.order.reversed),
    "both": count("successes with both", lambda one: one.order.both),
}
AUDITED_TASKS: Final[Columns[TaskAudit]] = {
    "graph": text("the plan graph", "graph"),
    "task_id": text("the task", "task_id"),
    "doubt": figure("1 − pass rate + share of runs that agree on other writes", "doubt"),
    "passed": figure("share of runs that succeeded", "passed"),
    "agree": count("runs that make the proposed writes", "agree"),
    "runs": count("runs with an outcome", "runs"),
    "agents": count("agents", "agents"),
    "proposed": text("the writes that most others make", writes_in_words),
    "strangers": count("runs left out: they name nothing of this task", lambda one: len(one.strangers)),
}


def audited_nodes_table(found: PlanAudit) -> pd.DataFrame:
    """One row per sub-goal, in the order of the plans (columns: `AUDITED_NODES`)."""
    return frame(AUDITED_NODES, found.nodes)


def audited_edges_table(found: PlanAudit) -> pd.DataFrame:
    """One row per edge (columns: `AUDITED_EDGES`)."""
    return frame(AUDITED_EDGES, found.edges)


def audited_tasks_table(found: PlanAudit) -> pd.DataFrame:
    """One row per task, the most doubtful first (columns: `AUDITED_TASKS`)."""
    return frame(AUDITED_TASKS, found.tasks)


class NodeEntry(DocumentPart, frozen=True, kw_only=True):
    """A sub-goal; `proposed` is an editing command. `low` and `high` are ``null`` where none is contested."""

    graph: str
    sub_goal: str
    title: str
    critical: bool
    verdict: NodeVerdict
    why: str
    proposed: Mapping[str, Any] | None
    proposed_words: str | None
    completed: Count
    successes: Count
    low: float | None
    high: float | None
    hollow: Count
    hollow_detected: Count
    changed: Count
    changed_detected: Count


class EdgeEntry(DocumentPart, frozen=True, kw_only=True, rename={"dependency": "from", "sub_goal": "to"}):
    """An edge: `to` needs `from`."""

    graph: str
    dependency: str
    sub_goal: str
    verdict: EdgeVerdict
    why: str
    proposed: Mapping[str, Any] | None
    reversed: Count
    both: Count


class TaskEntry(DocumentPart, frozen=True, kw_only=True):
    """A task; `proposed` is ``null`` where every run makes the plan's writes, and empty for no write."""

    graph: str
    task_id: str
    doubt: float
    proposed: Sequence[ExpectedWrite] | None
    passed: float
    agree: Count
    runs: Count
    agents: Count
    strangers: Sequence[str]


class GraphAuditDocument(DocumentPart, frozen=True, kw_only=True, tag="untaken.graph-audit/1"):
    """What runs say of plan graphs."""

    headline: str
    runs: Count
    successes: Count
    alarms: Count
    nodes: Sequence[NodeEntry]
    edges: Sequence[EdgeEntry]
    tasks: Sequence[TaskEntry]
    findings: Sequence[Finding]


def audit_document(
    found: PlanAudit, runs: Mapping[str, Run], *, findings: Sequence[Finding] = ()
) -> GraphAuditDocument:
    """The document of an audit; `runs` by digest name those that were left out."""
    return GraphAuditDocument.of(
        found,
        nodes=[_node(one) for one in found.nodes],
        edges=[EdgeEntry.of(one, one.order, proposed=_edit(one.proposed)) for one in found.edges],
        tasks=[
            TaskEntry.of(one, strangers=[runs[digest].run_id for digest in one.strangers])
            for one in found.tasks
        ],
        findings=[*findings, *stranger_findings(found)],
    )


def stranger_findings(found: PlanAudit) -> list[Finding]:
    """A warning for each task with runs that seem to be of another one."""
    return [
        Finding(
            code="run-of-another-task",
            message=f"{counted(len(task.strangers), 'run')} of {task.task_id!r} without anything that "
            "its plan expects",
            hint="Check the task ids: these runs are left out.",
        )
        for task in found.tasks
        if task.strangers
    ]


def _node(one: NodeAudit) -> NodeEntry:
    words = one.proposed_words or None
    edit = _edit(one.proposed)
    return NodeEntry.of(one, one.completion, _tried(one), proposed=edit, proposed_words=words)


def _tried(one: NodeAudit) -> Probe:
    return one.probe or Probe()


def _edit(edit: Edit | None) -> Mapping[str, Any] | None:
    return None if edit is None else dict(msgspec.to_builtins(edit))
