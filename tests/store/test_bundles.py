"""Short ledgers that came out of traces share a file, and everything else is as if each had its own."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from builders import RunBuilder, a_run

from untaken.errors import UntakenError
from untaken.ledger import Draft, Head, Run, Verdict, verify_ledger
from untaken.ledger.chain import heads_text
from untaken.workspace import Added, Incoming, KeptTrace, Workspace, appending, bundles
from untaken.workspace.restoring import restore_workspace

pytestmark = pytest.mark.database("sqlite")  # what it keeps are files

NAMES = ("a", "b", "c", "d")
LEDGERS = {name: a_run(name).call("search").finish() for name in NAMES}
PASSED = Draft(Verdict, {"sub_goal": "polite", "passed": True, "by": "human:ann"})


def incoming(name: str, run: RunBuilder | None = None) -> Incoming:
    return Incoming(name=f"chat/{name}.jsonl", data=(run or LEDGERS[name]).ledger(), origin="chat")


def fill(store: Workspace, *names: str) -> dict[str, Added]:
    """A trace of each name, and its conversion: one ledger each."""
    added = dict(zip(names, store.add_all([incoming(name) for name in names]), strict=True))
    store.keep_traces(
        [
            KeptTrace(name=f"{n}.json", data=n.encode(), kind="chat", results=[one.digest])
            for n, one in added.items()
        ]
    )
    return added


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Workspace]:
    """Four traces whose ledgers share a file."""
    with Workspace(tmp_path / "w") as workspace:
        fill(workspace, *NAMES)
        yield workspace


def trace(store: Workspace, name: str) -> str:
    return next(file.digest for file in store.sources("chat") if file.name == f"{name}.json")


def runs(store: Workspace) -> list[Run]:
    return store.read_runs()[0]


def ids(store: Workspace) -> list[str]:
    return [run.run_id for run in runs(store)]


def on_disk(store: Workspace) -> set[str]:
    return {path.name for path in (store.path / "ledgers").iterdir() if path.suffix == ".jsonl"}


def sound(store: Workspace) -> None:
    """Every run is what was recorded of it, and nothing is lost or left over."""
    assert {run.integrity.verdict for run in runs(store)} <= {"INTACT"}
    diagnosis = store.diagnose()
    assert diagnosis.healthy
    assert next(check for check in diagnosis.checks if check.name == "orphans").state == "ok"


def test_many_short_ledgers_of_traces_are_one_file_and_each_has_its_answer(workspace: Workspace) -> None:
    added = fill(workspace, *NAMES)
    assert [(one.new, [i.run_id for i in one.integrity]) for one in added.values()] == [
        (True, [name]) for name in NAMES
    ]
    assert len({one.digest for one in added.values()}) == 4
    (bundle,) = workspace.ledgers()
    assert (bundle.name, bundle.runs) == ("chat/a and 3 more.jsonl", 4)
    assert ids(workspace) == list(NAMES)
    sound(workspace)


def test_what_was_uploaded_as_a_ledger_or_is_long_or_noteworthy_has_a_file_of_its_own(tmp_path: Path) -> None:
    long = a_run("long").say("x" * bundles.SHORT_BYTES).finish()
    with Workspace(tmp_path / "w") as store:
        store.add_all([Incoming(name=f"{name}.jsonl", data=LEDGERS[name].ledger()) for name in ("a", "b")])
        torn = Incoming(name="torn.jsonl", data=LEDGERS["c"].ledger() + b"{}\n", origin="chat")
        store.add_all([torn, incoming("d"), incoming("long", long)])
        assert [file.runs for file in store.ledgers()] == [1] * 5


def test_heads_of_who_wrote_a_ledger_are_taken_as_its_sidecar_and_compared_when_it_is_read(tmp_path) -> None:
    given = {name: LEDGERS[name].ledger() for name in NAMES}
    heads = {n: {i.run_id: i.head for i in verify_ledger(data) if i.head} for n, data in given.items()}
    given["b"] = given["b"].replace(b"search", b"refund")
    of_writer = [Incoming(name=f"{n}.jsonl", data=given[n], heads=heads[n], origin="chat") for n in "ab"]
    sidecars = [
        Incoming(name=f"{n}.jsonl", data=given[n], heads=heads_text(heads[n]), origin="chat") for n in "cd"
    ]
    with Workspace(tmp_path / "w") as store:
        added = [one.integrity[0] for one in (*store.add_all(of_writer), *store.add_all(sidecars))]
        assert {(one.verdict, one.reason) for one in added} == {(added[2].verdict, added[2].reason)}
        verdicts = {run.run_id: run.integrity.verdict for run in runs(store)}
        assert verdicts == {"a": "INTACT", "b": "ALTERED", "c": "INTACT", "d": "INTACT"}


def test_a_bundle_has_bounded_numbers_of_ledgers_and_bytes(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(bundles, "MOST", 3)
    with Workspace(tmp_path / "w") as store:
        fill(store, *NAMES)
        assert [file.runs for file in store.ledgers()] == [3, 1]
    monkeypatch.setattr(bundles, "MOST_BYTES", 2 * len(LEDGERS["a"].ledger()))
    with Workspace(tmp_path / "small") as store:
        fill(store, *NAMES)
        assert [file.runs for file in store.ledgers()] == [2, 2]
        assert ids(store) == list(NAMES)


def test_a_trace_added_again_is_known_with_others_or_alone(store: Workspace) -> None:
    before = store.digest()
    for again in (store.add_all([incoming("b"), incoming("c")]), store.add_all([incoming("d")])):
        for one in again:
            assert (one.new, [i.verdict for i in one.integrity]) == (False, ["INTACT"])
    assert (store.digest(), len(store.ledgers())) == (before, 1)


def test_with_a_trace_goes_its_ledger_and_no_other(store: Workspace) -> None:
    digest = trace(store, "b")
    assert [file.name for file in store.goes_with(digest)] == ["chat/b.jsonl"]
    assert len(store.ledgers()) == 1  # to ask changes nothing
    assert store.remove(digest)
    assert ids(store) == ["a", "c", "d"]
    assert {file.name for file in store.removed()} == {"b.json", "chat/b.jsonl"}
    sound(store)
    assert store.restore(digest)
    assert sorted(ids(store)) == list(NAMES)
    sound(store)


def test_removing_one_trace_after_the_other_leaves_nothing(store: Workspace) -> None:
    for left, name in zip((3, 2, 1, 0), NAMES, strict=True):
        assert store.remove(trace(store, name))
        assert len(ids(store)) == left
        sound(store)
    moment = datetime.now(UTC) + timedelta(days=31)
    assert len(store.purge(moment)) == 8
    assert on_disk(store) == set()


def test_the_bytes_of_a_removed_trace_are_deleted_after_thirty_days_those_of_others_are_not(store) -> None:
    store.remove(trace(store, "b"))
    store.purge(datetime.now(UTC) + timedelta(days=31))
    kept = b"".join(path.read_bytes() for path in (store.path / "ledgers").iterdir() if path.is_file())
    assert LEDGERS["b"].ledger().splitlines()[0] not in kept
    assert LEDGERS["c"].ledger() in kept
    assert fill(store, "b")["b"].new
    assert sorted(ids(store)) == list(NAMES)
    sound(store)


def test_a_ledger_can_be_removed_by_its_own_digest(store: Workspace) -> None:
    (one,) = store.add_all([incoming("c")])
    assert store.remove(one.digest)
    assert ids(store) == ["a", "b", "d"]
    assert store.add_all([incoming("c")])[0].new
    assert sorted(ids(store)) == list(NAMES)


def test_of_a_removed_bundle_one_trace_comes_back_alone(store: Workspace) -> None:
    (bundle,) = store.ledgers()
    store.remove(bundle.digest)
    assert ids(store) == []
    (again,) = store.add_all([incoming("c")])
    assert (again.new, [i.verdict for i in again.integrity]) == (True, ["INTACT"])
    assert ids(store) == ["c"]
    assert [file.runs for file in store.removed() if file.kind == "ledger"] == [3]
    sound(store)


def ended(store: Workspace) -> dict[str, object]:
    return {run.run_id: run.success for run in runs(store) if not run.integrity.broken}


def test_another_conversion_of_a_run_waits_and_takes_the_place_of_that_run_alone(store: Workspace) -> None:
    other = incoming("b", a_run("b").call("search").finish(False))
    assert store.add_all([other])[0].findings[0].code == "run-conversion-waits"
    assert ended(store) == dict.fromkeys(NAMES, True)
    (extension,) = store.extensions()
    assert store.confirm(extension, author="ann")
    assert ended(store) == dict.fromkeys("acd", True) | {"b": False}
    store.remove(extension.file.digest)
    assert ended(store) == dict.fromkeys(NAMES, True)


def test_what_was_written_about_a_run_stays_with_it_wherever_it_is_kept(store: Workspace) -> None:
    for run in runs(store)[1:3]:
        store.append_events(run, [PASSED])
    sound(store)
    store.remove(trace(store, "b"))
    assert [len(run.of(Verdict)) for run in runs(store)] == [0, 1, 0]
    sound(store)
    store.restore(trace_of_removed(store, "b"))
    assert {run.run_id: len(run.appended_here) for run in runs(store)} == {"a": 0, "b": 1, "c": 1, "d": 0}
    sound(store)
    for run in runs(store):
        store.append_events(run, [Draft(Verdict, {"sub_goal": "polite", "passed": False, "by": "human:zoe"})])
    sound(store)
    assert all(run.of(Verdict)[-1].by == "human:zoe" for run in runs(store))


def trace_of_removed(store: Workspace, name: str) -> str:
    return next(file.digest for file in store.removed() if file.name == f"{name}.json")


def racing(patch: pytest.MonkeyPatch, act: Callable[[], object], *, announced: bool = False) -> None:
    """Acts once while an append is under way: before it is announced, or after."""
    real, left = appending._Announcement.write, [act]

    def write(self: appending._Announcement, end: Head) -> None:
        if announced:
            real(self, end)
        if left:
            left.pop()()
        if not announced:
            real(self, end)

    patch.setattr(appending._Announcement, "write", write)


def test_a_verdict_given_while_the_bundle_is_split_reaches_its_run(store, monkeypatch) -> None:
    before = runs(store)
    racing(monkeypatch, lambda: store.remove(trace(store, "b")))
    store.append_events(before[2], [PASSED])
    assert {run.run_id: len(run.of(Verdict)) for run in runs(store)} == {"a": 0, "c": 1, "d": 0}
    sound(store)


def test_a_changed_bundle_is_altered_and_still_so_when_it_is_split(store: Workspace) -> None:
    (bundle,) = store.ledgers()
    lines = bundle.path.read_bytes().splitlines(keepends=True)
    changed = [line.replace(b"search", b"delete") if b'"c"' in line else line for line in lines]
    bundle.path.write_bytes(b"".join(changed))
    assert {run.run_id: run.integrity.broken for run in runs(store)} == dict.fromkeys("abd", False) | {
        "c": True
    }
    store.remove(trace(store, "a"))
    assert {run.run_id: run.integrity.broken for run in runs(store)} == dict.fromkeys("bd", False) | {
        "c": True
    }


def test_a_trace_whose_bundle_is_gone_from_the_disk_can_be_added_again_and_removed(store: Workspace) -> None:
    (bundle,) = store.ledgers()
    bundle.path.unlink()
    assert ids(store) == []
    fill(store, "b")
    assert ids(store) == ["b"]
    assert store.remove(trace(store, "b"))
    assert store.remove(trace(store, "a"))
    assert ids(store) == []


def test_a_bundle_is_not_split_while_somebody_appends_to_it(store, monkeypatch) -> None:
    refused: list[str] = []

    def remove() -> None:
        try:
            with Workspace(store.path) as other:
                other.remove(trace(other, "b"))
        except UntakenError as error:
            refused.append(error.code)

    racing(monkeypatch, remove, announced=True)
    store.append_events(runs(store)[2], [PASSED])
    assert refused == ["ledger-locked"]
    assert store.remove(trace(store, "b"))
    assert [len(run.of(Verdict)) for run in runs(store)] == [0, 1, 0]
    sound(store)


def test_a_backup_holds_bundles(store: Workspace, tmp_path: Path) -> None:
    restore_workspace(store.backup(tmp_path / "b.zip").path, tmp_path / "again")
    with Workspace(tmp_path / "again") as again:
        assert ids(again) == list(NAMES)
        again.remove(trace(again, "b"))
        assert ids(again) == ["a", "c", "d"]
        sound(again)


def forged(backup: Path, change: Callable[[dict[str, bytes], dict[str, Any]], None]) -> Path:
    """A backup with other members, which its manifest lists."""
    with zipfile.ZipFile(backup) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(members.pop("manifest.json"))
    change(members, manifest)
    manifest["entries"] = [
        {"path": name, "bytes": len(data), "sha256": sha256(data).hexdigest()}
        for name, data in members.items()
    ]
    with zipfile.ZipFile(target := backup.with_name("forged.zip"), "w") as archive:
        for name, data in (members | {"manifest.json": json.dumps(manifest).encode()}).items():
            archive.writestr(name, data)
    return target


def test_a_backup_from_before_there_were_bundles_is_restored(tmp_path: Path) -> None:
    def older(members: dict[str, bytes], manifest: dict[str, Any]) -> None:
        del members["tables/bundled.jsonl"], manifest["rows"]["bundled"]
        manifest["revision"] = "0004"

    with Workspace(tmp_path / "w") as store:
        store.add("a.jsonl", LEDGERS["a"].ledger())
        backup = store.backup(tmp_path / "b.zip").path
    restore_workspace(forged(backup, older), tmp_path / "again")
    with Workspace(tmp_path / "again") as again:
        assert ids(again) == ["a"]


def test_a_backup_that_names_a_ledger_by_another_place_is_refused(store: Workspace, tmp_path: Path) -> None:
    def elsewhere(members: dict[str, bytes], manifest: dict[str, Any]) -> None:
        first, *rest = members["tables/bundled.jsonl"].splitlines(keepends=True)
        changed = json.dumps(json.loads(first) | {"digest": "../../outside"}).encode() + b"\n"
        members["tables/bundled.jsonl"] = b"".join([changed, *rest])

    backup = store.backup(tmp_path / "b.zip").path
    with pytest.raises(UntakenError, match="backup-damaged"):
        restore_workspace(forged(backup, elsewhere), tmp_path / "again")
