"""The tables with a row per run, and per run and sub-goal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from untaken.answers.frame import Columns, count, figure, frame, moment, text, truth, why
from untaken.corpus import Corpus
from untaken.counterfactual import EvaluationStatus, Summary
from untaken.errors import Unscored
from untaken.ledger import Run, RunFinished
from untaken.ranking import Contradiction
from untaken.subgoals import NodeScore, RunScore

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """All that is known about one run."""

    run: Run
    score: RunScore | Unscored
    evaluation: EvaluationStatus
    summary: Summary
    contradiction: Contradiction | None


class NodeRow(Struct, frozen=True, gc=False):
    """One sub-goal in one run."""

    score: RunScore
    node: NodeScore


def _violations(row: RunRow, kind: str) -> int | Unscored:
    if isinstance(row.score, Unscored):
        return row.score
    return sum(violation.kind == kind for violation in row.score.violations)


def _extra(row: RunRow) -> int | Unscored:
    return row.score if isinstance(row.score, Unscored) else len(row.score.extra)


def total_time(run: Run) -> float | None:
    """Seconds: the recorded metric, else from RUN_STARTED to RUN_FINISHED.

    Importers of traces without clocks give every event one moment; that is not a run of 0 seconds.
    """
    end = run.finished
    if end is None:
        return None
    recorded = _metric(end, "total_time")
    if recorded is not None:
        return recorded
    return (end.ts - run.started.ts).total_seconds() or None


def total_tokens(run: Run) -> int | None:
    """Tokens in and out, as recorded in the run's metrics."""
    if run.finished is None:
        return None
    whole = _metric(run.finished, "total_tokens")
    if whole is not None:
        return int(whole)
    for pair in (("prompt_tokens", "completion_tokens"), ("input_tokens", "output_tokens")):
        parts = [_metric(run.finished, name) for name in pair]
        if None not in parts:
            return int(sum(part for part in parts if part is not None))
    return None


def _metric(end: RunFinished, name: str) -> float | None:
    value = (end.metrics or {}).get(name)
    return None if value is None or isinstance(value, bool) else float(value)


def _replans(row: RunRow) -> int | None:
    """A run that records no plan cannot show that it changed one."""
    return None if isinstance(row.score, Unscored) or not row.score.plans else row.score.replans


