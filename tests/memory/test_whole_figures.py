"""Figures added up in NumPy's whole numbers are the exact sums, with copies of a run as one run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, UnsetType

from untaken.counterfactual.memory import PolicyMemory
from untaken.counterfactual.memory.history import History
from untaken.counterfactual.memory.record import Observed
from untaken.counterfactual.memory.sums import SCALE_BITS, WEIGHTS, exact, summed
from untaken.counterfactual.memory.totals import (
    NOWHERE,
    Moment,
    SumColumns,
    figures_of,
    whole_numbers,
)


@dataclass(frozen=True)
class Recorded:
    run_id: str
    kind: str
    success: float
    cost: float | None
    steps: float | None

    @property
    def trail(self) -> str | UnsetType:
        return TRAILS.get(self.run_id, UNSET)

    @property
    def unit(self) -> object:
        return self.run_id if self.trail is UNSET else self.trail


TRAILS = {"a": "same", "b": "same", "c": "same", "d": "other", "e": "other"}
"""Runs that are copies of each other; the others have none."""
WHOLE = st.one_of(st.none(), st.integers(0, 500).map(float))


DECIMALS = st.one_of(
    st.none(),
    st.integers(0, 9_999).map(lambda n: n / 1_000),
    st.integers(0, 9_999_999).map(lambda n: n / 1_000_000),
)
PRICED = st.builds(
    Recorded,
    run_id=st.sampled_from("abcdef"),
    kind=st.sampled_from(["outcome", "outcome", "weak"]),
    success=st.sampled_from([0.0, 1.0, 0.7, 0.25]),
    cost=DECIMALS,
    steps=WHOLE | DECIMALS,
)


@given(st.lists(st.tuples(st.sampled_from("xy"), PRICED), min_size=1, max_size=25), st.integers(0, 25))
def test_figures_in_decimals_are_those_of_the_exact_sums_with_copies_as_one_run(placed, cut) -> None:
    log = [_observed(number, context, one) for number, (context, one) in enumerate(placed)]
    history, cut = History(log), min(cut, len(log))
    run = history.run_numbers.get("a", NOWHERE)
    for context in "xy":
        place = history.totals.places.get(("s", context), NOWHERE)
        ours = history.totals.figures(Moment(*(np.array([each]) for each in (place, cut, run))))
        known = [o for o in log[:cut] if o.context_hash == context and o.run_id != "a"]
        rows = [np.array([value], dtype=object) for value in summed(known)]
        runs = np.array([len({o.run_id for o in known if o.kind == "outcome"})])
        for name, one, other in zip(ours._fields, ours, figures_of(SumColumns(*rows), runs), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12, err_msg=name)


@given(st.lists(st.tuples(st.sampled_from("xy"), PRICED), min_size=1, max_size=25), st.sampled_from("abdf"))
def test_a_record_without_a_run_that_has_copies_is_the_record_had_it_never_been(placed, run) -> None:
    log = [_observed(number, context, one) for number, (context, one) in enumerate(placed)]
    full = PolicyMemory(log).snapshot()
    never = PolicyMemory(o for o in log if o.run_id != run).snapshot()
    for context in "xy":
        assert full.record("s", context, without_run=run) == never.record("s", context)


def _observed(number: int, context: str, one: Recorded) -> Observed:
    return Observed(
        key=f"{number:03}",
        kind=one.kind,
        skill="s",
        context_hash=context,
        success=one.success,
        cost=one.cost,
        steps=one.steps,
        weight=WEIGHTS[one.kind],
        run_id=one.run_id,
        trail=UNSET if one.kind == "weak" else one.trail,
        ts=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=number),
    )


@given(st.lists(st.floats(0, 1e6), max_size=6), st.integers(6, 10**7))
def test_a_figure_with_a_fraction_is_added_up_exactly(values, most) -> None:
    column = whole_numbers(np.array(values), most)
    bits = SCALE_BITS if column.dtype == object else 0
    assert [value << SCALE_BITS - bits for value in column.tolist()] == [exact(value) for value in values]
    assert column.dtype == object or most * max(values, default=0) < 2**31
