"""The documents and tables of judges: their verdicts, and how far they agree with people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from untaken import judging
from untaken.analysis import Corpus
from untaken.errors import Finding
from untaken.judging import (
    AgreementEstimate,
    JudgeDifference,
    JudgedMapping,
    JudgePassport,
    JudgeStanding,
    JudgeTrust,
    LabelledRate,
    LabelledRates,
    NodeVerdict,
    Reviewers,
    VerdictAgreement,
    VerdictPair,
    judge_standings,
    judge_trust,
    load_passports,
    measure_judges,
    reviewer_pairs,
    verdict_agreement,
)
from untaken.views.documents import Keys
from untaken.views.frame import Columns, as_facts, count, figure, frame, interval, reasons, text, truth

if TYPE_CHECKING:
    import pandas as pd


JUDGE_DOCUMENT: Final = Keys.given(
    schema="untaken.judge/1", model=str, verdicts=[NodeVerdict], mappings=[JudgedMapping], findings=[Finding]
)
"""Each verdict with its evidence, or why the judge's word does not count.

What it cost is not in it: asked now or read from the reply store, the document is the same.
"""
LABELS: Final = Keys(LabelledRates, "* rates", rates=[LabelledRate])
"""Rates from a few labels and a judge, beside the labels alone and the judge alone."""
REVIEWERS: Final = Keys(Reviewers, "whose overall blind seen sub_goals pairs", pairs=reviewer_pairs)
"""How far several authors of verdicts agree, each of them one rater."""
AGREE_DOCUMENT: Final = Keys(
    VerdictAgreement,
    "a b cluster left_out overall agents sub_goals disagreements everybody judges differences labels"
    " findings",
    schema="untaken.agree/1",
    everybody=REVIEWERS,
    judges=[JudgeTrust],
    differences=[JudgeDifference],
    labels=LABELS,
)
"""How far two authors' verdicts agree, where they part, and the rates they give."""


LABELLED_RATES: Final[Columns[LabelledRate]] = {
    "part": text("`all`, `agent`, `difference` or `sub_goal`", "part"),
    "name": text("which agent or sub-goal", "name"),
    "other": text("of a difference, the second agent", lambda one: one.other or None),
    "graph": text("the plan graph of a sub-goal, where the run names it", lambda one: one.graph or None),
    "value": figure("share met, from what `basis` says", "value", "percent"),
    **interval(shown="percent"),
    "people": figure("share met, from the labels alone", "people", "percent"),
    **interval("people_", shown="percent"),
    "judge": figure("share met, as the judge says", "judge", "percent"),
    "worth": figure("times as many labels would be needed without the judge", "worth"),
    "basis": text("`labels_and_judge`, `labels` (10 to 29 of them) or `none`", "basis"),
    "labels": count("items with a label", "labels"),
    "items": count("items that the judge was asked about", "items"),
    "clusters": count("tasks (or runs) with a label", "clusters"),
    **reasons("value", "low"),
}

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
    **interval(),
    "kappa": figure("Cohen's κ: agreement beyond chance", "kappa"),
    **interval("kappa_"),
    "ac1": figure("Gwet's AC1: agreement beyond chance, also where nearly all is met", "ac1"),
    **interval("ac1_"),
    "prevalence": figure("share of all answers that say met", "prevalence"),
    "clusters": count("tasks (or runs) these come from", "clusters"),
    **reasons("kappa", "low"),
}

DISAGREEMENTS: Final[Columns[VerdictPair]] = {
    **as_facts("agent task_id sub_goal"),
    "a": truth("whether the first author says it was met", "a"),
    "b": truth("whether the second one does", "b"),
    "a_by": text("who the first is", lambda pair: ", ".join(pair.a_by)),
    "b_by": text("who the second is", lambda pair: ", ".join(pair.b_by)),
    "graph": text("the plan graph that the run names", "graph"),
    **as_facts("run_id digest"),
}


def labelled_rates_table(found: LabelledRates) -> pd.DataFrame:
    """Rates of labels and judge: overall, by agent, differences, by sub-goal (columns: `LABELLED_RATES`)."""
    return frame(LABELLED_RATES, found.rates)


def concord_table(agreement: VerdictAgreement) -> pd.DataFrame:
    """How far two authors agree: overall, by agent, by sub-goal with the least first (columns: `CONCORD`)."""
    return frame(CONCORD, (agreement.overall, *agreement.agents, *agreement.sub_goals))


def disagreements_table(agreement: VerdictAgreement) -> pd.DataFrame:
    """Each sub-goal of a run on which the two authors differ (columns: `DISAGREEMENTS`)."""
    return frame(DISAGREEMENTS, agreement.disagreements)


def rates_with_labels(corpus: Corpus) -> LabelledRates:
    """Rates of tasks like the corpus's, from its reviewers' labels and its judges."""
    return judging.labelled_rates(corpus.runs.values(), target="tasks")


def trusted_judges(corpus: Corpus) -> tuple[JudgeTrust, ...]:
    """Which of the corpus's judges agree with its reviewers well enough, overall and by sub-goal."""
    return judge_trust(corpus.runs.values())


def judges_worth(corpus: Corpus, file: Path) -> tuple[JudgeStanding, ...]:
    """Which of the corpus's judges may speak by the passports in a file, if it is there."""
    known = load_passports(file) if file.is_file() else ()
    return judge_standings(corpus.runs.values(), corpus.graphs, known, verdicts=corpus.verdicts)


def measure_corpus(corpus: Corpus, date: str) -> tuple[JudgePassport, ...]:
    """The passports of the corpus's judges, by the labels of its reviewers."""
    return measure_judges(corpus.runs.values(), corpus.graphs, date=date)


def people_and_judges(corpus: Corpus) -> VerdictAgreement:
    """How far the corpus's judges agree with its reviewers."""
    return verdict_agreement(corpus.runs.values())
