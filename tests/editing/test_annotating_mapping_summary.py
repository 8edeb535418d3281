"""Unmapped actions, rules that several match or none, what a preview counts; tools proposed as changing."""

# ruff: noqa: E501  (tables of cases)

from __future__ import annotations

import desk
import pytest
from builders import a_graph, a_run

from untaken.analysis.corpus import score_runs
from untaken.analysis.previewing import preview
from untaken.plans import AnswerSpec, Rule, ToolCallSpec, parse_graph
from untaken.plans.editing import (
    Set,
    SetGraph,
    apply,
    changing_tools,
    made_rule,
    matched_calls,
    sub_goal_of,
    tool_proposals,
    unmapped,
)

GRAPH = parse_graph(
    """
schema: untaken.plan/1
id: shop
tasks: ["t*"]
sub_goals:
- {id: look, title: Look the customer up, rules: [{tool: find}, {tool: "find*"}]}
- {id: read_policy, deps: [look], rules: [{tool: find_policy}, {tool: read, arguments: {page: 1}}, {tool: never}]}
- {id: answer, deps: [look], rules: [{text: "*hello*"}]}
""",
    name="shop.plan.yaml",
)
RUNS = [
    a_run("r1", agent="a", task="t1")
    .call("find", sub_goal="answer")
    .call("find_policy")
    .call("readPolicy", kind="refund", page=1)
    .call("readPolicy", kind="refund", page=2)
    .call("pay", by="user")
    .say("Hello")
    .finish(False)
    .run(),
    a_run("r2", agent="b", task="t1") .call("read", page=1) .call("readPolicy", kind="swap", page=3) .call("dance") .finish(True) .run()
]  # fmt: skip


def test_what_maps_to_nothing_is_ranked_with_examples_and_rules() -> None:
    summary = unmapped(RUNS, GRAPH)
    assert [
        (one.tool, one.arguments, one.actions, one.runs, one.agents, one.failed_runs)
        for one in summary.unmapped
    ] == [("readPolicy", ("kind", "page"), 3, 2, 2, 1), ("dance", (), 1, 1, 1, 0)]
    first = summary.unmapped[0]
    assert first.rules == (Rule(tool="readPolicy"), Rule(tool="readPolicy", arguments={"kind": "refund"}))
    assert [(example.run_id, example.seq) for example in first.examples] == [("r1", 3), ("r2", 2), ("r1", 4)]
    assert first.likely == ("read_policy",)
    assert (summary.runs, summary.actions, summary.mapped) == (2, 7, 3)


def test_few_values_make_rules_and_a_few_examples_and_sub_goals_are_named() -> None:
    run = a_run(task="t1")
    for n in range(20):
        run.call(
            "pay_it",
            four=n % 4,
            five=n % 5,
            quarter=f"q{n % 4}",
            fifth=f"f{n % 5}",
            note="x" * 200,
            long="x" * 201,
        )
    graph = a_graph("it", "pay_1", "pay_2", "pay_3", "pay_4", tasks=["t*"])
    (one,) = unmapped([run.finish(True).run()], graph).unmapped
    assert {name for rule in one.rules for name in rule.arguments or ()} == {"quarter", "note"}
    assert ([example.seq for example in one.examples], one.likely) == (
        [1, 2, 3, 4, 5],
        ("pay_1", "pay_2", "pay_3"),
    )


def test_each_rule_says_what_it_claims_and_what_it_gets() -> None:
    uses = {
        (use.sub_goal, use.place): (use.claims, use.serves, use.taken_by)
        for use in unmapped(RUNS, GRAPH).rules
    }
    assert uses == {
        ("look", 0): (0, 0, ()),
        ("look", 1): (1, 1, ()),
        ("read_policy", 0): (1, 0, ("look",)),
        ("read_policy", 1): (1, 1, ()),
        ("read_policy", 2): (0, 0, ()),
        ("answer", 0): (1, 1, ()),
    }
    assert [use.rule for use in unmapped(RUNS, GRAPH).rules if use.idle] == [
        Rule(tool="find"),
        Rule(tool="find_policy"),
        Rule(tool="never"),
    ]


def test_what_several_sub_goals_claim_is_named_with_its_actions() -> None:
    (contested,) = unmapped(RUNS, GRAPH).contested
    assert contested.sub_goals == ("look", "read_policy")
    assert [(example.run_id, example.seq) for example in contested.examples] == [("r1", 2)]


def test_a_made_rule_maps_what_it_was_made_for_and_comes_once() -> None:
    one = unmapped(RUNS, GRAPH).unmapped[0]
    node = sub_goal_of(GRAPH, one.likely[0])
    rules = made_rule(node, one.rules[0])
    after = apply(GRAPH, Set(sub_goal=node.id, field="rules", value=rules))
    assert [left.tool for left in unmapped(RUNS, after).unmapped] == ["dance"]
    assert made_rule(sub_goal_of(after, node.id), one.rules[0]) == rules


