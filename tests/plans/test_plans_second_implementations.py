"""Expressions and patterns decide as other implementations of CEL and of regular expressions do."""

from __future__ import annotations

import fnmatch
import re
import sys
from datetime import timedelta
from typing import Any, Final

import celpy
from hypothesis import given, settings
from hypothesis import strategies as st

from untaken.errors import Unscored
from untaken.plans import evaluate_expression, json_equal
from untaken.plans.patterns import expectation

LIMIT: Final = timedelta(seconds=10)
"""For one case, in both: what would take longer fails as a hang."""
LINES: Final = st.fixed_dictionaries({"sku": st.sampled_from(["a", "b"]), "qty": st.integers(0, 3)})
STATES: Final = st.fixed_dictionaries(
    {
        "n": st.integers(-5, 5),
        "x": st.floats(-5, 5, allow_nan=False).map(lambda x: round(x, 1)),
        "s": st.text("ab1 .", max_size=4),
        "open": st.booleans(),
        "items": st.lists(st.integers(-3, 3), max_size=3),
        "lines": st.lists(LINES, max_size=3),
    }
)
NUMBERS: Final = st.recursive(
    st.sampled_from(["state.n", "1", "0", "-2", "size(state.items)", "state.s.size()"]),
    lambda inner: st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
    max_leaves=3,
)
TEXTS: Final = st.sampled_from(["state.s", "'a'", "'ab'", "''", "'1'"])
ATOMS: Final = st.one_of(
    st.sampled_from(
        ["state.open", "true", "false", "state.x > 0.5", "state.x <= -1.0", "state.n in state.items"]
    ),
    st.tuples(NUMBERS, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), NUMBERS).map(" ".join),
    st.tuples(TEXTS, st.sampled_from(["contains", "startsWith", "endsWith"]), TEXTS).map(
        lambda t: f"{t[0]}.{t[1]}({t[2]})"
    ),
    st.tuples(TEXTS, st.sampled_from(["==", "!=", "<"]), TEXTS).map(" ".join),
    st.tuples(st.sampled_from(["all", "exists", "exists_one"]), NUMBERS).map(
        lambda t: f"state.items.{t[0]}(i, i < {t[1]})"
    ),
    st.sampled_from(
        [
            "state.lines.exists(l, l.sku == 'a' && l.qty > 1)",
            "size(state.lines.filter(l, l.qty > 0)) >= 1",
            "state.lines.map(l, l.sku) == ['a', 'b']",
            "state.s.matches('^[ab]+$')",
        ]
    ),
)
EXPRESSIONS: Final = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["&&", "||", "=="]), inner).map(
            lambda t: f"({t[0]}) {t[1]} ({t[2]})"
        ),
        inner.map("!({})".format),
        st.tuples(inner, inner, inner).map(lambda t: f"({t[0]}) ? ({t[1]}) : ({t[2]})"),
    ),
    max_leaves=4,
)


def another_cel() -> celpy.Environment:
    """It raises the limit of recursion for the whole process, which other tests are about."""
    before = sys.getrecursionlimit()
    try:
        return celpy.Environment()
    finally:
        sys.setrecursionlimit(before)


CEL: Final = another_cel()


def second_opinion(expression: str, state: Any) -> bool | None:
    """What another implementation of CEL says; ``None`` for a fault."""
    program = CEL.program(CEL.compile(expression))
    try:
        return bool(program.evaluate({"state": celpy.json_to_cel(state)}))
    except celpy.CELEvalError:
        return None


@settings(deadline=LIMIT)
@given(EXPRESSIONS, STATES)
def test_an_expression_decides_as_another_implementation_of_its_language_does(expression, state) -> None:
    decided = evaluate_expression(expression, state)
    assert (None if isinstance(decided, Unscored) else decided) == second_opinion(expression, state)


PIECES: Final = st.sampled_from(["a", "b", "1", " ", ".", "^", "|"]) | st.sampled_from(
    [r"\.", r"\d", r"\w", r"\s", "[ab]", "[^a]", "(?:a|b1)", "(a)", r"\b", "a*", "b+", "c?", "a{1,2}"]
)


@settings(deadline=LIMIT)
@given(st.lists(PIECES, min_size=1, max_size=6).map("".join), st.text("ab1c. \n", max_size=8))
def test_a_regular_expression_finds_what_python_finds(pattern: str, text: str) -> None:
    found = json_equal(expectation({"regex": pattern}), text)
    assert found == bool(re.search(pattern, text, re.ASCII))


@settings(deadline=LIMIT)
@given(st.text("ab1*?. ", min_size=1, max_size=6), st.text("ab1. \n", max_size=8))
def test_a_glob_fits_what_the_glob_of_python_fits(pattern: str, text: str) -> None:
    assert json_equal(expectation({"glob": pattern}), text) == fnmatch.fnmatchcase(text, pattern)
