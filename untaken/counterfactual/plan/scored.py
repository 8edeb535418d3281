"""Plan decisions of runs that were scored against the graphs of their tasks (§2d)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from untaken.counterfactual import plan
from untaken.errors import Unscored
from untaken.ledger import Run
from untaken.plans import GraphSet
from untaken.scoring import RunScore

Scored = tuple[Mapping[str, Run], Mapping[str, RunScore | Unscored]]
"""Runs and their scores, by digest."""


def plan_evaluation(
    runs: Iterable[Run],
    graphs: GraphSet,
    scores: Mapping[str, RunScore | Unscored],
    *,
    identity: Sequence[str] = (),
) -> plan.PlanEvaluation:
    """Every plan decision of these runs, compared with those of other runs of its task (§2d).

    Args:
        runs: of one or many ledgers.
        graphs: the plan graphs; runs of one without `mutates` have no plan decisions.
        scores: of at least these runs, by digest, against the same graphs.
        identity: names of metadata that can change an agent: only runs that share it are compared.
    """
    read = (
        (run, graphs.for_task(run.task_id, run.started.graph)[0], _mapped(scores[run.digest])) for run in runs
    )
    return plan.evaluate_plans(read, identity=identity)


def _mapped(score: RunScore | Unscored) -> tuple[tuple[int, str, str], ...]:
    return () if isinstance(score, Unscored) else score.mapped


def same_decisions(before: Scored, now: Scored) -> bool:
    """Whether scored runs have the plan decisions that they had, under the same graphs.

    No rule for verdicts changes them. A run that somebody wrote about has the same ones, too, unless a
    judge's word maps a call of it.
    """
    (runs, scores), (runs_now, scores_now) = before, now
    return runs.keys() == runs_now.keys() and all(
        runs[digest] is run or _mapped(scores[digest]) == _mapped(scores_now[digest])
        for digest, run in runs_now.items()
    )
