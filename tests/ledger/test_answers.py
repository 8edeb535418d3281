"""Which observation answers which call."""

from __future__ import annotations

import pytest
from builders import RunBuilder, a_run

from untaken.ledger.events import Observation, ToolCall
from untaken.ledger.run import paired

PAIRS: list[tuple[str, RunBuilder, list[str | None]]] = [
    ("by its id, in whatever order", a_run().call("a").call("b").observe(call_id="c1").observe(call_id="c2"),
     ["a", "b"]),
    ("without an id, the call before it", a_run().call("a").observe().call("b").observe(), ["a", "b"]),
    ("without an id after the last call", a_run().call("a").call("b").observe().observe(), ["b", "b"]),
    ("before any call", a_run().observe().call("a"), [None]),
    ("by an id that no call has", a_run().call("a").observe(call_id="c9"), [None]),
    ("by the id of a later call", a_run().observe(call_id="c1").call("a"), [None]),
    ("without any call", a_run().observe(), [None]),
]  # fmt: skip


@pytest.mark.parametrize(("builder", "want"), [pytest.param(b, w, id=desc) for desc, b, w in PAIRS])
def test_an_observation_is_paired_with_the_call_it_answers(
    builder: RunBuilder, want: list[str | None]
) -> None:
    calls = [event for event in builder.events if isinstance(event, ToolCall)]
    answers = [event for event in builder.events if isinstance(event, Observation)]
    found = list(paired(calls, answers))
    assert [answer for answer, _ in found] == answers
    assert [call and call.tool for _, call in found] == want


def test_a_call_has_its_last_answer_from_before_the_end() -> None:
    run = a_run().call("a").observe("old").observe("new").call("b")
    assert {seq: answer.content for seq, answer in run.run().answers.items()} == {1: "new"}
    run.finish().observe("late")
    assert {seq: answer.content for seq, answer in run.run().answers.items()} == {1: "new"}
    assert a_run().finish().run().answers == {}
