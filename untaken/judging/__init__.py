"""Agent-as-a-judge on the plan: one localised question a sub-goal, with evidence that is checked (§6)."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from untaken.judging.agreement import AgreementEstimate, VerdictAgreement, VerdictPair, verdict_agreement
from untaken.judging.judge import author, findings_of, judge_run, settle, verdict_events
from untaken.judging.labelled import LabelledRate, LabelledRates
from untaken.judging.mapping import JudgedMapping, judge_mapping, mapping_events
from untaken.judging.model import Citation, JudgeAnswer, JudgeReport, NodeVerdict, WhyUnscored
from untaken.judging.prompt_injection import Addressing, addresses_judge, texts_to_judges
from untaken.judging.questions import questions_of
from untaken.judging.reviewer_pairs import ReviewerPair, reviewer_pairs
from untaken.judging.reviewers import Reliability, ReviewedSubGoal, Reviewers, reviewers_agreement
from untaken.judging.trust import (
    LEAST_KAPPA,
    JudgeDifference,
    JudgeTrust,
    distrusted,
    judge_differences,
    judge_trust,
)

if TYPE_CHECKING:
    from untaken.judging.labelling import labelled_rates

__all__ = [
    "LEAST_KAPPA",
    "Addressing",
    "AgreementEstimate",
    "Citation",
    "JudgeAnswer",
    "JudgeDifference",
    "JudgeReport",
    "JudgeTrust",
    "JudgedMapping",
    "LabelledRate",
    "LabelledRates",
    "NodeVerdict",
    "Reliability",
    "ReviewedSubGoal",
    "ReviewerPair",
    "Reviewers",
    "VerdictAgreement",
    "VerdictPair",
    "WhyUnscored",
    "addresses_judge",
    "author",
    "distrusted",
    "findings_of",
    "judge_differences",
    "judge_mapping",
    "judge_run",
    "judge_trust",
    "labelled_rates",
    "mapping_events",
    "questions_of",
    "reviewer_pairs",
    "reviewers_agreement",
    "settle",
    "texts_to_judges",
    "verdict_agreement",
    "verdict_events",
]


def __getattr__(name: str) -> Any:
    """Loads what computes, and NumPy with it, when it is first asked for."""
    if name != "labelled_rates":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.labelling").labelled_rates
