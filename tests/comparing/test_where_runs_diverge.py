"""Where a run and the reference part: by status, by decision, by what was done."""

from __future__ import annotations

import pytest
from builders import RunBuilder, a_graph, a_run

from untaken.analysis.comparing import Divergence, Level, SideBySide, Split, align_runs, steps_of
from untaken.analysis.comparing.divergence import VALUE_CHARS
from untaken.analysis.comparing.steps import in_words
from untaken.analysis.corpus import score_runs
from untaken.ledger import SkillSelection
from untaken.plans import GraphSet, PlanGraph

GRAPH = a_graph(
    {"id": "look", "rules": [{"tool": "look*"}], "check": {"expr": "state.seen == true"}},
    {"id": "read", "deps": ["look"], "rules": [{"tool": "read"}], "check": {"expr": "state.read == true"}},
    {"id": "pay", "deps": ["read"], "any_of": ["cash", "card"]},
    {"id": "cash", "rules": [{"tool": "cash"}], "check": {"tool_call": {"name": "cash"}}},
    {"id": "card", "rules": [{"tool": "card"}], "check": {"tool_call": {"name": "card"}}},
)


def reference() -> RunBuilder:
    run = a_run("best", agent="a", task="t").select("by_number", "by_mail", context="find")
    run.call("look", ok=True, order=17, note="x").state(seen=True)
    run.select("read_it", "guess", context="policy").call("read", ok=True).state(read=True)
    return run.call("cash", ok=True).finish(True)


def aligned(*builders: RunBuilder, graph: PlanGraph | None = GRAPH) -> SideBySide:
    """Runs beside the first of them."""
    runs = [one.run() for one in builders]
    graphs = GraphSet.of([graph] if graph else [])
    return align_runs("t", runs, score_runs(runs, graphs)[0], graphs, reference=runs[0].digest)


def diverged(other: RunBuilder) -> Divergence:
    (found,) = aligned(reference(), other).divergences
    return found


def another() -> RunBuilder:
    return a_run("other", agent="b", task="t")


def split(other: RunBuilder, level: Level) -> Split:
    found = diverged(other).split(level)
    assert found is not None
    return found


def late_reader() -> RunBuilder:
    """Pays first and never reads; what it looks up is the same."""
    run = another().select("by_number", "by_mail", context="find").call("card", ok=False)
    return run.call("look", ok=True, order=18, extra=1).state(seen=True).finish(False)


def test_the_same_run_again_parts_nowhere() -> None:
    run = another().select("by_number", "by_mail", context="find")
    run.call("look", ok=True, order=17, note="x").state(seen=True)
    run.select("read_it", "guess", context="policy").call("read", ok=True).state(read=True)
    found = diverged(run.call("cash", ok=True).finish(True))
    assert (found.alike, found.different, found.unknown, found.splits) == (4, 0, 1, ())


def test_the_first_status_that_differs_in_the_order_of_the_plan() -> None:
    found = split(late_reader(), "plan")
    assert (found.key, found.alike, found.reference_seq, found.seq) == ("read", 1, 6, None)
    assert found.words == "read: completed (event 6) in the reference, skipped here"


def test_an_option_that_was_not_needed_is_no_difference_and_what_is_unscored_not_known_to_differ() -> None:
    run = another().call("look").state(seen=True).call("read").state(read=True).call("card").finish(True)
    found = diverged(run)
    assert (found.different, found.unknown, found.split("plan")) == (0, 2, None)
    blind = a_graph({"id": "nice", "check": {"verdict": True}})
    judged = a_run("a", task="t").call("x").verdict("nice", True).finish()
    (found,) = aligned(judged, another().call("x").finish(), graph=blind).divergences
    assert (found.alike, found.different, found.unknown, found.splits) == (0, 0, 1, ())


def test_the_difference_that_was_worked_on_earliest_is_listed_where_it_is_another_one() -> None:
    run = another().call("look").state(seen=True).call("read", ok=False).finish(False)
    assert diverged(run).split("time") is None  # reading is the first in the plan and in time
    paid_first = another().call("cash", ok=True).call("look").state(seen=False, read=False).finish(False)
    assert split(paid_first, "plan").key == "look"
    assert diverged(paid_first).split("time") is None
    tried_first = another().call("cash", ok=False).call("look").state(seen=False, read=False).finish(False)
    assert (split(tried_first, "plan").key, split(tried_first, "time").key) == ("look", "pay")


def test_the_first_other_choice_in_the_same_context() -> None:
    run = another().select("by_number", "by_mail", context="find").select("x", "y", context="elsewhere")
    found = split(run.select("guess", "read_it", context="policy").finish(False), "decision")
    assert (found.alike, found.reference_seq, found.seq) == (1, 5, 3)
    assert "chose read_it (event 5), this run guess (event 3)" in found.words


