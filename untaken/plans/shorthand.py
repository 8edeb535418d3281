"""What people write by hand in fewer words than the schema: spelled out before it is read.

``check: outcome`` and ``check: verdict``; ``verdict: "human:*"``, or a list of such globs, for whose verdict
is needed; ``outcome: {}``; ``times`` inside the check or its tool call; whole numbers for ids. Everything
else is left to the schema, faults included.
"""

from __future__ import annotations

from typing import Any

_IDS = ("deps", "any_of")


def spelled_out(document: dict[str, Any]) -> dict[str, Any]:
    """The graph document in the words of the schema; the one given is not changed."""
    sub_goals = document.get("sub_goals")
    if isinstance(sub_goals, list):
        sub_goals = [_sub_goal(item) if isinstance(item, dict) else item for item in sub_goals]
        document = document | {"sub_goals": sub_goals}
    return document | {"id": _text(document["id"])} if "id" in document else document


def _sub_goal(item: dict[str, Any]) -> dict[str, Any]:
    lists = {key: [*map(_text, item[key])] for key in _IDS if isinstance(item.get(key), list)}
    own = {"id": _text(item["id"])} if "id" in item else {}
    times, check = _times(item.get("check"))
    counted = {} if times is None or "times" in item else {"times": times}
    return item | own | lists | counted | ({"check": _check(check)} if "check" in item else {})


def _times(check: Any) -> tuple[Any, Any]:
    """How often a check asks for its call, and the check without that."""
    for place in (check, check.get("tool_call")) if isinstance(check, dict) else ():
        if isinstance(place, dict) and "times" in place:
            rest = {key: value for key, value in place.items() if key != "times"}
            return place["times"], rest if place is check else {**check, "tool_call": rest}
    return None, check


def _check(check: Any) -> Any:
    if check in ("outcome", "verdict"):
        return {check: True}
    if not isinstance(check, dict):
        return check
    verdict = check.get("verdict")
    if isinstance(verdict, str | list):
        check = check | {"verdict": {"by": [verdict] if isinstance(verdict, str) else verdict}}
    return check | {"outcome": True} if check.get("outcome") == {} else check


def _text(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value
