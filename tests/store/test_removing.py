"""What is removed from a workspace is out of sight, not gone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from builders import a_run
from sqlalchemy import update

from untaken.workspace import KeptTrace, Workspace
from untaken.workspace.database import writing
from untaken.workspace.tables import marks, removals

FIRST, OTHER = a_run("r1").call("search").finish(), a_run("r2").finish()
GRAPH = "id: desk\nversion: {version}\nsub_goals: [{{id: look, check: {{outcome: true}}}}]\n"


@pytest.fixture
def two(workspace: Workspace) -> Workspace:
    """With two ledgers."""
    workspace.add("first.jsonl", FIRST.ledger())
    workspace.add("other.jsonl", OTHER.ledger())
    return workspace


def names(store: Workspace) -> list[str]:
    return [file.name for file in store.files()]


def runs(store: Workspace) -> list[str]:
    return [run.run_id for run in store.read_runs()[0]]


def test_a_removed_file_is_read_no_more_and_restored_whole(two: Workspace) -> None:
    before, digest = two.digest(), two.files()[0].digest
    assert two.remove(digest)
    assert (names(two), runs(two)) == (["other.jsonl"], ["r2"])
    assert [file.name for file in two.removed()] == ["first.jsonl"]
    assert two.digest() != before
    assert two.restore(digest)
    assert (runs(two), two.removed(), two.digest()) == (["r1", "r2"], [], before)


def test_removing_and_restoring_are_done_once_and_logged_each_time(two: Workspace) -> None:
    digest = two.files()[0].digest
    done = [two.remove(digest), two.remove(digest), two.restore(digest)]
    done += [two.restore(digest), two.remove(digest), two.remove("0" * 64)]
    assert done == [True, False, True, False, True, False]
    log = two.audit_log()
    assert [entry.code for entry in log] == ["file-removed", "file-restored", "file-removed"]
    assert all("first.jsonl" in entry.message and digest[:12] in entry.message for entry in log)


def test_a_file_that_is_added_again_is_back_and_another_process_sees_it(two: Workspace) -> None:
    two.remove(two.files()[0].digest)
    added = two.add("first.jsonl", FIRST.ledger())
    assert (added.new, [found.verdict for found in added.integrity]) == (True, ["INTACT"])
    with Workspace(two.path) as again:
        assert names(again) == ["first.jsonl", "other.jsonl"]


def test_opening_the_folder_again_does_not_bring_back_what_was_removed(tmp_path: Path) -> None:
    (tmp_path / "first.jsonl").write_bytes(FIRST.ledger())
    (tmp_path / "other.jsonl").write_bytes(OTHER.ledger())
    with Workspace.open_folder(tmp_path) as store:
        store.remove(store.files()[0].digest)
    with Workspace.open_folder(tmp_path) as again:
        assert runs(again) == ["r2"]
    assert (tmp_path / "first.jsonl").read_bytes() == FIRST.ledger()


def test_the_head_of_a_removed_run_still_tells_it_from_another_chain(two: Workspace) -> None:
    two.remove(two.files()[0].digest)
    forged = two.add("forged.jsonl", a_run("r1").call("sealed").finish().ledger())
    assert [found.verdict for found in forged.integrity] == ["ALTERED"]


def test_a_run_that_a_removed_file_had_taken_over_is_read_from_the_earlier_one(workspace: Workspace) -> None:
    workspace.add("before.jsonl", FIRST.ledger(), origin="devai")
    after = workspace.add("after.jsonl", a_run("r1").call("search").finish(False).ledger(), origin="devai")
    assert workspace.confirm(workspace.extensions()[0], author="ann")
    assert [run.success for run in workspace.read_runs()[0]] == [False]
    workspace.remove(after.digest)
    assert [run.success for run in workspace.read_runs()[0]] == [True]
    workspace.restore(after.digest)
    assert [run.success for run in workspace.read_runs()[0]] == [False]


def test_without_its_newest_version_a_plan_graph_is_the_one_before(workspace: Workspace) -> None:
    for version in (1, 2):
        added = workspace.add(f"v{version}.plan.yaml", GRAPH.format(version=version).encode())
    workspace.remove(added.digest)
    assert [graph.version for graph in workspace.graph_set().graphs] == [1]


def test_a_foreign_trace_kept_beside_its_conversion_can_be_removed_and_kept_again(workspace) -> None:

    def keep() -> bool:
        return workspace.keep_traces([KeptTrace(name="t.json", data=b"[]", kind="tau-bench")])[0]

    assert (keep(), keep()) == (True, False)
    workspace.remove(workspace.files()[0].digest)
    assert workspace.sources("tau-bench") == []
    assert (keep(), len(workspace.sources("tau-bench"))) == (True, 1)


def after(days: float) -> datetime:
    return datetime.now(UTC) + timedelta(days=days)


def test_what_was_removed_is_deleted_after_thirty_days_and_not_before(two: Workspace) -> None:
    first, other = (file.path for file in two.files())
    digest = two.files()[0].digest
    two.remove(digest)
    assert (two.purge(after(29.9)), first.is_file()) == ([], True)
    assert [file.name for file in two.purge(after(30.1))] == ["first.jsonl"]
    assert (first.exists(), other.is_file(), two.removed(), names(two)) == (False, True, [], ["other.jsonl"])
    assert two.audit_log()[-1].code == "file-purged"
    assert (two.restore(digest), two.purge(after(40))) == (False, [])
    forged = two.add("forged.jsonl", a_run("r1").call("sealed").finish().ledger())
    assert [found.verdict for found in forged.integrity] == ["ALTERED"]


def test_what_was_deleted_can_be_added_again_but_not_by_opening_its_folder(tmp_path: Path) -> None:
    (tmp_path / "first.jsonl").write_bytes(FIRST.ledger())
    with Workspace.open_folder(tmp_path) as store:
        store.remove(store.files()[0].digest)
        store.purge(after(31))
    with Workspace.open_folder(tmp_path) as again:
        assert (runs(again), list((again.path / "ledgers").iterdir())) == ([], [])
        assert again.add("first.jsonl", FIRST.ledger()).new
        assert runs(again) == ["r1"]
        assert [run.integrity.verdict for run in again.read_runs()[0]] == ["INTACT"]


def test_bytes_that_another_file_needs_are_not_deleted(workspace: Workspace) -> None:
    workspace.keep_traces(
        [KeptTrace(name=name, data=b"[]", kind="tau-bench") for name in ("a.json", "b.json")]
    )
    first, other = workspace.sources("tau-bench")
    assert first.path == other.path
    workspace.remove(first.digest)
    workspace.purge(after(31))
    assert first.path.is_file()
    workspace.remove(other.digest)
    workspace.purge(after(62))
    assert not first.path.exists()


def test_opening_a_workspace_purges_it_once_a_day(tmp_path: Path) -> None:
    with Workspace(tmp_path / "w") as store:
        digest = store.add("first.jsonl", FIRST.ledger()).digest
        store.remove(digest)
        with writing(store._engine) as connection:
            connection.execute(update(removals).values(removed_at="2026-01-01T00:00:00.000000+00:00"))
    with Workspace(tmp_path / "w") as store:
        assert [file.digest for file in store.removed()] == [digest]
        with writing(store._engine) as connection:
            connection.execute(
                update(marks)
                .where(marks.c.name == "purged_at")
                .values(value="2026-01-02T00:00:00.000000+00:00")
            )
    with Workspace(tmp_path / "w") as store:
        assert store.removed() == []


def test_with_a_foreign_trace_go_the_ledgers_that_came_out_of_it_alone(workspace: Workspace) -> None:
    alone, shared = (
        workspace.add(f"{r.head.sha256}.jsonl", r.ledger(), origin="devai") for r in (FIRST, OTHER)
    )
    for name, results in (("a.json", [alone.digest, shared.digest]), ("b.json", [shared.digest])):
        workspace.keep_traces([KeptTrace(name=name, data=name.encode(), kind="devai", results=results)])
    a, b = workspace.sources("devai")
    before = workspace.digest()
    assert [file.digest for file in workspace.goes_with(a.digest)] == [alone.digest]
    workspace.remove(a.digest)
    assert runs(workspace) == ["r2"]
    workspace.remove(b.digest)
    assert (runs(workspace), len(workspace.removed())) == ([], 4)
    workspace.restore(b.digest)
    assert runs(workspace) == ["r2"]
    workspace.restore(a.digest)
    assert (runs(workspace), workspace.digest()) == (["r1", "r2"], before)


def test_what_was_removed_by_itself_does_not_come_back_with_its_trace(workspace: Workspace) -> None:
    ledger = workspace.add("first.jsonl", FIRST.ledger(), origin="devai")
    workspace.keep_traces([KeptTrace(name="a.json", data=b"a", kind="devai", results=[ledger.digest])])
    workspace.remove(ledger.digest)
    (trace,) = workspace.sources("devai")
    workspace.remove(trace.digest)
    workspace.restore(trace.digest)
    assert (runs(workspace), [f.name for f in workspace.removed()]) == ([], ["first.jsonl"])


def test_files_are_listed_and_counted_in_parts_and_by_name(two: Workspace) -> None:
    two.add("First again.jsonl", a_run("r3").finish().ledger())
    assert [file.name for file in two.files(first=1, most=1)] == ["other.jsonl"]
    assert [file.name for file in two.files(named="FIRST")] == ["first.jsonl", "First again.jsonl"]
    assert [file.name for file in two.files(named="first", first=1, most=5)] == ["First again.jsonl"]
    assert (two.count_files(), two.count_files(named="first")) == (3, 2)
    assert (two.files(named="_"), two.count_files(named="%")) == ([], 0)
    two.remove(two.files()[0].digest)
    assert (two.count_files(), two.count_files(two.position() - 1)) == (2, 1)
