"""Who said what of a sub-goal and what became of it; and what a run did after it failed."""

from __future__ import annotations

from typing import Any

import pytest
from builders import RunBuilder, a_graph, a_run

from untaken.ledger.events import Evidence, Verdict
from untaken.scoring import score_run
from untaken.views import find_unhandled, reviewers_differ, verdict_views

GRAPH = a_graph({"id": "x", "check": {"verdict": True}})


def said(run: RunBuilder, verdicts: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    found = run.run()
    return [
        (voice.by, voice.standing)
        for voice in verdict_views(found, score_run(found, GRAPH, verdicts=verdicts).node("x"), verdicts)
    ]


def test_voices_come_in_the_order_of_authority_and_say_what_became_of_them() -> None:
    run = a_run().finish().verdict("x", True, "judge:m").verdict("x", False, "human:ann")
    run.verdict("x", None, "human:bob").verdict("x", False, "judge:m")
    assert said(run) == [
        ("human:ann", "decides"),
        ("human:bob", "no opinion"),
        ("judge:m", "replaced"),
        ("judge:m", "outranked"),
    ]
    assert said(run, ("judge:*",)) == [
        ("human:ann", "not counted"),
        ("human:bob", "not counted"),
        ("judge:m", "replaced"),
        ("judge:m", "decides"),
    ]


def test_a_quote_that_does_not_stand_in_its_event_is_marked() -> None:
    run = a_run().observe("order 17 was found").finish()
    quotes = [(1, "order 17"), (1, "order 18"), (99, ""), (1, "")]
    run.add(
        Verdict,
        sub_goal="x",
        passed=True,
        by="judge:m",
        evidence=[Evidence(seq=s, quote=q) for s, q in quotes],
    )
    found = run.run()
    (voice,) = verdict_views(found, score_run(found, GRAPH).node("x"))
    assert [quoted.found for quoted in voice.quotes] == [True, False, False, True]


def _failing() -> RunBuilder:
    return a_run().plan("x").call("a", ok=False, q=1)


NEXT: list[tuple[str, RunBuilder, str, int | None]] = [
    ("the same call", _failing().call("a", q=1), "tried again", 4),
    ("other arguments", _failing().call("a", q=2), "tried otherwise", 4),
    ("true is not 1", _failing().call("a", q=True), "tried otherwise", 4),
    ("another tool", _failing().call("b"), "went on", 4),
    ("words", _failing().say("done").call("a"), "spoke", 4),
    ("the user's words are not the agent's", _failing().say("?", role="user"), "ended", 5),
]


@pytest.mark.parametrize(
    ("desc", "run", "next_", "at"), NEXT, ids=lambda value: value if isinstance(value, str) else ""
)
def test_what_a_run_did_after_a_failure(desc: str, run: RunBuilder, next_: str, at: Any) -> None:
    found = run.finish(False).verdict("x", False).run()
    (failure,) = find_unhandled(found, score_run(found, GRAPH))
    assert (failure.seq, failure.call, failure.tool) == (3, 2, "a")
    assert (failure.next, failure.next_seq) == (next_, at)


def test_a_run_that_changed_its_plan_noticed() -> None:
    run = a_run().plan("x").call("a", ok=False).plan("y").finish(False).verdict("x", False).run()
    assert find_unhandled(run, score_run(run, GRAPH)) == ()


BOTH = [("human:ann", True, False), ("human:bob", False, False)]
DIFFERING = [
    ("two reviewers differ", BOTH, True),
    ("they agree", [("human:ann", True, False), ("human:bob", True, False)], False),
    ("one cannot tell", [("human:ann", True, False), ("human:bob", None, False)], False),
    ("a judge differs from one", [("human:ann", True, False), ("judge:m", False, False)], False),
    ("it was settled", [*BOTH, ("human:ann", True, True)], False),
    ("one came round later", [*BOTH, ("human:bob", True, False)], False),
]


@pytest.mark.parametrize(("desc", "words", "want"), DIFFERING, ids=[case[0] for case in DIFFERING])
def test_reviewers_differ_until_it_is_settled(desc, words, want) -> None:
    run = a_run().finish()
    for by, passed, settles in words:
        run.add(Verdict, sub_goal="x", passed=passed, by=by, settles=settles)
    found = run.run()
    assert reviewers_differ(verdict_views(found, score_run(found, GRAPH).node("x"))) is want
