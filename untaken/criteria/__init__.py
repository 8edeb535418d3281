"""AgentEval: criteria beyond success, their values for each run, and which of them deserve trust (§8)."""

from untaken.criteria.consolidation import (
    ConsolidatedCriterion,
    Consolidation,
    UniqueCount,
    consolidate,
    unique_by_seeds,
)
from untaken.criteria.critic import Proposal, example_pair, propose, propose_criteria
from untaken.criteria.deterministic import LEDGER_CRITERIA, LedgerCriterion, ledger_criteria, quantify_ledgers
from untaken.criteria.discrimination import (
    AttackTest,
    BeforeAfter,
    Separation,
    before_after,
    subject_means,
)
from untaken.criteria.disturb import ATTACKS, Attack, Disturbed, disturb
from untaken.criteria.files import criteria_bytes, load_criteria, parse_criteria, save_criteria
from untaken.criteria.kept import (
    change_criteria,
    forget_replies,
    keep_answers,
    kept_answers,
    kept_criteria,
    kept_digest,
    kept_runs,
    take_in_criteria,
)
from untaken.criteria.means import (
    AcrossRuns,
    CriterionMeans,
    OutcomeMean,
    across_runs,
    criterion_means,
    outcome_means,
)
from untaken.criteria.model import (
    Change,
    CriteriaSet,
    Criterion,
    Quantified,
    QuantifierRun,
    Value,
    read_value,
)
from untaken.criteria.people import ConfusionCell, CriterionAgreement, criteria_against_people
from untaken.criteria.quantifier import quantify, quantify_disturbed
from untaken.criteria.recorded import join_runs, read_quantifier_runs
from untaken.criteria.side_by_side import CriterionDifference, agents_of, compare_agents
from untaken.criteria.stability import PassStep, Stability, pass_steps
from untaken.criteria.verifier import (
    CriterionCheck,
    Discrimination,
    Verification,
    VerifierThresholds,
    verify_criteria,
)

__all__ = [
    "ATTACKS",
    "LEDGER_CRITERIA",
    "AcrossRuns",
    "Attack",
    "AttackTest",
    "BeforeAfter",
    "Change",
    "ConfusionCell",
    "ConsolidatedCriterion",
    "Consolidation",
    "CriteriaSet",
    "Criterion",
    "CriterionAgreement",
    "CriterionCheck",
    "CriterionDifference",
    "CriterionMeans",
    "Discrimination",
    "Disturbed",
    "LedgerCriterion",
    "OutcomeMean",
    "PassStep",
    "Proposal",
    "Quantified",
    "QuantifierRun",
    "Separation",
    "Stability",
    "UniqueCount",
    "Value",
    "Verification",
    "VerifierThresholds",
    "across_runs",
    "agents_of",
    "before_after",
    "change_criteria",
    "compare_agents",
    "consolidate",
    "criteria_against_people",
    "criteria_bytes",
    "criterion_means",
    "disturb",
    "example_pair",
    "forget_replies",
    "join_runs",
    "keep_answers",
    "kept_answers",
    "kept_criteria",
    "kept_digest",
    "kept_runs",
    "ledger_criteria",
    "load_criteria",
    "outcome_means",
    "parse_criteria",
    "pass_steps",
    "propose",
    "propose_criteria",
    "quantify",
    "quantify_disturbed",
    "quantify_ledgers",
    "read_quantifier_runs",
    "read_value",
    "save_criteria",
    "subject_means",
    "take_in_criteria",
    "unique_by_seeds",
    "verify_criteria",
]
