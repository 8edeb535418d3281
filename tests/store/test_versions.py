"""Versions and drafts of plan graphs: nobody's save takes the place of another one unseen."""

from __future__ import annotations

from pathlib import Path
from threading import Barrier, Thread
from typing import NamedTuple

import msgspec
import pytest

from untaken.errors import UntakenError
from untaken.plans import PlanGraph, parse_graph
from untaken.workspace import Workspace
from untaken.workspace.versions import SaveConflict, Saved

TEXT = b"""# what a desk does
schema: untaken.plan/1
id: desk
version: 1  # counted
sub_goals:
- {id: look, check: {outcome: true}}  # first of all
"""


def graph(title: str) -> PlanGraph:
    return msgspec.structs.replace(parse_graph(TEXT, name="desk.plan.yaml"), title=title)


def titles(workspace: Workspace) -> list[tuple[int, str]]:
    return [(one.version, one.title) for one in workspace.graph_set().graphs]


def test_a_graph_is_saved_version_by_version_and_every_version_stays_readable(workspace: Workspace) -> None:
    before = workspace.digest()
    first = workspace.save_graph(graph("one"), author="ann", message="begun", based_on=None)
    second = workspace.save_graph(graph("two"), author="ben", message="longer", based_on=1)
    assert isinstance(first, Saved)
    assert isinstance(second, Saved)
    assert (first.version.version, second.version.version, second.new) == (1, 2, True)
    assert titles(workspace) == [(2, "two")]
    assert workspace.graph_version("desk", 1) == graph("one")
    seen = [(v.version, v.based_on, v.author, v.message) for v in workspace.graph_history("desk")]
    assert seen == [(1, None, "ann", "begun"), (2, 1, "ben", "longer")]
    assert workspace.newest_version("desk") == second.version
    assert workspace.digest() != before


class Stale(NamedTuple):
    desc: str
    based_on: int | None


@pytest.mark.parametrize(
    "case", [Stale("an earlier version", 1), Stale("a new graph", None), Stale("one never seen", 7)], ids=str
)
def test_saving_upon_anything_but_the_newest_version_is_a_conflict_that_names_it(case, workspace) -> None:
    workspace.save_graph(graph("one"), author="ann", message="", based_on=None)
    theirs = workspace.save_graph(graph("two"), author="ben", message="mine", based_on=1)
    before = workspace.digest()
    answer = workspace.save_graph(graph("three"), author="ann", message="", based_on=case.based_on)
    assert isinstance(theirs, Saved)
    assert answer == SaveConflict(graph_id="desk", based_on=case.based_on, newest=theirs.version)
    assert (workspace.digest(), titles(workspace)) == (before, [(2, "two")])
    merged = workspace.save_graph(graph("two and three"), author="ann", message="", based_on=2)
    assert isinstance(merged, Saved)
    assert titles(workspace) == [(3, "two and three")]


def test_saving_what_the_newest_version_says_changes_nothing(workspace: Workspace) -> None:
    for based_on in (None, None, 1):
        saved = workspace.save_graph(graph("one"), author="ann", message="", based_on=based_on)
        assert isinstance(saved, Saved)
    assert (saved.new, saved.version.version, len(workspace.graphs())) == (False, 1, 1)


def test_the_wording_of_a_file_is_kept_and_its_number_is_the_version(workspace: Workspace) -> None:
    workspace.save_graph(TEXT, author="ann", message="", based_on=None)
    workspace.save_graph(TEXT.replace(b"look", b"see"), author="ann", message="", based_on=1)
    kept = [file.path.read_bytes() for file in workspace.graphs() if file.path]
    assert kept == [TEXT, TEXT.replace(b"look", b"see").replace(b"version: 1", b"version: 2")]


def test_a_graph_that_is_not_valid_is_not_saved(tmp_path: Path) -> None:
    broken = TEXT.replace(b"check:", b"deps: [look], check:")
    with Workspace(tmp_path / "w") as workspace:
        with pytest.raises(UntakenError, match="graph-"):
            workspace.save_graph(broken, author="ann", message="", based_on=None)
        assert workspace.graph_history("desk") == []
        assert list((tmp_path / "w" / "graphs").iterdir()) == []


