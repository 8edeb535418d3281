"""Criteria, their values and what the verifier found, as tables and as documents (§8)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from untaken.answers.documents import Document, entry, finding_entries
from untaken.answers.frame import Columns, count, figure, frame, text, truth, why
from untaken.criteria import (
    AttackTest,
    Criterion,
    CriterionAgreement,
    CriterionCheck,
    CriterionMeans,
    OutcomeMean,
    Quantified,
    QuantifierRun,
    Verification,
    across_runs,
    criterion_means,
    outcome_means,
)
from untaken.errors import Finding, Unscored

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True)
class _ValueRow:
    """One value: the result of one pass for a run and a criterion."""

    by: QuantifierRun
    item: Quantified
    criterion: Criterion

    @property
    def level(self) -> int | None:
        value = self.item.values.get(self.criterion.name)
        return value.level if value else None

    @property
    def text(self) -> str | None:
        value = self.item.values.get(self.criterion.name)
        return value.text if value else None

    @property
    def reason(self) -> str | None:
        if self.level is not None:
            return None
        if self.text is not None:
            return "none of the accepted values"
        why_not = self.item.unscored.get(self.criterion.name) or self.item.unparseable
        return why_not or "the reply leaves it out"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tested:
    """One cell of the criterion × attack matrix."""

    name: str
    test: AttackTest


VALUES: Final[Columns[_ValueRow]] = {
    "pass": text("name of the pass", "by.name"),
    "by": text("recorded, ledger, or the model", "by.by"),
    "seed": count("seed of the pass", "by.seed"),
    "subject": text("content digest of the run, or name of the recorded problem", "item.subject"),
    "run_id": text("the run's own id", lambda row: row.item.run_id or None),
    "agent": text("name of the agent", lambda row: row.item.agent or None),
    "task_id": text("the task", lambda row: row.item.task_id or None),
    "success": truth("the recorded outcome", "item.success"),
    "criterion": text("name of the criterion", "criterion.name"),
    "value": text("the value as it was given", "text"),
    "level": count("place among the accepted values, 0 is worst", "level"),
    "level_reason": text("why level is unscored", "reason"),
}
"""Columns of `values_table`."""

OUTCOME_MEANS: Final[Columns[OutcomeMean]] = {
    "criterion": text("name of the criterion", "name"),
    "agent": text("name of the agent; empty over all agents", lambda row: row.agent or None),
    "success": truth("the recorded outcome of these runs", "success"),
    "n": count("runs with a value", "n"),
    "mean": figure("mean level over runs, 0 is worst; of a run, the mean over passes", "mean"),
    "low": figure("lower end of its 95% interval", "low"),
    "high": figure("upper end of its 95% interval", "high"),
    "low_reason": why("low", "low"),
    "best": count("the best level", "top"),
}
"""Columns of `outcome_means_table`."""

VERIFICATION: Final[Columns[CriterionCheck]] = {
    "criterion": text("name of the criterion", "name"),
    "keep": truth("stable, discriminating and not redundant", "keep"),
    "reason": text("why, with the numbers", "reason"),
    "stable": truth("stable over passes", "stability.stable"),
    "deterministic": truth("computed the same way every time", "stability.deterministic"),
    "cv": figure("coefficient of variation, mean over runs", "stability.cv"),
    "cv_reason": why("cv", "stability.cv"),
    "sd": figure("population sd over passes in levels, mean over runs", "stability.sd"),
    "sd_share": figure("the same as a share of the scale", "stability.sd_share"),
    "alpha": figure("Krippendorff's α, ordinal", "stability.alpha"),
    "alpha_reason": why("alpha", "stability.alpha"),
    "passes": count("passes", "stability.passes"),
    "discriminates": truth("tells good from bad", "discrimination.discriminates"),
    "success_n": count("successful runs with a value", "discrimination.separation.success_n"),
    "failed_n": count("failed runs with a value", "discrimination.separation.failed_n"),
    "gap": figure("success mean − failed mean, in levels", "discrimination.separation.gap"),
    "superiority": figure(
        "chance that a success has the higher level, ties half", "discrimination.separation.superiority"
    ),
    "low": figure("lower end of its 95% interval", "discrimination.separation.low"),
    "high": figure("upper end of its 95% interval", "discrimination.separation.high"),
    "p": figure("two-sided permutation p", "discrimination.separation.p"),
    "superiority_reason": why("superiority", "discrimination.separation.superiority"),
    "notices": text("disturbances that it notices", lambda row: _attacks(row, detected=True)),
    "rewards": text("disturbances that it rewards", lambda row: _attacks(row, detected=False)),
    "redundant_with": text("the kept criterion that it repeats", "redundant_with"),
    "correlation": figure("rank correlation with it", "correlation"),
}
"""Columns of `verification_table`."""

ATTACK_TESTS: Final[Columns[_Tested]] = {
    "criterion": text("name of the criterion", "name"),
    "attack": text("how the runs were disturbed", "test.attack"),
    "n": count("runs with a value before and after", "test.n"),
    "worse": count("of them, lost level by it", "test.wins"),
    "equal": count("of them, kept their level", "test.ties"),
    "better": count("of them, gained level by it", "test.losses"),
    "win_rate": figure("(worse + half of equal) / n", "test.win_rate"),
    "low": figure("lower end of its 95% interval", "test.low"),
    "high": figure("upper end of its 95% interval", "test.high"),
    "p": figure("one-sided sign test", "test.p"),
    "drop": figure("mean loss of level", "test.drop"),
    "win_rate_reason": why("win_rate", "test.win_rate"),
    "detected": truth("noticed, after correction for all attacks", "test.detected"),
}
"""Columns of `attacks_table`."""


def values_table(passes: Iterable[QuantifierRun]) -> pd.DataFrame:
    """One row a pass, run and criterion (columns: `VALUES`)."""
    rows = (
        _ValueRow(by=run, item=item, criterion=c)
        for run in passes
        for item in run.items
        for c in run.criteria
    )
    return frame(VALUES, rows)


def outcome_means_table(passes: Sequence[QuantifierRun], *, by_agent: bool = False) -> pd.DataFrame:
    """One row per criterion and outcome, and per agent if requested (columns: `OUTCOME_MEANS`)."""
    return frame(OUTCOME_MEANS, outcome_means(passes, by_agent=by_agent))


def verification_table(found: Verification) -> pd.DataFrame:
    """One row per criterion (columns: `VERIFICATION`)."""
    return frame(VERIFICATION, found.criteria)


def attacks_table(found: Verification) -> pd.DataFrame:
    """One row per criterion and attack (columns: `ATTACK_TESTS`)."""
    tests = (_Tested(name=c.name, test=test) for c in found.criteria for test in c.discrimination.attacks)
    return frame(ATTACK_TESTS, tests)


def _attacks(check: CriterionCheck, *, detected: bool) -> str | None:
    tests = check.discrimination.attacks
    return ", ".join(t.attack for t in tests if (t.detected if detected else t.rewarded)) or None


def criteria_document(
    passes: Sequence[QuantifierRun],
    *,
    runs: bool = False,
    people: Iterable[CriterionAgreement] | None = None,
    findings: Iterable[Finding] = (),
) -> Document:
    """``untaken.criteria/1``: what quantifiers said, by pass and over passes.

    Args:
        passes: of one quantifier or several.
        runs: list the values of each run too.
        people: the passes against people's values, where there are any.
        findings: what was noticed.
    """
    document: Document = {
        "schema": "untaken.criteria/1",
        "quantifier_runs": [_pass(one) for one in passes],
        "across_runs": {a.name: _without(entry(a), "name") for a in across_runs(passes)},
    }
    if runs:
        document["runs"] = [_values(one, item) for one in passes for item in one.items]
    if people is not None:
        document["against_people"] = [
            entry(one) | {"confusion": [entry(cell) for cell in one.confusion]} for one in people
        ]
    return document | {"findings": finding_entries(findings)}


def _pass(one: QuantifierRun) -> dict[str, Any]:
    return {
        "run": one.name,
        "by": one.by,
        "seed": one.seed,
        "deterministic": one.deterministic,
        "problems": len(one.items),
        "criteria": [
            _means(means, criterion, one)
            for means, criterion in zip(criterion_means(one), one.criteria, strict=True)
        ],
        "unparseable": list(one.unparseable),
    }


def _means(means: CriterionMeans, criterion: Criterion, one: QuantifierRun) -> dict[str, Any]:
    return entry(means) | {
        "accepted_values": list(criterion.accepted_values),
        "unscored": sum(criterion.name in item.unscored for item in one.items),
        "out_of_vocabulary": dict(means.out_of_vocabulary),
    }


def _values(one: QuantifierRun, item: Quantified) -> dict[str, Any]:
    return {
        "run": one.name,
        "subject": item.subject,
        "run_id": item.run_id,
        "agent": item.agent,
        "task_id": item.task_id,
        "success": item.success,
        "values": {name: value.text for name, value in item.values.items()},
        "levels": {name: value.level for name, value in item.values.items()},
        "unscored": dict(item.unscored),
        "unparseable": item.unparseable,
    }


def criteria_verify_document(found: Verification, *, findings: Iterable[Finding] = ()) -> Document:
    """``untaken.criteria-verify/1``: which criteria to keep, and why."""
    return {
        "schema": "untaken.criteria-verify/1",
        "passes": found.passes,
        "subjects": found.subjects,
        "attacks": list(found.attacks),
        "thresholds": entry(found.thresholds),
        "kept": list(found.kept),
        "criteria": [_check(check) for check in found.criteria],
        "findings": finding_entries(findings),
    }


def _check(check: CriterionCheck) -> dict[str, Any]:
    found, drop = check.discrimination, check.discrimination.drop
    done = {"drop": None, "drop_reason": drop.reason} if isinstance(drop, Unscored) else {"drop": entry(drop)}
    discrimination = entry(found) | {
        "separation": entry(found.separation),
        **done,
        "attacks": [entry(test) for test in found.attacks],
    }
    return entry(check) | {"stability": entry(check.stability), "discrimination": discrimination}


def _without(fields: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key != name}
