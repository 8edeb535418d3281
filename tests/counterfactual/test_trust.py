"""Advantages and their intervals."""

from __future__ import annotations

import pytest
from histories import past, seen
from hypothesis import given
from hypothesis import strategies as st

from untaken.counterfactual import Scale, Weights, evaluate_run
from untaken.counterfactual.advantage import AdvantageEstimate, compare
from untaken.counterfactual.memory import Observed, PolicyMemory, Spans, ValueRange
from untaken.errors import Unscored

SCALE = Scale(spans=Spans(cost=ValueRange(low=0, high=1), steps=ValueRange(low=0, high=1)), weights=Weights())


def arm(skill: str, won: int, lost: int, *, cost: float = 0.5, context: str = "ctx") -> list[Observed]:
    """Runs with the given successes; cost and steps scatter a little around `cost`."""
    return [
        seen(
            f"{skill}{i}",
            skill,
            success=float(i < won),
            cost=cost + 0.01 * (i % 3),
            steps=0.5,
            context=context,
        )
        for i in range(won + lost)
    ]


def trust(*log: Observed, alternative: str = "b", selected: str = "a") -> AdvantageEstimate:
    snapshot = PolicyMemory(log).snapshot()
    chosen, other = snapshot.record(selected, "ctx"), snapshot.record(alternative, "ctx")
    assert other is not None
    return compare(other, chosen, SCALE, 0.1)


def test_branches_carry_the_advantage_without_the_run_itself() -> None:
    frame = [seen("f0", "frame", cost=0.0, steps=0.0), seen("f1", "frame", cost=1.0, steps=1.0)]
    log = [*frame, *arm("a", 0, 6), *arm("b", 6, 0)]
    run = past("a0", "a|b|c", "a|b", day=9, success=False, cost=0.5, steps=1)
    branch = evaluate_run(run, PolicyMemory(log)).decisions[0].branches[0]
    without = trust(*(o for o in log if o.run_id != "a0"))
    assert branch.support == "supported"
    assert branch.advantage == pytest.approx(without.advantage)
    assert 0.9 < branch.p_better <= 1


FIGURES = st.one_of(st.none(), st.sampled_from([0.0, 1e-300, 0.5, 1.0, 1e300]), st.floats(0, 10))
OUTCOMES = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 6), st.sampled_from([0.0, 0.3, 1.0]), FIGURES, FIGURES),
    min_size=1,
    max_size=24,
)
SHARES = st.sampled_from(
    [(0.5, 0.3, 0.2), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.5, 0.5), (1e-12, 0.0, 1.0)]
)


@given(outcomes=OUTCOMES, shares=SHARES)
def test_whatever_the_histories_an_interval_holds_its_advantage_and_stays_in_range(outcomes, shares) -> None:
    log = [
        seen(f"{skill}{run}", skill, success=won, cost=cost, steps=steps, key=str(i))
        for i, (skill, run, won, cost, steps) in enumerate(outcomes)
    ]
    snapshot = PolicyMemory(log).snapshot()
    weights = Weights(success=shares[0], cost=shares[1], steps=shares[2])
    scale = Scale(spans=snapshot.spans(), weights=weights)
    alternative, selected = snapshot.record("b", "ctx"), snapshot.record("a", "ctx")
    if alternative is None:
        return
    found = compare(alternative, selected, scale, 0.1)
    if not isinstance(found.low, Unscored):
        assert -1 - 1e-9 <= found.low <= found.advantage <= found.high <= 1 + 1e-9
        assert 0 <= found.p_better <= 1
