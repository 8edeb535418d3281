"""When a recorded call fulfils an expected one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import a_run
from untaken.plans import ToolCallSpec, call_matches, json_equal

NESTED = {"filter": {"city": "Oslo", "max": 3}, "tags": [{"k": 1}]}

CASES: list[dict[str, Any]] = [
    {"desc": "another tool", "match": "subset", "name": "other", "expected": {}, "actual": {}, "want": False},
    {"desc": "exact: equal", "match": "exact", "expected": {"a": 1}, "actual": {"a": 1}, "want": True},
    {"desc": "exact: more", "match": "exact", "expected": {"a": 1}, "actual": {"a": 1, "b": 2}, "want": False},
    {"desc": "exact: less", "match": "exact", "expected": {"a": 1, "b": 2}, "actual": {"a": 1}, "want": False},
    {"desc": "exact: order of keys", "match": "exact", "expected": {"a": 1, "b": 2}, "actual": {"b": 2, "a": 1}, "want": True},
    {"desc": "exact: 1 is 1.0", "match": "exact", "expected": {"a": 1}, "actual": {"a": 1.0}, "want": True},
    {"desc": "exact: 1 is not true", "match": "exact", "expected": {"a": 1}, "actual": {"a": True}, "want": False},
    {"desc": "exact: 0.0 is not false", "match": "exact", "expected": {"a": False}, "actual": {"a": 0.0}, "want": False},
    {"desc": "exact: 1 is not '1'", "match": "exact", "expected": {"a": 1}, "actual": {"a": "1"}, "want": False},
    {"desc": "exact: null is not absent", "match": "exact", "expected": {"a": None}, "actual": {}, "want": False},
    {"desc": "exact: deep true", "match": "exact", "expected": {"a": [{"b": 1}]}, "actual": {"a": [{"b": True}]}, "want": False},
    {"desc": "exact: large whole numbers differ", "match": "exact", "expected": {"a": 2**53}, "actual": {"a": 2**53 + 1}, "want": False},
    {"desc": "exact: list order counts", "match": "exact", "expected": {"a": [1, 2]}, "actual": {"a": [2, 1]}, "want": False},
    {"desc": "subset: nothing expected", "match": "subset", "expected": {}, "actual": {"a": 1}, "want": True},
    {"desc": "subset: more is fine", "match": "subset", "expected": {"a": 1}, "actual": {"a": 1, "b": 2}, "want": True},
    {"desc": "subset: missing", "match": "subset", "expected": {"a": 1}, "actual": {}, "want": False},
    {"desc": "subset: null must be there", "match": "subset", "expected": {"a": None}, "actual": {}, "want": False},
    {"desc": "subset: nested more", "match": "subset", "expected": {"filter": {"city": "Oslo"}}, "actual": NESTED, "want": True},
    {"desc": "subset: nested other", "match": "subset", "expected": {"filter": {"city": "Bergen"}}, "actual": NESTED, "want": False},
    {"desc": "subset: mapping in list", "match": "subset", "expected": {"tags": [{}]}, "actual": NESTED, "want": True},
    {"desc": "subset: longer list", "match": "subset", "expected": {"tags": []}, "actual": NESTED, "want": False},
    {"desc": "subset: mapping against text", "match": "subset", "expected": {"a": {}}, "actual": {"a": "x"}, "want": False},
    {"desc": "call_keys: no arguments at all", "match": "call_keys", "expected": {"a": 1}, "actual": {}, "want": True},
    {"desc": "call_keys: one left out", "match": "call_keys", "expected": {"a": 1, "b": 2}, "actual": {"a": 1}, "want": True},
    {"desc": "call_keys: one differs", "match": "call_keys", "expected": {"a": 1}, "actual": {"a": 2}, "want": False},
    {"desc": "call_keys: one not expected", "match": "call_keys", "expected": {"a": 1}, "actual": {"a": 1, "b": 2}, "want": False},
    {"desc": "call_keys: nested is exact", "match": "call_keys", "expected": {"filter": {"city": "Oslo"}}, "actual": {"filter": NESTED["filter"]}, "want": False},
    {"desc": "compare_args: others ignored", "match": "call_keys", "compare": ["a"], "expected": {"a": 1, "b": 2}, "actual": {"a": 1, "b": 9}, "want": True},
    {"desc": "compare_args: differs", "match": "call_keys", "compare": ["a"], "expected": {"a": 1}, "actual": {"a": 2}, "want": False},
    {"desc": "compare_args: left out by the call", "match": "call_keys", "compare": ["a"], "expected": {"a": 1}, "actual": {}, "want": False},
    {"desc": "compare_args: none", "match": "call_keys", "compare": [], "expected": {"a": 1}, "actual": {"a": 2}, "want": True},
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["desc"])
def test_call_matches(case: dict[str, Any]) -> None:
    spec = ToolCallSpec(
        name=case.get("name", "tool"),
        arguments=case["expected"],
        match=case["match"],
        compare_args=case.get("compare"),
    )
    (call,) = a_run().call("tool", **case["actual"]).run().actions
    assert call_matches(spec, call) is case["want"]


def test_json_equality_is_symmetric_over_kinds() -> None:
    values = [None, True, False, 0, 1, 0.0, 1.0, "", "1", [], [1], {}, {"a": 1}]
    for a in values:
        for b in values:
            assert json_equal(a, b) is json_equal(b, a)
    assert [v for v in values if json_equal(v, 1)] == [1, 1.0]
