"""The report on one run, and the overview of many."""

from __future__ import annotations

from dataclasses import replace

import desk
import pytest
from builders import a_run
from msgspec import structs

from untaken.analysis.corpus import evaluate_corpus
from untaken.errors import Unscored, UntakenError
from untaken.ledger import ModeAssignment, ReviewNote
from untaken.ledger.events import Event
from untaken.views import run_report
from untaken.views.first_page import graphs_by_misses, overview
from untaken.views.timeline import PREVIEW_CHARS, timeline


@pytest.fixture(scope="module")
def corpus():
    return desk.corpus()


def report_on(corpus, run_id: str):
    (digest,) = (d for d, run in corpus.runs.items() if run.run_id == run_id)
    return run_report(corpus, digest)


def test_an_unscored_run_is_reported_with_the_reason(corpus) -> None:
    found = report_on(corpus, "stray")
    assert isinstance(found.score, Unscored)
    assert (found.graph, found.nodes, found.progress) == (None, (), ())
    assert len(found.timeline) == 3


def test_a_run_that_is_not_there_is_named_in_words(corpus) -> None:
    with pytest.raises(UntakenError, match="run-unknown"):
        run_report(corpus, "0" * 64)


def test_previews_are_cut_and_say_so() -> None:
    run = a_run("r").say("x" * 5000).observe({"a": [1]}, ok=False).run()
    _, said, seen = timeline(run)
    assert (len(said.text), said.cut) == (PREVIEW_CHARS, True)
    assert (seen.title, seen.text, seen.ok) == ("Failure", '{"a":[1]}', False)


def test_every_event_type_has_words() -> None:
    run = a_run("r").plan("a").select("s", "t").call("tool", ok=True).say("hi").state(x=1)
    run.verdict("a", None).finish(None, steps=None, cost=None)
    assert all(row.title for row in timeline(run.run()))


class Heartbeat(Event, frozen=True, kw_only=True, tag="HEARTBEAT_SEEN"):
    load: float


def test_an_event_type_without_words_of_its_own_is_shown_as_it_was_recorded() -> None:
    run = a_run("r").say("hi").run()
    last = run.events[-1]
    beat = Heartbeat(run_id="r", seq=last.seq + 1, ts=last.ts, prev=last.prev, load=0.5)
    *_, row = timeline(replace(run, events=(*run.events, beat)))
    assert (row.type, row.title, row.text) == ("HEARTBEAT_SEEN", "Heartbeat seen", '{"load":0.5}')


def test_an_event_that_a_verdict_rests_on_says_so() -> None:
    run = a_run("r").say("I clicked.").finish()
    run.verdict("work of X", False, by="human:a", evidence=(1,), reason="wrong")
    _, message, _, verdict = timeline(run.run())
    assert (message.cited_by, verdict.cited_by) == ((3,), ())
    assert verdict.text == "not met, by human:a, seen in event 1: wrong"


def test_notes_and_modes_say_what_event_they_are_about() -> None:
    run = a_run("r").say("hi").finish()
    for event in (None, 1):
        run.add(ReviewNote, author="ann", text="seen", event=event)
        run.add(ModeAssignment, mode="loop", by="human:ann", event=event, reason="twice" if event else None)
    *_, note, mode, on_event, at_event = timeline(run.run())
    assert [note.title, on_event.title] == ["Note by ann", "Note by ann on event 1"]
    assert [mode.title, at_event.title] == ["Failure mode loop", "Failure mode loop at event 1"]
    assert (mode.text, at_event.text) == ("accepted, by human:ann", "accepted, by human:ann: twice")


def test_the_three_numbers(corpus) -> None:
    found = overview(corpus)
    assert (found.succeeded.count, found.succeeded.n) == (9, 13)
    assert (found.lucky.count, found.lucky.n) == (4, 8)
    assert found.unlucky.n == 0
    assert isinstance(found.unlucky.rate, Unscored)
    assert found.broken == 1
    assert found.pairs == 3
    assert found.agreement is not None


def test_an_empty_overview_is_unscored_not_zero() -> None:
    from untaken.plans import GraphSet

    found = overview(evaluate_corpus([], GraphSet.of([]), resamples=0))
    assert isinstance(found.succeeded.rate, Unscored)
    assert found.runs == 0


def test_the_plan_graph_with_most_misses_comes_first(corpus) -> None:
    named = {run.run_id: score for (d, score) in corpus.scores.items() for run in [corpus.runs[d]]}
    fine, lucky = named["careful-10"], named["lucky-10"]  # nothing missed; the policy missed
    scores = {"1": structs.replace(fine, graph_id="a"), "2": structs.replace(lucky, graph_id="b")}
    assert graphs_by_misses(replace(corpus, scores=scores)) == ["b", "a"]
    assert graphs_by_misses(replace(corpus, scores={"1": scores["1"]})) == ["a"]
