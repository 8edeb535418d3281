"""Does a recorded call fulfil an expected one?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from untaken.ledger.events import ToolCall
from untaken.plans.model import ToolCallSpec

_SCALARS: Final = frozenset({str, int, float, bool, type(None)})
"""The types of most values: told at once, where asking for a mapping or a list takes its time."""


def call_matches(spec: ToolCallSpec, call: ToolCall) -> bool:
    """True where `call` has the tool and the arguments that `spec` expects.

    ``exact``: the arguments are equal. ``subset``: each expected argument is in the call; the call may say
    more, also inside nested mappings. ``call_keys``: compared only on the call's own keys, or on
    `compare_args` where that is given, so a call that leaves an argument out is not blamed for it, and a call
    without any argument matches.
    """
    if spec.name != call.tool:
        return False
    if spec.match == "exact":
        return json_equal(spec.arguments, call.arguments)
    if spec.match == "subset":
        return contains(call.arguments, spec.arguments)
    keys = set(call.arguments if spec.compare_args is None else spec.compare_args)
    return json_equal(_only(spec.arguments, keys), _only(call.arguments, keys))


def json_equal(a: Any, b: Any) -> bool:
    """Equality of JSON values: 1 equals 1.0, but neither ``true`` nor "1"."""
    if type(a) in _SCALARS:
        return _same_scalar(a, b)
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(json_equal(value, b[key]) for key, value in a.items())
    if _is_list(a) and _is_list(b):
        return len(a) == len(b) and all(map(json_equal, a, b))
    return _same_scalar(a, b)


def contains(actual: Any, expected: Any) -> bool:
    """True where `actual` says all that `expected` says: mappings may hold more, lists no more items."""
    if type(expected) in _SCALARS:
        return _same_scalar(actual, expected)
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        return all(key in actual and contains(actual[key], value) for key, value in expected.items())
    if _is_list(expected) and _is_list(actual):
        return len(actual) == len(expected) and all(map(contains, actual, expected))
    return _same_scalar(actual, expected)


def _only(arguments: Mapping[str, Any], keys: set[str]) -> dict[str, Any]:
    return {key: value for key, value in arguments.items() if key in keys}


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _same_scalar(a: Any, b: Any) -> bool:
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, int | float) and isinstance(b, int | float):
        return a == b
    return type(a) is type(b) and bool(a == b)
