"""The facts of a workspace are kept in parts; what has not changed is not made again, all else is."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import desk
import pandas as pd
import pytest

from untaken import facts
from untaken.errors import UntakenError
from untaken.facts import TABLES, kept
from untaken.ledger import Draft, ReviewNote, Verdict
from untaken.workspace import Workspace
from untaken.workspace.derived import FACTS, FOLDER

Tables = dict[str, pd.DataFrame]
PARTS = Path(FOLDER) / FACTS

pytestmark = pytest.mark.database("sqlite")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    """Three ledgers, each a part of its own, and their plan graph."""
    monkeypatch.setattr(kept, "PART_BYTES", 1)
    with Workspace(tmp_path / "w") as workspace:
        workspace.add("desk.plan.yaml", desk.GRAPH)
        workspace.add("careful.jsonl", desk.careful(1).ledger())
        workspace.add("failing.jsonl", desk.failing(1).ledger() + desk.failing(2).ledger())
        workspace.add("lucky.jsonl", desk.lucky(1).ledger())
        yield workspace


def tables_of(store: Workspace) -> Tables:
    with facts.open(store.path) as opened:
        return {name: opened.table(name) for name in TABLES}


def made_anew(store: Workspace) -> Tables:
    """What no part that is kept says."""
    shutil.rmtree(store.path / FOLDER)
    return tables_of(store)


def assert_same(one: Tables, other: Tables) -> None:
    for name in TABLES:
        pd.testing.assert_frame_equal(one[name], other[name])


def parts(store: Workspace) -> set[str]:
    return {folder.name for folder in (store.path / PARTS).iterdir()}


def files(store: Workspace) -> dict[Path, int]:
    return {file: file.stat().st_mtime_ns for file in (store.path / PARTS).rglob("*.parquet")}


def judge(store: Workspace, run_id: str, *drafts: Draft) -> None:
    (run,) = (run for run in store.read_runs()[0] if run.run_id == run_id)
    store.append_events(run, drafts)


def test_facts_opened_again_are_those_made_and_nothing_is_written(store: Workspace) -> None:
    first, written = tables_of(store), files(store)
    assert len(first["runs"]) == 4
    assert len(parts(store)) == 3
    assert_same(tables_of(store), first)
    assert files(store) == written
    assert_same(made_anew(store), first)


@pytest.mark.parametrize(
    "draft",
    [
        Draft(Verdict, {"sub_goal": "polite", "passed": False, "by": "human:ann"}),
        Draft(ReviewNote, {"author": "ann", "text": "look"}),
    ],
    ids=["verdict", "note"],
)
def test_what_is_written_about_a_run_makes_its_part_again_and_no_other(
    store: Workspace, draft: Draft
) -> None:
    before, names = tables_of(store), parts(store)
    judge(store, "failing-2", draft)
    after = tables_of(store)
    assert len(parts(store) - names) == 1
    assert names <= parts(store), "somebody may be reading the old one"
    events = ["run_id", "head_events"]
    changed = before["runs"][events].compare(after["runs"][events], keep_shape=True).dropna(how="all")
    assert list(after["runs"]["run_id"][changed.index]) == ["failing-2"]
    assert_same(made_anew(store), after)


def test_another_plan_graph_or_ledger_is_seen(store: Workspace) -> None:
    tables_of(store)
    store.save_graph(
        desk.GRAPH.replace(b"critical: true", b"critical: false"), author="a", message="", based_on=1
    )
    assert tables_of(store)["results"]["critical"].sum() == 0
    store.remove(next(file.digest for file in store.ledgers() if file.name == "failing.jsonl"))
    assert not (store.path / PARTS).exists(), "they hold text of the runs that are removed"
    assert sorted(tables_of(store)["runs"]["run_id"]) == ["careful-1", "lucky-1"]


def test_a_run_in_two_ledgers_counts_once_with_all_that_is_written_about_it(store: Workspace) -> None:
    store.add("again.jsonl", desk.careful(1).ledger() + desk.lucky(7).ledger())
    tables = tables_of(store)
    assert sorted(tables["runs"]["run_id"]) == ["careful-1", "failing-1", "failing-2", "lucky-1", "lucky-7"]
    assert_same(made_anew(store), tables)


def cut(part: Path) -> None:
    part.write_bytes(part.read_bytes()[:-9])


def forge(part: Path) -> None:
    other = next(one for one in part.parents[2].rglob(part.name) if one.read_bytes() != part.read_bytes())
    shutil.copy(other, part)


def exchange(part: Path) -> None:
    mine, other, *_ = sorted(part.parents[2].iterdir())
    spare = mine.with_name("spare")
    mine.rename(spare)
    other.rename(mine)
    spare.rename(other)


def drop_tables(part: Path) -> None:
    for file in part.parents[3].glob("*.table"):
        file.unlink()


def test_parts_that_are_damaged_are_made_again(store: Workspace) -> None:
    before = tables_of(store)
    for damage in (cut, forge, Path.unlink, exchange, drop_tables):
        damage(next(file for file in files(store) if "results" in file.parts))
        assert_same(tables_of(store), before)
        written = files(store)
        assert_same(tables_of(store), before)
        assert files(store) == written, f"the parts made again are kept: {damage.__name__}"


def test_parts_from_another_user_do_not_count(
    store: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, names = tables_of(store), parts(store)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "somebody else"))
    assert_same(tables_of(store), before)
    assert len(parts(store) - names) == len(names)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a file"))
    (tmp_path / "a file").touch()
    assert_same(tables_of(store), before)
    assert len(parts(store)) == 2 * len(names), "without a secret nothing is kept"


def test_a_query_reads_no_ledger_of_the_workspace(store: Workspace) -> None:
    path = store.ledgers()[0].path
    with facts.open(store.path) as opened, pytest.raises(UntakenError) as refused:
        opened.sql(f"SELECT * FROM read_text('{path}')")
    assert refused.value.code == "facts-query"
