"""Proposals of tools that change something: by name, by effect, never against a name that only looks."""

from __future__ import annotations

import pytest
from builders import a_run

from untaken.plans.editing import changing_tools, tool_proposals

BY_NAME = [
    ("update_reservation_flights", "mutates"),
    ("bookHotel", "mutates"),
    ("fs.write", "mutates"),
    ("cancel-order", "mutates"),
    ("GitCommit", "mutates"),
    ("get_user_details", ""),
    ("search_updates", ""),
    ("list_created_orders", ""),
    ("transfer_to_human_agents", "hand_over"),
    ("think", ""),
    ("mysterious", ""),
]


@pytest.mark.parametrize(("tool", "proposed"), BY_NAME)
def test_the_first_telling_word_of_a_name_proposes(tool: str, proposed: str) -> None:
    (found,) = tool_proposals([a_run().call(tool).finish().run()])
    assert found.proposed == proposed


def test_a_tool_whose_name_says_nothing_is_proposed_by_what_its_calls_changed() -> None:
    run = a_run().state(stock=5).call("mysterious").state(stock=4).call("mysterious")
    (found,) = tool_proposals([run.state(stock=3).finish().run()])
    assert (found.proposed, found.calls, found.changed, found.observed) == ("mutates", 2, 2, 2)
    assert found.reason == "the state differed after 2 of 2 calls"


def test_a_state_that_stays_the_same_or_a_refused_call_is_no_effect() -> None:
    run = a_run().state(stock=5).call("mysterious").state(stock=5)
    run = run.call("mysterious", ok=False).state(stock=4)
    (found,) = tool_proposals([run.finish().run()])
    assert (found.proposed, found.changed, found.observed) == ("", 0, 1)


def test_a_reading_name_is_not_proposed_whatever_changed_beside_it() -> None:
    run = a_run().state(n=0).call("read_ticket").state(n=1).finish().run()
    (found,) = tool_proposals([run])
    assert found.proposed == ""
    assert found.reason == "its name says 'read'; the state differed after 1 of 1 calls"


def test_changing_tools_are_patterns_that_match_just_these_names() -> None:
    run = a_run().call("set[1]").call("get_a").call("transfer_to_person").finish().run()
    assert sorted(changing_tools([run])) == ["set[[]1]", "transfer_to_person"]
