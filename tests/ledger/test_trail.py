"""The trail of a run: memories that are kept hold it, and know a run again by it."""

from __future__ import annotations

from typing import Any

import pytest
from builders import a_run

from untaken.ledger import Run, Verdict, in_common
from untaken.ledger.events import ModeAssignment, ReviewNote


def reviewed(**review: Any) -> Run:
    """A run with one event of each kind that a review writes."""
    built = a_run("r1").select("mail", "post").call("mail", ok=True, to="ann").say("sent").state(sent=1)
    by_ann = {name: value for name, value in review.items() if name == "blind"}
    built.add(Verdict, sub_goal="sent", passed=True, by="human:ann", **review)
    built.add(ReviewNote, author="human:ann", text="fine", **by_ann)
    built.add(ModeAssignment, mode="late", by="human:ann", **by_ann)
    return built.finish(True).run()


def test_no_field_added_to_an_event_changes_the_trails_that_are_kept() -> None:
    assert reviewed().trail == "8c6ab98c2bb61ae6714c"


@pytest.mark.parametrize("review", [{"blind": True}, {"settles": True}], ids=str)
def test_how_a_run_was_reviewed_is_not_what_it_did(review: dict[str, Any]) -> None:
    assert reviewed(**review).trail == reviewed().trail


def test_a_verdict_is_blind_or_settles_only_where_it_says_so() -> None:
    (verdict,) = reviewed().of(Verdict)
    assert (verdict.blind, verdict.settles, verdict.withdrawn) == (False, False, False)


def test_how_long_a_run_took_and_which_repeat_it_is_are_not_what_it_did() -> None:
    def trail(repeat: int, **metrics: float) -> str:
        return a_run("r1", task_repeat=repeat).finish(True, metrics=metrics).run().trail

    assert trail(0, tokens=9.0, wall_time=1.0, Duration=2.0) == trail(1, tokens=9.0, latency_ms=5.0)
    assert trail(0, tokens=9.0) != trail(0, tokens=8.0)


@pytest.mark.parametrize(
    ("contexts", "shared"),
    [
        ([], None),
        ([{"a": 1, "b": None}], {"a": 1, "b": None}),
        ([{"a": 1, "b": 2, "c": None}, {"a": 1, "b": 3}, {"a": 1}], {"a": 1}),
        ([{"a": 1}, {"b": 1}], {}),
        ([{"a": 1}, "text"], None),
    ],
)
def test_a_coarse_layer_is_read_by_what_its_contexts_have_in_common(contexts: Any, shared: Any) -> None:
    assert in_common(contexts) == shared
