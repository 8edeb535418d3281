"""JSON Schemas of the files and documents, derived from the types they are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, get_args

import msgspec

from untaken.answers import crafter_schemas, criteria_schemas, review_schemas
from untaken.answers.documents import LAYERED
from untaken.answers.exporting import export_schema
from untaken.answers.issues import issues_schema, reopened_shape
from untaken.answers.mode_analysis import modes_schema
from untaken.answers.modes import MODE_SCHEMAS
from untaken.answers.rankings import RANKS, RULE_RANKS
from untaken.answers.shapes import (
    COUNT,
    TEXT,
    Schema,
    document,
    entry_shape,
    findings,
    fixed,
    list_of,
    or_null,
    values_of,
)
from untaken.comparing import AlignedRow, Cell, ComparedRun, Divergence, OutcomeSplit, SideBySide, Split
from untaken.counterfactual import (
    Alternative,
    Balance,
    Decision,
    Influence,
    Insight,
    OffPolicyContrast,
    Placebo,
    RunEvaluation,
    Signal,
    Summary,
    Weights,
)
from untaken.discovery import Alternatives, FoundSubGoal, Support
from untaken.errors import UntakenError
from untaken.fix_first import FixFirst
from untaken.fix_first.model import Way
from untaken.gate import GateCheck, MissedSubGoal
from untaken.judging import (
    AgreementEstimate,
    JudgeDifference,
    JudgedMapping,
    JudgeTrust,
    LabelledRate,
    LabelledRates,
    NodeVerdict,
    VerdictPair,
)
from untaken.ledger import AnyEvent, Head
from untaken.ledger.events import Name
from untaken.memory import Difference, Effect, Observed, Record, ValueRange
from untaken.plans import PlanGraph
from untaken.plans.diff import ChangedSubGoal, Edge, Renamed, Reordered
from untaken.ranking import (
    Agreement,
    Contradiction,
    DiscordantPair,
    PairedDifference,
    PassK,
    QuadrantPoint,
    RankedAgent,
    RuleChange,
    RuleFlip,
    RunContribution,
    SubGoalGap,
    TaskGap,
    WorkflowVerdict,
)
from untaken.sequential import SequentialCheck
from untaken.subgoals import AgentScore, FieldDifference, RunScore, Violation
from untaken.subgoals.model import ScoreDetail

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def json_schema(name: str) -> Schema:
    """The JSON Schema (draft 2020-12) of a file or document.

    Args:
        name: one of `SCHEMAS`.

    Raises:
        UntakenError: ``schema-unknown``.
    """
    if name not in SCHEMAS:
        raise UntakenError("schema-unknown", f"no schema {name!r}", hint=f"One of: {', '.join(SCHEMAS)}.")
    return {"$schema": DIALECT, "title": f"untaken {name}"} | SCHEMAS[name]()


def _score() -> Schema:
    failed = fixed(
        missed={"enum": ["agent", "mapping", None]},
        nearest=or_null(COUNT),
        differences=list_of(entry_shape(FieldDifference)),
    )
    run = entry_shape(
        RunScore,
        ScoreDetail,
        status=values_of(TEXT),
        reasons=values_of(TEXT),
        failed_checks=values_of(failed),
        violations=list_of(entry_shape(Violation)),
        extra=list_of(COUNT),
    )
    unscored = fixed(run_id=TEXT, digest=TEXT, reason=TEXT)
    return document(
        "untaken.score/1",
        optional={"runs": list_of(run)},
        missing={"enum": ["fail", "drop"]},
        verdicts=list_of(TEXT),
        agents=list_of(entry_shape(AgentScore)),
        unscored_runs=list_of(unscored),
        findings=findings(),
    )


def _verify() -> Schema:
    run = fixed(
        run_id=TEXT,
        verdict={"enum": ["INTACT", "UNANCHORED", "TRUNCATED", "ALTERED", "MALFORMED"]},
        line=or_null(COUNT),
        column=or_null(COUNT),
        reason=TEXT,
        events=COUNT,
        sha256=or_null(TEXT),
        file=TEXT,
    )
    return document("untaken.verify/1", runs=list_of(run), verdicts=values_of(COUNT), findings=findings())


def _counterfactual() -> Schema:
    from untaken.answers.plan_decisions import plan_schema  # noqa: PLC0415 (loads numpy and scipy)

    branch = entry_shape(Alternative)
    branch["required"] = [key for key in branch["required"] if key not in LAYERED]
    decision = entry_shape(Decision, alternatives=list_of(branch))
    run = entry_shape(RunEvaluation, decisions=list_of(decision), notes=findings())
    diagnostics = fixed(
        placebo=entry_shape(Placebo),
        balance=list_of(entry_shape(Balance)),
        influence=list_of(entry_shape(Influence)),
        contrasts=list_of(entry_shape(OffPolicyContrast)),
    )
    return document(
        "untaken.counterfactual/1",
        optional={"diagnostics": diagnostics, "plan": plan_schema()},
        weights=entry_shape(Weights),
        threshold={"type": "number"},
        runs=list_of(run),
        insights=list_of(entry_shape(Insight)),
        signals=list_of(entry_shape(Signal)),
        summary=entry_shape(Summary, codes=values_of(COUNT)),
        findings=findings(),
    )


def _rank() -> Schema:
    ranked = entry_shape(RankedAgent)
    ranked["properties"] |= {f"{rank}_reason": TEXT for rank in RANKS}
    change = entry_shape(RuleChange)
    change["properties"] |= {f"{rank}_reason": TEXT for rank in RULE_RANKS}
    workflow = entry_shape(
        WorkflowVerdict,
        gap=entry_shape(PairedDifference),
        sub_goals=list_of(entry_shape(SubGoalGap)),
        tasks=list_of(entry_shape(TaskGap)),
    )
    return document(
        "untaken.rank/1",
        optional={
            "rule": fixed(changes=list_of(change), flips=list_of(entry_shape(RuleFlip))),
            "labels": _labels(),
        },
        missing={"enum": ["fail", "drop"]},
        metrics=values_of(list_of(ranked)),
        agreement=list_of(entry_shape(Agreement)),
        discordant=list_of(entry_shape(DiscordantPair, runs=list_of(entry_shape(RunContribution)))),
        contradictions=list_of(entry_shape(Contradiction)),
        pairs=list_of(entry_shape(PairedDifference)),
        ties=values_of(list_of(list_of(TEXT))),
        pass_k=list_of(entry_shape(PassK)),
        quadrants=list_of(entry_shape(QuadrantPoint)),
        workflows=list_of(workflow),
        shared_tasks=list_of(TEXT),
        unmatched_tasks=list_of(TEXT),
        findings=findings(),
    )


def _triage() -> Schema:
    number = {"type": "number"}
    item = entry_shape(
        FixFirst,
        often=fixed(count=COUNT, n=COUNT, share=number, low=number, high=number),
        runs=list_of(fixed(run_id=TEXT, digest=TEXT, decision_point=or_null(COUNT))),
        agents=values_of(COUNT),
    )
    often = fixed(count=COUNT, n=COUNT, share=number, low=number, high=number)
    pattern = fixed(
        subject=TEXT,
        way={"enum": list(get_args(Way))},
        tasks=COUNT,
        sub_goals=COUNT,
        arguments=values_of(COUNT),
        often=often,
        gain=number,
        low=number,
        high=number,
        unit={"enum": ["critical completion", "completion"]},
        reason=TEXT,
        runs=list_of(fixed(run_id=TEXT, digest=TEXT, sub_goal=TEXT)),
        agents=values_of(COUNT),
    )
    way = fixed(
        situation=TEXT,
        option=TEXT,
        against=TEXT,
        difference=number,
        q=number,
        words=TEXT,
        often=often,
        gain=number,
        low=number,
        high=number,
        runs=list_of(fixed(run_id=TEXT, digest=TEXT, seq=COUNT)),
        agents=values_of(COUNT),
    )
    return document(
        "untaken.triage/1",
        missing={"enum": ["fail", "drop"]},
        verdicts=list_of(TEXT),
        agents=list_of(TEXT),
        scored=COUNT,
        unscored=COUNT,
        evaluated=COUNT,
        not_evaluated=COUNT,
        harmless=COUNT,
        found=COUNT,
        found_contradictions=COUNT,
        order=TEXT,
        reason=TEXT,
        items=list_of(item),
        patterns=list_of(pattern),
        conflicts=list_of(fixed(sub_goal=TEXT, decision=TEXT, words=TEXT)),
        better_ways=list_of(way),
        contradictions=list_of(entry_shape(Contradiction)),
        findings=findings(),
    )


def _compare() -> Schema:
    cell = entry_shape(Cell, tools=values_of(COUNT))
    whole = entry_shape(
        SideBySide,
        runs=list_of(entry_shape(ComparedRun)),
        rows=list_of(entry_shape(AlignedRow, cells=list_of(cell))),
        partings=list_of(entry_shape(Divergence, splits=list_of(entry_shape(Split)))),
        outcome_splits=list_of(entry_shape(OutcomeSplit)),
    )
    return document(
        "untaken.compare/1",
        missing={"enum": ["fail", "drop"]},
        verdicts=list_of(TEXT),
        findings=findings(),
        **whole["properties"],
    )


def _gate() -> Schema:
    return document(
        "untaken.gate/1",
        met={"type": "boolean"},
        on={"enum": ["point", "interval"]},
        missing={"enum": ["fail", "drop"]},
        verdicts=list_of(TEXT),
        checks=list_of(entry_shape(GateCheck, missed=list_of(entry_shape(MissedSubGoal)))),
        sequential=list_of(entry_shape(SequentialCheck)),
        issues=list_of(reopened_shape()),
        findings=findings(),
    )


def _memory() -> Schema:
    return document(
        "untaken.memory/1",
        optional={"cost_reason": TEXT, "steps_reason": TEXT},
        as_of=or_null(TEXT),
        digest=TEXT,
        observations=COUNT,
        runs=COUNT,
        cost_unit=or_null(TEXT),
        cost=or_null(entry_shape(ValueRange)),
        steps=or_null(entry_shape(ValueRange)),
        records=list_of(entry_shape(Record)),
        findings=findings(),
    )


def _memory_queue() -> Schema:
    return document(
        "untaken.memory-queue/1",
        queued=COUNT,
        applied=COUNT,
        waiting=list_of(entry_shape(Signal)),
        findings=findings(),
    )


def _memory_preview() -> Schema:
    signal, effect = entry_shape(Signal), entry_shape(Effect)
    both = effect | {"properties": signal["properties"] | effect["properties"]}
    both["required"] = [*signal["required"], *effect["required"]]
    return document("untaken.memory-preview/1", digest=TEXT, effects=list_of(both))


def _memory_apply() -> Schema:
    left_out = ("context_layers", "task_id", "agent")  # a weak one has neither, and the finest layer alone
    weak = entry_shape(Observed, **dict.fromkeys(left_out, TEXT))
    for name in left_out:
        del weak["properties"][name]
        weak["required"].remove(name)
    applied, waiting = list_of(weak), list_of(entry_shape(Signal))
    return document("untaken.memory-apply/1", digest=TEXT, applied=applied, waiting=waiting)


def _memory_verify() -> Schema:
    return document(
        "untaken.memory-verify/1",
        same={"type": "boolean"},
        digest=TEXT,
        observations=COUNT,
        differences=list_of(entry_shape(Difference)),
        findings=findings(),
    )


def _judge() -> Schema:
    verdict = entry_shape(NodeVerdict, evidence=list_of(fixed(seq=COUNT, quote=TEXT)))
    mapping = entry_shape(JudgedMapping, actions=list_of(fixed(seq=COUNT, sub_goal=TEXT)))
    return document(
        "untaken.judge/1",
        model=TEXT,
        verdicts=list_of(verdict),
        mappings=list_of(mapping),
        findings=findings(),
    )


def _agree() -> Schema:
    estimate = entry_shape(AgreementEstimate)
    return document(
        "untaken.agree/1",
        a=list_of(TEXT),
        b=list_of(TEXT),
        cluster={"enum": ["task", "run"]},
        left_out=COUNT,
        overall=estimate,
        agents=list_of(estimate),
        sub_goals=list_of(estimate),
        disagreements=list_of(entry_shape(VerdictPair)),
        everybody=review_schemas.reviewers(),
        judges=list_of(entry_shape(JudgeTrust)),
        differences=list_of(entry_shape(JudgeDifference)),
        labels=_labels(),
        findings=findings(),
    )


def _labels() -> Schema:
    """Rates from a few labels and a judge."""
    return entry_shape(LabelledRates, rates=list_of(entry_shape(LabelledRate)))


def _report() -> Schema:
    return document(
        "untaken.report/1",
        file=TEXT,
        bytes=COUNT,
        sha256=TEXT,
        full={"type": "boolean"},
        runs=COUNT,
        digest=TEXT,
        findings=findings(),
    )


def _graph_diff() -> Schema:
    version = fixed(file=TEXT, id=TEXT, version={"type": "integer"}, title=TEXT)
    change = list_of(fixed(field=TEXT, before={}, after={}))
    named = list_of(fixed(sub_goal=TEXT, title=TEXT))
    return document(
        "untaken.graph-diff/1",
        before=version,
        after=version,
        equal={"type": "boolean"},
        fields=change,
        added=named,
        removed=named,
        changed=list_of(entry_shape(ChangedSubGoal, fields=change)),
        edges_added=list_of(entry_shape(Edge)),
        edges_removed=list_of(entry_shape(Edge)),
        renamed=list_of(entry_shape(Renamed)),
        reordered=list_of(entry_shape(Reordered)),
    )


def _graph_discover() -> Schema:
    number, found, edge = {"type": "number"}, entry_shape(FoundSubGoal), entry_shape(Support)
    return document(
        "untaken.graph-discover/1",
        graph=TEXT,
        version={"type": "integer"},
        current=or_null({"type": "integer"}),
        theta=number,
        min_share=number,
        min_runs=COUNT,
        runs=COUNT,
        agents=values_of(COUNT),
        left_out=values_of(COUNT),
        unmapped=COUNT,
        sub_goals=list_of(found),
        rare=list_of(found),
        edges=list_of(edge),
        dropped=list_of(edge),
        implied=list_of(edge),
        alternatives=list_of(entry_shape(Alternatives)),
        findings=findings(),
    )


def _workspace_backup() -> Schema:
    return document(
        "untaken.workspace-backup/1", file=TEXT, bytes=COUNT, files=COUNT, rows=COUNT, findings=findings()
    )


def _workspace_restore() -> Schema:
    return document("untaken.workspace-restore/1", folder=TEXT, made_at=TEXT, files=COUNT, rows=COUNT)


def _workspace_doctor() -> Schema:
    state = {"enum": ["ok", "note", "fault"]}
    check = fixed(name=TEXT, state=state, message=TEXT, hint=TEXT, files=list_of(TEXT))
    rebuilt = or_null(fixed(folder=TEXT, ledgers=COUNT, graphs=COUNT, findings=findings()))
    return document(
        "untaken.workspace-doctor/1", healthy={"type": "boolean"}, checks=list_of(check), rebuilt=rebuilt
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
    "review": review_schemas.review,
    "modes": modes_schema,
    "issues": issues_schema,
    **MODE_SCHEMAS,
    "criteria": criteria_schemas.criteria,
    "criteria-verify": criteria_schemas.criteria_verify,
    "criteria-proposal": criteria_schemas.criteria_proposal,
    "crafter-score": crafter_schemas.score,
    "crafter-run": crafter_schemas.run,
    "crafter-ablation": crafter_schemas.ablation,
    "crafter-win": crafter_schemas.win,
    "crafter-calibrate": crafter_schemas.calibration,
    "planning": crafter_schemas.planning,
    "report": _report,
    "export": export_schema,
    "graph-diff": _graph_diff,
    "graph-discover": _graph_discover,
    "memory": _memory,
    "memory-queue": _memory_queue,
    "memory-preview": _memory_preview,
    "memory-apply": _memory_apply,
    "memory-verify": _memory_verify,
    "workspace-backup": _workspace_backup,
    "workspace-restore": _workspace_restore,
    "workspace-doctor": _workspace_doctor,
}
"""By name: ledger lines, heads sidecars, plan graphs, lines of a memory and of its queue; then the ``--json``
documents."""
