"""Texts that were typed and not saved: one for each person and place, kept until it is emptied."""

from __future__ import annotations

from pathlib import Path

import pytest

from untaken import limits
from untaken.errors import UntakenError
from untaken.workspace import Workspace

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
