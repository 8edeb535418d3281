"""Agent-as-a-judge on the plan: one localised question a sub-goal, with evidence that is checked (§6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from untaken.lazy_imports import imported_on_first_use
from untaken.judging.agreement import (
    AgreementEstimate as AgreementEstimate,
    VerdictAgreement as VerdictAgreement,
    VerdictPair as VerdictPair,
    verdict_agreement as verdict_agreement,
)
from untaken.judging.judge import (
    author as author,
    findings_of as findings_of,
    judge_run as judge_run,
    settle as settle,
    verdict_events as verdict_events,
)
from untaken.judging.labelled import LabelledRate as LabelledRate, LabelledRates as LabelledRates
from untaken.judging.mapping import (
    JudgedMapping as JudgedMapping,
    judge_mapping as judge_mapping,
    mapping_events as mapping_events,
)
from untaken.judging.node_verdict import (
    Citation as Citation,
    JudgeAnswer as JudgeAnswer,
    NodeVerdict as NodeVerdict,
    WhyUnscored as WhyUnscored,
)
from untaken.judging.prompt_injection import (
    addresses_judge as addresses_judge,
    finding_of as finding_of,
    known_texts_to_judges as known_texts_to_judges,
    texts_to_judges as texts_to_judges,
)
from untaken.judging.questions import questions_of as questions_of
from untaken.judging.reviewers import (
    ReviewerPair as ReviewerPair,
    reviewer_pairs as reviewer_pairs,
    Reliability as Reliability,
    ReviewedSubGoal as ReviewedSubGoal,
    Reviewers as Reviewers,
    reviewers_agreement as reviewers_agreement,
)
from untaken.judging.trust import (
    FEWEST_PAIRS as FEWEST_PAIRS,
    LEAST_KAPPA as LEAST_KAPPA,
    JudgeDifference as JudgeDifference,
    JudgeTrust as JudgeTrust,
    distrusted as distrusted,
    judge_differences as judge_differences,
    judge_trust as judge_trust,
    trust_of as trust_of,
)

if TYPE_CHECKING:
    from untaken.judging.labelling import labelled_rates as labelled_rates
    from untaken.judging.passport import JudgePassport as JudgePassport, measure_judges as measure_judges
    from untaken.judging.passport_file import (
        load_passports as load_passports,
        passports_beside as passports_beside,
        save_passports as save_passports,
    )
    from untaken.judging.standing import (
        JudgeStanding as JudgeStanding,
        judge_standings as judge_standings,
        uncalibrated as uncalibrated,
    )

# Rates and passports compute with NumPy, which is slow to load.
__getattr__, __dir__ = imported_on_first_use(__name__)
