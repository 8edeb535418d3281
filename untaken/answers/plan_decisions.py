"""Plan decisions and statements as a JSON document, and its schema (§2d)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import takewhile

from untaken.answers.documents import Document, entry
from untaken.answers.plan_words import situation_words, statement_words
from untaken.answers.shapes import COUNT, TEXT, Schema, entry_shape, fixed, list_of, or_null, values_of
from untaken.counterfactual.plan import (
    CalibrationCard,
    EvaluatedDecision,
    EvaluatedPath,
    PlanAlternative,
    PlanEvaluation,
    ReliabilityBin,
    Statement,
    SupportClass,
    calibration_card,
)
from untaken.errors import Unscored


def plan_document(evaluation: PlanEvaluation, card: CalibrationCard | Unscored | None = None) -> Document:
    """The ``plan`` part of ``untaken.counterfactual/1``.

    Args:
        evaluation: of all plan decisions.
        card: the calibration card, where one was asked for.
    """
    ids = {digest: run.path.run_id for digest, run in evaluation.runs.items()}
    silent_runs = Counter(why.reason for why in evaluation.silent.values())
    names = _domain_names(evaluation)
    places = {id(statement): place for place, statement in enumerate(evaluation.statements)}
    document: Document = {
        **entry(evaluation),
        "silent": dict(evaluation.silent_alternatives),
        "silent_runs": dict(sorted(silent_runs.items())),
        "statements": [_statement(statement, names) for statement in evaluation.statements],
        "runs": [_run(run, ids, places) for run in evaluation.runs.values()],
    }
    if card is not None:
        document |= _card(card)
    return document


def exported_plan(evaluation: PlanEvaluation) -> Document:
    """`plan_document` with the calibration card."""
    return plan_document(evaluation, calibration_card(evaluation))


def plan_schema() -> Schema:
    """The JSON Schema of `plan_document`."""
    alternative = entry_shape(
        PlanAlternative,
        option=TEXT,
        statement=or_null(COUNT),
        siblings=list_of(TEXT),
        siblings_succeeded=COUNT,
        siblings_known=COUNT,
    )
    decision = entry_shape(
        EvaluatedDecision,
        seq=COUNT,
        option=TEXT,
        state=fixed(made=list_of(TEXT), unplanned={"type": "boolean"}, handed_over={"type": "boolean"}),
        left=COUNT,
        alternatives=list_of(alternative),
    )
    run = fixed(
        run_id=TEXT,
        digest=TEXT,
        task_id=TEXT,
        agent=TEXT,
        decisive_seq=or_null(COUNT),
        decisions=list_of(decision),
    )
    statement = entry_shape(
        Statement, layer=COUNT, domain=TEXT, situation=TEXT, option=TEXT, against=TEXT, words=TEXT
    )
    plan = entry_shape(
        PlanEvaluation,
        silent=values_of(COUNT),
        silent_runs=values_of(COUNT),
        statements=list_of(statement),
        runs=list_of(run),
    )
    card = entry_shape(
        CalibrationCard,
        bins=list_of(entry_shape(ReliabilityBin)),
        by_support=list_of(entry_shape(SupportClass)),
    )
    plan["properties"] |= {"card": or_null(card), "card_reason": TEXT}
    return plan


def _domain_names(evaluation: PlanEvaluation) -> dict[tuple[str, ...], str]:
    """What the tasks of each set of tools are called: what their ids begin with."""
    tasks: dict[tuple[str, ...], set[str]] = {}
    for run in evaluation.runs.values():
        tasks.setdefault(run.path.domain, set()).add(run.path.task_id)
    return {domain: _shared_beginning(names) for domain, names in tasks.items()}


def _shared_beginning(names: set[str]) -> str:
    """What the names begin with, all of them."""
    first, last = min(names), max(names)
    same = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    return "".join(letter for letter, _ in same).rstrip("-_/ .")


def _statement(statement: Statement, names: Mapping[tuple[str, ...], str]) -> Document:
    return {
        "layer": statement.situation.layer,
        "domain": names.get(statement.situation.domain, ""),
        "situation": situation_words(statement.situation),
        "option": str(statement.option),
        "against": str(statement.against),
        **entry(statement),
        "words": statement_words(statement),
    }


def _run(run: EvaluatedPath, ids: Mapping[str, str], places: Mapping[int, int]) -> Document:
    path = run.path
    return {
        "run_id": path.run_id,
        "digest": path.digest,
        "task_id": path.task_id,
        "agent": path.agent,
        "decisive_seq": run.decisive_seq,
        "decisions": [_decision(decision, ids, places) for decision in run.decisions],
    }


def _decision(evaluated: EvaluatedDecision, ids: Mapping[str, str], places: Mapping[int, int]) -> Document:
    decision = evaluated.decision
    return {
        "seq": decision.seq,
        "option": str(decision.option),
        "state": {
            "made": list(decision.state.made),
            "unplanned": decision.state.unplanned,
            "handed_over": decision.state.handed_over,
        },
        "left": decision.left,
        **entry(evaluated),
        "alternatives": [_alternative(each, ids, places) for each in evaluated.alternatives],
    }


def _alternative(alternative: PlanAlternative, ids: Mapping[str, str], places: Mapping[int, int]) -> Document:
    succeeded, known = alternative.siblings_succeeded
    return {
        "option": str(alternative.option),
        **entry(alternative),
        "statement": places.get(id(alternative.statement)),
        "siblings": [ids[digest] for digest in alternative.siblings],
        "siblings_succeeded": succeeded,
        "siblings_known": known,
    }


def _card(card: CalibrationCard | Unscored) -> Document:
    if isinstance(card, Unscored):
        return {"card": None, "card_reason": card.reason}
    return {
        "card": entry(card)
        | {
            "bins": [entry(each) for each in card.bins],
            "by_support": [entry(each) for each in card.by_support],
        }
    }
