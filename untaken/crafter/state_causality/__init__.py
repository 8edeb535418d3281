"""The state causality evaluator: what acts on a task in a state, by rules or by a language model (§7)."""

from untaken.crafter.state_causality.evaluator import StateCausality
from untaken.crafter.state_causality.model import (
    STAY_ALIVE,
    CausalEdge,
    CausalState,
    Concept,
    EdgeKind,
    StateVariable,
)
from untaken.crafter.state_causality.prompted import PromptedCausality
from untaken.crafter.state_causality.symbolic import SymbolicCausality
from untaken.crafter.state_causality.trials import EdgeTrial, TriedCauses, try_edges

__all__ = [
    "STAY_ALIVE",
    "CausalEdge",
    "CausalState",
    "Concept",
    "EdgeKind",
    "EdgeTrial",
    "PromptedCausality",
    "StateCausality",
    "StateVariable",
    "SymbolicCausality",
    "TriedCauses",
    "try_edges",
]
