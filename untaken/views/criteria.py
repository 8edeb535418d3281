"""Criteria, their values, what the verifier found and a critic proposed, as tables and as documents (§8)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

from msgspec import UNSET, UnsetType

from untaken.errors import Finding
from untaken.judging import (
    AcrossRuns,
    AttackTest,
    ConsolidatedCriterion,
    CriteriaSet,
    Criterion,
    CriterionAgreement,
    CriterionCheck,
    CriterionMeans,
    Discrimination,
    OutcomeMean,
    Proposal,
    Quantified,
    QuantifierRun,
    UniqueCount,
    Value,
    Verification,
    across_runs,
    criterion_means,
    outcome_means,
    unique_by_seeds,
)
from untaken.views.documents import Count, Keys, Part
from untaken.views.frame import Columns, RowWith, as_facts, count, figure, frame, interval, text, truth, why

if TYPE_CHECKING:
    import pandas as pd

    from untaken.ledger import Run


class _ValueRow(NamedTuple):
    """The result of one pass for a run and a criterion."""

    by: QuantifierRun
    item: Quantified
    criterion: Criterion
    value: Value | None


def _why_no_level(row: _ValueRow) -> str | None:
    if row.value is not None:
        return None if row.value.level is not None else "none of the accepted values"
    return row.item.unscored.get(row.criterion.name) or row.item.unparseable or "the reply leaves it out"


VALUES: Final[Columns[_ValueRow]] = {
    "pass": text("name of the pass", "by.name"),
    "by": text("recorded, ledger, or the model", "by.by"),
    "seed": count("seed of the pass", "by.seed"),
    "subject": text("content digest of the run, or name of the recorded problem", "item.subject"),
    "run_id": text("the run's own id", lambda row: row.item.run_id or None),
    "agent": text("name of the agent", lambda row: row.item.agent or None),
    "task_id": text("the task", lambda row: row.item.task_id or None),
    **as_facts("success", at="item."),
    "criterion": text("name of the criterion", "criterion.name"),
    "value": text("the value as it was given", "value?.text"),
    "level": count("place among the accepted values, 0 is worst", "value?.level"),
    "level_reason": text("why level is unscored", _why_no_level),
}

OUTCOME_MEANS: Final[Columns[OutcomeMean]] = {
    "criterion": text("name of the criterion", "name"),
    "agent": text("name of the agent; empty over all agents", lambda row: row.agent or None),
    "success": truth("the recorded outcome of these runs", "success"),
    "n": count("runs with a value", "n"),
    "tasks": count("tasks that they are of", "tasks"),
    "mean": figure(
        "mean over tasks of each task's mean level, 0 is worst; of a run, over passes", "mean", "%.2f"
    ),
    **interval(shown="%.2f"),
    "low_reason": why("low", "low"),
    "best": count("the best level", "top"),
}

VERIFICATION: Final[Columns[CriterionCheck]] = {
    "criterion": text("name of the criterion", "name"),
    "keep": truth("stable, discriminating and not redundant", "keep"),
    "reason": text("why, with the numbers", "reason"),
    "stable": truth("stable over passes", "stability.stable"),
    "deterministic": truth("computed the same way every time", "stability.deterministic"),
    "cv": figure("coefficient of variation, mean over runs", "stability.cv", "%.2f"),
    "cv_reason": why("cv", "stability.cv"),
    "sd": figure("population sd over passes in levels, mean over runs", "stability.sd", "%.2f"),
    "sd_share": figure("the same as a share of the scale", "stability.sd_share", "%.2f"),
    "alpha": figure("Krippendorff's α, ordinal", "stability.alpha", "%.2f"),
    "alpha_reason": why("alpha", "stability.alpha"),
    "passes": count("passes", "stability.passes"),
    "discriminates": truth("tells good from bad", "discrimination.discriminates"),
    "success_n": count("tasks with a value of a successful run", "discrimination.separation.success_n"),
    "failed_n": count("tasks with a value of a failed run", "discrimination.separation.failed_n"),
    "gap": figure("success mean − failed mean, in levels", "discrimination.separation.gap", "%.2f"),
    "superiority": figure(
        "chance that a success has the higher level, ties half",
        "discrimination.separation.superiority",
        "%.2f",
    ),
    **interval(at="discrimination.separation.", shown="%.2f"),
    "p": figure("two-sided permutation p", "discrimination.separation.p", "p"),
    "superiority_reason": why("superiority", "discrimination.separation.superiority"),
    "notices": text("disturbances that it notices", lambda row: _attacks(row, detected=True)),
    "rewards": text("disturbances that it rewards", lambda row: _attacks(row, detected=False)),
    "redundant_with": text("the kept criterion that it repeats", "redundant_with"),
    "correlation": figure("rank correlation with it", "correlation", "%.2f"),
}

ATTACK_TESTS: Final[Columns[RowWith[AttackTest, str]]] = {
    "criterion": text("name of the criterion", "beside"),
    "attack": text("how the runs were disturbed", "row.attack"),
    "n": count("tasks with a run that has a value before and after", "row.n"),
    "worse": count("of them, those whose mean became lower", "row.wins"),
    "equal": count("of them, those whose mean stayed", "row.ties"),
    "better": count("of them, those whose mean became higher", "row.losses"),
    "win_rate": figure("(worse + half of equal) / n", "row.win_rate", "percent"),
    **interval(at="row.", shown="percent"),
    "p": figure("one-sided sign test", "row.p", "p"),
    "drop": figure("mean loss of level", "row.drop", "%.2f"),
    "win_rate_reason": why("win_rate", "row.win_rate"),
    "detected": truth("detected, after correction for all attacks", "row.detected"),
}


def values_table(passes: Iterable[QuantifierRun]) -> pd.DataFrame:
    """One row a pass, run and criterion (columns: `VALUES`)."""
    rows = (
        _ValueRow(run, item, c, item.values.get(c.name))
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
    tests = (RowWith(test, c.name) for c in found.criteria for test in c.discrimination.attacks)
    return frame(ATTACK_TESTS, tests)


def _attacks(check: CriterionCheck, *, detected: bool) -> str | None:
    tests = check.discrimination.attacks
    # None, not an empty text: tables show a missing cell as such.
    return ", ".join(t.attack for t in tests if (t.detected if detected else t.rewarded)) or None


_MEANS: Final = Keys(
    CriterionMeans,
    "* accepted_values unscored out_of_vocabulary",
    accepted_values=[str],
    unscored=Count,
    out_of_vocabulary={str: Count},
)
_PASS: Final = Keys(
    QuantifierRun,
    "run=name by seed deterministic problems criteria unparseable",
    problems=Count,
    criteria=[_MEANS],
)
_QUANTIFIED: Final = Keys(
    Quantified,
    "run subject run_id agent task_id success values levels unscored unparseable",
    run=str,
    values={str: str},
    levels={str: Count | None},
)
_ACROSS: Final = Keys(
    AcrossRuns,
    "runs mean_of_run_gaps mean_within_problem_sd problems runs_ordered_rightly",
    runs=int,
    problems=int,
    runs_ordered_rightly=int,
)
CRITERIA_DOCUMENT: Final = Keys.given(
    schema="untaken.criteria/1",
    quantifier_runs=[_PASS],
    across_runs={str: _ACROSS},
    runs=Sequence[Annotated[Any, _QUANTIFIED]] | UnsetType,
    against_people=Sequence[CriterionAgreement] | UnsetType,
    findings=[Finding],
)
"""What quantifiers said, by pass and over passes."""


def criteria_document(
    passes: Sequence[QuantifierRun],
    *,
    runs: bool = False,
    people: Sequence[CriterionAgreement] | None = None,
    findings: Sequence[Finding] = (),
) -> Part:
    """The document of `passes`; with `runs`, it also lists the values of each run."""
    return CRITERIA_DOCUMENT(
        quantifier_runs=[_pass(one) for one in passes],
        across_runs={one.name: one for one in across_runs(passes)},
        # Left out unless wanted: every run × pass × criterion is most of the document.
        runs=[_values(one, item) for one in passes for item in one.items] if runs else UNSET,
        against_people=UNSET if people is None else people,
        findings=findings,
    )


def _pass(one: QuantifierRun) -> Part:
    return _PASS(
        one,
        problems=len(one.items),
        criteria=[
            _MEANS(
                means,
                accepted_values=criterion.accepted_values,
                unscored=sum(criterion.name in item.unscored for item in one.items),
            )
            for means, criterion in zip(criterion_means(one), one.criteria, strict=True)
        ],
    )


def _values(one: QuantifierRun, item: Quantified) -> Part:
    return _QUANTIFIED(
        item,
        run=one.name,
        values={name: value.text for name, value in item.values.items()},
        levels={name: value.level for name, value in item.values.items()},
    )


_DISCRIMINATION: Final = Keys(Discrimination, "* separation drop attacks")
_CHECK: Final = Keys(CriterionCheck, "* stability discrimination", discrimination=_DISCRIMINATION)
CRITERIA_VERIFY_DOCUMENT: Final = Keys(
    Verification,
    "passes subjects attacks thresholds kept criteria findings",
    schema="untaken.criteria-verify/1",
    criteria=[_CHECK],
)
"""Which criteria to keep, and why."""


_PROPOSED: Final = Keys(
    ConsolidatedCriterion,
    "criterion.name criterion.description criterion.accepted_values criterion.origin criterion.status"
    " criterion.merged proposals least",
    accepted_values=[str],
    status=str,
    merged=[str],
)
PROPOSAL_DOCUMENT: Final = Keys(
    Proposal,
    "model task=criteria.task successful failed by=consolidation.by tau=consolidation.tau"
    " criteria=consolidation.groups answers unanswered unique findings",
    schema="untaken.criteria-proposal/1",
    model=str,
    task=str,
    successful=str | None,
    failed=str | None,
    criteria=[_PROPOSED],
    answers={str: Count},
    unanswered=[str],
    unique=[UniqueCount],
)
"""Criteria that wait for a person, and how they came about.

