"""The state causality evaluator: what acts on a task in a state, by rules or by a language model (§7)."""

from untaken.simulator.state_causality.evaluator import StateCausality as StateCausality
from untaken.simulator.state_causality.causal_state import (
    STAY_ALIVE as STAY_ALIVE,
    CausalEdge as CausalEdge,
    CausalState as CausalState,
    Concept as Concept,
    EdgeKind as EdgeKind,
    StateVariable as StateVariable,
)
from untaken.simulator.state_causality.prompted import PromptedCausality as PromptedCausality
from untaken.simulator.state_causality.symbolic import SymbolicCausality as SymbolicCausality
