# One case a line, however long, reads best.
"""A run's state, counts and rates, what follows from the graph's edges, its diagnosis and its course."""

from __future__ import annotations

import copy

import pytest
from builders import RunBuilder, a_graph, a_run, ready

from untaken.errors import Unscored, UntakenError, Where, first_few
from untaken.ledger import RunFinished
from untaken.scoring import score_outcome, score_run
from untaken.scoring.expressions import evaluated
from untaken.scoring.scoring import NAMED
from untaken.scoring.trace import StateFold, Trace, merge_patch


def did(*done: str, failed: tuple[str, ...] = (), **fields) -> RunBuilder:
    """A run that acted on each sub-goal, in order, and completed those in `done`."""
    run = a_run(**fields)
    for name in done:
        run.call(name).state(**{name: True})
    for name in failed:
        run.call(name).state(**{name: False})
    return run


CHAIN = (ready("a"), ready("b", "a"), ready("c", "b"), ready("d", "c"))


def test_counts_and_rates() -> None:
    graph = a_graph(ready("a"), ready("b", critical=True), ready("c", critical=True), ready("d"), "e")
    score = score_run(did("a", "b", failed=("d",)).call("x").finish().run(), graph)
    assert (score.required, score.attempted, score.completed, score.unscored) == (5, 3, 2, 1)
    assert (score.critical, score.critical_completed, score.critical_skipped) == (2, 1, 1)
    assert (score.coverage, score.completion, score.critical_completion) == (3 / 5, 2 / 5, 1 / 2)
    assert score.node("e").attempted is None
    assert score.extra == (7,)


def test_a_run_counted_by_its_outcome_has_no_figure_about_sub_goals() -> None:
    why = Unscored("no plan graph for its task: 'task'")
    score = score_outcome(did("a").plan("x").plan("y").finish(False).run(), why, missing="drop")
    assert (score.success, score.steps, score.replans, score.missing) == (False, 1.0, 1, "drop")
    assert score.attempted == score.coverage == score.completion == score.critical_completion == why
    assert (score.nodes, score.required, score.diagnosis) == ((), 0, "unscored")


def test_without_actions_coverage_is_unscored_but_verdicts_still_count() -> None:
    run = a_run().finish().verdict("a", True).verdict("b", False)
    score = score_run(run.run(), a_graph("a", "b", "c"))
    assert (score.completed, score.required, score.completion) == (1, 3, 1 / 3)
    assert score.coverage == Unscored("no required sub-goal's attempts are known")


def test_a_broken_run_gets_no_score() -> None:
    for verdict in ("ALTERED", "TRUNCATED", "MALFORMED"):
        with pytest.raises(UntakenError) as caught:
            score_run(a_run("bad").finish().run(verdict), a_graph("a"))
        assert caught.value.code == "run-broken"
        assert caught.value.where.run == "bad"
        assert verdict in caught.value.message


def test_a_run_that_never_finished_is_scored_on_its_last_state_and_says_so() -> None:
    score = score_run(did("a").run(), a_graph(ready("a")))
    assert score.completion == 1.0
    assert [finding.code for finding in score.findings] == ["run-not-finished"]
    assert score.success == score.cost == score.steps == Unscored("the run did not finish")


def test_unrecorded_cost_and_steps_are_unscored_never_zero() -> None:
    run = a_run().add(RunFinished, success=True, steps=None)
    score = score_run(run.run(), a_graph("a"))
    assert score.cost == Unscored("RUN_FINISHED records no cost")
    assert score.steps == Unscored("RUN_FINISHED records no steps")


DEPENDENCIES = [
    # desc, done, completed, with direct dependencies, with all
    ("everything", ("a", "b", "c", "d"), 4, 4, 4),
    ("the first is missing", ("b", "c", "d"), 3, 2, 0),
    ("the second is missing", ("a", "c", "d"), 3, 2, 1),
    ("only the last", ("d",), 1, 0, 0),
    ("only the first", ("a",), 1, 1, 1),
]


@pytest.mark.parametrize(
    ("desc", "done", "n", "direct", "every"), DEPENDENCIES, ids=[c[0] for c in DEPENDENCIES]
)
def test_completed_with_dependencies(desc, done, n, direct, every) -> None:
    score = score_run(did(*done).finish().run(), a_graph(*CHAIN))
    assert (score.completed, score.completed_with_deps, score.completed_with_deps_all) == (n, direct, every)


def test_beginning_before_a_dependency_is_an_order_violation() -> None:
    score = score_run(did("b", "a", "c", "d").finish().run(), a_graph(*CHAIN))
    (violation,) = score.violations
    assert (violation.kind, violation.sub_goal, violation.dependency) == ("order", "b", "a")
    assert violation.message == "'b' began at event 1, before 'a' at event 3"
    assert score.diagnosis == "clean"


def test_one_action_that_begins_both_keeps_their_order() -> None:
    groups = {"id": "g", "any_of": ["b", "c"]}, {"id": "h", "any_of": ["b"], "deps": ["g"]}
    score = score_run(did("b").finish().run(), a_graph(ready("b"), ready("c"), *groups))
    assert score.violations == ()