def test_the_context_of_another_choice_is_in_words_and_those_in_other_contexts_are_not_compared() -> None:
    known = {"context_hash": "c", "context": {"goods": "special", "late": False}, "alternatives": []}
    runs = [
        a_run(name, task="t").add(SkillSelection, selected=made, **known).finish()
        for name, made in (("best", "read_it"), ("other", "guess"))
    ]
    found = aligned(*runs, graph=None).divergences[0].split("decision")
    assert found.words.startswith("In “goods special · not late” the reference chose read_it")
    lost = another().select("by_mail", "by_number", context="lost").finish(False)
    assert diverged(lost).split("decision") is None


def test_where_the_work_goes_on_to_another_sub_goal_or_ends() -> None:
    run = another().call("look").call("look_again").call("card").finish(False)
    found = split(run, "sub_goal")
    assert (found.key, found.alike, found.reference_seq, found.seq) == ("card", 1, 6, 3)
    found = split(another().call("look", order=17, note="x").finish(False), "tool")
    assert (found.alike, found.reference_seq, found.seq) == (1, 6, None)
    words = "After 1 call alike, the reference calls read (event 6), this run makes no more calls"
    assert found.words == words


def test_arguments_that_differ_are_named_with_both_values_until_the_tools_part() -> None:
    def looked(**arguments: object) -> RunBuilder:
        return another().call("look", **arguments).call("read").call("cash").finish(True)

    found = split(looked(order=18, extra=1), "arguments")
    assert (found.alike, found.reference_seq, found.seq) == (0, 2, 1)
    named = "order: 17 ≠ 18; note: x ≠ left out; extra: left out ≠ 1"
    assert found.words.endswith(named)
    assert split(looked(order=18, extra=1, last=2), "arguments").words.endswith(f"{named}; and 1 more")
    words = split(looked(order="x" * 900, note="x"), "arguments").words
    (said,) = [part for part in words.split(" ≠ ") if "xx" in part]
    assert (len(said), said[-1]) == (VALUE_CHARS, "…")
    assert diverged(late_reader()).split("arguments") is None
    assert split(late_reader(), "tool").alike == 0


def test_what_the_user_calls_is_not_the_agents_doing() -> None:
    run = another().call("toggle", by="user").call("look", order=17, note="x").call("read").call("cash")
    assert diverged(run.finish(True)).split("tool") is None


def test_step_beside_step_marks_the_arguments_that_differ() -> None:
    other = another().call("look", ok=False, order=18, note="x")
    other.observe("no such order", ok=False, call_id="c1").call("look").finish(False)
    runs = [reference().run(), other.run()]
    steps = steps_of(aligned(reference(), other).rows[0], {run.digest: run for run in runs})
    (mine,), (first, second) = (steps[run.digest] for run in runs)
    told = [(one.name, one.text, one.differs) for one in mine.arguments]
    assert told == [("order", "17", True), ("note", "x", False)]
    assert [(one.text, one.differs) for one in first.arguments] == [("18", True), ("x", False)]
    assert [(one.ok, one.text) for one in first.answers] == [(False, ""), (False, "no such order")]
    assert (second.arguments, second.answers) == ((), ())


@pytest.mark.parametrize(
    ("content", "want"),
    [
        ("paid", "paid"),
        (17, "17"),
        (
            {"to": "card", "amount": 78, "ok": True, "note": None},
            "to: card · amount: 78 · ok: true · note: null",
        ),
        ([{"amount": 1}, {"amount": 2}], "(amount: 1), (amount: 2)"),
        ('{"user": {"first": "Ann"}, "tags": ["a", "b"]}', "user: (first: Ann) · tags: a, b"),
        ("[not JSON", "[not JSON"),
        ({}, "{}"),
        ([], "[]"),
        ("[" * 3_000, "[" * 3_000),
    ],
)
def test_what_an_answer_says_is_in_words_also_where_a_text_holds_json(content: object, want: str) -> None:
    assert in_words(content) == want


def test_a_message_that_served_a_sub_goal_is_a_step() -> None:
    hears = a_graph({"id": "greet", "rules": [{"text": "*hello*"}], "check": {"verdict": True}})
    made = [a_run(name, agent=name, task="t").say("Hello there").finish() for name in "ab"]
    found, first = aligned(*made, graph=hears), made[0].run()
    steps = steps_of(found.rows[0], {run.digest: run for run in (first, made[1].run())})
    assert [(step.tool, step.text) for step in steps[first.digest]] == [("", "Hello there")]
    assert found.rows[0].cells[0].tools == (("message", 1),)
