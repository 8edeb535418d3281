"""A run as a conversation: in order, results with their calls, marks on the events they belong to."""

from __future__ import annotations

import pytest
from builders import a_graph, a_run
from hypothesis import given
from hypothesis import strategies as st

from untaken.errors import Unscored
from untaken.ledger.events import Message, Observation, ToolCall
from untaken.scoring import score_run
from untaken.scoring.transcript import Mark, align_transcripts, reading, transcript_of

WHY = Unscored("no graph")
GRAPH = a_graph(
    {"id": "look", "title": "Look up", "check": {"tool_call": {"name": "search"}}},
    {"id": "pay", "title": "Pay", "check": {"tool_call": {"name": "refund", "arguments": {"amount": 5}}}},
)


def shown(run, score=WHY, **more):
    return [
        (item.kind, item.speaker, item.title or item.text) for item in transcript_of(run, score, **more).items
    ]


def marks(transcript) -> dict[int, list[tuple[str, str]]]:
    return {item.seq: [(m.kind, m.words) for m in item.marks] for item in transcript.items if item.marks}


def test_a_run_reads_as_a_conversation_in_the_order_of_its_ledger() -> None:
    run = a_run().say("Hi", "user").plan("look").say("Hello").call("search", q=1).observe("none", ok=False)
    run = run.call("show", by="user").state(n=1).finish(False, error="gave up")
    assert shown(run.run()) == [
        ("start", "environment", "agent on task"),
        ("message", "user", "Hi"),
        ("plan", "agent", "1. look"),
        ("message", "agent", "Hello"),
        ("call", "agent", "search"),
        ("call", "user", "show"),
        ("state", "environment", '{"n":1}'),
        ("end", "environment", "failure"),
    ]


def test_a_run_that_records_no_steps_shows_the_verdicts_on_it() -> None:
    run = a_run().verdict("look", True).verdict("pay", False, by="test", reason="no refund").finish(False)
    assert shown(run.run(), score_run(run.run(), GRAPH)) == [
        ("start", "environment", "agent on task"),
        ("verdict", "environment", "✓ met · human:ann"),
        ("verdict", "environment", "✗ not met · test"),
        ("end", "environment", "failure"),
    ]
    texts = [item.text for item in transcript_of(run.run(), score_run(run.run(), GRAPH)).items]
    assert texts[1:3] == ["Look up", "Pay\nno refund"]
    assert "verdict" not in [kind for kind, *_ in shown(run.say("Hello").run())]


def test_results_stand_with_the_call_they_answer_and_a_failed_one_marks_it() -> None:
    run = a_run().call("a").call("b").observe("late", ok=False, call_id="c1")
    run.observe("fine", ok=True, call_id="c2")
    first, second = transcript_of(run.run(), WHY).items[1:]
    assert [[result.text for result in item.results] for item in (first, second)] == [["late"], ["fine"]]
    assert (first.failed, second.failed) == (True, False)


@pytest.mark.parametrize(("many", "cut"), [(40, False), (41, True)])
def test_a_call_shows_its_first_forty_arguments_and_says_where_there_are_more(many: int, cut: bool) -> None:
    call = transcript_of(a_run().call("a", **{f"x{n}": n for n in range(many)}).run(), WHY).items[1]
    assert (len(call.arguments), call.cut) == (40, cut)


def test_a_result_without_a_call_is_an_item_of_its_own() -> None:
    item = transcript_of(a_run().observe("news", call_id="nobody").run(), WHY).items[1]
    assert (item.kind, [result.text for result in item.results]) == ("result", ["news"])


def test_sub_goals_are_marked_where_they_were_attempted_and_completed() -> None:
    run = a_run().call("search").call("refund", amount=7).call("refund", amount=5).finish().run()
    want = {1: [("completed", "Look up")], 2: [("attempted", "Pay")], 3: [("completed", "Pay")]}
    assert marks(transcript_of(run, score_run(run, GRAPH))) == want


def test_a_replan_names_what_was_added_and_dropped_and_a_repeated_plan_is_none() -> None:
    run = a_run().plan("a", "b").plan("a", "b").plan("a", "c").run()
    assert marks(transcript_of(run, WHY)) == {3: [("plan", "Replan: + c, − b")]}


