"""Pass, fail, or unscored with the reason."""
# ruff: noqa: E501  (tables of cases)

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from untaken.errors import Unscored, UntakenError
from untaken.plans import check_expression, evaluate_expression

STATE: dict[str, Any] = {
    "decision": "refund",
    "expected": "refund",
    "total": 10.5,
    "count": 3,
    "open": False,
    "note": None,
    "order": {"id": "o-1", "lines": [{"sku": "a", "qty": 1}, {"sku": "b", "qty": 2}], "ship-to": {"city": "Oslo"}},
    "tags": ["new", "vip"]
}  # fmt: skip


MISSING = [
    ("state.none == 1", "missing field state.none"),
    ("state.order.none == 1", "missing field state.order.none"),
    ("state.order.none.deeper == 1", "missing field state.order.none"),
    ("state['order'].none == 1", "missing field state.order.none"),
    ("state.note.deeper == 1", "missing field state.note.deeper: state.note has no fields"),
    ("state.decision.deeper == 1", "missing field state.decision.deeper: state.decision has no fields"),
    ("state.order.lines.all(line, line.price > 0)", "missing field line.price"),
    ("size(state.none) == 0", "missing field state.none"),
    ("state.none.contains('x')", "missing field state.none"),
    ("state.count == 3 && state.none == 1", "missing field state.none"),
    ("has(state.none.deeper)", "missing field state.none"),
]


@pytest.mark.parametrize(("expression", "reason"), MISSING)
def test_a_missing_field_is_unscored_by_its_dotted_name(expression: str, reason: str) -> None:
    assert evaluate_expression(expression, STATE) == Unscored(reason)


def test_a_field_that_is_not_needed_may_be_missing() -> None:
    assert evaluate_expression("state.count == 3 || state.none == 1", STATE) is True
    assert evaluate_expression("state.count == 4 && state.none == 1", STATE) is False


UNDECIDED = [
    ("state.count", "a number, not true or false"),
    ("state.decision", "a text, not true or false"),
    ("state.note", "null, not true or false"),
    ("state.tags", "a list, not true or false"),
    ("state.order", "a mapping, not true or false"),
    ("state.count + state.total == 13.5", "different types"),
    ("state.count > 'x'", "different types"),
    ("size(state.count) == 1", "'size' does not apply to these values"),
    ("state.tags[7] == 'x'", "index out of bounds"),
    ("1 / 0 == 1", "division by zero"),
    ("9223372036854775807 + state.count == 0", "overflow"),
]


@pytest.mark.parametrize(("expression", "reason"), UNDECIDED)
def test_what_is_neither_true_nor_false_is_unscored(expression: str, reason: str) -> None:
    result = evaluate_expression(expression, STATE)
    assert isinstance(result, Unscored)
    assert reason in result.reason


REFUSED = [
    ("", "expression-unreadable"),
    ("state.x ==", "expression-unreadable"),
    ("state.x = 1", "expression-unreadable"),
    ("state.x == 'open", "expression-unreadable"),
    ("state.x == `a`", "expression-unreadable"),
    ("state.x; state.y", "expression-unreadable"),
    ("state.x) || (true", "expression-unreadable"),
    ("import os", "expression-unreadable"),
    ("state.x == '''a'''", "expression-unreadable"),
    ("''' ' ''' + state.x.all(y, true) + ''' ' ''' == 1", "expression-unreadable"),
    ("state.x == b'a'", "expression-unreadable"),
    ("state.x == 'a' 'b'", "expression-unreadable"),
    ("[1].all((x), x > 0)", "expression-unknown-name"),
    (".state.x == 1", "expression-unknown-name"),
    ("decision == 'x'", "expression-unknown-name"),
    ("__import__('os').system('true') == 0", "expression-unknown-function"),
    ("[1].all(state, state > 0)", "expression-unknown-name"),
    ("open('x') == 1", "expression-unknown-function"),
    ("exec_it(1)", "expression-unknown-function"),
    ("state.x.__class__()", "expression-unknown-function"),
    ("state.x.lower() == 'a'", "expression-unknown-function"),
]


@pytest.mark.parametrize(("expression", "code"), REFUSED)
def test_what_cannot_be_used_is_refused_at_load_and_unscored_later(expression: str, code: str) -> None:
    with pytest.raises(UntakenError, match=code):
        check_expression(expression)
    result = evaluate_expression(expression, STATE)
    assert isinstance(result, Unscored)
    assert result.reason.startswith("the expression cannot be used")


@pytest.mark.parametrize("value", [{1}, 10**400, object(), "\ud800"])
def test_a_state_that_is_not_json_is_unscored(value: Any) -> None:
    result = evaluate_expression("state.a == 1", {"a": value})
    assert result == Unscored(
        "the part of the state that the expression reads holds a value that is not JSON"
    )
    assert evaluate_expression("state.b == 1", {"a": value, "b": 1}) is True


def test_threads_may_share_an_expression() -> None:
    with ThreadPoolExecutor(4) as pool:
        results = pool.map(lambda n: evaluate_expression("state.n % 2 == 0", {"n": n}), range(200))
    assert list(results) == [n % 2 == 0 for n in range(200)]


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("state.a and state.b", "`&&` for `and`"),
        ("state.a or state.b", "`||` for `or`"),
        ("not state.a", "`!` for `not`"),
        ("state.a == True", "`true` for `True`"),
        ("state.a == None", "`null` for `None`"),
        ("len(state.a) > 1", "`size` for `len`"),
    ],
)
def test_python_words_come_with_those_of_the_language(expression: str, said: str) -> None:
    with pytest.raises(UntakenError) as caught:
        check_expression(expression)
    assert said in caught.value.hint


def test_python_words_inside_a_text_are_no_mistake() -> None:
    check_expression('state.a == "this and not that"')


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("state.a ==", "the expression ends too early"),
        ("(state.a", "the expression ends too early"),
        ("state.a == 3 state", "the expression cannot be read at character 14: 'state'"),
        ("state.a ==\n == 3", "the expression cannot be read at character 13: '== 3'"),
        ("state.é == 3", "the expression cannot be read at character 7: 'é == 3'"),
    ],
)
def test_where_an_expression_cannot_be_read_is_said_without_the_words_of_the_parser(
    expression: str, words: str
) -> None:
    with pytest.raises(UntakenError) as refused:
        check_expression(expression)
    assert refused.value.message == words
