"""Agent-as-a-judge on the plan: one localised question a sub-goal, with evidence that is checked (§6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from untaken.lazy_imports import imported_on_first_use

# fmt: off


from untaken.judging.agreement import (
    AgreementEstimate as AgreementEstimate, VerdictAgreement as VerdictAgreement, VerdictPair as VerdictPair,
    verdict_agreement as verdict_agreement,
)
from untaken.judging.judge import (
    author as author, findings_of as findings_of, judge_run as judge_run, settle as settle,
    verdict_events as verdict_events,
)
from untaken.judging.labelled import LabelledRate as LabelledRate, LabelledRates as LabelledRates
from untaken.judging.mapping import (
    JudgedMapping as JudgedMapping, judge_mapping as judge_mapping, mapping_events as mapping_events,
)
from untaken.judging.questions import (
    Citation as Citation, JudgeAnswer as JudgeAnswer, NodeVerdict as NodeVerdict, WhyUnscored as WhyUnscored,
)
from untaken.judging.prompt_injection import (
    addresses_judge as addresses_judge, finding_of as finding_of,
    known_texts_to_judges as known_texts_to_judges, texts_to_judges as texts_to_judges,
)
from untaken.judging.questions import questions_of as questions_of
from untaken.judging.reviewers import (
    Reliability as Reliability, ReviewedSubGoal as ReviewedSubGoal, ReviewerPair as ReviewerPair,
    Reviewers as Reviewers, reviewer_pairs as reviewer_pairs, reviewers_agreement as reviewers_agreement,
)
from untaken.judging.trust import (
    FEWEST_PAIRS as FEWEST_PAIRS, LEAST_KAPPA as LEAST_KAPPA, JudgeDifference as JudgeDifference,
    JudgeTrust as JudgeTrust, distrusted as distrusted, judge_differences as judge_differences,
    judge_trust as judge_trust, trust_of as trust_of, unreliable_judges as unreliable_judges,
)

if TYPE_CHECKING:
    from untaken.judging.asking.access import (
        SETTING as SETTING, ModelAccess as ModelAccess, Progress as Progress, Spent as Spent,
    )
    from untaken.judging.asking.question import (
        ModelAnswer as ModelAnswer, Question as Question, Template as Template,
        read_template as read_template,
    )
    from untaken.judging.asking.replies import ReplyStore as ReplyStore
    from untaken.judging.blind_reading import (
        author_of_draft as author_of_draft, has_read as has_read, next_to_read_again as next_to_read_again,
        other_readers as other_readers, unseen as unseen,
    )
    from untaken.judging.criteria import editing as editing
    from untaken.judging.criteria.consolidation import (
        ConsolidatedCriterion as ConsolidatedCriterion, UniqueCount as UniqueCount,
        unique_by_seeds as unique_by_seeds,
    )
    from untaken.judging.criteria.criterion import (
        CriteriaSet as CriteriaSet, Criterion as Criterion, Quantified as Quantified,
        QuantifierRun as QuantifierRun, Value as Value,
    )
    from untaken.judging.criteria.critic import (
        TASK_CHARS as TASK_CHARS, Proposal as Proposal, example_pair as example_pair,
        not_proposed as not_proposed, propose as propose, propose_criteria as propose_criteria,
    )
    from untaken.judging.criteria.deterministic import BY as BY, ledger_criteria as ledger_criteria
    from untaken.judging.criteria.discrimination import (
        AttackTest as AttackTest, BeforeAfter as BeforeAfter, Separation as Separation,
        before_after as before_after, before_after_each as before_after_each, outcomes as outcomes,
        subject_means as subject_means,
    )
    from untaken.judging.criteria.disturb import (
        ATTACKS as ATTACKS, ATTACK_TITLES as ATTACK_TITLES, ATTACK_WORDS as ATTACK_WORDS,
    )
    from untaken.judging.criteria.consolidation import WORDS_IN as WORDS_IN
    from untaken.judging.criteria.files import (
        criteria_bytes as criteria_bytes, load_criteria as load_criteria, save_criteria as save_criteria,
    )
    from untaken.judging.criteria.means import (
        AcrossRuns as AcrossRuns, CriterionMeans as CriterionMeans, OutcomeMean as OutcomeMean,
        across_runs as across_runs, criterion_means as criterion_means, outcome_means as outcome_means,
    )
    from untaken.judging.criteria.people import (
        CriterionAgreement as CriterionAgreement, criteria_against_people as criteria_against_people,
    )
    from untaken.judging.criteria.quantifier import (
        MOST_DISTURBED as MOST_DISTURBED, quantify as quantify, quantify_disturbed as quantify_disturbed,
    )
    from untaken.judging.criteria.recorded import (
        CRITERIA as CRITERIA, REPLIES as REPLIES, join_runs as join_runs,
        read_quantifier_runs as read_quantifier_runs,
    )
    from untaken.judging.criteria.side_by_side import (
        CriterionDifference as CriterionDifference, agents_of as agents_of, compare_agents as compare_agents,
    )
    from untaken.judging.criteria.stability import (
        PassStep as PassStep, Stability as Stability, pass_steps as pass_steps,
    )
    from untaken.judging.criteria.stored_criteria import (
        change_criteria as change_criteria, forget_replies as forget_replies, has_people as has_people,
        keep_answers as keep_answers, kept_answers as kept_answers, kept_criteria as kept_criteria,
        kept_digest as kept_digest, kept_people as kept_people, kept_runs as kept_runs,
        take_in_criteria as take_in_criteria,
    )
    from untaken.judging.criteria.verifier import (
        CriterionCheck as CriterionCheck, Discrimination as Discrimination, Verification as Verification,
        VerifierThresholds as VerifierThresholds, verify_criteria as verify_criteria,
    )
    from untaken.judging.rendering import enveloped as enveloped, nonce_for as nonce_for
    from untaken.judging.labelling import labelled_rates as labelled_rates
    from untaken.judging.questions import UNSCORED_WORDS as UNSCORED_WORDS
    from untaken.judging.passport import (
        Figure as Figure, JudgePassport as JudgePassport, measure_judges as measure_judges,
    )
    from untaken.judging.passport import (
        FILE as FILE, Passports as Passports, load_passports as load_passports,
        passports_beside as passports_beside, save_passports as save_passports,
    )
    from untaken.judging.prompt_injection import RunSearch as RunSearch
    from untaken.judging.rendering import holds as holds
    from untaken.judging.standing import (
        JudgeStanding as JudgeStanding, judge_standings as judge_standings, uncalibrated as uncalibrated,
    )
    from untaken.judging.trust import Trust as Trust
# fmt: on

# Rates and passports compute with NumPy, which is slow to load.
__getattr__, __dir__ = imported_on_first_use(__name__)
