"""Which action served which sub-goal, and on whose authority."""

from __future__ import annotations

from typing import Any

import pytest
from builders import a_graph, a_run
from hypothesis import given
from hypothesis import strategies as st

from untaken.ledger import ToolCall
from untaken.plans import call_matches, map_actions
from untaken.scoring import score_run


def call_check(name: str, **arguments: Any) -> dict[str, Any]:
    return {"tool_call": {"name": name, "arguments": arguments}}


DESK = a_graph(
    {"id": "intent", "title": "Identify customer intent", "rules": [{"text": "*how can i help*"}]},
    {"id": "order", "title": "Look up order", "rules": [{"tool": "search_*"}, {"tool": "get_order"}]},
    {"id": "cheap", "title": "Small refund", "rules": [{"tool": "refund", "arguments": {"size": "small"}}]},
    {"id": "refund", "title": "Issue refund", "check": call_check("refund", order="o-1")},
    {"id": "second", "title": "Issue second refund", "check": call_check("refund", order="o-2")},
    {"id": "confirm", "title": "Send confirmation", "check": {"verdict": True}},
)


def test_tag_beats_rule() -> None:
    mapping = map_actions(a_run().call("search_orders", sub_goal="confirm").run(), DESK)
    assert mapping.mapped == ((1, "confirm", "tag"),)


def test_unknown_tag_is_a_finding_and_falls_through_to_the_rules() -> None:
    run = a_run("r9").call("search_orders", sub_goal="ghost").call("get_order", sub_goal="ghost").run()
    mapping = map_actions(run, DESK)
    assert mapping.mapped == ((1, "order", "rule"), (2, "order", "rule"))
    (finding,) = mapping.findings
    assert (finding.code, finding.where.run) == ("sub-goal-tag-unknown", "r9")
    assert "2 actions (seq 1, 2) are tagged with the sub-goal 'ghost'" in finding.message
    many = a_run()
    for _ in range(7):
        many.call("dance", sub_goal="ghost")
    assert "7 actions (seq 1, 2, 3, 4, 5 and 2 more)" in map_actions(many.run(), DESK).findings[0].message


def test_rule_needs_all_its_parts() -> None:
    run = a_run().call("refund", size="small", order="o-1").call("refund", size="large", order="o-1").run()
    assert map_actions(run, DESK).mapped == ((1, "cheap", "rule"), (2, "refund", "check"))


def test_first_rule_in_graph_order_wins_and_the_rival_is_a_finding() -> None:
    graph = a_graph(
        {"id": "first", "rules": [{"tool": "get_*"}]}, {"id": "second", "rules": [{"tool": "*_order"}]}
    )
    mapping = map_actions(a_run().call("get_order").call("get_user").run(), graph)
    assert mapping.mapped == ((1, "first", "rule"), (2, "first", "rule"))
    (finding,) = mapping.findings
    assert finding.code == "mapping-conflict"
    assert "action 1 is matched by rules of 'first', 'second'" in finding.message


def test_two_rules_of_one_sub_goal_are_no_conflict() -> None:
    graph = a_graph({"id": "a", "rules": [{"tool": "get_*"}, {"tool": "*_order"}]})
    assert map_actions(a_run().call("get_order").run(), graph).findings == ()


PLANS = [
    (["confirm"], "confirm"),
    (["SEND CONFIRMATION"], "confirm"),
    (["1. Send confirmation."], "confirm"),
    (["- confirm", "then relax"], "confirm"),
    (["confirm", "Send confirmation"], "confirm"),
    (["confirm", "order"], None),
    (["something else"], None),
    (["please confirm"], None),
    ([], None),
]


@pytest.mark.parametrize(("plan", "want"), PLANS)
def test_plan_in_force_names_exactly_one_sub_goal(plan: list[str], want: str | None) -> None:
    mapping = map_actions(a_run().call("mail").plan(*plan).call("mail").run(), DESK)
    assert mapping.mapped == (((3, want, "plan"),) if want else ())
    assert mapping.extra == ((1,) if want else (1, 3))


def test_a_run_that_tags_its_actions_leaves_nothing_for_a_plan_to_guess() -> None:
    run = a_run().plan("confirm").call("mail", sub_goal="order").call("mail").run()
    assert map_actions(run, DESK).mapped == ((2, "order", "tag"),)


SAID = [
    ("Hello! HOW CAN I HELP you?", "assistant", True),
    ("Hello! how can i help you?", "Agent", True),
    ([{"type": "text", "text": "Hello,\nhow can I help?"}, {"type": "image"}], "assistant", True),
    ("how can i help", "user", False),
    ("how can i help", "system", False),
    ("good bye", "assistant", False),
    ({"text": "how can i help"}, "assistant", False),
    (None, "assistant", False),
]


@pytest.mark.parametrize(("content", "role", "want"), SAID)
def test_text_rules_read_what_the_agent_said(content: Any, role: str, want: bool) -> None:
    mapping = map_actions(a_run().say(content, role).run(), DESK)
    assert mapping.mapped == (((1, "intent", "rule"),) if want else ())
    assert mapping.extra == ()


def test_calls_of_the_user_are_actions_too() -> None:
    mapping = map_actions(a_run().call("get_order", by="user").call("dance", by="user").run(), DESK)
    assert (mapping.mapped, mapping.extra) == (((1, "order", "rule"),), (2,))


def test_a_tool_that_looks_like_its_rule_is_matched_by_its_own_name() -> None:
    graph = a_graph({"id": "a", "rules": [{"tool": "mcp[files]"}]})
    assert map_actions(a_run().call("mcp[files]").run(), graph).mapped == ((1, "a", "rule"),)


VALUES: Any = st.sampled_from([0, 1, 1.0, True, "1", "a", None, [1], {"any": True}, {"glob": "a*"}])
ARGUMENTS = st.dictionaries(st.sampled_from(["", "kind", "table"]), VALUES, max_size=2)
EXPECTED = st.fixed_dictionaries(
    {"arguments": ARGUMENTS, "match": st.sampled_from(["exact", "subset", "call_keys"])},
    optional={"compare_args": st.lists(st.sampled_from(["kind", "table"]), max_size=2)},
)


@given(st.lists(EXPECTED, min_size=1, max_size=6), st.lists(ARGUMENTS, min_size=1, max_size=6))
def test_a_call_serves_the_checks_that_it_fulfils_however_few_are_compared(expected, made) -> None:
    nodes = [
        {"id": f"s{n}", "check": {"tool_call": {"name": "convert", **one}}} for n, one in enumerate(expected)
    ]
    graph, builder = a_graph(*nodes), a_run()
    for arguments in made:
        builder.call("convert", ok=True, **arguments)
    run = builder.finish().run()
    checks = [(node.id, node.check.tool_call) for node in graph.sub_goals if node.check]
    met = {
        call.seq: [name for name, spec in checks if spec and call_matches(spec, call)]
        for call in run.of(ToolCall)
    }
    every = [name for name, _ in checks]
    assert map_actions(run, graph).mapped == tuple(
        (seq, name, "check") for seq, names in met.items() for name in names or every
    )
    completed = {result.sub_goal for result in score_run(run, graph).results if result.completed}
    assert completed == {name for names in met.values() for name in names}
