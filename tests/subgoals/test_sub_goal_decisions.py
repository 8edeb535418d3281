# One case a line, however long, reads best.
# ruff: noqa: E501
"""Is a sub-goal completed, attempted, skipped or unscored, who decided it, and what is the evidence?"""

from __future__ import annotations

import pytest
from builders import RunBuilder, a_graph, a_run

from untaken import limits
from untaken.ledger import Verdict
from untaken.scoring import NodeScore, score_run, unmatched_authors
from untaken.scoring.verdicts import not_withdrawn, whose_count

EXPR = {"id": "x", "check": {"expr": "state.done"}, "rules": [{"tool": "act"}]}
STEP = {"id": "x", "check": {"expr": "state.n == 1", "on": "step"}, "rules": [{"tool": "act"}]}
CALL = {"id": "x", "check": {"tool_call": {"name": "act", "arguments": {"q": 1}}}}
ANYHOW = {"id": "x", "check": {"tool_call": {"name": "act", "arguments": {"q": 1}, "answered": "any"}}}
TESTS = {"id": "x", "check": {"tool_call": {"name": "act", "answer": {"contains": " passed"}}}}
FAULT = {"id": "x", "check": {"tool_call": {"name": "act", "answer": {"ok": False}}}}
OUTCOME = {"id": "x", "check": {"outcome": True}}
VERDICT = {"id": "x", "check": {"verdict": True}}
HUMAN = {"id": "x", "check": {"verdict": {"by": ["human:*"]}}}
BARE = {"id": "x"}
RULED = {"id": "x", "rules": [{"tool": "act"}]}


def node(sub_goal: dict, run: RunBuilder, **options) -> NodeScore:
    return score_run(run.run(), a_graph(sub_goal), **options).node("x")


