"""A defect of a plan is named by the audit, with the edit that runs suggest; a sound plan is left alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from builders import RunBuilder, a_graph, a_run

from untaken.analysis.auditing import PlanAudit, audit_plans
from untaken.analysis.auditing.mutants import OTHER, other_values
from untaken.analysis.auditing.successes import Completion, Order
from untaken.analysis.corpus import evaluate_corpus
from untaken.counterfactual.memory import PolicyMemory
from untaken.ledger import Run
from untaken.plans import PlanGraph
from untaken.plans.editing import apply, read_edit
from untaken.scoring import score_run
from untaken.views.audit import audit_corpus, audit_document
from untaken.views.documents import entry

ORDER = {"id": "order", "rules": [{"tool": "find"}], "check": {"expr": "state.order == 'A1'"}}
PAID = {"id": "pay", "deps": ["order"], "rules": [{"tool": "pay"}]}
CALL = {"name": "pay", "arguments": {"amount": 67, "reference": -1}, "match": "call_keys"}
SOUND = PAID | {"check": {"tool_call": {"name": "pay", "arguments": {"amount": 67}}}}


def worked(number: int, *, success: bool = True, amount: int = 67, reverse: bool = False) -> RunBuilder:
    """A run that finds the order and pays it."""
    run = a_run(f"r{number}", task=f"t{number % 4}", agent=f"agent-{number % 2}")

    def pay() -> None:
        run.call("pay", ok=True, amount=amount, reference=number).state(paid=amount)

    def find() -> None:
        run.call("find", ok=True, who=number).state(order="A1")

    for step in (pay, find) if reverse else (find, pay):
        step()
    return run.finish(success, final_state={"order": "A1", "paid": amount, "noise": number})


def runs(count: int = 8, **how: Any) -> list[Run]:
    """Runs, the last quarter of which failed with another amount."""
    good = count - count // 4
    return [
        worked(n, success=n < good, **({"amount": 78} if n >= good else {}) | how).run() for n in range(count)
    ]


def audited(graph: PlanGraph, made: Sequence[Run]) -> PlanAudit:
    """The audit of a plan."""
    return audit_plans([graph], [(run, score_run(run, graph)) for run in made])


def of_pay(check: dict[str, Any], made: Sequence[Run] | None = None, **more: Any) -> Any:
    """What an audit says of the second sub-goal, with this check."""
    return audited(a_graph(ORDER, PAID | {"check": check} | more), made or runs()).nodes[1]


def test_a_sound_plan_is_sound() -> None:
    found = audited(a_graph(ORDER, SOUND), runs())
    assert [node.verdict for node in found.nodes] == ["sound", "sound"]
    assert [edge.verdict for edge in found.edges] == ["sound"]
    assert found.alarms == 0


@pytest.mark.parametrize(
    ("desc", "check", "want"),
    [
        ("constant", {"expr": "1 == 1"}, "blind"),
        ("reads what another step wrote", {"expr": "state.order == 'A1'"}, "blind"),
        ("true whatever it is", {"expr": "state.paid == state.paid"}, "doubtful"),
        ("true with and without", {"expr": "has(state.paid) || !has(state.paid)"}, "blind"),
        ("only that it is there", {"expr": "has(state.paid)"}, "doubtful"),
        ("any number", {"expr": "state.paid > 0 || state.paid <= 0"}, "doubtful"),
        ("a limit", {"expr": "state.paid <= 100"}, "sound"),
        ("the wrong amount", {"tool_call": {"name": "pay", "arguments": {"amount": 76}}}, "doubtful"),
        ("a misspelt tool", {"tool_call": {"name": "payy", "arguments": {"amount": 67}}}, "doubtful"),
        ("a misspelt field", {"expr": "state.piad == 67"}, "doubtful"),
        ("arguments that it does not compare", {"tool_call": CALL | {"compare_args": ["amount"]}}, "sound"),
        ("a verdict", {"verdict": True}, "untested"),
        ("the outcome", {"outcome": True}, "untested"),
    ],
)
def test_a_check_gets_its_verdict(desc: str, check: dict[str, Any], want: str) -> None:
    assert of_pay(check).verdict == want, desc


@pytest.mark.parametrize(
    ("value", "others"),
    [
        (True, [False]),
        (-7, [-6, -8000, 8000]),
        ("x", [OTHER, ""]),
        ("", [OTHER]),
        ([1], [[1, 1], []]),
        ([], [[OTHER]]),
        ({"a": 1}, [{"a": 2, OTHER: OTHER}, {}]),
        (None, [OTHER]),
    ],
)
def test_a_value_is_changed_into_others_of_its_type_numbers_far_to_both_sides(value, others) -> None:
    assert list(other_values(value)) == others


def test_a_check_on_calls_whose_answers_were_not_recorded_is_not_blind() -> None:
    made = [
        a_run(f"r{n}", agent=f"agent-{n}").call("pay", amount=67).call("close").finish(success=True).run()
        for n in range(4)
    ]
    (node,) = audited(a_graph({"id": "pay", "check": SOUND["check"]}), made).nodes
    assert (node.verdict, node.tried.hollow, node.tried.hollow_detected) == ("sound", 3, 3)


def test_any_call_will_do_only_where_the_tool_changes_nothing() -> None:
    check = {"tool_call": {"name": "pay", "arguments": {}}}
    node = PAID | {"check": check}
    assert audited(a_graph(ORDER, node), runs()).nodes[1].verdict == "sound"
    assert audited(a_graph(ORDER, node, mutates=["pay"]), runs()).nodes[1].verdict == "doubtful"


@pytest.mark.parametrize(
    ("desc", "check"),
    [
        ("argument", {"tool_call": {"name": "pay", "arguments": {"amount": 76}}}),
        ("tool", {"tool_call": {"name": "payy", "arguments": {"amount": 67}}}),
        ("field", {"expr": "state.piad == 67"}),
    ],
)
def test_the_proposed_edit_makes_the_plan_sound(desc: str, check: dict[str, Any]) -> None:
    graph = a_graph(ORDER, PAID | {"check": check})
    found = audited(graph, runs()).nodes[1]
    assert found.proposed is not None, desc
    assert audited(apply(graph, found.proposed), runs()).nodes[1].verdict == "sound", desc


def test_a_tool_that_serves_another_sub_goal_is_no_misspelling_of_a_like_one() -> None:
    graph = a_graph(SOUND | {"deps": []}, {"id": "pay2", "check": {"tool_call": {"name": "pay_2"}}})
    made = [
        a_run(f"r{n}", task="t").call("pay", ok=True, amount=67, n=n).finish(n == 0).run() for n in range(6)
    ]
    pay2 = audited(graph, made).nodes[1]
    assert (pay2.verdict, pay2.proposed) == ("untested", None)


def test_a_value_that_successes_share_is_proposed_though_some_never_called_the_tool() -> None:
    made = [
        *runs(3),
        *(a_run(f"x{n}", task="t").call("find", ok=True, n=n).finish(True).run() for n in range(3)),
    ]
    found = of_pay({"tool_call": {"name": "pay", "arguments": {"amount": 76}}}, made)
    assert (found.verdict, found.proposed_words) == ("doubtful", "amount 67 instead of 76")


def test_what_every_run_gives_otherwise_is_in_doubt_whoever_never_tried() -> None:
    made = [worked(n, amount=70, success=n == 0).run() for n in range(6)]
    made.append(a_run("idle", task="t").call("find", ok=True).finish(False).run())
    found = of_pay({"tool_call": {"name": "pay", "arguments": {"amount": 67}}}, made)
    assert (found.verdict, found.why) == (
        "doubtful",
        "every run that tries it gives the same other arguments",
    )


def test_values_that_differ_between_successes_are_no_proposal() -> None:
    made = [worked(n, amount=60 + n).run() for n in range(6)]
    found = of_pay({"tool_call": {"name": "pay", "arguments": {"amount": 1}}}, made)
    assert (found.verdict, found.proposed) == ("doubtful", None)


def test_an_edge_that_successes_reverse_is_doubtful_and_one_trial_too_early_is_no_order() -> None:
    found = audited(a_graph(ORDER, SOUND), [worked(n, reverse=True).run() for n in range(4)])
    assert found.edges[0].verdict == "doubtful"
    early = [
        a_run(f"e{n}", task=f"t{n}")
        .call("pay", ok=False, amount=67, n=n)
        .call("find", ok=True)
        .state(order="A1")
        .call("pay", ok=True, amount=67)
        .finish(True, final_state={"order": "A1"})
        .run()
        for n in range(4)
    ]
    assert audited(a_graph(ORDER, SOUND), early).edges[0].verdict == "sound"


def test_a_run_that_only_tried_the_earlier_sub_goal_shows_an_order_too() -> None:
    """One success has both, and the other stopped at what the plan wants first: the order is as clear."""
    stopped = a_run("r1", graph="g").call("pay", ok=True, amount=67, n=1).state(paid=67, noise=1)
    stopped.call("find", ok=False, who=1)
    made = [worked(0, reverse=True).run(), stopped.finish(False, final_state={"paid": 67, "noise": 1}).run()]
    (edge,) = audited(a_graph(ORDER, SOUND), made).edges
    assert (edge.verdict, edge.order.runs, edge.order.runs_reversed) == ("doubtful", 2, 2)


def skipping(number: int, *, done: bool, success: bool) -> Run:
    """A run that checks the policy or does not, of one agent."""
    run = a_run(f"s{number}", task=f"t{number % 5}")
    if done:
        run.call("read_policy", ok=True, n=number).state(policy="read")
    return run.call("pay", ok=True, n=number).finish(success, final_state={"n": number}).run()


POLICY = {
    "id": "policy",
    "critical": True,
    "rules": [{"tool": "read_policy"}],
    "check": {"expr": "state.policy == 'read'"},
}


@pytest.mark.parametrize(
    ("desc", "successes", "failed", "want"),
    [
        ("it goes with success", 60, lambda n: skipping(n, done=False, success=False), "sound"),
        ("a person decides", 14, lambda n: skipping(n, done=n % 3 > 0, success=False), "contested"),
        ("it changes nothing", 60, lambda n: skipping(n, done=n % 3 > 0, success=False), "doubtful"),
    ],
)
def test_what_some_successes_do_without_is_contested_unless_outcomes_decide(
    desc: str, successes: int, failed: Callable[[int], Run], want: str
) -> None:
    made = [skipping(n, done=n % 3 > 0, success=True) for n in range(successes)]
    made += [failed(n) for n in range(100, 100 + 2 * successes)]
    (node,) = audited(a_graph(POLICY), made).nodes
    assert node.verdict == want, desc
    assert (", linked to success" in node.why) is (want == "sound")


@pytest.mark.parametrize(
    ("successes", "completed", "want"),
    [(15, 10, True), (15, 11, False), (5, 2, True), (5, 3, False), (4, 0, False)],
)
def test_a_step_is_contested_where_so_few_of_nine_in_ten_have_a_chance_below_a_twentieth(
    successes: int, completed: int, want: bool
) -> None:
    assert Completion(successes=successes, completed=completed).contested is want


@pytest.mark.parametrize(
    ("successes", "completed", "want"),
    [(0, 0, False), (2, 0, False), (3, 0, True), (7, 1, False), (8, 1, True), (8, 2, False)],
)
def test_successes_do_without_a_step_that_none_of_three_or_surely_less_than_half_completed(
    successes: int, completed: int, want: bool
) -> None:
    assert Completion(successes=successes, completed=completed).nobody is want


@pytest.mark.parametrize(
    ("desc", "found", "want"),
    [
        ("one success and one failure, both reversed", (1, 1, 2, 2), True),
        ("one run", (1, 1, 1, 1), False),
        ("no success", (0, 0, 9, 9), False),
        ("one run goes along it", (1, 1, 3, 2), False),
        ("two successes of two, whatever failures do", (2, 2, 9, 2), True),
    ],
)
def test_two_runs_against_an_edge_and_none_along_it_are_a_doubt(desc, found, want) -> None:
    both, reversed_, runs, runs_reversed = found
    order = Order(both=both, reversed=reversed_, runs=runs, runs_reversed=runs_reversed)
    assert order.doubtful is want, desc


def test_too_few_runs_and_copies_of_one_leave_it_untested() -> None:
    assert audited(a_graph(ORDER, SOUND), runs(2)).nodes[1].verdict == "untested"
    copies = [a_run(f"c{n}", task="t").call("pay", ok=True, amount=67).finish(True).run() for n in range(9)]
    assert audited(a_graph(SOUND | {"deps": []}), copies).nodes[0].verdict == "untested"


def test_an_option_nobody_needed_is_no_doubt() -> None:
    graph = a_graph(
        {"id": "pay", "check": SOUND["check"]},
        {"id": "voucher", "check": {"tool_call": {"name": "voucher"}}},
        {"id": "either", "any_of": ["pay", "voucher"]},
    )
    verdicts = {node.sub_goal: node.verdict for node in audited(graph, runs()).nodes}
    assert verdicts == {"pay": "sound", "voucher": "untested", "either": "sound"}


def written(number: int, agent: str, amount: int, *, success: bool, user: str = "ann_1234") -> Run:
    """A run of one task of a benchmark whose outcome is the plan's writes."""
    run = a_run(f"w{number}", agent=agent, task="task-1")
    run.call("get_user", ok=True, user_id=user, n=number)
    return run.call("pay", ok=True, amount=amount).finish(success).run()


