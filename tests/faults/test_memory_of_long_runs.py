"""What a long run takes of memory, counted by Python itself: so many bytes an event, in each step.

Docs/how-to/team.md says what a run of a million events takes; a step that holds a second copy shows here.
"""

from __future__ import annotations

import tracemalloc
from array import array
from collections.abc import Callable
from pathlib import Path

import pytest

from untaken.analysis.background_reading import _Looked
from untaken.analysis.corpus import evaluate_corpus
from untaken.judging import prompt_injection
from untaken.ledger import LedgerWriter, read_ledger
from untaken.ledger.reading import Reading, RunLines
from untaken.ledger.source import open_view
from untaken.plans import GraphSet, read_graph
from untaken.scoring.transcript import reading
from untaken.views import run_report, run_transcript

EVENTS = 20_000
PLAN = b"""schema: untaken.plan/1
id: endless
tasks: [endless]
sub_goals:
  - {id: search, rules: [{tool: search}], check: {tool_call: {name: search}}}
  - {id: read, deps: [search], rules: [{tool: read}], check: {outcome: true}}
"""


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("long") / "long.jsonl"
    with LedgerWriter(path) as writer, writer.start(run_id="long", agent="loop", task_id="endless") as run:
        for number in range(EVENTS // 2 - 1):
            call = run.tool_call("search" if number % 3 else "read", {"query": f"order {number}", "page": 1})
            run.observation(f"result {number}: found 3 rows", call_id=call, ok=True)
        run.finish(success=True, steps=EVENTS, cost=1.0)
    return path


def peak_per_event(work: Callable[[], object]) -> float:
    """The most bytes an event that the work holds beyond what was there before."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / EVENTS
    finally:
        tracemalloc.stop()


def test_a_run_that_is_read_holds_names_and_ids_once(ledger: Path) -> None:
    (run,) = read_ledger(ledger)
    assert len({id(event.run_id) for event in run.events}) == 1
    assert peak_per_event(lambda: read_ledger(ledger)) < 530


def test_lines_that_are_read_again_are_never_all_in_memory(ledger: Path) -> None:
    (run,) = read_ledger(ledger)
    head, size = run.integrity.head, ledger.stat().st_size
    assert head is not None
    half = ledger.read_bytes().index(b"\n", size // 2) + 1
    lines = RunLines(ledger, array("Q", [0, half, half, size]))
    again: list[object] = []
    assert peak_per_event(lambda: again.append(lines.events("long", head))) < 530
    assert again == [run.events]


def test_the_search_for_prompt_injections_keeps_no_event(ledger, monkeypatch) -> None:
    monkeypatch.setattr(prompt_injection, "_addresses", lambda piece: None)  # how long it takes is not asked
    (run,) = read_ledger(ledger)
    digests = []

    def search() -> None:
        one = _Looked()
        view = open_view(ledger, heads=None, name=None)
        for chain in Reading(view, lambda _: None, keep=one.look).chains():
            assert (chain.broken, one.search.found()) == (None, ())
            digests.append(one.digest)

    assert peak_per_event(search) < 100
    assert digests == [run.digest]


def test_a_page_of_a_run_takes_less_than_its_events(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "ITEMS", 200)
    graph, _ = read_graph(PLAN, name="endless.plan.yaml")
    (run,) = read_ledger(ledger)
    corpus = evaluate_corpus([run], GraphSet.of([graph]))
    (digest,) = corpus.runs
    run_report(corpus, digest, search=False)  # what is loaded on first use is not of the run
    run_transcript(corpus, digest, search=False)

    def page() -> None:
        report = run_report(corpus, digest, search=False)
        assert len(report.timeline) == EVENTS
        transcript = run_transcript(corpus, digest, search=False)
        assert (len(transcript.items), len(transcript.parts)) == (200, 51)

    assert peak_per_event(page) < 100