CASES = [
    # desc, sub-goal, run, status, attempted, decided_by, words in the reason
    ("expression holds", EXPR, a_run().call("act").state(done=True).finish(), "completed", True, "expr", "meets"),
    ("expression fails", EXPR, a_run().call("act").state(done=False).finish(), "attempted", True, "expr", "not meet"),
    ("expression holds, nobody acted on it", EXPR, a_run().call("other").state(done=True).finish(), "skipped", False, "expr", "its check holds, but no mapped action was seen"),
    ("expression without its field", EXPR, a_run().call("act").finish(), "unscored", True, "none", "state.done"),
    ("expression, no actions recorded", EXPR, a_run().state(done=True).finish(), "unscored", None, "none", "no actions"),
    ("expression fails, no actions recorded", EXPR, a_run().state(done=False).finish(), "unscored", None, "none", "no actions"),
    ("expression, nothing can map to it", {**EXPR, "rules": []}, a_run().call("act").state(done=True).finish(), "unscored", None, "none", "no actions can be mapped"),
    ("expression, tagged", {**EXPR, "rules": []}, a_run().call("act", "x").state(done=True).finish(), "completed", True, "expr", "meets"),
    ("held after one step, not at the end", STEP, a_run().call("act").state(n=1).call("b").state(n=2).finish(), "completed", True, "expr", "after one step"),
    ("held only before the first action on it", STEP, a_run().state(n=1).call("b").state(n=2).call("act").finish(), "attempted", True, "expr", "after no step"),
    ("held inside a step, gone at its end", STEP, a_run().call("act").state(n=1).state(n=2).finish(), "attempted", True, "expr", "after no step"),
    ("held already when first acted on", STEP, a_run().state(n=1).call("act").call("b").state(n=2).finish(), "completed", True, "expr", "after one step"),
    ("undecided, then no", STEP, a_run().call("act").call("b").state(n=3).finish(), "attempted", True, "expr", "after no step"),
    ("undecided at every step", STEP, a_run().call("act").call("b").finish(), "unscored", True, "none", "state.n"),
    ("held in the recorded final state", STEP, a_run().call("act").finish(final_state={"n": 1}), "completed", True, "expr", "after one step"),
    ("call as expected", CALL, a_run().call("act", q=1).finish(), "completed", True, "tool_call", "as expected"),
    ("call with other arguments", CALL, a_run().call("act", q=2).call("act").finish(), "attempted", True, "tool_call", "called 2 times, never with the expected"),
    ("call never made", CALL, a_run().call("b").finish(), "skipped", False, "tool_call", "never attempted"),
    ("call never made, though acted on", CALL, a_run().call("b", "x").finish(), "attempted", True, "tool_call", "act was never called"),
    ("call by the user counts", CALL, a_run().call("act", q=1, by="user").finish(), "completed", True, "tool_call", "as expected"),
    ("call that failed", CALL, a_run().call("act", ok=False, q=1).finish(), "attempted", True, "tool_call", "act was called as expected, but its result is `ok: false`"),
    ("call that failed twice", CALL, a_run().call("act", ok=False, q=1).call("act", ok=False, q=1).finish(), "attempted", True, "tool_call", "2 times, but each time its result is"),
    ("call that failed, then did not", CALL, a_run().call("act", ok=False, q=1).call("act", ok=True, q=1).finish(), "completed", True, "tool_call", "as expected"),
    ("call that failed where that is no matter", ANYHOW, a_run().call("act", ok=False, q=1).finish(), "completed", True, "tool_call", "act was called as expected"),
    ("call whose answer says neither", CALL, a_run().call("act", q=1).observe("done").finish(), "completed", True, "tool_call", "act was called as expected"),
    ("call without an answer", CALL, a_run().call("act", q=1).finish(), "completed", True, "tool_call", "as expected; no result of the call is recorded"),
    ("call answered again after a fault", CALL, a_run().call("act", ok=False, q=1).observe("done", ok=True, call_id="c1").finish(), "completed", True, "tool_call", "as expected"),
    ("call whose last answer is a fault", CALL, a_run().call("act", ok=True, q=1).observe("lost", ok=False, call_id="c1").finish(), "attempted", True, "tool_call", "ok: false"),
    ("call with the answer asked for", TESTS, a_run().call("act").observe("3 passed", ok=True).finish(), "completed", True, "tool_call", "as expected"),
    ("call with another answer", TESTS, a_run().call("act").observe("1 failed", ok=True).finish(), "attempted", True, "tool_call", "its result is not the expected one"),
    ("call with the answer asked for, and a fault", TESTS, a_run().call("act").observe("3 passed", ok=False).finish(), "attempted", True, "tool_call", "not the expected one"),
    ("call whose answer is asked for and not recorded", TESTS, a_run().call("act").finish(), "unscored", True, "none", "no result of the call is recorded"),
    ("call whose flag is asked for and not recorded", FAULT, a_run().call("act").observe("403").finish(), "unscored", True, "none", "does not record `ok`"),
    ("a fault that is asked for", FAULT, a_run().call("act", ok=False).finish(), "completed", True, "tool_call", "as expected"),
    ("an answer after the run", CALL, a_run().call("act", q=1).finish().observe("lost", ok=False, call_id="c1"), "completed", True, "tool_call", "as expected"),
    ("call, no actions recorded", CALL, a_run().finish(), "unscored", None, "none", "no actions"),
    ("outcome success", OUTCOME, a_run().finish(success=True), "completed", None, "outcome", "succeeded"),
    ("outcome failure", OUTCOME, a_run().finish(success=False), "attempted", None, "outcome", "failed"),
    ("outcome unknown", OUTCOME, a_run().finish(success=None), "unscored", None, "none", "no success"),
    ("outcome of an unfinished run", OUTCOME, a_run().call("a"), "unscored", None, "none", "did not finish"),
    ("outcome success, never attempted", {**OUTCOME, "rules": [{"tool": "act"}]}, a_run().call("b").finish(), "skipped", False, "outcome", "never attempted"),
    ("verdict met, no actions", VERDICT, a_run().finish().verdict("x", True), "completed", None, "verdict:human:ann", "judged it met"),
    ("verdict not met, attempts unknown", VERDICT, a_run().finish().verdict("x", False), "attempted", None, "verdict:human:ann", "whether it was attempted is unknown"),
    ("verdict met though never attempted", {**VERDICT, **RULED}, a_run().call("b").finish().verdict("x", True), "completed", False, "verdict:human:ann", "met"),
    ("verdict not met, never attempted", {**VERDICT, **RULED}, a_run().call("b").finish().verdict("x", False), "skipped", False, "verdict:human:ann", "not met"),
    ("verdict needed, none given", VERDICT, a_run().call("b", "x").finish(), "unscored", True, "none", "no recorded verdict"),
    ("verdict needed, none given, never attempted", {**VERDICT, **RULED}, a_run().call("b").finish(), "unscored", False, "none", "no recorded verdict"),
    ("verdict by somebody else", HUMAN, a_run().finish().verdict("x", True, "judge:m"), "unscored", None, "none", "others are by judge:m"),
    ("no check, no verdict, attempted", RULED, a_run().call("act").finish(), "unscored", True, "none", "no success check and no verdict"),
    ("no check, no verdict, never attempted", RULED, a_run().call("b").finish(), "skipped", False, "none", "never attempted"),
    ("no check, no verdict, nothing maps to it", BARE, a_run().call("b").finish(), "unscored", None, "none", "no success check"),
    ("no check, a verdict", BARE, a_run().finish().verdict("x", True, "test"), "completed", None, "verdict:test", "met"),
    ("a judge never saves a failed check", EXPR, a_run().call("act").state(done=False).finish().verdict("x", True, "judge:m"), "attempted", True, "expr", "not meet"),
    ("nor does a person", EXPR, a_run().call("act").state(done=False).finish().verdict("x", True), "attempted", True, "expr", "not meet"),
    ("nor can a verdict fail a check that passed", EXPR, a_run().call("act").state(done=True).finish().verdict("x", False), "completed", True, "expr", "meets"),
    ("a verdict where the check is undecided", EXPR, a_run().call("act").finish().verdict("x", True), "completed", True, "verdict:human:ann", "met"),
    ("text rule matched", {"id": "x", "check": {"expr": "state.done"}, "rules": [{"text": "*hello*"}]}, a_run().say("Hello there").state(done=True).finish(), "completed", True, "expr", "meets"),
    ("text rule, messages without a match", {"id": "x", "check": {"expr": "state.done"}, "rules": [{"text": "*hello*"}]}, a_run().say("bye").state(done=True).finish(), "skipped", False, "expr", "no mapped action was seen"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("desc", "sub_goal", "run", "status", "attempted", "by", "words"), CASES, ids=[case[0] for case in CASES]
)
def test_one_sub_goal(desc, sub_goal, run, status, attempted, by, words) -> None:
    got = node(sub_goal, run)
    assert (got.status, got.attempted, got.decided_by) == (status, attempted, by)
    assert words in got.reason


VERDICTS = [
    # desc, verdicts as (passed, by), completed, decided_by
    ("a recorded check before a person", [(False, "test"), (True, "human:ann")], False, "verdict:test"),
    ("a rule ranks with a recorded check", [(False, "rule"), (True, "human:ann")], False, "verdict:rule"),
    ("a person before a judge", [(True, "judge:m"), (False, "human:ann")], False, "verdict:human:ann"),
    ("a person who could not tell leaves it to a judge", [(None, "human:ann"), (True, "judge:m")], True, "verdict:judge:m"),
    ("the majority of persons", [(True, "human:ann"), (False, "human:bob"), (True, "human:cyd")], True, "verdict:human:ann, human:cyd"),
    ("the majority of judges", [(True, "judge:a"), (False, "judge:b"), (False, "judge:c")], False, "verdict:judge:b, judge:c"),
    ("a person who changed their mind has one voice", [(False, "human:ann"), (True, "human:ann")], True, "verdict:human:ann"),
    ("a person who withdrew has none", [(True, "human:ann"), (None, "human:ann")], None, "none"),
    ("a tie of persons is not settled by judges", [(True, "human:ann"), (False, "human:bob"), (True, "judge:m")], None, "none"),
    ("a recorded check and a rule that disagree", [(True, "test"), (False, "rule")], None, "none"),
]  # fmt: skip


@pytest.mark.parametrize(("desc", "said", "want", "by"), VERDICTS, ids=[case[0] for case in VERDICTS])
def test_whose_verdict_decides(desc, said, want, by) -> None:
    run = a_run().finish()
    for passed, who in said:
        run.verdict("x", passed, who)
    got = node(VERDICT, run)
    assert (got.completed, got.decided_by) == (want, by)


def test_a_withdrawn_verdict_is_as_if_it_was_never_given() -> None:
    run = a_run().finish().verdict("x", False, "judge:m").verdict("x", True, "human:ann")
    run.verdict("x", True, "human:bob").verdict("x", True, "human:ann")
    for who in ("human:ann", "human:bob"):
        run.add(Verdict, sub_goal="x", passed=None, by=who, withdrawn=True)
    got = node(VERDICT, run)
    assert (got.completed, got.decided_by) == (False, "verdict:judge:m")
    again = node(VERDICT, run.verdict("x", True, "human:ann"))
    assert (again.completed, again.decided_by) == (True, "verdict:human:ann")


@pytest.mark.parametrize("by", ["judge:m", "human:ann", "test"])
@pytest.mark.parametrize("tools", [[], ["other"]], ids=["no actions", "nothing maps"])
def test_no_verdict_turns_a_false_expression_into_a_pass(by: str, tools: list[str]) -> None:
    for done, want in ((False, "unscored"), (True, "completed")):
        run = a_run().state(done=done)
        for tool in tools:
            run.call(tool)
        found = node({**EXPR, "rules": []}, run.finish().verdict("x", passed=True, by=by))
        assert found.status == want
        assert ("does not meet its check" in found.reason) is not done


@pytest.mark.parametrize(("passed", "verdicts"), [(None, ()), (True, ("test",)), (False, ("judge:*",))])
def test_a_verdict_that_does_not_count_leaves_a_sub_goal_skipped(passed: bool | None, verdicts) -> None:
    run = a_run().call("other").finish().verdict("x", passed=passed, by="human:ann")
    assert node(RULED, run, verdicts=verdicts).status == "skipped"


def test_reviewers_who_disagree_are_named() -> None:
    run = a_run().finish().verdict("x", True, "human:ann").verdict("x", False, "human:bob")
    got = node(VERDICT, run)
    assert got.reason == "reviewers disagree: human:ann say met, human:bob say not met"
    assert got.evidence == (2, 3)


CHOICES = [
    # desc, --verdicts, completed of the tool-call sub-goal x and of the verdict sub-goal y
    ("everybody", (), (True, True)),
    ("recorded checks stand in", ("test",), (False, None)),
    ("recorded checks and persons", ("test", "human:*"), (False, True)),
    ("persons only; checks are recomputed", ("human:*",), (True, True)),
    ("judges only", ("judge:*",), (True, False)),
    ("nobody there", ("human:bob",), (True, None)),
    ("a single glob as text", "test", (False, None)),
]


@pytest.mark.parametrize(("desc", "choice", "want"), CHOICES, ids=[case[0] for case in CHOICES])
def test_a_choice_of_verdicts(desc, choice, want) -> None:
    run = a_run().call("act", q=1).finish().verdict("x", False, "test")
    run.verdict("y", True, "human:ann").verdict("y", False, "judge:m")
    score = score_run(run.run(), a_graph(CALL, {**VERDICT, "id": "y"}), verdicts=choice)
    assert (score.node("x").completed, score.node("y").completed) == want


def test_recorded_checks_that_are_missing_are_unscored_whether_or_not_the_tool_was_called() -> None:
    for run in (a_run().call("act", q=1).finish(), a_run().call("b").finish()):
        assert node(CALL, run, verdicts=("test",)).status == "unscored"


EVIDENCE = [
    ("the event that set the field", EXPR, a_run().state(other=1).call("act").state(done=True).state(z=1).finish(), (2,), (3,), 3),
    ("the action, where the field was set before", EXPR, a_run().state(done=True).call("act").finish(), (2,), (1,), 2),
    ("the final state", EXPR, a_run().call("act").finish(final_state={"done": True}), (1,), (2,), 2),
    ("the step", STEP, a_run().call("act").state(n=0).call("b").state(n=1).finish(), (1,), (4,), 4),
    ("the first matching call", CALL, a_run().call("act", q=2).call("act", q=1).call("act", q=1).finish(), (1, 2, 3), (2,), 2),
    ("calls that nearly match", CALL, a_run().call("act", q=2).finish(), (1,), (1,), None),
    ("the answer asked for", TESTS, a_run().call("act").observe("3 passed", ok=True).finish(), (1,), (1, 2), 1),
    ("the outcome", OUTCOME, a_run().finish(), (), (1,), 1),
    ("a verdict after the run", VERDICT, a_run().call("b").finish().verdict("x", True), (), (3,), None),
    ("a verdict during the run", VERDICT, a_run().call("b").verdict("x", True).finish(), (), (2,), 2),
    ("a verdict and what it cites", VERDICT, a_run().call("b").call("c").finish().verdict("x", True, evidence=(1, 99)), (), (1, 4), 1)
]  # fmt: skip


@pytest.mark.parametrize(
    ("desc", "sub_goal", "run", "events", "evidence", "at"), EVIDENCE, ids=[case[0] for case in EVIDENCE]
)
def test_evidence_and_the_moment_of_completion(desc, sub_goal, run, events, evidence, at) -> None:
    got = node(sub_goal, run)
    assert (got.events, got.evidence, got.completed_at) == (events, evidence, at)


def test_a_call_tagged_for_another_sub_goal_serves_an_expected_call_only_where_it_fulfils_it() -> None:
    graph = a_graph(CALL, {"id": "y", "check": {"expr": "state.z"}})
    fulfils = score_run(a_run().call("act", "y", q=1).finish().run(), graph)
    differs = score_run(a_run().call("act", "y", q=2).finish().run(), graph)
    assert fulfils.node("x").status == "completed"
    assert differs.node("x").status == "skipped"


def asking(times: int) -> RunBuilder:
    run = a_run()
    for n in range(5, 5 + times):
        run.call("act").state(n=n)
    return run.finish()


BOUNDED = [
    ("expressions after each step", STEP, asking(5), "STEP_CHECKS", 2, "unscored", "too many steps"),
    ("calls", CALL, asking(3), "CALL_COMPARISONS", 2, "unscored", "too many calls"),
    ("calls at the limit", CALL, asking(3), "CALL_COMPARISONS", 3, "attempted", "never with the expected"),
    ("patterns over long answers", TESTS, a_run().call("act").observe("a" * 60_000).finish(), "CALL_COMPARISONS", 50, "unscored", "too many calls"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("desc", "sub_goal", "run", "limit", "most", "want", "words"), BOUNDED, ids=[case[0] for case in BOUNDED]
)
def test_what_is_tried_is_bounded(desc, sub_goal, run, limit, most, want, words, monkeypatch) -> None:
    monkeypatch.setattr(limits, limit, most)
    got = node(sub_goal, run)
    assert (got.status, words in got.reason) == (want, True)


def test_a_critical_call_that_was_refused_is_not_met() -> None:
    """A policy that could not be read is no policy checked."""
    policy = {"id": "x", "critical": True, "check": {"tool_call": {"name": "read_policy"}}}
    run = a_run().call("read_policy").observe("403", ok=False, call_id="c1").finish()
    score = score_run(run.run(), a_graph(policy))
    assert (score.critical_completed, score.critical) == (0, 1)


@pytest.mark.parametrize(("met", "want"), [(True, (2, 2)), (False, (0, 0))], ids=["met", "not met"])
def test_a_group_that_a_verdict_alone_completed_needs_only_its_own_dependencies(met, want) -> None:
    way = {"check": {"expr": "state.done"}}
    group = {"id": "x", "deps": ["first"], "any_of": ["card", "invoice"]}
    graph = a_graph({"id": "first"}, group, {"id": "card", **way}, {"id": "invoice", **way})
    score = score_run(a_run().finish().verdict("first", met).verdict("x", True).run(), graph)
    assert score.node("x").status == "completed"
    assert (score.completed_with_deps, score.completed_with_deps_all) == want


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0]])
def test_options_of_a_group_that_is_not_required_are_not_required(order: list[int]) -> None:
    nodes = [
        {"id": "told", "check": {"verdict": True}},
        {"id": "mail", "critical": True, "check": {"tool_call": {"name": "mail"}}},
        {"id": "call", "check": {"tool_call": {"name": "call"}}},
        {"id": "write", "any_of": ["told", "mail"]},
        {"id": "reach", "any_of": ["write", "call"]},
    ]
    after = {"id": "close", "deps": ["mail"], "check": {"tool_call": {"name": "close"}}}
    graph = a_graph(*(nodes[place] for place in order), after)
    run = a_run().call("mail").observe(ok=False).call("call").call("close").finish(success=True)
    score = score_run(run.run(), graph)
    assert {n.sub_goal: n.status for n in score.nodes} == {
        "told": "not_required",
        "mail": "not_required",
        "write": "not_required",
        "call": "completed",
        "reach": "completed",
        "close": "completed",
    }
    assert (score.required, score.completed, score.violations) == (2, 2, ())
    assert score.node("mail").reason == "not required: 'write' is not required"


