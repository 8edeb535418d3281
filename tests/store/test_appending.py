"""Verdicts and notes go into the workspace's own ledgers, and everything recorded moves with them."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime
from pathlib import Path

import pytest
from builders import a_run

from untaken.errors import UntakenError
from untaken.ledger import Draft, ReviewNote, Run, Verdict, heads_path, read_ledger, save_heads
from untaken.workspace import Workspace

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
ONE = a_run("r1").call("look").finish(success=False)
OTHER = a_run("r2").call("pay").finish()
LEDGER = ONE.ledger() + OTHER.ledger()


def verdict(passed: bool | None = True, by: str = "human:ann") -> Draft:
    return Draft(Verdict, {"sub_goal": "s", "passed": passed, "by": by}, NOON)


def note(text: str) -> Draft:
    return Draft(ReviewNote, {"author": "ann", "text": text}, NOON)


def run_of(workspace: Workspace, run_id: str = "r1") -> Run:
    return next(run for run in workspace.read_runs()[0] if run.run_id == run_id)


def stored(workspace: Workspace) -> Path:
    (file,) = workspace.ledgers()
    assert file.path is not None
    return file.path


def test_appended_events_are_read_with_the_run_and_leave_its_identity(workspace: Workspace) -> None:
    workspace.add("a.jsonl", LEDGER)
    before, digest = run_of(workspace), workspace.digest()
    head = workspace.append_events(before, [verdict(), note("seen")])
    after = run_of(workspace)
    assert (after.digest, after.integrity.verdict, after.integrity.head) == (before.digest, "INTACT", head)
    assert [v.by for v in after.of(Verdict)] == ["human:ann"]
    assert [n.text for n in after.of(ReviewNote)] == ["seen"]
    assert run_of(workspace, "r2").integrity.verdict == "INTACT"
    assert workspace.heads()["r1"] == head
    assert workspace.digest() != digest
    assert stored(workspace).read_bytes().startswith(LEDGER)


def test_a_run_read_before_others_wrote_can_still_be_appended_to(workspace: Workspace) -> None:
    workspace.add("a.jsonl", LEDGER)
    stale = run_of(workspace)
    for number in range(3):
        workspace.append_events(stale, [note(str(number))])
    assert [n.text for n in run_of(workspace).of(ReviewNote)] == ["0", "1", "2"]


def test_nothing_to_append_writes_nothing(workspace: Workspace) -> None:
    workspace.add("a.jsonl", LEDGER)
    digest = workspace.digest()
    workspace.append_events(run_of(workspace), [])
    assert (workspace.digest(), stored(workspace).read_bytes()) == (digest, LEDGER)


def test_the_original_bytes_again_keep_what_was_appended(workspace: Workspace) -> None:
    workspace.add("a.jsonl", LEDGER)
    workspace.append_events(run_of(workspace), [verdict()])
    digest = workspace.digest()
    again = workspace.add("a.jsonl", LEDGER)
    assert (again.new, {i.verdict for i in again.integrity}) == (False, {"INTACT"})
    assert (workspace.digest(), len(run_of(workspace).of(Verdict))) == (digest, 1)


@pytest.mark.parametrize("state", [0, 1, 2])
def test_a_ledger_taken_from_here_is_recognised_when_it_comes_back(state: int, workspace: Workspace) -> None:
    workspace.add("a.jsonl", LEDGER)
    states = [LEDGER]
    for text in ("first", "second"):
        workspace.append_events(run_of(workspace), [note(text)])
        states.append(stored(workspace).read_bytes())
    added = workspace.add("from a colleague.jsonl", states[state])
    assert (added.new, {i.verdict for i in added.integrity}) == (False, {"INTACT"})
    assert (len(workspace.files()), len(run_of(workspace).of(ReviewNote))) == (1, 2)


def test_a_cut_copy_of_the_original_is_not_taken_for_an_earlier_state(workspace: Workspace) -> None:
    workspace.add("a.jsonl", LEDGER)
    workspace.append_events(run_of(workspace), [verdict()])
    cut = LEDGER[: -len(OTHER.lines[-1]) - 1]
    added = workspace.add("cut.jsonl", cut)
    assert [(i.run_id, i.verdict) for i in added.integrity] == [("r1", "INTACT"), ("r2", "TRUNCATED")]


def test_the_same_run_in_another_file_without_its_verdicts_does_not_hide_them(workspace: Workspace) -> None:
    workspace.add("a.jsonl", ONE.ledger(), origin="tau-bench")
    workspace.append_events(run_of(workspace), [verdict()])
    added = workspace.add("b.jsonl", LEDGER, origin="tau-bench")
    assert {i.verdict for i in added.integrity} == {"INTACT", "UNANCHORED"}
    runs, _ = workspace.read_runs()
    assert sorted((run.run_id, len(run.of(Verdict))) for run in runs) == [("r1", 1), ("r2", 0)]


@pytest.mark.parametrize("suffix", ["jsonl", "jsonl.gz"])
def test_the_ledger_as_extended_reads_anywhere(suffix: str, tmp_path: Path) -> None:
    data = gzip.compress(LEDGER) if suffix.endswith("gz") else LEDGER
    with Workspace(tmp_path / "w") as workspace:
        workspace.add(f"a.{suffix}", data)
        workspace.append_events(run_of(workspace), [verdict()])
        out = tmp_path / "out.jsonl"
        out.write_bytes(stored(workspace).read_bytes())
        save_heads(heads_path(out), workspace.heads())
        assert workspace.add(f"again.{suffix}", data).new is False
        names = [p.name for p in (tmp_path / "w" / "ledgers").iterdir() if not p.name.startswith(".")]
        assert sorted(names) == [stored(workspace).name, heads_path(stored(workspace)).name]
    assert {run.integrity.verdict for run in read_ledger(out)} == {"INTACT"}


BROKEN = [
    ("an altered run", LEDGER.replace(b'"look"', b'"lock"'), "r1", "ledger-broken-run"),
    ("a torn last line", LEDGER[:-9], "r1", "ledger-torn-line"),
]


@pytest.mark.parametrize(("desc", "data", "run_id", "code"), BROKEN, ids=[case[0] for case in BROKEN])
def test_nothing_is_written_to_what_is_broken(desc, data, run_id, code, workspace) -> None:
    workspace.add("a.jsonl", data)
    digest = workspace.digest()
    with pytest.raises(UntakenError) as refused:
        workspace.append_events(run_of(workspace, run_id), [verdict()])
    assert (refused.value.code, refused.value.where.file) == (code, "a.jsonl")
    assert (stored(workspace).read_bytes(), workspace.digest()) == (data, digest)


def test_a_good_run_beside_a_broken_one_can_be_judged(workspace: Workspace) -> None:
    workspace.add("a.jsonl", LEDGER.replace(b'"look"', b'"lock"'))
    workspace.append_events(run_of(workspace, "r2"), [verdict()])
    assert len(run_of(workspace, "r2").of(Verdict)) == 1
    assert run_of(workspace, "r1").integrity.verdict == "ALTERED"


def test_what_a_reader_would_refuse_is_refused(workspace: Workspace) -> None:
    workspace.add("a.jsonl", LEDGER)
    with pytest.raises(UntakenError, match="ledger-unwritable"):
        workspace.append_events(run_of(workspace), [verdict(by="nobody")])
    assert stored(workspace).read_bytes() == LEDGER


def test_a_run_whose_ledger_was_removed_is_not_written_to(workspace: Workspace) -> None:
    digest = workspace.add("a.jsonl", LEDGER).digest
    run = run_of(workspace)
    workspace.remove(digest)
    with pytest.raises(UntakenError, match="run-unknown"):
        workspace.append_events(run, [verdict()])


def test_a_stored_ledger_changed_by_somebody_else_is_refused(workspace: Workspace) -> None:
    workspace.add("a.jsonl", LEDGER)
    run = run_of(workspace)
    forged = a_run("r1").call("look").finish(success=False).verdict("s", True).ledger()
    stored(workspace).write_bytes(forged + OTHER.ledger())
    with pytest.raises(UntakenError, match="ledger-broken-run"):
        workspace.append_events(run, [verdict()])
    assert run_of(workspace).integrity.verdict == "ALTERED"


def test_only_the_ledger_that_changed_is_read_again(workspace: Workspace) -> None:
    first, second = (workspace.add(f"{b.run_id}.jsonl", b.ledger()).digest for b in (ONE, OTHER))
    known = workspace.read_files()
    workspace.append_events(run_of(workspace), [verdict()])
    now = workspace.read_files(known=known)
    assert now[second] is known[second]
    assert [len(run.of(Verdict)) for run in now[first].runs] == [1]


REPEATS: list[tuple[str, list[Draft], int]] = [
    ("the same verdict", [verdict(), verdict()], 1),
    ("another one between", [verdict(True), verdict(False), verdict(True)], 3),
    ("another author", [verdict(), verdict(by="human:ben")], 2),
    ("not sure, twice", [verdict(None), verdict(None)], 1),
    ("the same note", [note("a"), note("b"), note("a")], 2),
]


@pytest.mark.parametrize(("desc", "drafts", "written"), REPEATS, ids=[case[0] for case in REPEATS])
@pytest.mark.parametrize("at_once", [True, False])
def test_what_the_ledger_holds_already_is_not_written_again(
    desc: str, drafts: list[Draft], written: int, at_once: bool, workspace: Workspace
) -> None:
    workspace.add("a.jsonl", LEDGER)
    stale = run_of(workspace)
    for some in [drafts] if at_once else [[draft] for draft in drafts]:
        workspace.append_events(stale, some)
    assert len(run_of(workspace).events) - len(ONE.lines) == written


def said_by(run: Run, *, imported: bool) -> list[str]:
    return [one.by for one in run.of(Verdict) if run.imported(one) is imported]


@pytest.mark.parametrize("compress", [bytes, gzip.compress], ids=["plain", "compressed"])
def test_a_verdict_is_imported_unless_this_workspace_appended_it(tmp_path, compress) -> None:
    came = a_run("r1").call("look").finish(success=False).verdict("s", passed=True, by="human:ann").ledger()
    with Workspace(tmp_path / "first") as workspace:
        workspace.add("a.jsonl", compress(came))
        workspace.append_events(run_of(workspace), [verdict(by="human:ben")])
        run = run_of(workspace)
        assert (said_by(run, imported=True), said_by(run, imported=False)) == (["human:ann"], ["human:ben"])
        taken_along = stored(workspace).read_bytes()
    with Workspace(tmp_path / "first") as again:
        assert said_by(run_of(again), imported=False) == ["human:ben"]
    (tmp_path / "a.jsonl").write_bytes(taken_along)
    (elsewhere,) = read_ledger(tmp_path / "a.jsonl")
    assert said_by(elsewhere, imported=True) == ["human:ann", "human:ben"]


def test_an_append_to_one_chain_makes_no_event_of_another_chain_ours(tmp_path: Path) -> None:
    forged = a_run("r1", agent="another").verdict("s", passed=True, by="human:ann").call("look").finish()
    with Workspace(tmp_path) as workspace:
        workspace.add("a.jsonl", LEDGER)
        workspace.append_events(run_of(workspace), [verdict(by="human:ann")])
        workspace.add("b.jsonl", forged.ledger())
        imported = {run.agent: said_by(run, imported=True) for run in workspace.read_runs()[0]}
        assert imported["another"] == ["human:ann"]
