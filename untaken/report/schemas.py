"""JSON Schemas of the files and documents, derived from the types they are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Union, get_args, get_origin

import msgspec

from untaken.comparing import Cell, ComparedRun, OutcomeSplit, Parting, Row, SideBySide, Split
from untaken.counterfactual import (
    Branch,
    Contrast,
    Decision,
    Influence,
    Insight,
    Placebo,
    RunEvaluation,
    Signal,
    Summary,
    Weights,
)
from untaken.criteria import (
    AcrossRuns,
    AttackTest,
    CriterionCheck,
    CriterionMeans,
    Discrimination,
    Separation,
    Stability,
    Thresholds,
    UniqueCount,
)
from untaken.errors import Unscored, UntakenError
from untaken.fix_first import FixFirst
from untaken.gate import GateCheck, MissedSubGoal
from untaken.judging import Concord, JudgedMapping, NodeVerdict, Pair
from untaken.ledger import AnyEvent, Head
from untaken.ledger.events import Name
from untaken.memory import Difference, Effect, Observed, Record, Span
from untaken.plans import PlanGraph
from untaken.plans.diff import ChangedSubGoal, Edge, Renamed, Reordered
from untaken.ranking import (
    Agreement,
    Contradiction,
    DiscordantPair,
    PairedDifference,
    PassK,
    Placed,
    Pull,
    RuleChange,
    RuleFlip,
    Standing,
    SubGoalGap,
    TaskGap,
    WorkflowVerdict,
)
from untaken.report.documents import flat_fields
from untaken.report.rankings import RANKS, RULE_RANKS
from untaken.subgoals import AgentScore, RunScore, Violation

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Schema = dict[str, Any]

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_SCALARS: Final[dict[type, str]] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    NoneType: "null",
    datetime: "string",
}
TEXT: Final[Schema] = {"type": "string"}
COUNT: Final[Schema] = {"type": "integer", "minimum": 0}


def json_schema(name: str) -> Schema:
    """The JSON Schema (draft 2020-12) of a file or document.

    Args:
        name: one of `SCHEMAS`.

    Raises:
        UntakenError: ``schema-unknown``.
    """
    if name not in SCHEMAS:
        raise UntakenError(
            "schema-unknown", f"there is no schema {name!r}", hint=f"One of: {', '.join(SCHEMAS)}."
        )
    return {"$schema": DIALECT, "title": f"untaken {name}"} | SCHEMAS[name]()


def _score() -> Schema:
    run = _entry(
        RunScore,
        status=_values(TEXT),
        reasons=_values(TEXT),
        violations=_list(_entry(Violation)),
        extra=_list(COUNT),
    )
    unscored = _object(run_id=TEXT, digest=TEXT, reason=TEXT)
    return _document(
        "untaken.score/1",
        optional={"runs": _list(run)},
        missing={"enum": ["fail", "drop"]},
        verdicts=_list(TEXT),
        agents=_list(_entry(AgentScore)),
        unscored_runs=_list(unscored),
        findings=_findings(),
    )


def _verify() -> Schema:
    run = _object(
        run_id=TEXT,
        verdict={"enum": ["INTACT", "UNANCHORED", "TRUNCATED", "ALTERED", "MALFORMED"]},
        line=_or_null(COUNT),
        column=_or_null(COUNT),
        reason=TEXT,
        events=COUNT,
        sha256=_or_null(TEXT),
        file=TEXT,
    )
    return _document("untaken.verify/1", runs=_list(run), verdicts=_values(COUNT), findings=_findings())


def _counterfactual() -> Schema:
    decision = _entry(Decision, alternatives=_list(_entry(Branch)))
    run = _entry(RunEvaluation, decisions=_list(decision), notes=_findings())
    diagnostics = _object(
        placebo=_entry(Placebo), influence=_list(_entry(Influence)), contrasts=_list(_entry(Contrast))
    )
    return _document(
        "untaken.counterfactual/1",
        optional={"diagnostics": diagnostics},
        weights=_entry(Weights),
        threshold={"type": "number"},
        runs=_list(run),
        insights=_list(_entry(Insight)),
        signals=_list(_entry(Signal)),
        summary=_entry(Summary, codes=_values(COUNT)),
        findings=_findings(),
    )


def _rank() -> Schema:
    standing = _entry(Standing)
    standing["properties"] |= {f"{rank}_reason": TEXT for rank in RANKS}
    change = _entry(RuleChange)
    change["properties"] |= {f"{rank}_reason": TEXT for rank in RULE_RANKS}
    workflow = _entry(
        WorkflowVerdict,
        gap=_entry(PairedDifference),
        sub_goals=_list(_entry(SubGoalGap)),
        tasks=_list(_entry(TaskGap)),
    )
    return _document(
        "untaken.rank/1",
        optional={"rule": _object(changes=_list(change), flips=_list(_entry(RuleFlip)))},
        missing={"enum": ["fail", "drop"]},
        metrics=_values(_list(standing)),
        agreement=_list(_entry(Agreement)),
        discordant=_list(_entry(DiscordantPair, runs=_list(_entry(Pull)))),
        contradictions=_list(_entry(Contradiction)),
        pairs=_list(_entry(PairedDifference)),
        ties=_values(_list(_list(TEXT))),
        pass_k=_list(_entry(PassK)),
        quadrants=_list(_entry(Placed)),
        workflows=_list(workflow),
        shared_tasks=_list(TEXT),
        unmatched_tasks=_list(TEXT),
        findings=_findings(),
    )


def _triage() -> Schema:
    number = {"type": "number"}
    item = _entry(
        FixFirst,
        often=_object(count=COUNT, n=COUNT, share=number, low=number, high=number),
        runs=_list(_object(run_id=TEXT, digest=TEXT, decision_point=_or_null(COUNT))),
        agents=_values(COUNT),
    )
    return _document(
        "untaken.triage/1",
        missing={"enum": ["fail", "drop"]},
        verdicts=_list(TEXT),
        agents=_list(TEXT),
        scored=COUNT,
        unscored=COUNT,
        evaluated=COUNT,
        not_evaluated=COUNT,
        harmless=COUNT,
        found=COUNT,
        found_contradictions=COUNT,
        order=TEXT,
        reason=TEXT,
        items=_list(item),
        contradictions=_list(_entry(Contradiction)),
        findings=_findings(),
    )


def _compare() -> Schema:
    cell = _entry(Cell, tools=_values(COUNT))
    whole = _entry(
        SideBySide,
        runs=_list(_entry(ComparedRun)),
        rows=_list(_entry(Row, cells=_list(cell))),
        partings=_list(_entry(Parting, splits=_list(_entry(Split)))),
        outcome_splits=_list(_entry(OutcomeSplit)),
    )
    return _document(
        "untaken.compare/1",
        missing={"enum": ["fail", "drop"]},
        verdicts=_list(TEXT),
        findings=_findings(),
        **whole["properties"],
    )


def _gate() -> Schema:
    return _document(
        "untaken.gate/1",
        met={"type": "boolean"},
        on={"enum": ["point", "interval"]},
        missing={"enum": ["fail", "drop"]},
        verdicts=_list(TEXT),
        checks=_list(_entry(GateCheck, missed=_list(_entry(MissedSubGoal)))),
        findings=_findings(),
    )


def _memory() -> Schema:
    return _document(
        "untaken.memory/1",
        optional={"cost_reason": TEXT, "steps_reason": TEXT},
        as_of=_or_null(TEXT),
        digest=TEXT,
        observations=COUNT,
        runs=COUNT,
        cost_unit=_or_null(TEXT),
        cost=_or_null(_entry(Span)),
        steps=_or_null(_entry(Span)),
        records=_list(_entry(Record)),
        findings=_findings(),
    )


def _memory_queue() -> Schema:
    return _document(
        "untaken.memory-queue/1",
        queued=COUNT,
        applied=COUNT,
        waiting=_list(_entry(Signal)),
        findings=_findings(),
    )


def _memory_preview() -> Schema:
    signal, effect = _entry(Signal), _entry(Effect)
    both = effect | {"properties": signal["properties"] | effect["properties"]}
    both["required"] = [*signal["required"], *effect["required"]]
    return _document("untaken.memory-preview/1", digest=TEXT, effects=_list(both))


def _memory_apply() -> Schema:
    applied, waiting = _list(_entry(Observed)), _list(_entry(Signal))
    return _document("untaken.memory-apply/1", digest=TEXT, applied=applied, waiting=waiting)


def _memory_verify() -> Schema:
    return _document(
        "untaken.memory-verify/1",
        same={"type": "boolean"},
        digest=TEXT,
        observations=COUNT,
        differences=_list(_entry(Difference)),
        findings=_findings(),
    )


def _judge() -> Schema:
    verdict = _entry(NodeVerdict, evidence=_list(_object(seq=COUNT, quote=TEXT)))
    mapping = _entry(JudgedMapping, actions=_list(_object(seq=COUNT, sub_goal=TEXT)))
    return _document(
        "untaken.judge/1",
        model=TEXT,
        verdicts=_list(verdict),
        mappings=_list(mapping),
        findings=_findings(),
    )


def _agree() -> Schema:
    concord = _entry(Concord)
    return _document(
        "untaken.agree/1",
        a=_list(TEXT),
        b=_list(TEXT),
        cluster={"enum": ["task", "run"]},
        left_out=COUNT,
        overall=concord,
        agents=_list(concord),
        sub_goals=_list(concord),
        disagreements=_list(_entry(Pair)),
        findings=_findings(),
    )


def _criteria() -> Schema:
    means = _entry(
        CriterionMeans, accepted_values=_list(TEXT), unscored=COUNT, out_of_vocabulary=_values(COUNT)
    )
    one = _object(
        run=TEXT,
        by=TEXT,
        seed=COUNT,
        deterministic={"type": "boolean"},
        problems=COUNT,
        criteria=_list(means),
        unparseable=_list(TEXT),
    )
    across = _entry(AcrossRuns)
    across["properties"].pop("name")
    across["required"].remove("name")
    said = _object(
        run=TEXT,
        subject=TEXT,
        run_id=TEXT,
        agent=TEXT,
        task_id=TEXT,
        success=_or_null({"type": "boolean"}),
        values=_values(TEXT),
        levels=_values(_or_null(COUNT)),
        unscored=_values(TEXT),
        unparseable=TEXT,
    )
    return _document(
        "untaken.criteria/1",
        optional={"runs": _list(said)},
        quantifier_runs=_list(one),
        across_runs=_values(across),
        findings=_findings(),
    )


def _criteria_verify() -> Schema:
    test = _entry(AttackTest)
    telling = _entry(Discrimination, separation=_entry(Separation), drop=_or_null(test), attacks=_list(test))
    telling["properties"]["drop_reason"] = TEXT
    check = _entry(CriterionCheck, stability=_entry(Stability), discrimination=telling)
    return _document(
        "untaken.criteria-verify/1",
        passes=COUNT,
        subjects=COUNT,
        attacks=_list(TEXT),
        thresholds=_entry(Thresholds),
        kept=_list(TEXT),
        criteria=_list(check),
        findings=_findings(),
    )


def _criteria_proposal() -> Schema:
    proposed = _object(
        name=TEXT,
        description=TEXT,
        accepted_values=_list(TEXT),
        origin=TEXT,
        status=TEXT,
        merged=_list(TEXT),
        proposals=COUNT,
        least=_or_null({"type": "number"}),
    )
    return _document(
        "untaken.criteria-proposal/1",
        model=TEXT,
        task=TEXT,
        successful=_or_null(TEXT),
        failed=_or_null(TEXT),
        by={"enum": ["embedding", "words"]},
        tau={"type": "number"},
        criteria=_list(proposed),
        answers=_values(COUNT),
        unanswered=_list(TEXT),
        unique=_list(_entry(UniqueCount)),
        findings=_findings(),
    )


def _report() -> Schema:
    return _document(
        "untaken.report/1",
        file=TEXT,
        bytes=COUNT,
        sha256=TEXT,
        full={"type": "boolean"},
        runs=COUNT,
        digest=TEXT,
        findings=_findings(),
    )


def _graph_diff() -> Schema:
    version = _object(file=TEXT, id=TEXT, version={"type": "integer"}, title=TEXT)
    change = _list(_object(field=TEXT, before={}, after={}))
    named = _list(_object(sub_goal=TEXT, title=TEXT))
    return _document(
        "untaken.graph-diff/1",
        before=version,
        after=version,
        equal={"type": "boolean"},
        fields=change,
        added=named,
        removed=named,
        changed=_list(_entry(ChangedSubGoal, fields=change)),
        edges_added=_list(_entry(Edge)),
        edges_removed=_list(_entry(Edge)),
        renamed=_list(_entry(Renamed)),
        reordered=_list(_entry(Reordered)),
    )


SCHEMAS: Final[Mapping[str, Callable[[], Schema]]] = {
    "event": lambda: msgspec.json.schema(AnyEvent),
    "heads": lambda: msgspec.json.schema(dict[Name, Head]),
    "graph": lambda: msgspec.json.schema(PlanGraph),
    "observation": lambda: msgspec.json.schema(Observed),
    "signal": lambda: msgspec.json.schema(Signal),
    "score": _score,
    "verify": _verify,
    "counterfactual": _counterfactual,
    "rank": _rank,
    "triage": _triage,
    "compare": _compare,
    "gate": _gate,
    "judge": _judge,
    "agree": _agree,
    "criteria": _criteria,
    "criteria-verify": _criteria_verify,
    "criteria-proposal": _criteria_proposal,
    "report": _report,
    "graph-diff": _graph_diff,
    "memory": _memory,
    "memory-queue": _memory_queue,
    "memory-preview": _memory_preview,
    "memory-apply": _memory_apply,
    "memory-verify": _memory_verify,
}
"""By name: ledger lines, heads sidecars, plan graphs, lines of a memory and of its queue; then the ``--json``
documents."""


def _document(schema: str, *, optional: Mapping[str, Schema] | None = None, **properties: Schema) -> Schema:
    whole = _object(schema={"const": schema}, **properties)
    whole["properties"] |= optional or {}
    return whole


def _object(**properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _values(of: Schema) -> Schema:
    return {"type": "object", "additionalProperties": of}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


@cache
def _finding() -> Schema:
    return _object(
        code=TEXT,
        severity={"enum": ["error", "warning", "note"]},
        message=TEXT,
        file=_or_null(TEXT),
        line=_or_null(COUNT),
        run=_or_null(TEXT),
        hint=TEXT,
    )


def _findings() -> Schema:
    return _list(_finding())


def _entry(kind: type[DataclassInstance | msgspec.Struct], **more: Schema) -> Schema:
    """What the documents make of an object: flat fields, and a reason beside what may be unscored."""
    flat = {name: hint for name, hint in flat_fields(kind).items() if name not in more}
    entry = _object(**{name: _type(hint) for name, hint in flat.items()}, **more)
    unscored = [name for name, hint in flat.items() if Unscored in get_args(hint)]
    entry["properties"] |= {f"{name}_reason": TEXT for name in unscored}
    return entry


def _type(hint: Any) -> Schema:
    origin, args = get_origin(hint), get_args(hint)
    if hint is Unscored:
        return {"type": "null"}
    if origin is Annotated:
        return _type(args[0])
    if origin is Literal:
        return {"enum": list(args)}
    if origin is tuple:
        return _list(_type(args[0]))
    if origin in (Union, UnionType):
        parts = [_type(part) for part in args]
        return {"anyOf": [part for i, part in enumerate(parts) if part not in parts[:i]]}
    return {"type": _SCALARS[hint]}
