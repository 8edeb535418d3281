"""Numbers in one style, with a word for what is not known."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from untaken import numbers
from untaken.errors import Unscored, first_few

WRITTEN = [
    (numbers.percent(0.624), "62%"),
    (numbers.percent(0.624, 1), "62.4%"),
    (numbers.decimal(0.6), "0.60"),
    (numbers.decimal(-0.334), "−0.33"),
    (numbers.decimal(-0.001), "0.00"),
    (numbers.decimal(12345.6, 1), "12,345.6"),
    (numbers.signed(0.6), "+0.60"),
    (numbers.signed(-1 / 3, 3), "−0.333"),
    (numbers.signed(-0.004), "0.00"),
    (numbers.points(0.0561), "+5.6"),
    (numbers.points(-0.0561, 0), "−6"),
    (numbers.points(0.0561, sign=False), "5.6"),
    (numbers.interval(0.1, 0.345), "0.10 to 0.34"),
    (numbers.interval(-0.1, 0.3, numbers.signed), "−0.10 to +0.30"),
    (numbers.interval(0.1, 0.3, numbers.percent), "10% to 30%"),
    (numbers.interval(0.1, 0.3, digits=3), "0.100 to 0.300"),
    (numbers.interval(0.1, None), "unscored"),
    (numbers.significant(1234.56), "1,235"),
    (numbers.significant(0.25), "0.25"),
    (numbers.significant(184_678.97, 3), "184,679"),
    (numbers.significant(-88_719, 3), "−88,719"),
    (numbers.significant(-0.0884, 3), "−0.0884"),
    (numbers.p_value(0.0124), "0.012"),
    (numbers.p_value(0.0009), "<0.001"),
    (numbers.p_value(0.0124, "p"), "p = 0.012"),
    (numbers.p_value(0.0, "q"), "q < 0.001"),
    (numbers.chance(1.0), "> 99%"),
    (numbers.chance(0.0), "< 1%"),
    (numbers.money(0.25, "usd"), "$0.25"),
    (numbers.money(0.5, "usd"), "$0.50"),
    (numbers.money(0.0961, "usd"), "$0.0961"),
    (numbers.money(1234.5, "usd"), "$1,234.50"),
    (numbers.money(-0.02, "usd"), "−$0.02"),
    (numbers.money(0.0, "usd"), "$0.00"),
    (numbers.money(12, "eur"), "12 eur"),
    (numbers.money(None, "usd"), "not recorded"),
    (numbers.counted(1, "run"), "1 run"),
    (numbers.counted(1234, "run"), "1,234 runs"),
    (numbers.counted(2, "copy", "are"), "2 copies are"),
    (numbers.counted(1, "reply", "are"), "1 reply is"),
    (numbers.counted(1, "successful run", "complete"), "1 successful run completes"),
    (numbers.counted(1, "run", "match"), "1 run matches"),
    (numbers.counted(3, "run", "do not"), "3 runs do not"),
    (first_few(["a", "b"], 2), "a, b"),
    (first_few(["a"] * 1003, 2), "a, a and 1,001 more"),
    (first_few("abc", 2, "; "), "a; b; and 1 more"),
]


WRITERS = ["percent", "decimal", "signed", "points", "chance", "significant", "p_value"]


@pytest.mark.parametrize(("written", "want"), WRITTEN)
def test_a_number_has_one_style(written: str, want: str) -> None:
    assert written == want


@pytest.mark.parametrize("missing", [None, Unscored("no evidence")])
@pytest.mark.parametrize("write", WRITERS)
def test_what_is_not_known_is_a_word_and_never_a_number(write: str, missing: Unscored | None) -> None:
    assert getattr(numbers, write)(missing) == "unscored"
    assert getattr(numbers, write)(missing, unknown="–") == "–"


@given(st.floats(-1e9, 1e9), st.integers(0, 4))
def test_a_sign_is_there_exactly_where_the_digits_shown_are_not_all_zero(value: float, digits: int) -> None:
    written = numbers.signed(value, digits)
    assert (written[0] in "+−") == any(c in "123456789" for c in written)
    assert numbers.decimal(value, digits) == written.removeprefix("+")
    assert "-" not in written


@given(st.floats(0, 1))
def test_a_p_value_is_never_zero(p: float) -> None:
    assert float(numbers.p_value(p).removeprefix("<")) > 0 < inf