def ways(**fields) -> tuple[dict, ...]:
    return (
        {"id": "settle", "any_of": ["refund", "escalate"]},
        ready("refund"),
        ready("escalate"),
        ready("confirm", "settle", **fields),
    )


ANY_OF = [
    # desc, run, statuses of settle, refund, escalate, confirm; required
    ("one way", did("refund", "confirm"), "completed completed not_required completed", 2),
    ("the other way", did("escalate"), "completed not_required completed skipped", 2),
    ("both ways", did("refund", "escalate"), "completed completed completed skipped", 2),
    (
        "one in vain, then the other",
        did("escalate", failed=("refund",)),
        "completed not_required completed skipped",
        2,
    ),
    ("one in vain", did(failed=("refund",)), "attempted attempted not_required skipped", 2),
    ("neither", did("confirm"), "skipped not_required not_required completed", 2),
]


@pytest.mark.parametrize(("desc", "run", "want", "required"), ANY_OF, ids=[case[0] for case in ANY_OF])
def test_any_of_needs_one_option_and_the_unused_are_not_required(desc, run, want, required) -> None:
    score = score_run(run.finish().run(), a_graph(*ways()))
    assert [node.status for node in score.nodes] == want.split()
    assert score.required == required


def test_a_group_says_through_what_it_was_completed_and_when() -> None:
    score = score_run(did("escalate").finish().run(), a_graph(*ways()))
    group = score.node("settle")
    assert (group.decided_by, group.reason) == ("any_of", "completed through 'escalate'")
    assert (group.events, group.evidence, group.completed_at) == ((1,), (2,), 2)
    assert score.node("refund").reason == "not required: 'escalate' was completed instead"


def test_a_group_begins_with_its_first_option_even_where_a_later_call_is_tagged_with_the_group() -> None:
    run = a_run().call("refund", "refund").call("confirm", "confirm").call("settle", "settle").finish().run()
    score = score_run(run, a_graph(*ways()))
    assert score.node("settle").events == (1, 3)
    assert [violation for violation in score.violations if violation.kind == "order"] == []


def test_a_group_is_unscored_where_an_option_is() -> None:
    graph = a_graph({"id": "g", "any_of": ["a", "b"]}, ready("a"), "b")
    score = score_run(did(failed=("a",)).finish().run(), graph)
    assert score.node("g").status == "unscored"
    assert score.node("g").reason == "no option is completed, and 'b' unscored"


def test_an_option_that_is_not_required_blocks_no_sub_goal_that_needs_it() -> None:
    graph = a_graph(*ways(), ready("archive", "refund", "escalate"))
    score = score_run(did("refund", "archive").finish().run(), graph)
    assert score.completed == score.completed_with_deps == score.completed_with_deps_all == 2
    assert score.violations == ()


def test_transient_failures_are_failed_or_transient_observations() -> None:
    run = a_run().call("a", ok=False).call("a", ok=True).observe(transient=True).observe().finish()
    assert score_run(run.run(), a_graph("a")).transient_failures == 2


def test_the_progress_curve_counts_completions_whose_moment_is_known() -> None:
    graph = a_graph(
        ready("a"),
        ready("b"),
        {"id": "c", "check": {"verdict": True}},
        {"id": "d", "check": {"outcome": True}},
    )
    run = did("a", failed=("b",)).call("b").state(b=True).call("z").finish().verdict("c", True)
    score = score_run(run.run(), graph)
    assert score.progress == ((1, 1), (3, 1), (5, 2), (7, 3))
    assert score.completed == 4


def test_plans_calls_and_states_after_the_run_do_not_count() -> None:
    graph = a_graph(ready("a"))
    before = did("a").finish()
    score = score_run(before.run(), graph)
    after = score_run(before.plan("x").state(a=False).run(), graph)
    assert after.completed == score.completed == 1
    assert (after.plans, after.replans) == (0, 0)


FORK = (
    ready("login"),
    {"id": "pay", "any_of": ["card", "invoice"]},
    ready("card", "login"),
    ready("invoice"),
    ready("ship", "pay"),
)
ONE_REQUIREMENT = [
    # desc, run; required, attempted, completed, completed with direct and with all dependencies
    ("a way that needs nothing", did("invoice"), (3, 1, 1, 1, 1)),
    ("a way without what it needs", did("card"), (3, 1, 1, 0, 0)),
    ("a way with what it needs", did("login", "card", "ship"), (3, 3, 3, 3, 3)),
    ("both ways", did("card", "invoice"), (3, 1, 1, 1, 1)),
    ("a way in vain", did(failed=("card",)), (3, 1, 0, 0, 0)),
]


@pytest.mark.parametrize(("desc", "run", "want"), ONE_REQUIREMENT, ids=[case[0] for case in ONE_REQUIREMENT])
def test_a_used_option_and_its_group_are_one_requirement_in_every_rate(desc, run, want) -> None:
    score = score_run(run.finish().run(), a_graph(*FORK))
    got = (score.required, score.attempted, score.completed)
    assert (*got, score.completed_with_deps, score.completed_with_deps_all) == want
    assert (score.coverage, score.completion) == (score.attempted / 3, score.completed / 3)


