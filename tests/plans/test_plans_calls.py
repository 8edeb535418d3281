"""When a recorded call fulfils an expected one."""

from __future__ import annotations

from typing import Any

import pytest
from builders import a_run

from untaken.plans import ToolCallSpec, call_matches

NESTED = {"filter": {"city": "Oslo", "max": 3}, "tags": [{"k": 1}]}

CASES: list[tuple[str, str, Any, Any, bool]] = [
    ("nothing at all is equal", "exact", {}, {}, True),
    ("equal", "exact", {"a": 1}, {"a": 1}, True),
    ("the call says more", "exact", {"a": 1}, {"a": 1, "b": 2}, False),
    ("the call says less", "exact", {"a": 1, "b": 2}, {"a": 1}, False),
    ("order of keys", "exact", {"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
    ("1 is 1.0", "exact", {"a": 1}, {"a": 1.0}, True),
    ("1 is not true", "exact", {"a": 1}, {"a": True}, False),
    ("0.0 is not false", "exact", {"a": False}, {"a": 0.0}, False),
    ("1 is not '1'", "exact", {"a": 1}, {"a": "1"}, False),
    ("null is not absent", "exact", {"a": None}, {}, False),
    ("true is not 1 deep inside", "exact", {"a": [{"b": 1}]}, {"a": [{"b": True}]}, False),
    ("large whole numbers differ by one", "exact", {"a": 2**53}, {"a": 2**53 + 1}, False),
    ("order of items", "exact", {"a": [1, 2]}, {"a": [2, 1]}, False),
    ("nothing expected", "subset", {}, {"a": 1}, True),
    ("the call says more", "subset", {"a": 1}, {"a": 1, "b": 2}, True),
    ("the call says less", "subset", {"a": 1}, {}, False),
    ("null must be said", "subset", {"a": None}, {}, False),
    ("a nested mapping says more", "subset", {"filter": {"city": "Oslo"}}, NESTED, True),
    ("a nested mapping says another", "subset", {"filter": {"city": "Bergen"}}, NESTED, False),
    ("a mapping in a list says more", "subset", {"tags": [{}]}, NESTED, True),
    ("a list is longer", "subset", {"tags": []}, NESTED, False),
    ("a mapping is no text", "subset", {"a": {}}, {"a": "x"}, False),
    ("no arguments at all", "call_keys", {"a": 1}, {}, True),
    ("one is left out", "call_keys", {"a": 1, "b": 2}, {"a": 1}, True),
    ("one differs", "call_keys", {"a": 1}, {"a": 2}, False),
    ("one was not expected", "call_keys", {"a": 1}, {"a": 1, "b": 2}, False),
    ("a nested mapping says more", "call_keys", {"f": {"a": 1}}, {"f": {"a": 1, "b": 2}}, False),
]


@pytest.mark.parametrize(
    ("desc", "match", "expected", "actual", "want"), CASES, ids=[f"{case[1]}: {case[0]}" for case in CASES]
)
def test_call_matches(desc: str, match: Any, expected: Any, actual: Any, want: bool) -> None:
    (call,) = a_run().call("tool", **actual).run().actions
    assert call_matches(ToolCallSpec(name="tool", arguments=expected, match=match), call) is want, desc


COMPARED = [
    ("others are ignored", ["a"], {"a": 1, "b": 2}, {"a": 1, "b": 9}, True),
    ("one differs", ["a"], {"a": 1}, {"a": 2}, False),
    ("the call leaves one out", ["a"], {"a": 1}, {}, False),
    ("neither says it", ["c"], {"a": 1}, {"a": 2}, True),
    ("nothing is compared", [], {"a": 1}, {"a": 2}, True),
]


@pytest.mark.parametrize(("desc", "keys", "expected", "actual", "want"), COMPARED)
def test_compare_args_name_what_is_compared(desc, keys, expected, actual, want) -> None:
    spec = ToolCallSpec(name="tool", arguments=expected, match="call_keys", compare_args=keys)
    (call,) = a_run().call("tool", **actual).run().actions
    assert call_matches(spec, call) is want, desc
