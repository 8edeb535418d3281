"""What to fix first: where each failed run counts, what is listed apart, and what is recommended."""
# ruff: noqa: E501  (tables of cases)

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pytest
from builders import RunBuilder, a_graph, a_run
from chain import CHAIN, corpus_of, did, star, step

import untaken
from untaken.analysis.corpus import evaluate_corpus
from untaken.analysis.fix_first import FixItem, Triage, triage
from untaken.errors import UntakenError
from untaken.plans import PlanGraph

NONE_MISSED = "none is known to have missed a critical sub-goal"


def where(found: Triage) -> dict[tuple[str | None, str], int]:
    return {(item.sub_goal, item.way): item.failed_runs for item in found.items if item.failed_runs}


CASES = [
    ("the run stopped before it", "look", ("think", "stopped")),
    ("what needs it was attempted all the same", "look act", ("think", "never attempted")),
    ("it was tried, and refused", "look think!", ("think", "attempted")),
    ("of two that failed, the one that failed first by the log", "look! think! act", ("look", "attempted")),
    ("a retry after another failure makes it later", "think! look! look! act!", ("think", "attempted")),
    ("a skip comes just before what went past it", "think! act!", ("look", "never attempted")),
    ("nothing is left", "look think act", (None, "everything completed")),
    ("nothing was done, so the first dependency", "", ("look", "attempts unknown")),
    ("nothing that counts was done", "wave", ("look", "stopped")),
]


@pytest.mark.parametrize(("desc", "calls", "want"), CASES, ids=[case[0] for case in CASES])
def test_a_failed_run_counts_once_where_it_fails_first_by_its_log(desc, calls, want) -> None:
    found = triage(corpus_of([did("r", calls, False)]))
    if want[1] == "attempts unknown":  # without any action nothing is known
        assert len(found.unscored_failed_runs) == 1
    else:
        assert where(found) == {want: 1}


TIES = [
    ("the critical one of two", [step("look"), star("think"), step("act", "look", "think")], "think"),
    ("what the critical one needs", [step("look"), star("think", "look"), step("act", "think")], "look"),
    ("dependencies first, at any depth", [step("look"), step("read", "look"), star("think", "read"), step("act", "think")], "look")
]  # fmt: skip


@pytest.mark.parametrize(("desc", "nodes", "want"), TIES, ids=[tie[0] for tie in TIES])
def test_of_what_the_log_puts_at_one_place_dependencies_come_first_then_critical_sub_goals(
    desc: str, nodes: list[dict[str, Any]], want: str
) -> None:
    found = triage(corpus_of([did("r", "act", False)], a_graph(*nodes, tasks=["t*"])))
    assert where(found) == {(want, "never attempted"): 1}


def test_a_run_that_ended_stopped_before_the_first_sub_goal_of_the_plan_that_it_could_have_begun() -> None:
    nodes = [step("greet"), step("act", "look"), step("look"), star("think"), star("pay", "act")]
    found = triage(corpus_of([did("r", "greet", False)], a_graph(*nodes, tasks=["t*"])))
    assert where(found) == {("look", "stopped"): 1}


def test_what_several_agents_leave_out_alike_is_one_item_and_what_one_agent_does_is_its_own() -> None:
    runs = [
        did(f"{agent}{n}", "look act" if fails else "look think act", not fails, agent=agent, task=f"t{n}")
        for agent in "abcdef"
        for n in range(9)
        for fails in [n < 8 and agent in "abc"]
    ]
    found = triage(corpus_of(runs))
    (item,) = found.items
    assert (item.kind, item.failed_runs, dict(item.agents)) == ("sub_goal", 24, {"a": 8, "b": 8, "c": 8})
    assert [cause.kind for cause in found.causes] == ["skipped"]
    found = triage(corpus_of([run for run in runs if run.run_id[0] not in "bc"]))
    (item,) = found.items
    assert (item.cause,) == found.causes
    assert (item.cause.kind, item.cause.value, item.failed_runs) == ("agent", "a", 8)


@pytest.mark.parametrize(("calls", "way"), [("act", "never attempted"), ("wave", "stopped")])
def test_a_harmless_dependency_leaves_what_needs_it_in_order(calls: str, way: str) -> None:
    nodes = [step("look"), step("read", "look"), star("think", "read"), step("act", "think")]
    runs = [did(f"s{i}", "read think act", True) for i in range(6)]
    found = triage(corpus_of([*runs, did("f", calls, False)], a_graph(*nodes, tasks=["t*"])))
    assert where(found) == {("read", way): 1}


