"""Plan decisions and statements as words, as a JSON document and its schema (§2d)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import takewhile
from typing import Final

from untaken.counterfactual.plan import (
    CalibrationCard,
    EvaluatedDecision,
    EvaluatedPath,
    Option,
    PlanAlternative,
    PlanEvaluation,
    PlanState,
    ReliabilityBin,
    Situation,
    Statement,
    SupportClass,
)
from untaken.counterfactual.plan.statements import LEFT_MAX, MADE_MAX
from untaken.errors import Unscored
from untaken.report.documents import Document, entry
from untaken.report.shapes import COUNT, TEXT, Schema, entry_shape, fixed, list_of, or_null, values_of

LABELS: Final = {"explains_the_verdict": "explains the verdict", "found": "found"}
NUMBER: Final[Schema] = {"type": ["number", "null"]}


def option_words(option: Option) -> str:
    """An option as a person would say it."""
    match option.kind:
        case "advance":
            return f"make the expected change {option.name!r}" if option.name else "make an expected change"
        case "unplanned":
            return f"make an unplanned change ({option.name})" if option.name else "make an unplanned change"
        case "hand_over":
            return "hand over"
        case "stop_open":
            return "stop with expected changes left"
        case "stop_done":
            return "stop with nothing left"


def situation_words(situation: Situation) -> str:
    """What the compared runs had in common."""
    if situation.layer == 4:
        return "in any state"
    if situation.layer == 1:
        made = ", ".join(situation.made)
        parts = [
            f"{situation.task_id}: after {made}" if made else f"{situation.task_id}: nothing changed yet"
        ]
    elif situation.layer == 2:
        expected = "change" if situation.left < 2 else "changes"
        made = "none" if situation.made_count == 0 else _count(situation.made_count, MADE_MAX)
        parts = [f"{_count(situation.left, LEFT_MAX)} expected {expected} left", f"{made} made"]
    else:
        parts = ["expected changes left" if situation.left else "no expected change left"]
    if situation.unplanned:
        parts.append("after an unplanned change")
    if situation.handed_over:
        parts.append("after a hand-over")
    return ", ".join(parts)


def state_words(state: PlanState) -> str:
    """A state of the plan in short."""
    parts = [", ".join(state.made) or "nothing made"]
    if state.unplanned:
        parts.append("unplanned change")
    if state.handed_over:
        parts.append("handed over")
    return " · ".join(parts)


def statement_words(statement: Statement) -> str:
    """A statement as one paragraph: situation, counts, q, and what it may be used for."""
    where = situation_words(statement.situation)
    counts = (
        f"{option_words(statement.option)}: {statement.k1} of {statement.n1} succeeded; "
        f"{option_words(statement.against)}: {statement.k0} of {statement.n0}"
    )
    tasks = "the same task" if statement.tasks == 1 else f"the same {statement.tasks} tasks"
    q = "not testable" if isinstance(statement.q, Unscored) else f"q = {statement.q:.2g}"
    support = f"Supported, {q}." if statement.supported else f"Not supported ({statement.reason})."
    label = LABELS[statement.label]
    return f"{where[0].upper()}{where[1:]}. In {tasks}, {counts}. {support} {label[0].upper()}{label[1:]}."


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


def _count(count: int, most: int) -> str:
    """A count that is cut at `most`."""
    return f"{count} or more" if count >= most else str(count or "no")


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
