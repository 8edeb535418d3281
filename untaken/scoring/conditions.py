"""In which runs a conditional sub-goal is required: its `when`, tried on the run's state (§4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from untaken import limits
from untaken.errors import Unscored
from untaken.ledger.events import RunFinished, State
from untaken.scoring.compiled import CompiledGraph, CompiledSubGoal
from untaken.scoring.expressions import evaluated
from untaken.scoring.state import StateFold

Conditions = Mapping[str, bool | Unscored]
"""By sub-goal, whether it is required in a run; those without a condition are left out."""

NONE: Final[Conditions] = {}
_TOO_LONG: Final = Unscored("the run changes its state too often to try the condition each time")


def conditions(compiled: CompiledGraph, states: Sequence[State | RunFinished]) -> Conditions:
    """Whether each conditional sub-goal is required in a run.

    Args:
        compiled: the graph.
        states: the run's events that say something about the state, in order.

    Returns:
        True where `when` holds on the final state or, with ``when_at: step``, after any event that changes
        the state; unscored with the missing field's name where it could never be decided.
    """
    if not compiled.conditional:
        return NONE
    fold = StateFold(states, compiled.fields)
    during = [one for one in compiled.conditional if one.node.when_at == "step"]
    found = {one.node.id: _during(one, states) for one in during}
    fold.forward(states[-1].seq if states else 0)
    found |= {
        one.node.id: evaluated(one.when, one.when_fields, fold.state)
        for one in compiled.conditional
        if one.node.when_at == "final"
    }
    return found


def _during(criterion: CompiledSubGoal, states: Sequence[State | RunFinished]) -> bool | Unscored:
    """Whether the condition holds after any change; a plain "no" outweighs a state that cannot decide it."""
    fold = StateFold(states, frozenset(criterion.when_fields) or None)
    known: bool | Unscored = evaluated(criterion.when, criterion.when_fields, fold.state)
    budget = limits.STEP_CHECKS
    for event in states:
        if known is True:
            return True
        if not fold.forward(event.seq):
            continue
        budget -= 1
        if budget < 0:
            return _TOO_LONG
        now = evaluated(criterion.when, criterion.when_fields, fold.state)
        known = now if not isinstance(now, Unscored) or isinstance(known, Unscored) else known
    return known