@pytest.fixture(name="known")
def scored() -> dict[str, object]:
    return dict(score_runs(desk.runs(), desk.graphs())[0])


def test_a_preview_says_which_runs_change_from_what_to_what(known: dict) -> None:
    graphs, runs = desk.graphs(), desk.runs()
    graph = graphs.get("desk")
    assert graph is not None
    edited = apply(graph, Set(sub_goal="policy", field="check", value={"expr": "state.read == false"}))
    seen = preview(runs, graphs, edited, known=known)
    assert seen.flows == {("policy", "completed", "attempted"): 4}
    assert {change.run_id.split("-")[0] for change in seen.changes} == {"careful"}
    assert set(seen.moved) == {change.digest for change in seen.changes}
    assert (seen.runs, seen.left, seen.joining, seen.leaving) == (12, 0, (), ())
    effects = {one.agent: one for one in seen.agents}
    assert [(name, one.runs) for name, one in effects.items() if one.moved] == [("careful", 4)]
    before, after = effects["careful"].before, effects["careful"].after
    assert (before.critical_completion, after.critical_completion) == (1.0, 0.0)
    assert after.violations > before.violations == 0


def test_runs_that_a_graph_no_longer_speaks_of_leave_it(known: dict) -> None:
    graphs, runs = desk.graphs(), desk.runs()
    graph = graphs.get("desk")
    assert graph is not None
    edited = apply(graph, SetGraph(field="tasks", value=["refund-1", "other"]))
    seen = preview(runs, graphs, edited, known=known)
    assert (len(seen.joining), len(seen.leaving)) == (1, 6)
    assert all(change.after is None for change in seen.changes if change.digest in seen.leaving)
    assert [one.agent for one in seen.agents if one.before is None] == ["stray"]


def test_a_preview_that_runs_out_of_time_says_how_much_it_left() -> None:
    graphs, runs = desk.graphs(), desk.runs()
    graph = graphs.get("desk")
    assert graph is not None
    edited = apply(graph, Set(sub_goal="policy", field="critical", value=False))
    seen = preview(runs, graphs, edited, seconds=-1)
    assert (seen.runs, seen.left) == (0, 12)


SHELL = [
    a_run("s1") .call("Bash", command="pytest -q") .observe("3 passed", ok=True) .call("Bash", command="ls") .finish() .run(),
    a_run("s2") .call("Bash", command="pytest") .observe("1 failed", ok=True) .call("Bash", command="pytest") .finish() .run(),
    a_run("s3").call("Bash", ok=False, command="pytest").call("Read", path="x").finish().run()
]  # fmt: skip


def test_the_calls_that_a_check_fits_are_counted_with_examples() -> None:
    """A pattern is tried on the runs before it is saved."""
    found = matched_calls(SHELL, ToolCallSpec(name="Bash", arguments={"command": {"glob": "pytest*"}}))
    assert (found.calls, found.counting, found.runs, found.failed, found.unclear) == (5, 3, 2, 1, 0)
    assert [(one.run_id, one.seq) for one in found.examples] == [("s1", 1), ("s2", 1), ("s2", 3)]
    assert [(one.run_id, one.seq) for one in found.misses] == [("s3", 1)]


def test_a_call_whose_answer_is_asked_for_and_not_recorded_is_unclear() -> None:
    asked = AnswerSpec(contains=" passed")
    found = matched_calls(
        SHELL, ToolCallSpec(name="Bash", arguments={"command": {"glob": "pytest*"}}, answer=asked)
    )
    assert (found.counting, found.failed, found.unclear) == (1, 2, 1)


def test_a_rule_that_looks_at_answers_is_counted_by_what_was_answered() -> None:
    graph = parse_graph(
        "id: g\nsub_goals:\n- {id: x, rules: [{tool: Bash, answer: {contains: passed}}]}\n",
        name="g.plan.yaml",
    )
    (use,) = unmapped(SHELL, graph).rules
    assert (use.claims, use.serves) == (1, 1)


def test_a_rule_offered_for_a_value_with_a_wildcard_means_that_value() -> None:
    runs = [
        a_run(f"w{n}").call("find", name="*.py").call("find", name=f"{n}").finish().run() for n in range(2)
    ]
    (one,) = unmapped(
        runs, parse_graph("id: g\nsub_goals:\n- {id: x, check: outcome}\n", name="g.plan.yaml")
    ).unmapped
    assert Rule(tool="find", arguments={"name": {"literal": "*.py"}}) in one.rules


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
