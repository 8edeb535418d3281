"""The terms of two outcomes, one pair at a time."""

from untaken.counterfactual.scoring import Outcome, Terms, Weights


def common_terms(first: Outcome, second: Outcome) -> Terms:
    """The terms that two placed outcomes both have."""
    return Terms(
        cost=first.cost is not None and second.cost is not None,
        steps=first.steps is not None and second.steps is not None,
    )


def in_force(weights: Weights, terms: Terms) -> Weights:
    """The weights of the terms given, renormalised."""
    cost, steps = weights.cost * terms.cost, weights.steps * terms.steps
    used = weights.success + cost + steps
    return Weights(success=weights.success / used, cost=cost / used, steps=steps / used)