RUNS: Final[Columns[RunRow]] = {
    "run_id": text("the run's own id", "run.run_id"),
    "task_id": text("the task", "run.task_id"),
    "task_repeat": count("which repeat of the task", "run.started.task_repeat"),
    "agent": text("name of the agent", "run.agent"),
    "model": text("the model behind the agent", "run.started.model"),
    "kind": text("agent or workflow", "run.started.kind"),
    "success": truth("the recorded outcome", "run.success"),
    "cost": figure("recorded cost, in cost_unit", "run.finished?.cost"),
    "cost_unit": text("unit of cost", "run.finished?.cost_unit"),
    "steps": count("recorded number of steps", "run.finished?.steps"),
    "total_time": figure("seconds from start to finish", lambda row: total_time(row.run)),
    "total_tokens": count("recorded tokens, in and out", lambda row: total_tokens(row.run)),
    "error": text("the recorded error", "run.finished?.error"),
    "limit": text("the limit the run stopped at", "run.finished?.limit"),
    "started": moment("when the run started", "run.started.ts"),
    "digest": text("content digest: the run's id in links", "run.digest"),
    "integrity": text("integrity verdict", "run.integrity.verdict"),
    "graph": text("the plan graph it was scored against", "score?.graph_id"),
    "graph_version": count("version of that graph", "score?.graph_version"),
    "required": count("sub-goals that count", "score?.required"),
    "attempted": count("required sub-goals attempted", "score?.attempted"),
    "completed": count("required sub-goals completed", "score?.completed"),
    "unscored": count("sub-goals without evidence either way", "score?.unscored"),
    "critical": count("critical sub-goals that count", "score?.critical"),
    "critical_completed": count("critical sub-goals completed", "score?.critical_completed"),
    "coverage": figure("attempted / required", "score?.coverage"),
    "completion": figure("completed / required", "score?.completion"),
    "completion_weighted": figure("completed / required by weight", "score?.completion_weighted"),
    "critical_completion": figure("the same over critical sub-goals", "score?.critical_completion"),
    "diagnosis": text("the main reason for the result", "score?.diagnosis"),
    "diagnosis_reason": text("the diagnosis in words", "score?.diagnosis_reason"),
    "diagnosis_advice": text("what to change", "score?.diagnosis_advice"),
    "violations": count("reached without a critical dependency", lambda row: _violations(row, "critical")),
    "order_violations": count("started before a dependency", lambda row: _violations(row, "order")),
    "extra": count("actions that serve no sub-goal", _extra),
    "replans": count("times the plan changed; nothing where no plan is recorded", _replans),
    "transient_failures": count("failed observations", "score?.transient_failures"),
    "recovered": figure("share of failed attempts completed after a replan", "score?.recovered"),
    "contradiction": text("lucky, unlucky, or nothing", "contradiction?.kind"),
    "evaluation": text("counterfactual evaluation: evaluated, skipped, aborted", "evaluation"),
    "decisions": count("decision points", "summary.decisions"),
    "better_alternatives": count("branches that score higher", "summary.alternative_may_be_better"),
    "max_delta": figure("largest delta over all branches", "summary.max_delta"),
    "source": text("the file it was read from", "run.source"),
    "score_reason": why("the run", "score"),
    "success_reason": why("success", "run.success"),
    "coverage_reason": why("coverage", "score?.coverage"),
    "completion_reason": why("completion", "score?.completion"),
    "completion_weighted_reason": why("completion_weighted", "score?.completion_weighted"),
    "critical_completion_reason": why("critical_completion", "score?.critical_completion"),
}

SUB_GOALS: Final[Columns[NodeRow]] = {
    "digest": text("content digest of the run", "score.digest"),
    "run_id": text("the run's own id", "score.run_id"),
    "task_id": text("the task", "score.task_id"),
    "task_repeat": count("which repeat of the task", "score.task_repeat"),
    "agent": text("name of the agent", "score.agent"),
    "graph": text("the plan graph", "score.graph_id"),
    "sub_goal": text("id of the sub-goal", "node.sub_goal"),
    "title": text("its title", "node.title"),
    "critical": truth("marked critical in the graph", "node.critical"),
    "status": text("completed, attempted, skipped, unscored or not_required", "node.status"),
    "attempted": truth("an action maps to it", "node.attempted"),
    "completed": truth("its check passed", "node.completed"),
    "decided_by": text("what decided", "node.decided_by"),
    "reason": text("the result in words", "node.reason"),
    "actions": count("actions mapped to it", lambda row: len(row.node.events)),
    "completed_at": count("seq after which it was completed", "node.completed_at"),
}


def run_rows(corpus: Corpus) -> list[RunRow]:
    """What is known about each run, in reading order."""
    contradictions = {c.digest: c for c in corpus.contradictions}
    return [
        RunRow(
            run=run,
            score=corpus.scores[digest],
            evaluation=corpus.evaluations.status(digest),
            summary=corpus.evaluations.summary(digest),
            contradiction=contradictions.get(digest),
        )
        for digest, run in corpus.runs.items()
    ]


def runs_table(corpus: Corpus) -> pd.DataFrame:
    """One row per run (columns: `RUNS`); unscored figures are ``NA`` with the reason in ``<key>_reason``."""
    return frame(RUNS, run_rows(corpus))


def sub_goals_table(corpus: Corpus) -> pd.DataFrame:
    """One row per scored run and sub-goal of its graph (columns: `SUB_GOALS`)."""
    scores = (score for score in corpus.scores.values() if isinstance(score, RunScore))
    return frame(SUB_GOALS, [NodeRow(score, node) for score in scores for node in score.nodes])
