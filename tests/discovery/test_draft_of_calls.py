"""A draft of calls: what all successes of one task do, with arguments; and which tasks belong together."""

from __future__ import annotations

import pytest
from builders import RunBuilder, a_run
from hypothesis import given
from hypothesis import strategies as st

from untaken.errors import UntakenError
from untaken.ledger import Run
from untaken.plans.discovery import discover, task_families
from untaken.plans.discovery.calls import EXTRA, FOUND, FamilyFit, TaskFit, family_fit
from untaken.plans.globs import matches_glob
from untaken.scoring import score_run

MUTATES = ["pay", "send"]


def worked(
    name: str, *, amount: int = 67, success: bool = True, note: str = "", task: str = "t"
) -> RunBuilder:
    """Looks an order up, pays it, and sends a letter in the run's own words."""
    run = a_run(name, task=task).call("pay", ok=False, amount=1)
    run.call("find", ok=True, order="A1").call("look", ok=True, at=name).call("pay", ok=True, amount=amount)
    run.call("send", ok=True, text=f"Dear customer, we have paid you back {note or name}.")
    return run.finish(success)


def runs(count: int = 3) -> list[Run]:
    return [worked(f"r{n}").run() for n in range(count)]


def test_changes_that_all_successes_make_are_required_and_reads_are_offered() -> None:
    draft = discover(runs(), source="calls", mutates=MUTATES)
    assert [node.id for node in draft.graph.sub_goals] == ["pay", "send"]
    assert draft.graph.sub_goals[0].check.tool_call.arguments == {"amount": 67}
    assert [(call.sub_goal, call.changes) for call in draft.offered] == [
        ("find", False),
        ("pay", True),
        ("send", True),
    ]
    assert (draft.graph.metadata["draft"], draft.graph.version, draft.unmapped) == (True, 1, 6)


def test_a_read_that_is_ticked_is_in_the_draft_in_its_order() -> None:
    draft = discover(runs(), source="calls", mutates=MUTATES, reads=["find"])
    assert [node.id for node in draft.graph.sub_goals] == ["find", "pay", "send"]
    assert [(edge.dependency, edge.sub_goal) for edge in draft.edges] == [("find", "pay"), ("pay", "send")]


@pytest.mark.parametrize(("successes", "wanted"), [(2, 2), (3, 3), (9, 5)])
def test_an_order_rests_on_as_many_runs_as_there_are_up_to_five(successes: int, wanted: int) -> None:
    draft = discover(runs(successes), source="calls", mutates=MUTATES)
    assert draft.min_runs == wanted
    assert len(draft.edges) == 1


def test_values_that_differ_between_successes_and_failed_runs_are_no_step() -> None:
    made = [worked("a").run(), worked("b", amount=70).run(), worked("c", amount=1, success=False).run()]
    draft = discover(made, source="calls", mutates=MUTATES)
    assert [node.id for node in draft.graph.sub_goals] == ["send"]


def test_arguments_in_any_order_are_one_call() -> None:
    given = [("amount", 67), ("to", "ann")]
    made = [
        a_run(str(n), task="t").call("pay", ok=True, **dict(given[::sign])).finish(True).run()
        for n, sign in enumerate((1, -1))
    ]
    draft = discover(made, source="calls", mutates=MUTATES)
    assert [node.id for node in draft.graph.sub_goals] == ["pay"]


def test_the_draft_is_completed_by_the_runs_it_was_learned_from() -> None:
    draft = discover(runs(), source="calls", mutates=MUTATES, reads=["find"])
    assert [score_run(run, draft.graph).completion for run in runs()] == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("tools", "ids"),
    [
        (["pay", "pay", "pay-2"], {"pay", "pay-2", "pay-2-2"}),
        (["pay-2", "pay", "pay"], {"pay-2", "pay", "pay-3"}),
        (["p" * 512, "p" * 512, "p" * 510 + "-2"], {"p" * 512, "p" * 510 + "-2", "p" * 510 + "-3"}),
    ],
)
def test_each_shared_call_has_an_id_of_its_own_whatever_the_tools_are_called(tools, ids) -> None:
    made = []
    for name in ("a", "b"):
        run = a_run(name)
        for amount, tool in enumerate(tools):
            run.call(tool, ok=True, amount=amount)
        made.append(run.finish(True).run())
    draft = discover(made, source="calls", mutates=["p*"])
    expected = [(node.check.tool_call.name, node.check.tool_call.arguments) for node in draft.graph.sub_goals]
    assert sorted(expected, key=lambda one: one[1]["amount"]) == [
        (tool, {"amount": amount}) for amount, tool in enumerate(tools)
    ]
    assert {node.id for node in draft.graph.sub_goals} == ids


