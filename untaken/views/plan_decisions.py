"""Plan decisions and statements as a JSON document (§2d)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from msgspec import UNSET, UnsetType

from untaken.counterfactual import (
    CalibrationCard,
    EvaluatedDecision,
    EvaluatedPath,
    PlanAlternative,
    PlanEvaluation,
    Statement,
    calibration_card,
)
from untaken.errors import Unscored
from untaken.views.documents import Count, Keys, Part
from untaken.views.frame import Columns, count, figure, frame, interval, text, truth, why
from untaken.views.plan_words import (
    LABELS,
    distinct,
    option_words,
    situation_words,
    state_words,
    statement_words,
)

if TYPE_CHECKING:
    import pandas as pd


_ALTERNATIVE: Final = Keys(
    PlanAlternative,
    "option supported q difference statement reason siblings siblings_succeeded siblings_known",
    option=str,
    statement=Count | None,
    siblings_succeeded=Count,
    siblings_known=Count,
)
"""An option that another run of the same task took in the same state, and the place of its statement."""
_DECISION: Final = Keys(
    EvaluatedDecision,
    "decision.seq option decision.state decision.left forecast change alternatives",
    option=str,
    alternatives=[_ALTERNATIVE],
)
_PATH: Final = Keys(
    EvaluatedPath,
    "path.run_id path.digest path.task_id path.agent decisive_seq decisions",
    decisions=[_DECISION],
)
_STATEMENT: Final = Keys(
    Statement,
    "layer=situation.layer domain situation option against * words",
    domain=str,
    situation=str,
    option=str,
    against=str,
    words=statement_words,
)
PLAN_DOCUMENT: Final = Keys(
    PlanEvaluation,
    "runs silent decisions alternatives supported groups supported_share shuffled_supported_share"
    " shuffles silent_runs statements card",
    runs=[_PATH],
    silent={str: Count},
    decisions=int,
    alternatives=int,
    supported=int,
    groups={str: Count},
    shuffles=int,
    silent_runs={str: Count},
    statements=[_STATEMENT],
    card=CalibrationCard | Unscored | UnsetType,
)
"""The ``plan`` part of ``untaken.counterfactual/1``."""


def plan_document(evaluation: PlanEvaluation, card: CalibrationCard | Unscored | None = None) -> Part:
    """The document of `evaluation`, with the calibration card where one was asked for."""
    ids = {digest: run.path.run_id for digest, run in evaluation.runs.items()}
    names = _domain_names(evaluation)
    # By identity: an alternative refers to the statement object itself.
    places = {id(statement): place for place, statement in enumerate(evaluation.statements)}
    return PLAN_DOCUMENT(
        evaluation,
        runs=[
            _PATH(run, decisions=[_decision(one, ids, places) for one in run.decisions])
            for run in evaluation.runs.values()
        ],
        silent=dict(evaluation.silent_alternatives),
        statements=[_statement(statement, names) for statement in evaluation.statements],
        card=UNSET if card is None else card,
    )


def exported_plan(evaluation: PlanEvaluation) -> Part:
    """`plan_document` with the calibration card."""
    return plan_document(evaluation, calibration_card(evaluation))


def _domain_names(evaluation: PlanEvaluation) -> dict[tuple[str, ...], str]:
    """What the tasks of each set of tools are called: what their ids begin with."""
    tasks: dict[tuple[str, ...], set[str]] = {}
    for run in evaluation.runs.values():
        tasks.setdefault(run.path.domain, set()).add(run.path.task_id)
    return {domain: _shared_beginning(names) for domain, names in tasks.items()}


def _shared_beginning(names: set[str]) -> str:
    """What the names begin with, all of them."""
    first, last = min(names), max(names)  # what these two share, all names between them share
    same = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    return "".join(letter for letter, _ in same).rstrip("-_/ .")  # what parts it from a number


def _statement(statement: Statement, names: Mapping[tuple[str, ...], str]) -> Part:
    return _STATEMENT(
        statement,
        domain=names.get(statement.situation.domain, ""),
        situation=situation_words(statement.situation),
        option=str(statement.option),
        against=str(statement.against),
    )


def _decision(evaluated: EvaluatedDecision, ids: Mapping[str, str], places: Mapping[int, int]) -> Part:
    return _DECISION(
        evaluated,
        option=str(evaluated.decision.option),
        alternatives=[_alternative(each, ids, places) for each in evaluated.alternatives],
    )


def _alternative(alternative: PlanAlternative, ids: Mapping[str, str], places: Mapping[int, int]) -> Part:
    succeeded, known = alternative.siblings_succeeded
    return _ALTERNATIVE(
        alternative,
        option=str(alternative.option),
        statement=places.get(id(alternative.statement)),
        siblings=[ids[digest] for digest in alternative.siblings],
        siblings_succeeded=succeeded,
        siblings_known=known,
    )


STATEMENTS: Final[Columns[Statement]] = {
    "situation": text("what the compared runs had in common", lambda s: situation_words(s.situation)),
    "option": text("the option with more success", lambda s: option_words(s.option)),
    "k1": count("runs with it that succeeded", "k1"),
    "n1": count("of so many", "n1"),
    "against": text("the other option", lambda s: option_words(s.against)),
    "k0": count("runs with that one that succeeded", "k0"),
    "n0": count("of so many", "n0"),
    "difference": figure("in the rate of success, within task and agent", "difference", "points"),
    **interval(shown="points"),
    "tasks": count("tasks in which both were taken", "tasks"),
    "informative_tasks": count("of them, those with successes and failures", "informative_tasks"),
    "p": figure("two-sided p-value", "p", "p"),
    "q": figure("p after Benjamini and Hochberg, over the statements that can be tested", "q", "p"),
    "supported": truth("p ≤ 0.05, q ≤ 0.10 and at least 3 runs a side", "supported"),
    "label": text("explains the verdict (restates the plan's check), or found", lambda s: LABELS[s.label]),
    "group": count("nested group of a supported statement", "group"),
    "leads": truth("it represents its group", "leads"),
    "estimate": text("same_agent or between_agents", "estimate"),
    "layer": count("of the plan's four layers, 1 being the finest", "situation.layer"),
    "reason": text("why it is not supported", "reason"),
    "words": text("the whole result in words", statement_words),
    "q_reason": why("q", "q"),
}

PLAN_CHANGES: Final[Columns[EvaluatedDecision]] = {
    "event": count("seq of the change, or of the end of the run", "decision.seq"),
    "state": text("what had been made before", lambda d: state_words(d.decision.state)),
    "left": count("planned changes still open before it", "decision.left"),
    "did": text("what the run did", lambda d: option_words(d.decision.option)),
    "forecast": figure("chance of success after it, from other tasks", "forecast", "percent"),
    "change": figure("the change from the forecast before it", "change", "%+.2f"),
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
