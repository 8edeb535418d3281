"""The documents and tables of judges: their verdicts, and how far they agree with people."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from untaken.answers.documents import Document, entry, finding_entries
from untaken.answers.frame import Columns, count, figure, frame, text, truth, why
from untaken.corpus import Corpus
from untaken.errors import Finding
from untaken.judging import (
    AgreementEstimate,
    JudgeDifference,
    JudgedMapping,
    JudgeTrust,
    LabelledRate,
    LabelledRates,
    NodeVerdict,
    Reviewers,
    VerdictAgreement,
    VerdictPair,
    judge_trust,
    reviewer_pairs,
    verdict_agreement,
)

if TYPE_CHECKING:
    import pandas as pd


def judge_document(
    verdicts: Iterable[NodeVerdict],
    *,
    model: str,
    mappings: Iterable[JudgedMapping] = (),
    findings: Iterable[Finding] = (),
) -> Document:
    """``untaken.judge/1``: each verdict with its evidence, or why the judge's word does not count.

    What it cost is not in it: asked now or read from the reply store, the document is the same.
    """
    return {
        "schema": "untaken.judge/1",
        "model": model,
        "verdicts": [_verdict(verdict) for verdict in verdicts],
        "mappings": [_mapping(mapping) for mapping in mappings],
        "findings": finding_entries(findings),
    }


def _verdict(verdict: NodeVerdict) -> Document:
    evidence = [{"seq": cited.seq, "quote": cited.quote} for cited in verdict.evidence]
    return entry(verdict) | {"evidence": evidence}


def _mapping(mapping: JudgedMapping) -> Document:
    actions = [{"seq": action.seq, "sub_goal": action.sub_goal} for action in mapping.actions]
    return entry(mapping) | {"actions": actions}


def agree_document(
    agreement: VerdictAgreement,
    everybody: Reviewers,
    rates: LabelledRates,
    *,
    trust: Iterable[JudgeTrust] = (),
    differences: Iterable[JudgeDifference] = (),
    findings: Iterable[Finding] = (),
) -> Document:
    """``untaken.agree/1``: how far two authors' verdicts agree, where they part, and the rates they give."""
    return {
        "schema": "untaken.agree/1",
        "a": list(agreement.a),
        "b": list(agreement.b),
        "cluster": agreement.cluster,
        "left_out": agreement.left_out,
        "overall": entry(agreement.overall),
        "agents": [entry(one) for one in agreement.agents],
        "sub_goals": [entry(one) for one in agreement.sub_goals],
        "disagreements": [entry(pair) for pair in agreement.disagreements],
        "everybody": reviewers_document(everybody),
        "judges": [entry(one) for one in trust],
        "differences": [entry(one) for one in differences],
        "labels": labels_document(rates),
        "findings": finding_entries(findings),
    }


def labels_document(found: LabelledRates) -> Document:
    """Rates from a few labels and a judge, beside the labels alone and the judge alone."""
    return entry(found) | {"rates": [entry(one) for one in found.rates]}


def reviewers_document(found: Reviewers) -> Document:
    """How far several authors of verdicts agree, each of them one rater."""
    return {
        "whose": list(found.whose),
        "overall": entry(found.overall),
        "sub_goals": [entry(one) for one in found.sub_goals],
        "pairs": [entry(one) for one in reviewer_pairs(found)],
    }


