"""Runs scored while their ledger is read, and then let go, are what a whole reading makes of them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, zip_longest
from pathlib import Path
from random import Random

import pytest
from builders import RunBuilder, a_run
from test_same_results import GRAPHS, SAMPLES, layered_run

from untaken import limits
from untaken.analysis.corpus import Corpus, evaluate_corpus
from untaken.errors import UntakenError
from untaken.facts.scaling import distant
from untaken.facts.scaling.distant import DistantRun, RunsAtHand
from untaken.facts.scaling.places import find_ledgers
from untaken.facts.scaling.reading import read_ledgers
from untaken.ledger import heads_path, read_ledger, save_heads
from untaken.scoring import RunScore

BLOCK = 128 * limits.KIB
"""Bytes that are read at once."""


def some_runs() -> list[RunBuilder]:
    """Runs of which one does not fit into a block."""
    random = Random(4)
    first, *others = [layered_run(f"run-{n}", random) for n in range(4)]
    return [first, a_run("long").say("x" * 2 * BLOCK).finish(True), *others]


def lines_of(runs: list[RunBuilder]) -> list[bytes]:
    return list(chain.from_iterable(run.lines for run in runs))


def in_turns() -> list[bytes]:
    rounds = zip_longest(*(run.lines for run in some_runs()))
    return [line for some in rounds for line in some if line is not None]


def judged_later() -> list[bytes]:
    """Every run is judged once all of them have ended."""
    runs = some_runs()
    own = lines_of(runs)
    return [*own, *(run.verdict("x", True, "human:ann").lines[-1] for run in runs)]


def altered_later() -> list[bytes]:
    """After a run was read as whole, a line of it comes that does not follow."""
    return [*judged_later(), judged_later()[-2]]


def damaged() -> list[bytes]:
    lines = lines_of(some_runs())
    return [lines[0], b"", b"{", *lines[1:-2], lines[-1]]


def too_long() -> list[bytes]:
    lines = lines_of(some_runs())
    return [*lines[:9], b'{"type":"MESSAGE","content":"' + b"x" * 3 * BLOCK + b'"}', *lines[9:]]


LEDGERS: dict[str, Callable[[], list[bytes]]] = {
    "one run after the other": lambda: lines_of(some_runs()),
    "runs in turns": in_turns,
    "judged later": judged_later,
    "altered later": altered_later,
    "a damaged line and a lost one": damaged,
    "a line that is too long to be held": too_long,
    "nothing": list,
}


@pytest.fixture(autouse=True)
def nothing_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every detail is read again, and lines of more than three blocks are too long."""
    monkeypatch.setattr(distant, "AT_HAND", RunsAtHand(0))
    monkeypatch.setattr(limits, "LINE_BYTES", 3 * BLOCK)


def assert_alike(one: Corpus, whole: Corpus) -> None:
    assert list(one.runs) == list(whole.runs)
    for digest, run in whole.runs.items():
        assert isinstance(one.runs[digest], DistantRun)
        assert one.runs[digest].integrity == run.integrity
        assert one.runs[digest].events == run.events
        assert one.runs[digest].selections == run.selections
    assert one.scores == whole.scores
    for digest, score in whole.scores.items():
        of_one = one.scores[digest]
        if isinstance(score, RunScore) and isinstance(of_one, RunScore):
            assert of_one.nodes == score.nodes
    assert dict(one.evaluations) == dict(whole.evaluations)
    assert (one.agents, one.ranking, one.choices) == (whole.agents, whole.ranking, whole.choices)


@pytest.mark.parametrize("recorded", [True, False], ids=["heads", "no heads"])
@pytest.mark.parametrize("case", LEDGERS)
def test_each_run_is_what_a_whole_reading_gives(case: str, recorded: bool, tmp_path: Path) -> None:
    ledger = tmp_path / "a.jsonl"
    ledger.write_bytes(b"".join(line + b"\n" for line in LEDGERS[case]()) or b"\n")
    if recorded:
        save_heads(heads_path(ledger), {run.run_id: run.head for run in some_runs()})
    runs, findings = read_ledger(ledger, strict=False)
    whole = evaluate_corpus(runs, GRAPHS, resamples=20)
    if not recorded and not runs:
        return
    one = evaluate_corpus(ledger, GRAPHS, resamples=20)
    assert_alike(one, whole)
    assert one.findings == (*dict.fromkeys((*findings, *whole.findings)),)


@pytest.mark.parametrize("folder", ["ledgers", "tampered"])
def test_so_are_the_samples(folder: str) -> None:
    runs = [run for _, run in read_ledgers(*find_ledgers([SAMPLES / folder])).runs]
    one = evaluate_corpus(SAMPLES / folder, GRAPHS, resamples=20)
    assert_alike(one, evaluate_corpus(runs, GRAPHS, resamples=20))


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content.replace(b"search", b"reread"),
        lambda content: b"\n\n\n" + content,
        lambda content: content[: len(content) // 4],
    ],
    ids=["a word", "moved", "cut"],
)
def test_a_ledger_that_changed_since_is_never_shown_as_it_was(change, tmp_path) -> None:
    ledger = tmp_path / "a.jsonl"
    runs = [a_run("r").call("search").finish(True), a_run("last").finish(True)]
    ledger.write_bytes(b"\n".join(lines_of(runs)))
    run, _ = evaluate_corpus(ledger, GRAPHS, resamples=20).runs.values()
    ledger.write_bytes(change(ledger.read_bytes()))
    with pytest.raises(UntakenError) as error:
        run.events  # noqa: B018
    assert error.value.code == "ledger-changed"


def test_a_ledger_that_grew_since_shows_the_run_as_it_was(tmp_path: Path) -> None:
    ledger, run = tmp_path / "a.jsonl", a_run("r").call("search").finish(True)
    ledger.write_bytes(run.ledger())
    [before] = evaluate_corpus(ledger, GRAPHS, resamples=20).runs.values()
    events = tuple(run.events)
    ledger.write_bytes(run.verdict("x", True, "human:ann").ledger())
    assert before.events == events
