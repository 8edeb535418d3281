"""One run as its ledger is now: what was appended since, without reading the others again."""

from __future__ import annotations

import gzip

import pytest
from builders import a_run, run_of

from untaken.analysis.failure_modes import note_draft
from untaken.errors import UntakenError
from untaken.ledger import Draft, Run, Verdict
from untaken.workspace import Workspace

pytestmark = pytest.mark.database("sqlite")  # what it keeps are files

BOTH = b"".join(a_run(name).call("look").finish(success=False).ledger() for name in ("r0", "r1"))


def write_about(store: Workspace, run: Run) -> None:
    store.append_events(run, [note_draft("first", author="human:ann")])
    store.append_events(run_of(store, "r0"), [note_draft("of another run", author="human:ann")])
    met = Draft(Verdict, {"sub_goal": "pay", "passed": True, "by": "human:bob"})
    store.append_events(run_of(store, "r1"), [met, note_draft("last", author="human:bob")])


@pytest.mark.parametrize(
    ("name", "content"),
    [("runs.jsonl", BOTH), ("runs.jsonl.gz", gzip.compress(BOTH)), ("x.jsonl", BOTH[:-1])],
)
def test_a_run_now_is_what_reading_all_ledgers_gives(workspace: Workspace, name: str, content: bytes) -> None:
    workspace.add(name, content)
    before = run_of(workspace, "r1")
    assert workspace.run_now(before) is before
    write_about(workspace, before)
    now, read = workspace.run_now(before), run_of(workspace, "r1")
    assert (now.events, now.integrity, now.appended_here) == (read.events, read.integrity, read.appended_here)
    assert now.digest == before.digest
    assert workspace.run_now(now) is now


def test_a_run_that_was_removed_is_unknown(workspace: Workspace) -> None:
    workspace.add("runs.jsonl", BOTH)
    run = run_of(workspace, "r1")
    workspace.remove(workspace.ledgers()[0].digest)
    with pytest.raises(UntakenError, match="no longer in this workspace"):
        workspace.run_now(run)