PAY = {"id": "pay", "check": SOUND["check"]}
WRITES = a_graph(
    {"id": "user", "check": {"tool_call": {"name": "get_user", "arguments": {"user_id": "ann_1234"}}}},
    PAY,
    mutates=["pay"],
)


def test_agents_that_agree_with_each_other_and_not_with_the_plan_make_a_task_doubtful() -> None:
    made = [written(n, f"agent-{n % 2}", 70, success=False) for n in range(4)]
    (task,) = audited(WRITES, made).tasks
    assert (task.doubt, task.agree, task.passed) == (2.0, 4, 0.0)
    assert [(write.tool, write.arguments) for write in task.proposed or ()] == [("pay", {"amount": 70})]


def test_a_write_is_the_same_in_whatever_order_its_arguments_are() -> None:
    orders = ({"amount": 70, "account": "A1"}, {"account": "A1", "amount": 70})
    made = [
        a_run(f"w{n}", agent=f"agent-{n % 2}", task="task-1")
        .call("get_user", ok=True, user_id="ann_1234", n=n)
        .call("pay", ok=True, **orders[n % 2])
        .finish(False)
        .run()
        for n in range(4)
    ]
    assert audited(WRITES, made).tasks[0].agree == 4


def test_who_makes_one_of_two_planned_writes_does_not_write_as_planned() -> None:
    calls = {"get_user": {"user_id": "ann_1234"}, "pay": {"amount": 67}, "ship": {}}
    checks = [
        {"id": n, "check": {"tool_call": {"name": n, "arguments": given}}} for n, given in calls.items()
    ]
    plan = a_graph(*checks, mutates=["pay", "ship"])
    (task,) = audited(plan, [written(n, f"agent-{n % 2}", 67, success=False) for n in range(4)]).tasks
    assert (task.doubt, [write.tool for write in task.proposed or ()]) == (2.0, ["pay"])