BY = ("human:ann", "human:bob", "judge:m", "test")
COUNTED = [
    # globs of each choice, who counts at the sub-goal `s` of the graph `g`
    ([()], BY),
    ([("human:*",)], BY[:2]),
    ([("human:*", "test")], ("human:ann", "human:bob", "test")),
    ([("human:*",), ("*bob",)], ("human:bob",)),
    ([("!judge:*",)], ("human:ann", "human:bob", "test")),
    ([("*", "!*ann")], BY[1:]),
    ([("!judge:m#g/s",)], ("human:ann", "human:bob", "test")),
    ([("!judge:m#g/other",)], BY),
    ([("!judge:*#unanchored",)], BY),
    ([("human:*", "!judge:*#unanchored")], BY[:2]),
    ([("judge:*", "!judge:m")], ()),
    ([("!judge:m#h/s",)], BY),
    ([("!*",)], ()),
    ([("nobody",)], ()),
]


@pytest.mark.parametrize(("choices", "want"), COUNTED)
def test_a_verdict_counts_where_every_choice_lets_its_author_speak(choices, want) -> None:
    run = a_run()
    for by in BY:
        run.verdict("s", True, by)
    verdicts = run.run().of(Verdict)
    assert tuple(one.by for one in whose_count(verdicts, choices, graph="g")) == want
    unanchored = whose_count(verdicts, [("!judge:*#unanchored",)], graph="g", anchored=False)
    assert [one.by for one in unanchored] == ["human:ann", "human:bob", "test"]


