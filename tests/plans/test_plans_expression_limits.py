"""No expression and no state can hang or crash the program: each case is refused, unscored, or quick."""
# ruff: noqa: E501  (tables of cases)

from __future__ import annotations

import time
from functools import reduce
from typing import Any

import pytest

from untaken import limits
from untaken.errors import Unscored, UntakenError
from untaken.plans import check_expression, evaluate_expression
from untaken.plans.expression_source import read_source
from untaken.plans.expression_state import Size, measure, steps

NESTED = [
    ("a loop in a loop", "state.a.all(x, state.a.all(y, x != y))"),
    ("three loops", "state.a.all(x, state.a.all(y, state.a.all(z, x + y + z > 0)))"),
    ("a loop on a loop", "state.a.map(x, x + x).all(y, y > 0)"),
    ("doubling", "size([state.s]" + ".map(x, x + x)" * 20 + "[0]) > 0"),
    ("a loop on a list of a loop", "[state.a.map(x, x)].all(y, size(y) > 0)"),
    ("a loop on a sum of loops", "(state.a.map(x, x) + state.a).all(y, y > 0)"),
    ("a loop on an item of a loop", "state.a.map(x, [x])[0].all(y, y > 0)"),
    ("a loop in an index", "state.a.all(x, state.a[size(state.a.filter(y, y > 0))] > 0)"),
    ("hidden by a comment", "state.a.all(x, // )\n state.a.all(y, true))"),
    ("hidden by a text", "state.a.all(x, x == ')' || state.a.all(y, true))"),
    ("hidden by a raw text", "state.a.all(x, x == r'\\' || state.a.all(y, y == ''))"),
    ("hidden by a raw text after a text", "state.a.all(x, 'a' == r'\\' || state.a.all(y, y == ''))"),
    ("hidden by spaces", "state . a . all ( x , state . a . all ( y , true ) )"),
]


@pytest.mark.parametrize(("desc", "expression"), NESTED)
def test_loops_in_or_on_loops_are_refused(desc: str, expression: str) -> None:
    with pytest.raises(UntakenError, match="expression-nested-loop"):
        check_expression(expression)


def test_loops_side_by_side_are_fine() -> None:
    check_expression(
        "state.a.all(x, x > 0) && state.b.exists(x, x > 0) && size(state.a.filter(x, x > 1)) == 1"
    )
    check_expression("[state.a.all(x, x > 0), state.b.all(x, x > 0)] == [true, true]")


TOO_LARGE = [
    ("brackets", "(" * 40 + "1" + ")" * 40 + " == 1", "expression-too-deep"),
    ("lists", "[" * 40 + "]" * 40 + " == 1", "expression-too-deep"),
    ("mappings", "{1:" * 40 + "1" + "}" * 40 + " == 1", "expression-too-deep"),
    ("calls", "size(" * 40 + "state.a" + ")" * 40 + " == 1", "expression-too-deep"),
    ("unclosed brackets", "([{" * 90, "expression-too-deep"),
]


@pytest.mark.parametrize(("desc", "expression", "code"), TOO_LARGE)
def test_large_and_deep_expressions_are_refused(desc: str, expression: str, code: str) -> None:
    with pytest.raises(UntakenError, match=code):
        check_expression(expression)


@pytest.mark.parametrize(
    "piece", ["!", "-", "- ", "true?1:", "true?", "state.a.", "a?", "[{(", "'", '"""', "//", ")"]
)
def test_repeated_syntax_neither_hangs_nor_crashes(piece: str) -> None:
    for n in (30, 280):
        evaluate_expression(piece * n + "true", {"a": 1})


REGEXES = [
    ("a pattern from the state", "state.s.matches(state.p)"),
    ("a pattern put together", "state.s.matches('a' + 'b')"),
    ("a pattern in the global form", "matches(state.s, 'a')"),
    ("a long pattern", "state.s.matches('" + "a" * 201 + "')"),
    ("large repetition", "state.s.matches('a{101}')"),
    ("multiplied repetition", "state.s.matches('(a{20}){20}')"),
    ("repetition with huge figures", "state.s.matches('a{" + "9" * 50 + "}')"),
    ("repetition behind escapes", "state.s.matches('a\\x7b1000\\x7d')"),
    ("repetition behind unicode escapes", "state.s.matches('a\\u007b1000}')"),
]


@pytest.mark.parametrize(("desc", "expression"), REGEXES)
def test_costly_regexes_are_refused(desc: str, expression: str) -> None:
    with pytest.raises(UntakenError, match="expression-regex"):
        check_expression(expression)


def test_a_pattern_may_have_two_hundred_characters_and_a_hundred_repeats() -> None:
    check_expression("state.s.matches('" + "a" * 200 + "') || state.s.matches('(a{10}){10}')")


def test_a_field_called_matches_is_a_field() -> None:
    assert evaluate_expression("state.matches == 2", {"matches": 2}) is True


def nested(depth: int, width: int = 1) -> Any:
    return reduce(lambda inner, _: [inner] * width, range(depth), 1)


