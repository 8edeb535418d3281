"""A run that a worker has read answers as the run itself does."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import get_args

import pytest
from builders import a_run
from in_chunks import InChunks
from programs import sent

from untaken.facts.scaling.distant import DistantRun
from untaken.facts.scaling.places import find_ledgers
from untaken.facts.scaling.reading import read_ledgers
from untaken.ledger import AnyEvent, Run, heads_path

SAMPLES = Path(__file__).parents[2] / "sample_runs"
ASKED = (
    "run_id",
    "agent",
    "task_id",
    "digest",
    "own",
    "tools",
    "started",
    "finished",
    "selections",
    "success",
)


def both(path: Path) -> list[tuple[Run, Run]]:
    places, others = find_ledgers([path])
    near, far = (read_ledgers(places, others, cluster=cluster) for cluster in (None, InChunks()))
    assert near.findings == far.findings
    assert near.unread == far.unread
    return [(run, other) for (_, run), (_, other) in zip(near.runs, far.runs, strict=True)]


@pytest.mark.parametrize("folder", ["ledgers", "tampered"])
def test_a_distant_run_answers_as_the_run_does(folder: str) -> None:
    for run, distant in both(SAMPLES / folder):
        assert isinstance(distant, DistantRun)
        for name in ASKED:
            assert getattr(distant, name) == getattr(run, name), name
        assert "events" not in vars(distant), "nothing so far needs the whole ledger"
        for kind in get_args(AnyEvent):
            assert list(distant.of(kind)) == list(run.of(kind))
        assert distant.events == run.events
        assert distant.answers == run.answers


def test_a_moment_keeps_its_time_zone(tmp_path: Path) -> None:
    ledger = tmp_path / "a.jsonl"
    line = a_run("r").lines[0].replace(b"Z", b"+02:00")
    ledger.write_bytes(line + b"\n")
    [(run, distant)] = both(ledger)
    assert distant.started.ts.isoformat() == run.started.ts.isoformat()
    assert run.started.ts.isoformat().endswith("+02:00")


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(a_run("r").call("search").finish(True).lines))
    return tmp_path / "a.jsonl"


def test_a_distant_run_can_be_sent_on(ledger: Path) -> None:
    [(run, distant)] = both(ledger)
    assert sent(distant).events == run.events


@pytest.mark.skipif(sys.platform == "darwin", reason="its file system refuses such names")
@pytest.mark.parametrize("heads", [None, b"{"])
def test_a_file_name_that_is_no_text_is_written_as_in_json(heads: bytes | None, tmp_path: Path) -> None:
    ledger = tmp_path / os.fsdecode(b"a\xff.jsonl")
    ledger.write_bytes(b"\n".join(a_run("r").call("search").finish(True).lines))
    if heads is not None:
        heads_path(ledger).write_bytes(heads)
    places, _ = find_ledgers([ledger])
    near, far = (read_ledgers(places, cluster=cluster) for cluster in (None, InChunks()))
    assert near.findings == far.findings
    names = [run.source for run in far.every_run] + [str(found.where.file) for found in far.findings]
    assert all(name.isascii() and r"a\udcff.jsonl" in name for name in names), names
