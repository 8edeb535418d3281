"""Where reviews stand and what was typed: logged, kept apart, and nobody overwrites another unseen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from untaken import limits
from untaken.errors import UntakenError
from untaken.workspace import Workspace
from untaken.workspace.reviews import Review, ReviewConflict

UNSEEN = Review(run="d" * 64, run_id="r1")


def changed(workspace: Workspace, seen: Review, author: str = "ann", **what: Any) -> Review:
    (now,) = workspace.reviews.change([seen], author=author, **what)
    assert isinstance(now, Review)
    return now


def test_a_change_is_kept_with_its_author_and_logged_by_field(workspace: Workspace) -> None:
    first = changed(workspace, UNSEEN, status="in review", assignee="bob", tags=["refund", " refund ", ""])
    assert (first.status, first.assignee, first.tags, first.revision) == ("in review", "bob", ("refund",), 1)
    second = changed(workspace, first, author="bob", status="explained")
    assert (second.reviewed, second.updated_by, second.tags) == (True, "bob", ("refund",))
    assert workspace.reviews.every() == {UNSEEN.run: second}
    told = [(c.author, c.field, c.before, c.after) for c in workspace.reviews.history([UNSEEN.run])]
    assert told == [
        ("ann", "status", "new", "in review"),
        ("ann", "assignee", "", "bob"),
        ("ann", "tags", "", "refund"),
        ("bob", "status", "in review", "explained"),
    ]
    assert workspace.reviews.history(["another"]) == []


def test_the_second_of_two_who_saw_the_same_is_warned_and_overwrites_nothing(workspace: Workspace) -> None:
    first = changed(workspace, UNSEEN, status="explained")
    (refused,) = workspace.reviews.change([UNSEEN], author="bob", status="fixed")
    assert refused == ReviewConflict(seen=UNSEEN, now=first)
    assert workspace.reviews.every()[UNSEEN.run] == first
    assert len(workspace.reviews.history()) == 1


def test_of_many_those_unchanged_are_changed_and_the_others_told(workspace: Workspace) -> None:
    others = [Review(run=f"{i}" * 64, run_id=f"r{i}") for i in range(3)]
    changed(workspace, others[1], assignee="bob")
    answers = workspace.reviews.change(others, author="ann", status="fixed")
    assert [isinstance(answer, ReviewConflict) for answer in answers] == [False, True, False]
    assert sorted(r.run_id for r in workspace.reviews.every().values() if r.status == "fixed") == ["r0", "r2"]


def test_the_same_again_changes_nothing(workspace: Workspace) -> None:
    first = changed(workspace, UNSEEN, status="fixed", tags=["a"])
    assert changed(workspace, first, status="fixed", tags=["a"]) == first
    assert changed(workspace, UNSEEN.__class__(run="e" * 64, run_id="r2")).revision == 0
    assert len(workspace.reviews.history()) == 2


INVALID = [
    {"status": "done"},
    {"assignee": "x" * 121},
    {"tags": [f"t{i}" for i in range(21)]},
    {"tags": ["x" * 61]},
]


@pytest.mark.parametrize("what", INVALID, ids=str)
def test_what_cannot_be_kept_is_refused_and_changes_nothing(workspace: Workspace, what: Any) -> None:
    other = Review(run="e" * 64, run_id="r2")
    with pytest.raises(UntakenError, match="review-invalid"):
        workspace.reviews.change([other, UNSEEN], author="ann", **what)
    assert workspace.reviews.every() == {}


def test_any_words_come_back_on_one_line(workspace: Workspace) -> None:
    hostile = "a\x00b <script>alert(1)</script>\n\u202e\ud800 🔀"
    now = changed(workspace, UNSEEN, assignee=hostile, tags=[hostile])
    assert "\n" not in now.assignee
    assert now == workspace.reviews.every()[UNSEEN.run]


PROGRAM = """
import sys
from untaken.workspace import Workspace
from untaken.workspace.reviews import Review
folder, who = sys.argv[1:]
with Workspace(folder) as workspace:
    done = 0
    while done < 15:
        seen = workspace.reviews.every().get("d" * 64, Review(run="d" * 64, run_id="r1"))
        (now,) = workspace.reviews.change([seen], author=who, tags=[*seen.tags[-9:], f"{who}{done}"])
        done += isinstance(now, Review)
"""


def test_two_processes_change_one_review_and_every_change_builds_on_the_one_before(
    tmp_path: Path, in_two_processes: Callable[[str], None]
) -> None:
    in_two_processes(PROGRAM)
    with Workspace(tmp_path / "w") as workspace:
        log = workspace.reviews.history()
        assert (workspace.reviews.every()["d" * 64].revision, len(log)) == (30, 30)
        assert [c.before for c in log[1:]] == [c.after for c in log[:-1]]


NOTE = ("note", "a" * 64)


def test_a_draft_belongs_to_one_person_and_one_place(workspace: Workspace) -> None:
    workspace.text_drafts.keep("human:ann", NOTE, "paid twice")
    workspace.text_drafts.keep("human:bob", NOTE, "refused")
    workspace.text_drafts.keep("human:ann", ("note", "b" * 64), "another run")
    assert workspace.text_drafts.find("human:ann", NOTE) == "paid twice"
    assert workspace.text_drafts.find("human:bob", NOTE) == "refused"
    assert workspace.text_drafts.find("human:ann", ("why", "a" * 64)) == ""


def test_parts_of_a_place_do_not_run_together(workspace: Workspace) -> None:
    workspace.text_drafts.keep("human:ann", ("why", "a", "bc"), "one")
    assert workspace.text_drafts.find("human:ann", ("why", "ab", "c")) == ""
    assert workspace.text_drafts.find("human:ann", ("why", "a\0002:bc")) == ""


def test_a_draft_survives_a_restart_until_it_is_emptied(tmp_path: Path) -> None:
    with Workspace(tmp_path) as store:
        store.text_drafts.keep("human:ann", NOTE, "first")
        store.text_drafts.keep("human:ann", NOTE, "second\u0000 line \N{SNOWMAN}")
    with Workspace(tmp_path) as store:
        assert store.text_drafts.find("human:ann", NOTE) == "second\u0000 line \N{SNOWMAN}"
        store.text_drafts.keep("human:ann", NOTE, "")
        assert store.text_drafts.find("human:ann", NOTE) == ""


def test_a_draft_that_is_too_large_leaves_the_earlier_one(workspace: Workspace) -> None:
    workspace.text_drafts.keep("human:ann", NOTE, "first")
    with pytest.raises(UntakenError, match="characters") as raised:
        workspace.text_drafts.keep("human:ann", NOTE, "x" * (limits.TEXT_DRAFT_CHARS + 1))
    assert raised.value.code == "text-too-large"
    assert workspace.text_drafts.find("human:ann", NOTE) == "first"