NUMBERS = list(range(limits.EXPRESSION_ITEMS - 1))
TEXT = "ab" * (limits.EXPRESSION_STRING_CHARS // 2)

COSTLY: list[tuple[str, str, dict[str, Any]]] = [
    ("each item sought in all", "state.a.all(x, x in state.a)", {"a": NUMBERS}),
    ("each round compares all", "state.a.all(x, state.a == state.a)", {"a": NUMBERS}),
    ("filter copies its result each round", "size(state.a.filter(x, x >= 0)) > 0", {"a": NUMBERS}),
    ("map of the whole", "size(state.a.map(x, state.a)) > 0", {"a": NUMBERS[:1000]}),
    ("map of a long text", "size(state.a.map(x, state.s)) > 0", {"a": NUMBERS[:1000], "s": TEXT}),
    ("map of sums", "size(state.a.map(x, x + x + x)) > 0", {"a": ["x" * 1000] * 1000}),
    ("sum of long texts", "size(" + "+".join(["state.s"] * 70) + ") > 0", {"s": TEXT}),
    ("sum of long lists", "size(" + "+".join(["state.a"] * 70) + ") > 0", {"a": NUMBERS}),
    ("search in each round", "state.a.all(x, !state.s.contains('zz'))", {"a": NUMBERS[:5000], "s": TEXT[:900_000]}),
    ("a slow regex over a long text", "state.s.matches('[ab]*a[ab]{100}c')", {"s": TEXT}),
    ("a regex a round", r"state.a.all(x, x.matches(r'^\w{1,90}$'))", {"a": ["x"] * 9_000}),
    ("deep", "state.a == 1", {"a": nested(100_000)}),
    ("a list that unfolds", "state.a == state.a", {"a": nested(60, 2)}),
    ("wide", "state.a == 1", {"a": [[]] * 2_000_000}),
    ("long", "state.a == 'x'", {"a": "x" * 20_000_000}),
    ("long keys", "state.a == {}", {"a": {"x" * 20_000_000: 1}}),
    ("a literal list of 100 against a large state", f"{NUMBERS[:90]}.all(x, x in state.a)", {"a": NUMBERS})
]  # fmt: skip


@pytest.mark.parametrize(("desc", "expression", "state"), COSTLY, ids=[case[0] for case in COSTLY])
def test_no_state_makes_an_expression_slow(desc: str, expression: str, state: dict[str, Any]) -> None:
    check_expression(expression)
    started = time.process_time()
    evaluate_expression(expression, state)
    assert time.process_time() - started < 30, desc  # a hang, not a speed


SMALL = {"a": [1, 2, 3], "s": "x" * 64}  # 5 items, 66 characters, and at most 3 items of one list
READ = 5 + 66 / 32 + 1
STEPS = [
    # Each token may look through all that is read, each round of a loop through what its body reads; a list
    # that is built is copied each round, `+` makes lists and texts longer, and a pattern is compiled.
    ("state.a == 1", 5 * READ),
    ("state.s + state.s == 'x'", 9 * READ * 2),
    ("state.a.all(x, x > 0)", 12 * READ + (3 + 12) * 6),
    ("state.a.all(x, x + 1 > 0)", 14 * READ * 2 + (3 * 2 + 14) * 8),
    ("state.a.all(x, x in state.a)", 14 * READ + (3 + 14) * 8 * (1 + 3)),
    ("size(state.a.filter(x, x > 0)) > 0", 17 * READ + 20 * 6 + 20 * READ),
    ("size(state.a.map(x, state.s)) > 0", 17 * READ + 20 * 6 * (1 + 2) + 20 * (READ + 20 * 6 * (1 + 2))),
    ("state.s.matches('^[ab]*$')", 8 * READ + 7 * (100 + 66 / 4)),
    (r"state.s.matches(r'\d{2,4}')", 8 * READ + 4 * 7 * (100 + 66 / 4) + 4 * 8_000),
    ("state.a.all(x, state.s.matches('ab'))", 17 * READ + 20 * 11 * (1 + 2) + 2 * (20 * 100 + 66 / 4)),
]


@pytest.mark.parametrize(("expression", "want"), STEPS)
def test_steps_are_counted_before_an_expression_is_run(expression: str, want: float) -> None:
    assert steps(read_source(expression), SMALL, Size(5, 66, 3)) == pytest.approx(want)
    assert measure(SMALL) == Size(5, 66, 3)


def test_a_state_over_the_limit_is_unscored_with_the_reason() -> None:
    result = evaluate_expression("size(state.a) > 0", {"a": list(range(limits.EXPRESSION_ITEMS + 1))})
    assert result == Unscored("the expression reads more than 10,000 items of the state")
    result = evaluate_expression("state.a == ''", {"a": "x" * (limits.EXPRESSION_STRING_CHARS + 1)})
    assert result == Unscored("the expression reads more than 1,000,000 characters of the state")
    result = evaluate_expression("state.a.all(x, x in state.a)", {"a": NUMBERS})
    assert result == Unscored("the state is too large for this expression: it would take too many steps")


def test_only_the_fields_that_are_read_count_against_the_limit() -> None:
    state = {"a": 1, "b": list(range(1_000_000)), "c": {"d": 2, "e": "x" * 10_000_000}}
    assert evaluate_expression("state.a == 1 && state.c.d == 2", state) is True