def test_an_upload_is_a_version_and_never_takes_the_number_of_another_graph(workspace: Workspace) -> None:
    workspace.save_graph(graph("one"), author="ann", message="", based_on=None)
    added = workspace.add("desk.plan.yaml", TEXT.replace(b"look", b"see"))
    assert [finding.code for finding in added.findings] == ["graph-renumbered"]
    assert [(v.version, v.author) for v in workspace.graph_history("desk")] == [(1, "ann"), (2, "upload")]
    stale = workspace.save_graph(graph("mine"), author="ann", message="", based_on=1)
    assert isinstance(stale, SaveConflict)
    workspace.remove(added.digest)
    assert workspace.graph_version("desk", 2).sub_goals[0].id == "see"
    saved = workspace.save_graph(graph("mine"), author="ann", message="", based_on=1)
    assert isinstance(saved, Saved)
    want = [(1, False), (2, True), (3, False)]
    assert [(v.version, v.removed) for v in workspace.graph_history("desk")] == want


def test_a_version_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with Workspace(tmp_path / "w") as workspace, pytest.raises(UntakenError, match="graph-version-unknown"):
        workspace.graph_version("desk", 1)


def test_of_many_who_save_at_once_upon_the_same_version_one_wins_each_time(tmp_path: Path) -> None:
    rounds, people = 4, 4
    with Workspace(tmp_path / "w") as workspace:
        workspace.save_graph(graph("begun"), author="ann", message="", based_on=None)
        answers: list[Saved | SaveConflict] = []
        gate = Barrier(people)

        def save(who: int) -> None:
            for turn in range(1, rounds + 1):
                gate.wait()
                mine = graph(f"{who} in turn {turn}")
                answers.append(workspace.save_graph(mine, author=f"{who}", message="", based_on=turn))

        threads = [Thread(target=save, args=(who,)) for who in range(people)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        history = workspace.graph_history("desk")
        assert [v.version for v in history] == list(range(1, rounds + 2))
        assert [v.based_on for v in history[1:]] == list(range(1, rounds + 1))
        assert sum(isinstance(answer, Saved) for answer in answers) == rounds
        assert len(answers) == rounds * people


def test_a_draft_is_kept_by_graph_and_author_until_it_is_discarded(tmp_path: Path) -> None:
    with Workspace(tmp_path / "w") as workspace:
        digest, activity = workspace.digest(), workspace.activity()
        workspace.keep_draft("desk", author="ann", content="id: [", based_on=1)
        kept = workspace.keep_draft("desk", author="ann", content="id: [\x00", based_on=2)
        workspace.keep_draft("desk", author="ben", content="", based_on=None)
    with Workspace(tmp_path / "w") as again:
        assert again.draft("desk", "ann") == kept
        assert [(d.author, d.content) for d in again.drafts()] == [("ben", ""), ("ann", "id: [\x00")]
        assert (again.digest(), again.activity() == activity) == (digest, False)
        activity = again.activity()
        assert [again.discard_draft("desk", "ann") for _ in range(2)] == [True, False]
        assert again.draft("desk", "ann") is None
        assert again.activity() != activity


def test_a_draft_longer_than_any_graph_is_refused(tmp_path: Path) -> None:
    with Workspace(tmp_path / "w") as workspace, pytest.raises(UntakenError, match="graph-too-large"):
        workspace.keep_draft("desk", author="ann", content="x" * (4 * 1024**2 + 1))


def test_names_that_no_database_likes_come_back_as_they_were(tmp_path: Path) -> None:
    hostile = "a\x00b\x1a0'; DROP TABLE files; --"
    with Workspace(tmp_path / "w") as workspace:
        workspace.add(hostile + ".plan.yaml", TEXT)
        workspace.save_graph(graph("x"), author=hostile, message=hostile, based_on=1)
        assert workspace.files()[0].name == hostile + ".plan.yaml"
        assert [(v.author, v.message) for v in workspace.graph_history("desk")[1:]] == [(hostile, hostile)]
        workspace.audit("code", "long " * 5_000, hostile)
        assert workspace.audit_log()[-1].run == hostile