LABELLED_RATES: Final[Columns[LabelledRate]] = {
    "part": text("`all`, `agent`, `difference` or `sub_goal`", "part"),
    "name": text("which agent or sub-goal", "name"),
    "other": text("of a difference, the second agent", lambda one: one.other or None),
    "graph": text("the plan graph of a sub-goal, where the run names it", lambda one: one.graph or None),
    "value": figure("share met, from labels and judge", "value"),
    "low": figure("lower end of its 95% interval", "low"),
    "high": figure("upper end of its 95% interval", "high"),
    "people": figure("share met, from the labels alone", "people"),
    "people_low": figure("lower end of its 95% interval", "people_low"),
    "people_high": figure("upper end of its 95% interval", "people_high"),
    "judge": figure("share met, as the judge says", "judge"),
    "worth": figure("times as many labels would be needed without the judge", "worth"),
    "tuning": figure("weight of the judge (λ), 0 to 1", "tuning"),
    "labels": count("items with a label", "labels"),
    "items": count("items that the judge was asked about", "items"),
    "clusters": count("tasks (or runs) with a label", "clusters"),
    "value_reason": why("value", "value"),
    "low_reason": why("low", "low"),
}
"""Columns of `labelled_rates_table`."""

CONCORD: Final[Columns[AgreementEstimate]] = {
    "part": text("`all`, `agent` or `sub_goal`", "part"),
    "name": text("which agent or sub-goal", "name"),
    "graph": text("the plan graph of a sub-goal, where the run names it", "graph"),
    "n": count("sub-goals of runs on which both gave a verdict", "n"),
    "both_met": count("both say met", "both_met"),
    "only_a": count("the first says met, the second not met", "only_a"),
    "only_b": count("the second says met, the first not met", "only_b"),
    "both_not": count("both say not met", "both_not"),
    "agreement": figure("share of one opinion", "agreement"),
    "low": figure("lower end of its 95% interval", "low"),
    "high": figure("upper end of its 95% interval", "high"),
    "kappa": figure("Cohen's κ: agreement beyond chance", "kappa"),
    "kappa_low": figure("lower end of its 95% interval", "kappa_low"),
    "kappa_high": figure("upper end of its 95% interval", "kappa_high"),
    "clusters": count("tasks (or runs) these come from", "clusters"),
    "kappa_reason": why("kappa", "kappa"),
    "low_reason": why("low", "low"),
}

DISAGREEMENTS: Final[Columns[VerdictPair]] = {
    "agent": text("name of the agent", "agent"),
    "task_id": text("the task", "task_id"),
    "sub_goal": text("the sub-goal", "sub_goal"),
    "a": truth("whether the first author says it was met", "a"),
    "b": truth("whether the second one does", "b"),
    "a_by": text("who the first is", lambda pair: ", ".join(pair.a_by)),
    "b_by": text("who the second is", lambda pair: ", ".join(pair.b_by)),
    "graph": text("the plan graph that the run names", "graph"),
    "run_id": text("the run", "run_id"),
    "digest": text("content digest of the run, for links", "digest"),
}


def labelled_rates_table(found: LabelledRates) -> pd.DataFrame:
    """Rates from a few labels and a judge: over all, by agent, differences, by sub-goal."""
    return frame(LABELLED_RATES, found.rates)


def concord_table(agreement: VerdictAgreement) -> pd.DataFrame:
    """How far two authors' verdicts agree: over all, by agent, and by sub-goal with the least first."""
    return frame(CONCORD, (agreement.overall, *agreement.agents, *agreement.sub_goals))


def disagreements_table(agreement: VerdictAgreement) -> pd.DataFrame:
    """Each sub-goal of a run on which the two authors part."""
    return frame(DISAGREEMENTS, agreement.disagreements)


def rates_with_labels(corpus: Corpus) -> LabelledRates:
    """Rates of tasks like the corpus's, from its reviewers' labels and its judges."""
    from untaken.judging import labelled_rates  # noqa: PLC0415 (slow: it brings NumPy)

    return labelled_rates(corpus.runs.values(), target="tasks")


def trusted_judges(corpus: Corpus) -> tuple[JudgeTrust, ...]:
    """Which of the corpus's judges agree with its reviewers well enough, overall and by sub-goal."""
    return judge_trust(corpus.runs.values())


def people_and_judges(corpus: Corpus) -> VerdictAgreement:
    """How far the corpus's judges agree with its reviewers."""
    return verdict_agreement(corpus.runs.values())