@pytest.mark.parametrize(
    ("code", "made"),
    [
        ("draft-too-few-successes", [worked("a").run(), worked("b", success=False).run()]),
        ("draft-several-tasks", [worked("a").run(), worked("b", task="u").run()]),
    ],
)
def test_one_success_or_several_tasks_are_refused(code: str, made: list[Run]) -> None:
    with pytest.raises(UntakenError, match=code):
        discover(made, source="calls", mutates=MUTATES)


@pytest.mark.parametrize(
    ("desc", "tools", "code"),
    [
        ("all tasks go alike", lambda task: ("find", "pay"), "draft-one-plan"),
        ("each task goes its own way", lambda task: ("find", f"pay_{task}"), "draft-not-one-plan"),
    ],
)
def test_a_draft_of_several_tasks_says_whether_they_are_one_plan(desc: str, tools: object, code: str) -> None:
    made = []
    for n in range(8):
        run = a_run(f"r{n}", task=f"t{n % 4}")
        for tool in tools(n % 4):  # type: ignore[operator]
            run.call(tool, ok=True)
        made.append(run.finish(True).run())
    (found,) = [finding for finding in discover(made).findings if "one-plan" in finding.code]
    assert found.code == code, desc
    assert ("for 't0' it lacks pay_0" in found.message) is (code == "draft-not-one-plan")


def test_a_plan_of_the_other_tasks_names_what_it_lacks_and_asks_in_vain() -> None:
    made = []
    for n in range(8):
        run = a_run(f"r{n}", task=f"t{n % 4}")
        for tool in [("find", "pay"), ("find", "pay"), ("find", "skim"), ("find", "pay", "close")][n % 4]:
            run.call(tool, ok=True)
        made.append(run.finish(True).run())
    worst = [
        ("t2", ("skim",), ("pay",)),
        ("t3", ("close", "pay"), ()),
        ("t0", ("pay",), ()),
        ("t1", ("pay",), ()),
    ]
    misfits = tuple(TaskFit(task_id=task, missing=missing, extra=extra) for task, missing, extra in worst)
    assert family_fit(made) == FamilyFit(tasks=4, found=4 / 9, extra=1 / 5, misfits=misfits)
    assert FamilyFit(tasks=4, found=FOUND, extra=EXTRA, misfits=()).one_plan


def test_tasks_whose_successes_share_no_step_share_no_plan() -> None:
    made = [a_run(f"r{n}", task=f"t{n % 3}").call(f"do_{n}", ok=True).finish(True).run() for n in range(6)]
    assert family_fit(made) == FamilyFit(tasks=3, found=0, extra=0, misfits=())


@pytest.mark.parametrize(("tasks", "each", "known"), [(2, 3, False), (3, 1, False), (3, 2, True)])
def test_tasks_are_one_family_from_three_tasks_of_two_successes_on(tasks, each, known) -> None:
    made = [a_run(task=f"t{n}").call("find", ok=True).finish(True).run() for n in range(tasks)] * each
    assert (family_fit(made) is not None) == known


@pytest.mark.parametrize(
    ("tasks", "others", "want"),
    [
        (["refund-1", "refund-12", "swap"], [], [["refund-*"], ["swap"]]),
        (["refund-1", "refund-2"], ["refund-vip"], [["refund-[0-9]*"]]),
        (["refund-1", "refund-2"], ["refund-3a"], [["refund-1", "refund-2"]]),
        (["1", "2"], [], [["[0-9]*"]]),
        (["refund-", "refund-1"], ["refund-x"], [["refund-", "refund-1"]]),
        (["a[1", "a[2"], [], [["a[[]*"]]),
        (["only-7"], [], [["only-7"]]),
        (["refund-1", "refund-2", "swap", "swap", "swap"], [], [["swap"], ["refund-*"]]),
    ],
)
def test_tasks_that_differ_in_their_last_number_are_a_family(tasks, others, want) -> None:
    assert [list(family.globs) for family in task_families(tasks, others=others)] == want


IDS = st.lists(st.text("a1-[*", min_size=1, max_size=4), max_size=8)


@given(IDS, IDS)
def test_each_task_is_named_by_its_own_family_alone(tasks: list[str], others: list[str]) -> None:
    families = task_families(tasks, others=others)
    for task in {*tasks, *others}:
        naming = [one for one in families if any(matches_glob(glob, task) for glob in one.globs)]
        assert [task in one.tasks for one in naming] == ([True] if task in tasks else [])