def test_a_mark_on_an_event_inside_another_item_is_seen_on_that_item() -> None:
    run = a_run().call("a", ok=True).finish().verdict("x", True).run()
    words = {2: "see the result", 4: "see the verdict", 99: "see what is not there"}
    notes = {seq: [Mark(kind="note", words=said)] for seq, said in words.items()}
    assert marks(transcript_of(run, WHY, marks=[notes])) == {
        1: [("note", "see the result")],
        3: [("note", "see the verdict"), ("note", "see what is not there")],
    }


@pytest.mark.parametrize(("texts", "kept"), [(1, 8_000), (2_000, 2_000), (14_000, 300)])
def test_a_very_long_run_is_cut_to_what_a_browser_takes_and_says_where(texts: int, kept: int) -> None:
    run = a_run()
    for _ in range(texts):
        run.say("x" * 9_000)
    said = [item for item in transcript_of(run.run(), WHY).items if item.kind == "message"]
    assert {(len(item.text), item.cut) for item in said} == {(kept, True)}


def test_a_run_that_is_too_long_for_a_browser_is_read_in_parts_and_no_mark_is_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = a_run()
    for number in range(10):
        run.say(f"{number}").call("search" if number == 7 else "look", ok=True)
    run.finish()
    note = {4: [Mark(kind="note", words="here")], 26: [Mark(kind="note", words="there")]}
    score = score_run(run.run(), GRAPH)
    whole = transcript_of(run.run(), score, marks=[note])
    assert (whole.parts, whole.part) == ((0,), 0)
    monkeypatch.setattr(reading, "ITEMS", 5)
    parts = [transcript_of(run.run(), score, marks=[note], part=part) for part in range(5)]
    assert [item for part in parts for item in part.items] == list(whole.items)
    assert {part.parts for part in parts} == {tuple(item.seq for item in whole.items[::5])}
    assert transcript_of(run.run(), score, part=99).part == 4


STEPS = st.lists(st.sampled_from(["search", "refund", "say", "fail"]), max_size=8)


def built(steps):
    run = a_run()
    for step in steps:
        if step == "say":
            run.say("ok")
        else:
            run.call("search" if step == "fail" else step, ok=step != "fail")
    return transcript_of(run.run(), score_run(run.run(), GRAPH))


@given(left=STEPS, right=STEPS)
def test_an_alignment_holds_every_item_of_both_runs_once_and_in_order(left, right) -> None:
    one, other = built(left), built(right)
    lines = align_transcripts(one, other)
    assert [line.left for line in lines if line.left is not None] == list(range(len(one.items)))
    assert [line.right for line in lines if line.right is not None] == list(range(len(other.items)))
    for line in lines:
        if line.aligned:
            pair = one.items[line.left], other.items[line.right]
            assert len({(each.kind, each.title if each.kind == "call" else "") for each in pair}) == 1


@given(steps=STEPS)
def test_a_run_beside_itself_differs_nowhere(steps) -> None:
    assert not any(line.differs for line in align_transcripts(built(steps), built(steps)))


def test_a_step_that_only_one_run_has_and_another_answer_are_marked() -> None:
    left = transcript_of(a_run().call("a").call("b", ok=True).finish().run(), WHY)
    right = transcript_of(a_run().call("b", ok=False).finish().run(), WHY)
    lines = [(one.left, one.right, one.aligned, one.differs) for one in align_transcripts(left, right)]
    assert lines == [(0, 0, True, False), (1, None, False, True), (2, 1, True, True), (3, 2, True, False)]


@given(kinds=st.lists(st.sampled_from([Message, ToolCall, Observation]), max_size=12))
def test_no_event_of_the_conversation_is_lost(kinds) -> None:
    run = a_run()
    for kind in kinds:
        {Message: run.say, ToolCall: run.call, Observation: run.observe}[kind]("x")
    items = transcript_of(run.run(), WHY).items
    seqs = [item.seq for item in items if item.kind != "result"] + [r.seq for i in items for r in i.results]
    assert sorted(seqs) == [event.seq for event in run.run().events]
