"""The decision points of a plan: accepted changes, a hand-over, the end of the run."""
# ruff: noqa: E501  (tables of cases)

from __future__ import annotations

import pytest
from builders import RunBuilder, a_run

from untaken.counterfactual.plan import PlanPath, plan_paths
from untaken.ledger.events import ToolCall
from untaken.plans import PlanGraph, map_actions, parse_graph

DESK = """
schema: untaken.plan/1
id: desk
tasks: [task]
mutates: ["write_*"]
sub_goals:
  - {id: look, check: {tool_call: {name: read_order}}}
  - {id: refund, check: {tool_call: {name: write_refund, arguments: {order: 1}}}}
  - {id: mail, rules: [{tool: write_mail}], check: {expr: "state.sent"}}
"""


def path_of(run: RunBuilder, graph: str = DESK) -> PlanPath:
    desk = parse_graph(graph, name="desk.plan.yaml")
    built = run.run()
    paths, silent = plan_paths([(built, desk, map_actions(built, desk).mapped)])
    assert silent == {}
    return paths[0]


def options(run: RunBuilder, graph: str = DESK) -> list[str]:
    return [str(decision.option) for decision in path_of(run, graph).decisions]


CASES = [
    ("reads and talk are no decisions", a_run("r").call("read_order").say("hello"), ["stop_open"]),
    ("expected changes advance the plan", a_run("r").call("write_refund", order=1).call("write_mail"), ["advance(refund)", "advance(mail)", "stop_done"]),
    ("a change with other arguments is unplanned", a_run("r").call("write_refund", order=2), ["unplanned(write_refund)", "stop_open"]),
    ("a refused call changed nothing", a_run("r").call("write_refund", order=1, ok=False), ["stop_open"]),
    (
        "a refusal is that of the call before it, where a call id is used again",
        a_run("r")
        .call("write_refund", order=1, ok=False)
        .add(ToolCall, call_id="c1", tool="write_mail", arguments={})
        .observe(ok=True, call_id="c1"),
        ["advance(mail)", "stop_open"]
    ),
    ("a repeated change is no new decision", a_run("r").call("write_refund", order=1).call("write_refund", order=1), ["advance(refund)", "stop_open"]),
    ("a hand-over ends what is compared, and counts once", a_run("r").call("transfer_to_human_agents").call("transfer_to_human_agents"), ["hand_over"])
]  # fmt: skip


@pytest.mark.parametrize(("desc", "run", "want"), CASES, ids=[case[0] for case in CASES])
def test_what_is_a_decision(desc: str, run: RunBuilder, want: list[str]) -> None:
    assert options(run.finish()) == want


def test_the_state_says_what_was_changed_before() -> None:
    run = a_run("r").call("write_refund", order=1).call("write_other").call("write_mail").finish()
    states = [(d.state.made, d.state.unplanned, d.left) for d in path_of(run).decisions]
    assert states == [
        ((), False, 2),
        (("refund",), False, 1),
        (("refund",), True, 1),
        (("mail", "refund"), True, 0),
    ]


def test_as_planned_means_every_expected_change_and_no_other() -> None:
    done = a_run("r").call("write_refund", order=1).call("write_mail")
    assert path_of(done.finish()).as_planned
    assert not path_of(
        a_run("r").call("write_refund", order=1).call("write_mail").call("write_x").finish()
    ).as_planned


def test_a_group_of_alternatives_is_open_until_one_is_made() -> None:
    graph = (
        DESK
        + """  - {id: notice, any_of: [mail, letter]}
  - {id: letter, check: {tool_call: {name: write_letter}}}
"""
    )
    run = a_run("r").call("write_letter").call("write_refund", order=1).finish()
    assert options(run, graph) == ["advance(letter)", "advance(refund)", "stop_done"]


@pytest.mark.parametrize(
    ("graph", "run", "reason"),
    [
        (DESK.replace('mutates: ["write_*"]\n', ""), a_run("r").finish(), "does not list the tools"),
        (DESK, a_run("r").call("write_mail"), "did not finish"),
    ],
)
def test_silence_has_a_reason(graph: str, run: RunBuilder, reason: str) -> None:
    desk: PlanGraph = parse_graph(graph, name="desk.plan.yaml")
    built = run.run()
    paths, silent = plan_paths([(built, desk, ())])
    assert paths == []
    assert reason in silent[built.digest].reason
