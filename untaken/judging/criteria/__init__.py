"""AgentEval: criteria beyond success, their values for each run, and which of them deserve trust (§8)."""

# fmt: off
from untaken.judging.criteria.consolidation import (
    UniqueCount as UniqueCount, consolidate as consolidate, unique_by_seeds as unique_by_seeds,
)
from untaken.judging.criteria.criterion import (
    CriteriaSet as CriteriaSet, Criterion as Criterion, Quantified as Quantified,
    QuantifierRun as QuantifierRun, Value as Value, read_value as read_value,
)
from untaken.judging.criteria.critic import (
    Proposal as Proposal, example_pair as example_pair, propose as propose,
    propose_criteria as propose_criteria,
)
from untaken.judging.criteria.deterministic import (
    LEDGER_CRITERIA as LEDGER_CRITERIA, ledger_criteria as ledger_criteria,
)
from untaken.judging.criteria.discrimination import before_after as before_after
from untaken.judging.criteria.disturb import ATTACKS as ATTACKS, Attack as Attack, disturb as disturb
from untaken.judging.criteria.files import (
    load_criteria as load_criteria, parse_criteria as parse_criteria, save_criteria as save_criteria,
)
from untaken.judging.criteria.means import (
    across_runs as across_runs, criterion_means as criterion_means, outcome_means as outcome_means,
)
from untaken.judging.criteria.people import criteria_against_people as criteria_against_people
from untaken.judging.criteria.quantifier import quantify as quantify, quantify_disturbed as quantify_disturbed
from untaken.judging.criteria.recorded import (
    join_runs as join_runs, read_quantifier_runs as read_quantifier_runs,
)
from untaken.judging.criteria.side_by_side import (
    CriterionDifference as CriterionDifference, agents_of as agents_of, compare_agents as compare_agents,
)
from untaken.judging.criteria.stability import pass_steps as pass_steps
from untaken.judging.criteria.stored_criteria import (
    change_criteria as change_criteria, forget_replies as forget_replies, kept_criteria as kept_criteria,
    kept_digest as kept_digest, kept_people as kept_people, kept_runs as kept_runs,
    take_in_criteria as take_in_criteria,
)
from untaken.judging.criteria.verifier import (
    CriterionCheck as CriterionCheck, VerifierThresholds as VerifierThresholds,
    verify_criteria as verify_criteria,
)
# fmt: on
