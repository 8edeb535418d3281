"""The JSON documents other programs rely on: exact keys, one order, unscored as ``null`` with its reason."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, get_args, get_origin, get_type_hints

from msgspec import UNSET, Struct

from untaken.counterfactual import (
    Alternative,
    Decision,
    Diagnostics,
    RunEvaluation,
    Weights,
    summarise,
    summary_mapping,
)
from untaken.errors import Finding, Unscored
from untaken.gate import GateCheck
from untaken.ledger import Integrity
from untaken.sequential import SequentialCheck
from untaken.subgoals import AgentScore, NodeScore, RunScore

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Document = dict[str, Any]
LAYERED: Final = (
    "level",
    "levels",
    "advantage_level",
    "n_selected",
    "pooled",
    "pooled_low",
    "pooled_high",
    "strength",
)
"""Keys of a branch that are there only where its context has layers."""


def dump(document: Document) -> str:
    """The document as text: the same bytes for the same content."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def score_document(
    agents: Iterable[AgentScore],
    scores: Mapping[str, RunScore | Unscored],
    *,
    run_ids: Mapping[str, str],
    missing: str,
    verdicts: Sequence[str] = (),
    runs: bool = False,
    findings: Iterable[Finding] = (),
) -> Document:
    """``untaken.score/1``: sub-goal scores by agent, and by run on request.

    Args:
        agents: pooled scores.
        scores: by run digest, in reading order.
        run_ids: run id of each digest.
        missing: the rule in force for sub-goals without a verdict.
        verdicts: whose verdicts counted; empty for everybody's.
        runs: also list the runs.
        findings: what was noticed.
    """
    unscored = [
        {"run_id": run_ids[digest], "digest": digest, "reason": score.reason}
        for digest, score in scores.items()
        if isinstance(score, Unscored)
    ]
    document: Document = {
        "schema": "untaken.score/1",
        "missing": missing,
        "verdicts": list(verdicts),
        "agents": [entry(agent) for agent in agents],
    }
    if runs:
        document["runs"] = [_scored_run(s) for s in scores.values() if isinstance(s, RunScore)]
    return document | {"unscored_runs": unscored, "findings": finding_entries(findings)}


def _scored_run(score: RunScore) -> Document:
    figures = list(entry(score).items())
    place = [name for name, _ in figures].index("diagnosis")  # the detail stays where readers found it so far
    more = {
        "status": {node.sub_goal: node.status for node in score.results},
        "reasons": {node.sub_goal: node.reason for node in score.nodes},
        "failed_checks": {node.sub_goal: _failed_check(node) for node in score.nodes if node.differences},
        "violations": [entry(violation) for violation in score.violations],
        "extra": list(score.extra),
    }
    return dict(figures[:place]) | entry(score.detail.known) | dict(figures[place:]) | more


def _failed_check(node: NodeScore) -> Document:
    return {
        "missed": node.missed,
        "nearest": node.nearest,
        "differences": [entry(one) for one in node.differences],
    }


def verify_document(
    integrity: Iterable[tuple[str, Integrity]], *, findings: Iterable[Finding] = ()
) -> Document:
    """``untaken.verify/1``: the integrity verdict of every run, with the file that holds it."""
    runs = [
        {
            "run_id": verdict.run_id,
            "verdict": verdict.verdict,
            "line": verdict.line,
            "column": verdict.column,
            "reason": verdict.reason,
            "events": verdict.head.events if verdict.head else 0,
            "sha256": verdict.head.sha256 if verdict.head else None,
            "file": file,
        }
        for file, verdict in integrity
    ]
    counts = Counter(str(run["verdict"]) for run in runs)
    return {
        "schema": "untaken.verify/1",
        "runs": runs,
        "verdicts": dict(sorted(counts.items())),
        "findings": finding_entries(findings),
    }