def test_a_withdrawn_verdict_is_gone_and_what_its_author_says_later_counts() -> None:
    run = a_run().verdict("s", True).verdict("s", False, "human:bob").verdict("t", True)
    run.add(Verdict, sub_goal="s", passed=None, by="human:ann", withdrawn=True).verdict("s", False)
    assert [(one.sub_goal, one.by, one.passed) for one in not_withdrawn(run.run().of(Verdict))] == [
        ("s", "human:bob", False),
        ("t", "human:ann", True),
        ("s", "human:ann", False),
    ]


UNMATCHED = [
    (("human:ann",), BY, []),
    (("*", "judge:*"), BY, []),
    (("test",), (), []),
    (("!judge:m#g/s",), BY, []),
    (("human:an",), BY, ["Did you mean 'human:ann'? Verdicts are by human:*, judge:*, test."]),
    (("!juge:*#g/s",), BY, ["Did you mean 'judge:*'? Verdicts are by human:*, judge:*, test."]),
    (("x", "x", "human:*"), BY, ["Verdicts are by human:*, judge:*, test."]),
    (("human:*", "judge:*"), (), ["The runs have no verdicts."] * 2),
    (("x",), [f"{letter}:1" for letter in "abcdefg"], ["Verdicts are by a:*, b:*, c:*, d:*, e:*."]),
]


@pytest.mark.parametrize(("globs", "authors", "want"), UNMATCHED)
def test_a_glob_that_fits_nobody_is_a_finding_with_who_there_is(globs, authors, want) -> None:
    run = a_run()
    for by in authors:
        run.verdict("s", True, by)
    found = list(unmatched_authors(globs, [run.run()]))
    words = "no recorded verdict is by"
    assert [one.message.partition(". ")[2] for one in found] == want
    assert all(one.code == "verdicts-unmatched" and one.message.startswith(words) for one in found)
