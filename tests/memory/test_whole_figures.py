"""Whole figures are added up in NumPy's whole numbers: nothing may differ from Python's by a single bit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from untaken.memory.figures import SumColumns, as_sums, figures_of, whole_numbers
from untaken.memory.sums import SCALE_BITS, exact, summed


@dataclass(frozen=True)
class Recorded:
    run_id: str
    kind: str
    success: float
    cost: float | None
    steps: float | None


WHOLE = st.one_of(st.none(), st.integers(0, 500).map(float))
RECORDS = st.builds(
    Recorded,
    run_id=st.sampled_from("abcdef"),
    kind=st.sampled_from(["outcome", "outcome", "weak"]),
    success=st.sampled_from([0.0, 1.0]),
    cost=WHOLE,
    steps=WHOLE,
)
OF_FIGURES = {"x": 1, "c": 1, "s": 1, "weak_x": 1, "xx": 2, "cc": 2, "ss": 2, "xc": 2, "xs": 2, "cs": 2}


@given(st.lists(st.lists(RECORDS, min_size=1, max_size=12), min_size=1, max_size=5))
def test_whole_figures_give_bit_for_bit_what_pythons_whole_numbers_give(histories) -> None:
    rows = [summed(history) for history in histories]
    runs = np.array([len({one.run_id for one in h if one.kind == "outcome"}) for h in histories])
    plain = SumColumns(*(np.array(column, dtype=object) for column in zip(*rows, strict=True)))
    whole = SumColumns(
        *(
            np.array([value >> OF_FIGURES.get(name, 0) * SCALE_BITS for value in column], dtype=np.int64)
            for name, column in plain._asdict().items()
        )
    )
    assert as_sums(whole) == [tuple(row) for row in rows]
    for name, ours, pythons in zip(
        figures_of(whole, runs)._fields, figures_of(whole, runs), figures_of(plain, runs), strict=True
    ):
        np.testing.assert_array_equal(ours, pythons, err_msg=name)


@given(st.lists(st.floats(0, 1e6), max_size=6), st.integers(6, 10**7))
def test_a_figure_with_a_fraction_is_added_up_exactly(values, most) -> None:
    column = whole_numbers(np.array(values), most)
    bits = SCALE_BITS if column.dtype == object else 0
    assert [value << SCALE_BITS - bits for value in column.tolist()] == [exact(value) for value in values]
    assert column.dtype == object or most * max(values, default=0) < 2**31