What it cost is not in it: asked now or read from the reply store, the document is the same.
"""


def proposal_document(
    found: Proposal,
    *,
    model: str,
    successful: Run | None = None,
    failed: Run | None = None,
    findings: Sequence[Finding] = (),
) -> Part:
    """The document of a proposal, made from two runs where they were given."""
    return PROPOSAL_DOCUMENT(
        found,
        model=model,
        successful=successful.run_id if successful else None,
        failed=failed.run_id if failed else None,
        answers={way: len(seeds) for way, seeds in found.answers.items()},
        unique=unique_by_seeds(found.answers, by=found.consolidation.by),
        findings=[*findings, *found.findings],
    )


UNIQUE: Final[Columns[UniqueCount]] = {
    "way": text("`task`: from the task alone; `solution`: from the task and two runs", "way"),
    "tau": figure("cosine above which two criteria are merged; 1 merges equal names only", "tau"),
    "seeds": count("how many seeds were drawn", "seeds"),
    "of": count("how many seeds answered", "of"),
    "mean": figure("different criteria, mean over the draws", "mean"),
    "low": figure("lower end of the middle 95% of the draws", "low"),
    "high": figure("upper end", "high"),
    "draws": count("draws without putting back", "draws"),
}

LISTED: Final[Columns[Criterion]] = {
    "name": text("name of the criterion", "name"),
    "status": text("`accepted`, `proposed` or `rejected`", "status"),
    "description": text("what the criterion measures", "description"),
    "accepted_values": text("from worst to best", lambda c: " < ".join(c.accepted_values)),
    "merged": text("similar criteria merged into it", lambda c: ", ".join(c.merged)),
    "origin": text("`ledger`, `human`, `task`, `solution`, or a file", "origin"),
    "changes": count("changes people made", lambda c: len(c.history)),
}


def unique_table(counts: Sequence[UniqueCount]) -> pd.DataFrame:
    """One row per way of asking, threshold and number of seeds (columns: `UNIQUE`)."""
    return frame(UNIQUE, counts)


def criteria_list(criteria: CriteriaSet) -> pd.DataFrame:
    """One row per criterion of a set, rejected ones too (columns: `LISTED`)."""
    return frame(LISTED, criteria.criteria)
