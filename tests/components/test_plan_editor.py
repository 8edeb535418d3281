"""The drawing that can be edited: what is sent to a browser, and what is taken from one."""

from __future__ import annotations

import json

import pytest

from components.plan.editor import _commands, editor_payload
from untaken.errors import UntakenError
from untaken.plans import Check, PlanGraph, SubGoal
from untaken.plans.editing import Connect, Set


def graph() -> PlanGraph:
    first = SubGoal(id="a", title="First </script>", critical=True)
    third = SubGoal(id="c", deps=["a", "b"], check=Check(outcome=True))
    goals = [first, SubGoal(id="b", deps=["a"]), third, SubGoal(id="d", any_of=["b", "c"])]
    return PlanGraph(id="g", sub_goals=goals)


def test_every_line_can_be_picked_and_an_implied_one_goes_around() -> None:
    sent = json.loads(json.dumps(editor_payload(graph(), selected="a")))
    lines = {(edge["from"], edge["to"], edge["kind"]): edge["bent"] for edge in sent["edges"]}
    straight = {(0, 1, "needs"), (1, 2, "needs"), (2, 3, "option")}
    bent = {(0, 2, "needs"), (1, 3, "option")}
    assert lines == dict.fromkeys(straight, False) | dict.fromkeys(bent, True)
    assert (sent["boxes"][0]["title"], sent["boxes"][0]["critical"]) == ("First </script>", True)
    many = PlanGraph(id="g", sub_goals=[SubGoal(id=f"s{n}", deps=[f"s{n - 1}"] * (n > 0)) for n in range(90)])
    assert len(editor_payload(many)["boxes"]) == 90  # a large graph is edited whole


def test_commands_come_with_their_numbers() -> None:
    sent = [
        {"number": 4, "edit": {"edit": "connect", "dependency": "a", "sub_goal": "b"}},
        {"number": 5, "edit": {"edit": "set", "sub_goal": "a", "field": "critical", "value": False}},
        {"number": 6, "edit": {"edit": "undo"}},
    ]
    assert _commands(json.dumps(sent)) == [
        (4, Connect(dependency="a", sub_goal="b")),
        (5, Set(sub_goal="a", field="critical", value=False)),
        (6, "undo"),
    ]


@pytest.mark.parametrize(
    "sent",
    ["{", "7", '[{"number": "x", "edit": {}}]', '[{"edit": {}}]', "[" * 5000, '[{"number": 1, "edit": 3}]'],
)
def test_what_is_no_command_is_refused(sent: str) -> None:
    with pytest.raises(UntakenError, match="edit-invalid"):
        _commands(sent)
