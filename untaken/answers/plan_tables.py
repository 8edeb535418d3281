"""Tables of plan decisions: the changes of one run, and the statements of a corpus (§2d)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from untaken.answers.frame import Columns, count, figure, frame, interval, text, truth, why
from untaken.answers.plan_words import (
    LABELS,
    distinct,
    option_words,
    situation_words,
    state_words,
    statement_words,
)

if TYPE_CHECKING:
    import pandas as pd

    from untaken.counterfactual.plan import EvaluatedDecision, EvaluatedPath, PlanEvaluation, Statement

STATEMENTS: Final[Columns[Statement]] = {
    "situation": text("what the compared runs had in common", lambda s: situation_words(s.situation)),
    "option": text("the option with more success", lambda s: option_words(s.option)),
    "k1": count("runs with it that succeeded", "k1"),
    "n1": count("of so many", "n1"),
    "against": text("the other option", lambda s: option_words(s.against)),
    "k0": count("runs with that one that succeeded", "k0"),
    "n0": count("of so many", "n0"),
    "difference": figure("in the rate of success, within task and agent", "difference"),
    **interval(),
    "tasks": count("tasks in which both were taken", "tasks"),
    "informative_tasks": count("of them, those with successes and failures", "informative_tasks"),
    "p": figure("two-sided p-value", "p"),
    "q": figure("p after Benjamini and Hochberg, over the statements that can be tested", "q"),
    "supported": truth("p ≤ 0.05, q ≤ 0.10 and at least 3 runs a side", "supported"),
    "label": text("explains the verdict, or found", lambda s: LABELS[s.label]),
    "estimate": text("same_agent or between_agents", "estimate"),
    "layer": count("of the plan's four layers, 1 being the finest", "situation.layer"),
    "reason": text("why it is not supported", "reason"),
    "words": text("the whole result in words", statement_words),
    "q_reason": why("q", "q"),
}

PLAN_CHANGES: Final[Columns[EvaluatedDecision]] = {
    "event": count("seq of the change, or of the end of the run", "decision.seq"),
    "state": text("what had been made before", lambda d: state_words(d.decision.state)),
    "left": count("expected changes still open before it", "decision.left"),
    "did": text("what the run did", lambda d: option_words(d.decision.option)),
    "forecast": figure("chance of success after it, from other tasks", "forecast"),
    "change": figure("the change from the forecast before it", "change"),
    "others": count(
        "runs of this task that took another way from here",
        lambda d: len({digest for a in d.alternatives for digest in a.siblings}),
    ),
    "supported": count(
        "of the other ways, those that are supported", lambda d: sum(a.supported for a in d.alternatives)
    ),
    "forecast_reason": why("forecast", "forecast"),
}


def statements_table(evaluation: PlanEvaluation) -> pd.DataFrame:
    """One row per statement, the supported ones first (columns: `STATEMENTS`).

    A statement that repeats a finer layer's counts is left out.
    """
    return frame(STATEMENTS, distinct(evaluation.statements))


def plan_changes_table(run: EvaluatedPath) -> pd.DataFrame:
    """One row a plan change of a run, in order (columns: `PLAN_CHANGES`)."""
    return frame(PLAN_CHANGES, run.decisions)
