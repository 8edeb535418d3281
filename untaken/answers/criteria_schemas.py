"""JSON Schemas of the documents about criteria."""

from __future__ import annotations

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
from untaken.criteria import (
    AcrossRuns,
    AttackTest,
    ConfusionCell,
    CriterionAgreement,
    CriterionCheck,
    CriterionMeans,
    Discrimination,
    Separation,
    Stability,
    UniqueCount,
    VerifierThresholds,
)


def criteria() -> Schema:
    """``untaken.criteria/1``."""
    means = entry_shape(
        CriterionMeans, accepted_values=list_of(TEXT), unscored=COUNT, out_of_vocabulary=values_of(COUNT)
    )
    one = fixed(
        run=TEXT,
        by=TEXT,
        seed=COUNT,
        deterministic={"type": "boolean"},
        problems=COUNT,
        criteria=list_of(means),
        unparseable=list_of(TEXT),
    )
    across = entry_shape(AcrossRuns)
    across["properties"].pop("name")
    across["required"].remove("name")
    run = fixed(
        run=TEXT,
        subject=TEXT,
        run_id=TEXT,
        agent=TEXT,
        task_id=TEXT,
        success=or_null({"type": "boolean"}),
        values=values_of(TEXT),
        levels=values_of(or_null(COUNT)),
        unscored=values_of(TEXT),
        unparseable=TEXT,
    )
    against_people = entry_shape(CriterionAgreement, confusion=list_of(entry_shape(ConfusionCell)))
    return document(
        "untaken.criteria/1",
        optional={"runs": list_of(run), "against_people": list_of(against_people)},
        quantifier_runs=list_of(one),
        across_runs=values_of(across),
        findings=findings(),
    )


def criteria_verify() -> Schema:
    """``untaken.criteria-verify/1``."""
    test = entry_shape(AttackTest)
    discrimination = entry_shape(
        Discrimination, separation=entry_shape(Separation), drop=or_null(test), attacks=list_of(test)
    )
    discrimination["properties"]["drop_reason"] = TEXT
    check = entry_shape(CriterionCheck, stability=entry_shape(Stability), discrimination=discrimination)
    return document(
        "untaken.criteria-verify/1",
        passes=COUNT,
        subjects=COUNT,
        attacks=list_of(TEXT),
        thresholds=entry_shape(VerifierThresholds),
        kept=list_of(TEXT),
        criteria=list_of(check),
        findings=findings(),
    )


def criteria_proposal() -> Schema:
    """``untaken.criteria-proposal/1``."""
    proposed = fixed(
        name=TEXT,
        description=TEXT,
        accepted_values=list_of(TEXT),
        origin=TEXT,
        status=TEXT,
        merged=list_of(TEXT),
        proposals=COUNT,
        least=or_null({"type": "number"}),
    )
    return document(
        "untaken.criteria-proposal/1",
        model=TEXT,
        task=TEXT,
        successful=or_null(TEXT),
        failed=or_null(TEXT),
        by={"enum": ["embedding", "words"]},
        tau={"type": "number"},
        criteria=list_of(proposed),
        answers=values_of(COUNT),
        unanswered=list_of(TEXT),
        unique=list_of(entry_shape(UniqueCount)),
        findings=findings(),
    )