def counterfactual_document(
    evaluations: Sequence[RunEvaluation],
    *,
    weights: Weights,
    threshold: float,
    diagnostics: Diagnostics | None = None,
    plan: Document | None = None,
    findings: Iterable[Finding] = (),
) -> Document:
    """``untaken.counterfactual/1``: decision points with the paths not taken, insights and signals.

    `plan` is the `plan_document`, where plan graphs were given.
    """
    asked: Document = {} if diagnostics is None else {"diagnostics": _diagnostics(diagnostics)}
    if plan is not None:
        asked["plan"] = plan
    return {
        "schema": "untaken.counterfactual/1",
        "weights": entry(weights),
        "threshold": threshold,
        "runs": [_evaluated(evaluation) for evaluation in evaluations],
        "insights": [entry(i) for e in evaluations for i in e.insights],
        "signals": [entry(s) for e in evaluations for s in e.signals],
        "summary": summary_mapping(summarise(evaluations)),
        **asked,
        "findings": finding_entries(findings),
    }


def _diagnostics(diagnostics: Diagnostics) -> Document:
    return {
        "placebo": entry(diagnostics.placebo),
        "balance": [entry(one) for one in diagnostics.balance],
        "influence": [entry(one) for one in diagnostics.influence],
        "contrasts": [entry(one) for one in diagnostics.contrasts],
    }


def _evaluated(evaluation: RunEvaluation) -> Document:
    return entry(evaluation) | {
        "decisions": [_decision(decision) for decision in evaluation.decisions],
        "notes": finding_entries(evaluation.notes),
    }


def _decision(decision: Decision) -> Document:
    return entry(decision) | {"alternatives": [_branch(branch) for branch in decision.branches]}


def _branch(branch: Alternative) -> Document:
    """A branch; with a single layer the layer fields are omitted, because they are known."""
    fields = entry(branch)
    if branch.levels > 1:
        return fields
    return {key: value for key, value in fields.items() if key.removesuffix("_reason") not in LAYERED}


def gate_document(
    checks: Iterable[GateCheck],
    *,
    met: bool,
    on: str,
    missing: str,
    verdicts: Sequence[str] = (),
    sequential: Iterable[SequentialCheck] = (),
    issues: Iterable[Document] = (),
    findings: Iterable[Finding] = (),
) -> Document:
    """``untaken.gate/1``: each agent against each requirement; `met` only where all are, on sound records.

    `issues` are those checked on the runs (`untaken.answers.issues.reopened_entry`).
    """
    return {
        "schema": "untaken.gate/1",
        "met": met,
        "on": on,
        "missing": missing,
        "verdicts": list(verdicts),
        "checks": [entry(check) | {"missed": [entry(goal) for goal in check.missed]} for check in checks],
        "sequential": [entry(check) for check in sequential],
        "issues": list(issues),
        "findings": finding_entries(findings),
    }


def finding_entries(findings: Iterable[Finding]) -> list[Document]:
    """Findings as the documents carry them."""
    return [
        {
            "code": finding.code,
            "severity": finding.severity,
            "message": finding.message,
            "file": finding.where.file,
            "line": finding.where.line,
            "run": finding.where.run,
            "hint": finding.hint,
        }
        for finding in findings
    ]


@lru_cache(maxsize=256)
def flat_fields(kind: type[DataclassInstance | Struct]) -> dict[str, Any]:
    """The fields of a type that go into a document as they are: neither objects nor lists of them."""
    hints = get_type_hints(kind, include_extras=True)
    names = kind.__struct_fields__ if issubclass(kind, Struct) else [field.name for field in fields(kind)]
    return {name: hints[name] for name in names if _is_flat(hints[name])}


def _is_flat(hint: Any) -> bool:
    if get_origin(hint) is tuple:
        return get_args(hint)[0] is str
    return not isinstance(hint, type) or hint in (str, int, float, bool)


def entry(value: DataclassInstance | Struct) -> Document:
    """The flat fields of an object, unset ones left out; an unscored one is ``null``, with its reason."""
    fields_of: Document = {}
    for name in flat_fields(type(value)):
        found = getattr(value, name)
        if found is UNSET:
            continue
        if isinstance(found, Unscored):
            fields_of |= {name: None, f"{name}_reason": found.reason}
        elif isinstance(found, datetime):
            fields_of[name] = found.isoformat()
        else:
            fields_of[name] = list(found) if isinstance(found, tuple) else found
    return fields_of
