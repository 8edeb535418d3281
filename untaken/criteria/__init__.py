"""AgentEval: criteria beyond success, their values for each run, and which of them deserve trust (§8)."""

from untaken.criteria.files import load_criteria, parse_criteria, save_criteria
from untaken.criteria.means import (
    AcrossRuns,
    CriterionMeans,
    across_runs,
    criterion_means,
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
from untaken.criteria.recorded import read_quantifier_runs

__all__ = [
    "AcrossRuns",
    "Change",
    "CriteriaSet",
    "Criterion",
    "CriterionMeans",
    "Quantified",
    "QuantifierRun",
    "Value",
    "across_runs",
    "criterion_means",
    "load_criteria",
    "parse_criteria",
    "read_quantifier_runs",
    "read_value",
    "save_criteria",
]