def test_a_group_is_critical_where_the_option_that_was_used_is() -> None:
    critical = [{**node, "critical": node["id"] == "card"} for node in FORK]
    by_card = score_run(did(failed=("card",)).finish().run(), a_graph(*critical))
    by_invoice = score_run(did("invoice").finish().run(), a_graph(*critical))
    assert (by_card.critical, by_card.critical_completion) == (1, 0.0)
    assert (by_invoice.critical, by_invoice.completed) == (0, 1)
    nested = a_graph({"id": "top", "any_of": ["pay", "ship"]}, *critical)
    assert score_run(did("card").finish().run(), nested).critical_completion == 1.0


def test_weights_count_in_weighted_completion_alone() -> None:
    graph = a_graph(ready("a", weight=3), ready("b", weight=0.5), ready("c"), ready("d", weight=0))
    score = score_run(did("a", "d", failed=("b",)).finish().run(), graph)
    assert (score.completion, score.completion_weighted) == (2 / 4, 3 / 4.5)
    nothing = score_run(did("a").finish().run(), a_graph(ready("a", weight=0)))
    assert nothing.completion_weighted == Unscored("every required sub-goal has the weight 0")


@pytest.mark.parametrize("weight", [-1, float("nan"), float("inf"), 1e9])
def test_a_weight_that_is_no_share_is_refused(weight: float) -> None:
    with pytest.raises(UntakenError):
        a_graph(ready("a", weight=weight))


def test_what_a_violation_requires_is_not_also_what_it_comes_before() -> None:
    steps = [ready("policy", critical=True), ready("eligibility", "policy", critical=True)]
    graph = a_graph(*steps, ready("refund", "eligibility"))
    score = score_run(did("refund", failed=("eligibility",)).finish().run(), graph)
    assert score.diagnosis_advice == "Require 'policy', 'eligibility' before the agent can reach 'refund'."


def test_findings_say_where_and_how_many() -> None:
    names = [f"n{number}" for number in range(NAMED + 1)]
    run = a_run("r")
    for name in names:
        run.verdict(name, True, "judge:m").verdict(f"x{name}", True).verdict(f"x{name}", False)
    found = score_run(
        run.run(), a_graph(*({"id": name, "check": {"verdict": True}} for name in names))
    ).findings
    where = Where(file="r.jsonl", run="r")
    assert [(one.code, one.where, one.message.partition(": ")[0]) for one in found] == [
        (
            "verdict-sub-goal-unknown",
            where,
            f"{2 * NAMED + 2} verdicts on sub-goals that the graph does not have",
        ),
        ("verdict-unanchored", where, f"{NAMED + 1} sub-goals met by a judge's unanchored word"),
        ("run-not-finished", where, found[2].message),
    ]
    shown = [first_few([*map(repr, some)], NAMED) for some in ([f"x{name}" for name in names], names)]
    assert [one.message.partition(": ")[2] for one in found[:2]] == shown


# RFC 7386, appendix A, as far as target and patch are objects
RFC_7386 = [
    ({"a": "b"}, {"a": "c"}, {"a": "c"}),
    ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
    ({"a": "b"}, {"a": None}, {}),
    ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
    ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
    ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
    ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
    ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
    ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
    ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ({"a": [1]}, {"a": [True]}, {"a": [True]}),
]


@pytest.mark.parametrize(("target", "patch", "want"), RFC_7386)
def test_merge_patch_follows_the_rfc_and_never_changes_the_patch(target, patch, want) -> None:
    given = copy.deepcopy(patch)
    merge_patch(target, patch)
    merge_patch(target, {"later": {"x": 1}})
    target.pop("later")
    assert target == want
    assert [type(v) for v in target.values()] == [type(v) for v in want.values()]
    assert patch == given


def folded(builder) -> StateFold:
    trace = Trace(builder.run())
    fold = StateFold(trace.states)
    fold.forward(trace.last)
    return fold


def test_the_state_is_the_fold_of_its_patches() -> None:
    fold = folded(a_run().state(a=1, b={"x": 1}).state(b={"y": 2}).state(a=None).finish())
    assert fold.state == {"b": {"x": 1, "y": 2}}
    assert fold.changed == {"a": 3, "b": 2}


def test_a_recorded_final_state_replaces_its_fields_whole_and_keeps_the_others() -> None:
    builder = (
        a_run()
        .state(kept=1, order={"id": 1, "open": True})
        .finish(final_state={"order": {"id": 1}, "n": None})
    )
    assert folded(builder).state == {"kept": 1, "order": {"id": 1}, "n": None}


def test_a_field_is_said_to_change_only_where_it_does() -> None:
    fold = folded(a_run().state(a=1).state(a=1).finish(final_state={"a": 1, "b": 2}))
    assert fold.changed == {"a": 1, "b": 3}


def test_what_is_remembered_of_small_values_does_not_stop_an_expression_that_reads_a_list_too() -> None:
    state = {"a": 1, "b": [1, 2]}
    assert evaluated("state.a == 1 && size(state.b) == 2", ("a", "b"), state) is True
    assert evaluated("state.a == 1", ("a",), state) is True
