"""Where a chain meets the head recorded before."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest
from builders import RunBuilder, a_run

from untaken.ledger import Draft, Head, ReviewNote
from untaken.workspace import Added, KeptTrace, Workspace
from untaken.workspace.content import digest_of, source_identity

pytestmark = pytest.mark.database("sqlite")  # what it keeps are files


def chain(*, notes: int = 0, agent: str = "agent") -> RunBuilder:
    built = a_run("r1", agent=agent).call("search").call("pay").finish()
    for _ in range(notes):
        built.verdict("paid", passed=True)
    return built


def sidecar(built: RunBuilder) -> bytes:
    return msgspec.json.encode({built.run_id: built.head})


SHORT, LONG, OTHER = chain(), chain(notes=2), chain(agent="someone else")
CUT = b"".join(line + b"\n" for line in SHORT.lines[:2])


class Meeting(NamedTuple):
    desc: str
    second: bytes
    heads: bytes | None
    want: str
    code: str | None
    recorded: Head


MEETINGS = [
    Meeting("the same chain in another file", gzip.compress(SHORT.ledger()), None, "INTACT", None,
            SHORT.head),
    Meeting("shorter", CUT, None, "TRUNCATED", "run-head-differs", SHORT.head),
    Meeting("longer, no intent", LONG.ledger(), None, "ALTERED", "run-head-differs", SHORT.head),
    Meeting("longer, with heads of its own", LONG.ledger(), sidecar(LONG), "ALTERED", "run-extension-waits",
            SHORT.head),
    Meeting("another chain", OTHER.ledger(), None, "ALTERED", "run-head-differs", SHORT.head),
    Meeting("another chain and its head", OTHER.ledger(), sidecar(OTHER), "ALTERED", "run-head-differs",
            SHORT.head),
    Meeting("broken by its own head", CUT, sidecar(LONG), "TRUNCATED", "ledger-truncated", SHORT.head),
]  # fmt: skip


@pytest.mark.parametrize("case", MEETINGS, ids=lambda c: c.desc)
def test_a_chain_meets_the_recorded_head(case: Meeting, workspace: Workspace) -> None:
    workspace.add("first.jsonl", SHORT.ledger())
    added = workspace.add("second.jsonl", case.second, heads=case.heads)
    assert [i.verdict for i in added.integrity] == [case.want]
    assert [f.code for f in added.findings] == ([case.code] if case.code and added.new else [])
    assert workspace.heads() == {"r1": case.recorded}


def test_a_ledger_without_heads_is_unanchored_once_and_anchored_from_then_on(workspace: Workspace) -> None:
    assert [i.verdict for i in workspace.add("a.jsonl", SHORT.ledger()).integrity] == ["UNANCHORED"]
    runs, findings = workspace.read_runs()
    assert ([run.integrity.verdict for run in runs], findings) == (["INTACT"], [])


def test_a_file_changed_inside_the_workspace_is_noticed(workspace: Workspace) -> None:
    workspace.add("a.jsonl", SHORT.ledger())
    kept = workspace.ledgers()[0].path
    kept.write_bytes(CUT)
    runs, findings = workspace.read_runs()
    assert [run.integrity.verdict for run in runs] == ["TRUNCATED"]
    assert [finding.code for finding in findings] == ["ledger-truncated"]


def test_an_extension_takes_the_place_of_the_shorter_run_once_a_person_confirms_it(workspace) -> None:
    workspace.add("a.jsonl", SHORT.ledger())
    workspace.add("b.jsonl", LONG.ledger(), heads=sidecar(LONG))
    before = {run.integrity.verdict: len(run.events) for run in workspace.read_runs()[0]}
    assert before == {"INTACT": len(SHORT.lines), "ALTERED": len(SHORT.lines)}
    (extension,) = workspace.extensions()
    assert (extension.run_id, extension.file.name) == ("r1", "b.jsonl")
    assert workspace.confirm(extension, author="ann")
    assert not workspace.confirm(extension, author="ben"), "it was confirmed before"
    runs, _ = workspace.read_runs()
    assert [(len(run.events), run.integrity.verdict) for run in runs] == [(len(LONG.lines), "INTACT")]
    assert (workspace.heads(), workspace.extensions()) == ({"r1": LONG.head}, [])
    (line,) = [entry for entry in workspace.audit_log() if entry.code == "run-extended"]
    assert line.run == "r1"
    assert line.message.startswith("ann confirmed 2 ")


def test_an_extension_that_follows_no_more_is_not_confirmed(workspace: Workspace) -> None:
    workspace.add("a.jsonl", SHORT.ledger())
    workspace.add("b.jsonl", LONG.ledger(), heads=sidecar(LONG))
    (extension,) = workspace.extensions()
    run = next(run for run in workspace.read_runs()[0] if not run.integrity.broken)
    head = workspace.append_events(run, [Draft(ReviewNote, {"author": "ben", "text": "in the meantime"})])
    assert not workspace.confirm(extension, author="ann")
    assert workspace.heads() == {"r1": head}


def test_a_run_that_went_on_in_an_opened_folder_takes_the_place_of_the_shorter_one(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    for built in (SHORT, LONG):
        (folder / "a.jsonl").write_bytes(built.ledger())
        (folder / "a.jsonl.heads.json").write_bytes(sidecar(built))
        with Workspace.open_folder(folder) as workspace:
            runs, _ = workspace.read_runs()
            assert [(len(run.events), run.integrity.verdict) for run in runs] == [
                (len(built.lines), "INTACT")
            ]


def test_a_damaged_copy_is_beside_the_good_run(workspace: Workspace) -> None:
    workspace.add("good.jsonl", SHORT.ledger())
    workspace.add("longer.jsonl", LONG.ledger())
    workspace.add("cut.jsonl", CUT)
    runs, _ = workspace.read_runs()
    assert [run.integrity.verdict for run in runs] == ["INTACT", "ALTERED", "TRUNCATED"]
    assert len({run.digest for run in runs}) == 3


def test_heads_that_came_first_anchor_the_ledger(workspace: Workspace) -> None:
    assert workspace.add("a.jsonl.heads.json", sidecar(SHORT)).kind == "heads"
    assert [i.verdict for i in workspace.add("a.jsonl", CUT).integrity] == ["TRUNCATED"]
    assert [i.verdict for i in workspace.add("b.jsonl", SHORT.ledger()).integrity] == ["INTACT"]


def test_heads_that_cannot_be_read_do_not_keep_the_ledger_out(workspace: Workspace) -> None:
    added = workspace.add("a.jsonl", SHORT.ledger(), heads=b"[not heads")
    assert (added.new, [i.verdict for i in added.integrity]) == (True, ["UNANCHORED"])
    assert [(f.code, f.where.file) for f in added.findings] == [("ledger-heads", "a.jsonl.heads.json")]


def test_heads_that_came_later_never_overrule_what_is_recorded(workspace: Workspace) -> None:
    workspace.add("a.jsonl", SHORT.ledger())
    added = workspace.add("a.jsonl.heads.json", sidecar(LONG))
    assert [f.code for f in added.findings] == ["run-head-differs"]
    assert workspace.heads() == {"r1": SHORT.head}


def converted(workspace: Workspace, name: str, built: RunBuilder, *, made_from: tuple[str, ...]) -> Added:
    """Adds what a conversion of these traces gave, and keeps the traces."""
    sources = [source_identity(trace, digest_of(trace.encode())) for trace in made_from]
    added = workspace.add(name, built.ledger(), heads=sidecar(built), origin="devai", made_from=sources)
    for trace in made_from:
        workspace.keep_traces(
            [KeptTrace(name=trace, data=trace.encode(), kind="devai", results=[added.digest])]
        )
    return added


def test_a_conversion_of_the_same_traces_and_more_replaces_the_earlier_one(workspace: Workspace) -> None:
    converted(workspace, "old.jsonl", SHORT, made_from=("trace",))
    added = converted(workspace, "new.jsonl", OTHER, made_from=("trace", "judgement"))
    assert [i.verdict for i in added.integrity] == ["INTACT"]
    runs, _ = workspace.read_runs()
    assert [run.agent for run in runs] == ["someone else"]


def test_a_conversion_of_other_input_waits_until_a_person_confirms_it(workspace: Workspace) -> None:
    converted(workspace, "old.jsonl", SHORT, made_from=("trace",))
    added = converted(workspace, "new.jsonl", OTHER, made_from=("changed trace",))
    assert [i.verdict for i in added.integrity] == ["ALTERED"]
    assert [f.code for f in added.findings] == ["run-conversion-waits"]
    assert workspace.heads() == {"r1": SHORT.head}
    (waiting,) = workspace.extensions()
    assert workspace.confirm(waiting, author="ann")
    assert not workspace.confirm(waiting, author="ben"), "it was confirmed before"
    runs, _ = workspace.read_runs()
    assert [(run.agent, run.integrity.verdict) for run in runs] == [("someone else", "INTACT")]
    (line,) = [entry for entry in workspace.audit_log() if entry.code == "run-extended"]
    assert line.message.startswith("ann confirmed another conversion")


def test_a_conversion_never_replaces_a_run_that_somebody_judged_here(workspace: Workspace) -> None:
    converted(workspace, "old.jsonl", SHORT, made_from=("trace",))
    (run,) = workspace.read_runs()[0]
    head = workspace.append_events(run, [Draft(ReviewNote, {"author": "ben", "text": "seen"})])
    added = converted(workspace, "new.jsonl", OTHER, made_from=("trace", "more"))
    assert [f.code for f in added.findings] == ["run-conversion-waits"]
    assert workspace.heads() == {"r1": head}