def test_a_skill_that_fails_in_every_context_is_one_item_and_in_one_context_is_named_with_it() -> None:
    def causes(fails: str) -> list[tuple[str, str, int, bool]]:
        runs = []
        for n in range(48):
            skill, context = ("fast", "slow")[n % 2], "abcd"[n // 2 % 4]
            bad = skill == "fast" and context in fails
            run = (
                a_run(f"r{n}", task=f"t{n % 5}").select(skill, "other", context=context).call("look", ok=True)
            )
            runs.append((run if bad else run.call("think", ok=True)).finish(not bad))
        found = triage(corpus_of(runs, a_graph(step("look"), step("think", "look"), tasks=["t*"])))
        named = [(one.cause, one) for one in found.items]
        return [(c.tool, c.value, one.failed_runs, one.recommended) for c, one in named if c is not None]

    assert causes("abcd") == [("fast", "", 24, True)]
    assert causes("b") == [("fast", "b", 6, True)]


SKIPS = a_graph(step("greet"), step("look", "greet"), step("act", "look"), tasks=["t*"])


@pytest.mark.parametrize(
    ("desc", "successes_without", "successes", "failures_without", "harmless"),
    [
        ("as many successes leave it out", 5, 10, 3, True),
        ("three of five successes", 3, 5, 3, True),
        ("fewer than three successes leave it out", 2, 10, 3, False),
        ("more than 10% of successes leave it out", 3, 29, 3, True),
        ("not more than 10% of successes leave it out", 3, 30, 3, False),
        ("fewer than five successes in all", 3, 4, 3, False),
        ("failures leave it out far more often", 3, 20, 9, False),
    ],
)
def test_what_successes_leave_out_as_often_is_passed_over_and_named(
    desc: str, successes_without: int, successes: int, failures_without: int, harmless: bool
) -> None:
    runs = [
        did(f"s{n}", "look act" if n < successes_without else "greet look act", True)
        for n in range(successes)
    ]
    runs += [
        did(f"f{n}", "look!" if n < failures_without else "greet look!", False, task=f"t{n}")
        for n in range(9)
    ]
    found = triage(corpus_of(runs, SKIPS))
    named = [one.sub_goal for one in found.left_out if one.doubt]
    assert (named == ["greet"], ("greet", "never attempted") not in where(found)) == (harmless, harmless), (
        desc
    )


def test_a_critical_sub_goal_is_never_harmless() -> None:
    graph = a_graph(star("greet"), step("look"), tasks=["t*"])
    runs = [did(f"s{n}", "look", True) for n in range(10)] + [did("f", "look!", False)]
    found = triage(corpus_of(runs, graph))
    assert where(found) == {("look", "attempted"): 1}  # the log goes past look first
    assert {item.sub_goal for item in found.items} == {"greet", "look"}
    assert not found.left_out


def test_a_critical_sub_goal_missed_by_successes_alone_is_on_the_list_and_recommended() -> None:
    runs = [did(f"s{n}", "look act", True, task=f"t{n % 2}") for n in range(3)]
    found = triage(corpus_of([*runs, did("s9", "look think act", True)]))
    (item,) = found.items
    assert (item.sub_goal, item.way, item.failed_runs, item.missed, item.missed_successes) == (
        "think",
        "never attempted",
        0,
        3,
        3,
    )
    assert (item.recommended, item.ground) == (True, "critical completion")
    assert item.critical_gain == pytest.approx(3 / 8)
    assert found.headline == "All 4 runs succeeded; 1 critical sub-goal not completed in some of them"


def test_a_critical_sub_goal_missed_only_after_an_earlier_failure_is_listed_and_not_recommended() -> None:
    found = triage(corpus_of(many("f", "look!", 4, False) + many("s", "look think act", 9, True)))
    item = next(one for one in found.items if one.sub_goal == "think")
    assert (item.failed_runs, item.missed, item.recommended, {*item.goals}) == (0, 4, False, {"think"})
    assert "only after an earlier failure" in item.why
    assert (item.gain, item.low, item.high) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(("others", "kept"), [(0, True), (1, True), (2, False)])
def test_what_is_wrong_is_said_of_at_least_half_of_the_runs_that_an_item_counts(others, kept) -> None:
    fails = a_run("f", task="t").call("look").call("think").observe("closed", ok=False, call_id="c2")
    runs = [
        fails.finish(False),
        *many("s", "look think! act", others, True),
        *many("w", "look think act", 9, True),
    ]
    item = next(one for one in triage(corpus_of(runs)).items if one.sub_goal == "think")
    assert (item.failed_runs, item.missed, item.commonest is not None) == (1, 1 + others, kept)


class Slips(NamedTuple):
    """A chain of six critical steps; `slips` successful runs of ten tasks leave out each, the others none."""

    desc: str
    slips: tuple[int, ...]
    others: int
    want: list[str]


@pytest.mark.parametrize(
    "case",
    [
        Slips("three runs, as many as of every other step", (3, 3, 3, 3, 3, 3), 72, []),
        Slips("three runs of few that slip at all", (3, 1, 1, 1, 1, 1), 82, []),
        Slips("nothing else ever slips", (3, 0, 0, 0, 0, 0), 87, ["s0"]),
        Slips("more than an even spread", (12, 2, 1, 2, 1, 2), 180, ["s0"]),
        Slips("as often as every other step, but in many runs", (15, 15, 15, 15, 15, 15), 10, list("012345")),
        Slips("in most of a few runs", (3, 0, 0, 0, 0, 0), 2, ["s0"]),
        Slips("in fewer than three runs", (2, 0, 0, 0, 0, 0), 2, []),
    ],
    ids=lambda case: case.desc,
)
def test_a_critical_sub_goal_is_recommended_only_where_it_is_missed_beyond_chance(case: Slips) -> None:
    names = [f"s{n}" for n in range(6)]
    graph = a_graph(*(star(name) for name in names), tasks=["t*"])
    runs = many("all", " ".join(names), case.others, True, tasks=10)
    for place, slips in enumerate(case.slips):
        left = " ".join(names[:place] + names[place + 1 :])
        runs += many(f"without{place}.", left, slips, True, tasks=10)
    found = triage(corpus_of(runs, graph))
    want = sorted(f"s{name.removeprefix('s')}" for name in case.want)
    assert sorted(item.sub_goal or "" for item in found.recommended) == want
    assert {item.ground for item in found.recommended} <= {"critical completion"}
    assert {item.sub_goal for item in found.items} == {f"s{n}" for n, slips in enumerate(case.slips) if slips}
    assert all("no more than chance" in i.why for i in found.items if i.missed >= 3 and not i.recommended)


def test_a_critical_sub_goal_is_recommended_where_no_run_records_an_outcome() -> None:
    runs = many("a", "look act", 4, None) + many("b", "look think act", 4, None)
    assert [item.sub_goal for item in triage(corpus_of(runs)).recommended] == ["think"]


@pytest.mark.parametrize("turn", [1, -1])
def test_a_success_that_left_a_critical_sub_goal_out_counts_by_its_own_way_in_any_order_of_runs(turn) -> None:
    failed = [did(f"p{i}", "look act", False, task=f"t{i}") for i in range(3)]
    failed += [did(f"s{i}", "look", False, task=f"t{i}") for i in range(3)]
    runs = [*failed[::turn], *(did(f"w{i}", "look act", True, task=f"t{i}") for i in range(5))]
    missed = {item.way: item.missed for item in triage(corpus_of(runs)).items if item.sub_goal == "think"}
    assert missed == {"never attempted": 8, "stopped": 3}


def test_of_two_critical_sub_goals_left_out_by_the_same_runs_the_first_is_recommended() -> None:
    graph = a_graph(star("ask"), star("sign", "ask"), step("send", "sign"), tasks=["t*"])
    found = triage(corpus_of([*many("a", "send", 4, True), *many("b", "ask sign send", 4, True)], graph))
    assert [(item.sub_goal, item.recommended) for item in found.items] == [("ask", True), ("sign", False)]


def paid(name: str, calls: str, success: bool, **fields: Any) -> RunBuilder:
    """A run whose state says that it is paid, without an action that is mapped to it."""
    run = a_run(name, **fields).state(paid=True)
    for call in calls.split():
        run.call(call.rstrip("!"), ok=not call.endswith("!"))
    return run.finish(success)


@pytest.mark.parametrize("critical", [False, True])
def test_a_check_that_holds_without_an_action_is_the_plans_doing(critical: bool) -> None:
    pay = {"id": "pay", "rules": [{"tool": "pay"}], "check": {"expr": "state.paid == true"}}
    graph = a_graph(pay | {"critical": critical}, step("mail", "pay"), tasks=["t*"])
    runs = [paid(f"f{n}", "mail!", False, task=f"t{n}") for n in range(3)]
    runs += [paid(f"s{n}", "mail", True, task=f"t{n}") for n in range(4)]
    found = triage(corpus_of(runs, graph))
    assert where(found) == {("mail", "attempted"): 3}
    if critical:
        (item,) = [one for one in found.items if one.sub_goal == "pay"]
        assert (item.way, item.missed) == ("check holds", 7)
        assert item.reason == "its check holds, but no mapped action was seen"
    else:
        (left,) = found.left_out
        assert (left.sub_goal, left.way, left.doubt) == ("pay", "check holds", True)
        assert left.doubt_words == (
            "“pay” (its check holds, but no mapped action was seen), in 3 of 3 failed runs and 4 of 4 "
            "successes. Map an action to it, or write `needs_action: false`."
        )


ON_STATE = a_graph(
    {"id": "pay", "rules": [{"tool": "pay"}], "check": {"expr": "state.paid == true"}},
    step("mail", "pay"),
    tasks=["t*"],
)


@pytest.mark.parametrize(
    ("desc", "calls", "rule", "want"),
    [
        ("its last call was refused", "pay!", "fail", {("pay", "attempted"): 1}),
        ("a later call worked, and something else is left", "pay! pay", "fail", {("mail", "stopped"): 1}),
        ("nothing else is left", "pay mail", "fail", {("pay", "attempted"): 1}),
        ("what has no evidence is left out", "pay! mail", "drop", {}),
    ],
)
def test_a_field_that_was_never_set_counts_where_nothing_else_explains_the_failure(
    desc: str, calls: str, rule: str, want: dict[tuple[str, str], int]
) -> None:
    found = triage(corpus_of([did("r", calls, False)], ON_STATE, missing=rule))
    assert where(found) == want, desc
    assert len(found.unscored_failed_runs) == (not want)


def test_of_runs_that_ended_alike_after_the_same_calls_each_goes_by_its_own_answers() -> None:
    runs = [did(f"r{n}", calls, False) for n, calls in enumerate(("pay! mail!", "pay mail!", "pay! mail!"))]
    assert where(triage(corpus_of(runs, ON_STATE))) == {("pay", "attempted"): 2, ("mail", "attempted"): 1}


def many(name: str, calls: str, n: int, success: bool, tasks: int = 5) -> list[RunBuilder]:
    return [did(f"{name}{i}", calls, success, task=f"t{i % tasks}") for i in range(n)]


@pytest.mark.parametrize(
    ("desc", "runs", "want"),
    [
        ("many failed runs of several tasks", many("f", "look think act!", 9, False), ["act"]),
        ("of one task only", many("f", "look think act!", 9, False, tasks=1), []),
        ("two failed runs", many("f", "look think act!", 2, False), []),
        (
            "no more than an even spread",
            many("f", "look think act!", 3, False)
            + many("g", "look!", 3, False)
            + many("h", "look think!", 3, False),
            [],
        ),
    ],
)
def test_what_is_recommended(desc: str, runs: list[RunBuilder], want: list[str]) -> None:
    graph = a_graph(step("look"), star("think", "look"), step("act", "think"), tasks=["t*"])
    found = triage(corpus_of([*runs, *many("s", "look think act", 20, True)], graph))
    assert [item.sub_goal for item in found.recommended] == want, desc
    assert [cause for cause in found.causes if cause.kind == "skipped"] == []


def test_sub_goals_of_many_graphs_join_by_tool_and_never_by_id() -> None:
    def plan(task: str, tool: str, **arguments: Any) -> PlanGraph:
        goal = {
            "id": "step1",
            "title": f"Do it for {task}",
            "critical": task == "t2",
            "check": {"tool_call": {"name": tool, "arguments": arguments}},
        }
        return a_graph(goal, graph_id=task, tasks=[task])

    graphs = [
        plan("t1", "book", seat=1),
        plan("t2", "book", seat=2),
        plan("t3", "cancel"),
        plan("t4", "book", seat=4),
    ]
    runs = [did(f"r{n}", "book" if n != 3 else "cancel!", False, task=f"t{n}") for n in (1, 2, 3, 4)]
    found = triage(corpus_of(runs, *graphs))
    assert [(item.sub_goal, item.graph, item.failed_runs, item.critical) for item in found.items] == [
        ("step1", None, 3, True),
        ("step1", "t3", 1, False),
    ]
    assert (found.items[0].title, found.items[0].reason) == ("book", "book was called without seat in 3 runs")


def test_a_failed_run_with_everything_completed_counts_by_its_first_unplanned_change() -> None:
    graph = a_graph(step("write_a"), tasks=["t*"], mutates=["write_*"])
    runs = [did("a", "write_a write_b", False), did("b", "write_a", False), did("c", "write_a", True)]
    found = triage(corpus_of(runs, graph))
    # Compared with those that completed everything, without the same change.
    assert [(i.way, i.unplanned, i.failed_runs, i.passed, i.passed_successes) for i in found.items] == [
        ("everything completed", "", 1, 3, 1),
        ("everything completed", "write_b", 1, 2, 1),
    ]


@pytest.mark.parametrize(
    ("desc", "runs", "want"),
    [
        (
            "one failed run",
            [did("r", "look", False)],
            "1 failed run of 1; no run succeeded, so there is nothing to compare with; "
            "too few to recommend anything for failure",
        ),
        ("one success", [did("r", "look think act", True)], f"The run succeeded, and {NONE_MISSED}"),
        ("all succeeded", many("s", "look think act", 3, True), f"All 3 runs succeeded, and {NONE_MISSED}"),
        (
            "all failed",
            many("f", "look", 4, False),
            "4 failed runs of 4; no run succeeded, so there is nothing to compare with",
        ),
        (
            "no plan",
            [did(f"r{n}", "look", False, task="x") for n in range(10)],
            "10 failed runs, none scored: read one · draft a plan",
        ),
        (
            "a plan, and no action",
            [did(f"r{n}", "", False) for n in range(10)],
            "10 failed runs, none scored: read one",
        ),
        ("no outcome", [did("r", "look think act", None)], "The run does not record whether it succeeded"),
        (
            "one without an outcome",
            [did(n, "look think act", None if n == "c" else True) for n in "abc"],
            f"No run failed; 1 run of 3 without an outcome, and {NONE_MISSED}",
        ),
        ("no run", [], "No usable run"),
    ],
)
def test_the_headline_says_something_true_of_every_corpus(desc, runs, want) -> None:
    assert triage(corpus_of(runs)).headline == want, desc


def test_of_an_agent_only_its_own_runs_count() -> None:
    runs = [
        did("a", "look", False),
        did("b", "", False, agent="bob"),
        did("c", "look think act", True, agent="cid"),
    ]
    runs += [did("e", "look act", True, agent=agent) for agent in ("bob", "cid")]
    corpus = corpus_of([*runs, did("d", "look!", False, agent="bob")])
    assert where(triage(corpus, agents=["bob"])) == {("look", "attempted"): 1}
    assert [c.agent for c in triage(corpus).contradictions] == ["bob", "cid"]
    assert [c.agent for c in triage(corpus, agents=["bob"]).contradictions] == ["bob"]
    with pytest.raises(UntakenError, match="agent-unknown"):
        triage(corpus, agents=["dan"])


def test_the_items_can_be_ordered_by_gain_and_by_critical_completion() -> None:
    runs = (
        many("f", "look!", 4, False) + many("g", "look act", 3, True) + many("s", "look think act", 9, True)
    )
    found = triage(corpus_of(runs))

    def names(items: Sequence[FixItem]) -> list[str | None]:
        return [item.sub_goal for item in items]

    assert names(found.ordered("failed"))[0] == "look"
    assert names(found.ordered("gain"))[0] == "look"
    assert names(found.ordered("critical"))[0] == "think"


def test_a_broken_ledger_counts_nowhere() -> None:
    good: Callable[[], RunBuilder] = lambda: did("r", "look", False)  # noqa: E731
    corpus = evaluate_corpus([good().run(), did("b", "look", False).run("ALTERED")], CHAIN, resamples=0)
    assert (untaken.triage(corpus).runs, untaken.triage(corpus).failed) == (1, 1)
