"""The JSON document of counterfactual evaluations (§2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final

from msgspec import UNSET, UnsetType

from untaken.counterfactual import (
    Alternative,
    Decision,
    Diagnostics,
    Influence,
    Insight,
    RunEvaluation,
    ScoreParts,
    Signal,
    Summary,
    Weights,
    summarise,
    summary_mapping,
)
from untaken.errors import Finding, number
from untaken.views.documents import Document, Keys, Part, entry
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


def _successes(found: ScoreParts) -> float:
    # A mean times n is a whole number except for its last digits.
    return round(found.success.n_alternative * (number(found.success.alternative) or 0.0), 6)


def _run_success(found: ScoreParts) -> float:
    return number(found.success.selected) or 0.0


_PARTS: Final = Keys(
    ScoreParts,
    "successes n=success.n_alternative run_success cost=cost.difference steps=steps.difference words",
    successes=_successes,
    run_success=_run_success,
)
"""What a delta is made of: `successes` of the `n` outcomes of a history, and of the run itself.

`cost` and `steps` are the history's mean minus the run's own.
"""


def _branch_shape() -> Schema:
    whole = shape(Alternative)
    # The document writes the parts of a delta under other keys than the class has.
    whole["properties"]["parts"] = {"anyOf": [shape(_PARTS), {"type": "null"}]}
    whole["properties"]["parts_reason"] = {"type": "string"}
    return whole | {"required": [key for key in whole["required"] if key not in LAYERED]}


def _summary_shape() -> Schema:
    whole = shape(Summary)
    whole["properties"]["codes"]["additionalProperties"]["minimum"] = 0
    return whole


def _plan_shape() -> Schema:
    from untaken.views.plan_decisions import PLAN_DOCUMENT  # noqa: PLC0415 (loads numpy and scipy)

    return shape(PLAN_DOCUMENT)


_CHOICE: Final = Keys(Decision, "* alternatives", alternatives=Sequence[Annotated[Document, _branch_shape]])
_RUN: Final = Keys(RunEvaluation, "* decisions notes", decisions=[_CHOICE])
_DIAGNOSTICS: Final = Keys(
    Diagnostics, "placebo balance influence contrasts", influence=[Keys(Influence, "*")]
)
COUNTERFACTUAL_DOCUMENT: Final = Keys.given(
    schema="untaken.counterfactual/1",
    weights=Weights,
    threshold=float,
    runs=[_RUN],
    insights=[Insight],
    signals=[Signal],
    summary=Annotated[Document, _summary_shape],
    diagnostics=Annotated[Any, _DIAGNOSTICS] | UnsetType,
    plan=Annotated[Document, _plan_shape] | UnsetType,
    findings=[Finding],
)
"""Decision points with the paths not taken, insights and signals."""


def counterfactual_document(
    evaluations: Sequence[RunEvaluation],
    *,
    weights: Weights,
    threshold: float,
    diagnostics: Diagnostics | None = None,
    plan: Part | None = None,
    findings: Sequence[Finding] = (),
) -> Part:
    """The document of `evaluations`.

    `plan` is the `plan_document`, where plan graphs were given.
    """
    return COUNTERFACTUAL_DOCUMENT(
        weights=weights,
        threshold=threshold,
        runs=[
            _RUN(
                one,
                decisions=[
                    _CHOICE(decision, alternatives=[_branch(b) for b in decision.branches])
                    for decision in one.decisions
                ],
            )
            for one in evaluations
        ],
        insights=[insight for one in evaluations for insight in one.insights],
        signals=[signal for one in evaluations for signal in one.signals],
        summary=summary_mapping(summarise(evaluations)),
        diagnostics=UNSET if diagnostics is None else diagnostics,
        plan=UNSET if plan is None else entry(plan),
        findings=findings,
    )


def _branch(branch: Alternative) -> Document:
    """A branch; with a single layer the layer fields are omitted, because they are known."""
    fields = entry(branch) | _parts(branch.parts)
    if branch.levels > 1:
        return fields
    # A reason goes with its value: `pooled_reason` says nothing where there is no `pooled`.
    return {key: value for key, value in fields.items() if key.removesuffix("_reason") not in LAYERED}


def _parts(found: ScoreParts | None) -> Document:
    if found is None:
        return {"parts": None, "parts_reason": "the alternative has no history"}
    return {"parts": entry(_PARTS(found))}