def test_a_task_whose_agents_write_as_planned_is_in_no_doubt_and_one_agent_is_too_few() -> None:
    made = [written(n, f"agent-{n % 2}", 67, success=True) for n in range(4)]
    for plan in (WRITES, a_graph(PAY, mutates=["pay"])):  # one names an id, the other none
        (task,) = audited(plan, made).tasks
        assert (task.runs, task.doubt, task.proposed) == (4, 0.0, None)
    assert audited(WRITES, [written(n, "one", 70, success=False) for n in range(4)]).tasks == ()


def test_runs_of_another_task_are_a_finding_and_no_evidence() -> None:
    made = [written(n, f"agent-{n % 2}", 67, success=True) for n in range(4)]
    made += [written(n, f"agent-{n % 2}", 70, success=False, user="bob_77") for n in range(4, 6)]
    corpus = evaluate_corpus(made, WRITES, memory=PolicyMemory.build([]), resamples=0)
    found = audit_corpus(corpus)
    assert found.tasks[0].runs == 4
    assert found.strangers == 2
    document = audit_document(found, corpus.runs)
    assert [finding.code for finding in document.findings] == ["run-of-another-task"]
    assert document.tasks[0].strangers == ["w4", "w5"]


def test_a_proposed_edit_in_the_document_is_a_command_that_can_be_applied() -> None:
    graph = a_graph(ORDER, PAID | {"check": {"tool_call": {"name": "pay", "arguments": {"amount": 76}}}})
    corpus = evaluate_corpus(runs(), graph, memory=PolicyMemory.build([]), resamples=0)
    node = entry(audit_document(audit_corpus(corpus), corpus.runs))["nodes"][1]
    edited = apply(graph, read_edit(node["proposed"]))
    assert edited.sub_goals[1].check.tool_call.arguments == {"amount": 67}


def test_hostile_runs_are_text_and_stop_nothing() -> None:
    hostile = "[x](javascript:alert(1)) <b>\x00\u202e"
    made = [
        a_run(f"h{n}", task=hostile)
        .call("pay", ok=True, amount=hostile, n=n)
        .state(paid={"a": [hostile, None, 1e300, -0.0]})
        .finish(True, final_state={"paid": {"a": []}})
        .run()
        for n in range(6)
    ]
    found = of_pay({"expr": "state.paid.a[0] == 'x'"}, made)
    assert found.verdict == "doubtful"
