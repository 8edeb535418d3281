"""The JSON document of counterfactual evaluations (§2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

from msgspec import UNSET, UnsetType

from untaken.counterfactual import (
    Alternative,
    Balance,
    Decision,
    Diagnostics,
    Influence,
    Insight,
    OffPolicyContrast,
    Placebo,
    RunEvaluation,
    ScoreParts,
    Signal,
    Summary,
    Weights,
    summarise,
    summary_mapping,
)
from untaken.errors import Finding, Score, number
from untaken.views.documents import Count, Document, DocumentPart, Flat, Spread, entry
from untaken.views.shapes import Schema, shape

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


class DeltaParts(DocumentPart, frozen=True, kw_only=True):
    """What a delta is made of: `successes` of the `n` outcomes of a history, and of the run itself.

    `cost` and `steps` are the history's mean minus the run's own.
    """

    successes: float
    n: Count
    run_success: float
    cost: Score
    steps: Score
    words: str


def _branch_shape() -> Schema:
    whole = shape(Alternative)
    whole["properties"]["parts"] = {"anyOf": [shape(DeltaParts), {"type": "null"}]}
    whole["properties"]["parts_reason"] = {"type": "string"}
    return whole | {"required": [key for key in whole["required"] if key not in LAYERED]}


def _summary_shape() -> Schema:
    whole = shape(Summary)
    whole["properties"]["codes"]["additionalProperties"]["minimum"] = 0
    return whole


def _plan_shape() -> Schema:
    from untaken.views.plan_decisions import PlanDocument  # noqa: PLC0415 (loads numpy and scipy)

    return shape(PlanDocument)


class EvaluatedChoice(DocumentPart, frozen=True, kw_only=True):
    """A decision point with the paths not taken."""

    decision: Spread[Decision]
    alternatives: Sequence[Annotated[Document, _branch_shape]]


class EvaluatedRunEntry(DocumentPart, frozen=True, kw_only=True):
    """A run with its decision points."""

    evaluation: Spread[RunEvaluation]
    decisions: Sequence[EvaluatedChoice]
    notes: Sequence[Finding]


class DiagnosticsEntry(DocumentPart, frozen=True, kw_only=True):
    """How far the comparisons can be trusted."""

    placebo: Placebo
    balance: Sequence[Balance]
    influence: Sequence[Flat[Influence]]
    contrasts: Sequence[OffPolicyContrast]


class CounterfactualDocument(DocumentPart, frozen=True, kw_only=True, tag="untaken.counterfactual/1"):
    """Decision points with the paths not taken, insights and signals."""

    weights: Weights
    threshold: float
    runs: Sequence[EvaluatedRunEntry]
    insights: Sequence[Insight]
    signals: Sequence[Signal]
    summary: Annotated[Document, _summary_shape]
    diagnostics: DiagnosticsEntry | UnsetType = UNSET
    plan: Annotated[Document, _plan_shape] | UnsetType = UNSET
    findings: Sequence[Finding]


def counterfactual_document(
    evaluations: Sequence[RunEvaluation],
    *,
    weights: Weights,
    threshold: float,
    diagnostics: Diagnostics | None = None,
    plan: DocumentPart | None = None,
    findings: Sequence[Finding] = (),
) -> CounterfactualDocument:
    """The document of `evaluations`.

    `plan` is the `plan_document`, where plan graphs were given.
    """
    return CounterfactualDocument(
        weights=weights,
        threshold=threshold,
        runs=[
            EvaluatedRunEntry(
                evaluation=one,
                decisions=[
                    EvaluatedChoice(decision=decision, alternatives=[_branch(b) for b in decision.branches])
                    for decision in one.decisions
                ],
                notes=one.notes,
            )
            for one in evaluations
        ],
        insights=[insight for one in evaluations for insight in one.insights],
        signals=[signal for one in evaluations for signal in one.signals],
        summary=summary_mapping(summarise(evaluations)),
        diagnostics=UNSET if diagnostics is None else DiagnosticsEntry.of(diagnostics),
        plan=UNSET if plan is None else entry(plan),
        findings=findings,
    )


def _branch(branch: Alternative) -> Document:
    """A branch; with a single layer the layer fields are omitted, because they are known."""
    fields = entry(branch) | _parts(branch.parts)
    if branch.levels > 1:
        return fields
    return {key: value for key, value in fields.items() if key.removesuffix("_reason") not in LAYERED}


def _parts(found: ScoreParts | None) -> Document:
    if found is None:
        return {"parts": None, "parts_reason": "the alternative has no history"}
    success = found.success
    parts = entry(
        DeltaParts(
            # A mean times n is a whole number except for its last digits.
            successes=round(success.n_alternative * (number(success.alternative) or 0.0), 6),
            n=success.n_alternative,
            run_success=number(success.selected) or 0.0,
            cost=found.cost.difference,
            steps=found.steps.difference,
            words=found.words,
        )
    )
    return {"parts": parts}
