"""Saved views: one for each name, in order, within bounds, kept with the workspace."""

from __future__ import annotations

from pathlib import Path

import pytest

from untaken import limits
from untaken.errors import UntakenError
from untaken.store import Workspace
from untaken.store.saved_views import SavedView


def test_views_are_kept_by_name_and_the_later_one_of_a_name_holds(tmp_path: Path) -> None:
    later = SavedView(name="b", page="run", query=(("run", "1"), ("tag", "x"), ("tag", "y")))
    with Workspace(tmp_path) as store:
        for view in (SavedView(name="b", page="review"), SavedView(name="A", page="data"), later):
            store.saved_views.save(view)
    with Workspace(tmp_path) as store:
        assert store.saved_views.every() == [SavedView(name="A", page="data"), later]
        store.saved_views.delete("A")
        store.saved_views.delete("nothing")
        assert store.saved_views.every() == [later]


@pytest.mark.parametrize(
    ("desc", "view"),
    [
        ("no name", SavedView(name=" ", page="run")),
        ("long name", SavedView(name="n" * (limits.VIEW_NAME_CHARS + 1), page="run")),
        ("long address", SavedView(name="n", page="run", query=(("a", "x" * limits.VIEW_CHARS),))),
    ],
)
def test_a_view_out_of_bounds_is_refused_and_nothing_is_saved(
    tmp_path: Path, desc: str, view: SavedView
) -> None:
    with Workspace(tmp_path) as store:
        with pytest.raises(UntakenError) as refused:
            store.saved_views.save(view)
        assert refused.value.code == "view-invalid", desc
        assert store.saved_views.every() == []


def test_there_are_only_so_many_views(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "VIEWS", 1)
    with Workspace(tmp_path) as store:
        store.saved_views.save(SavedView(name="one", page="run"))
        store.saved_views.save(SavedView(name="one", page="data"))
        with pytest.raises(UntakenError, match="saved views"):
            store.saved_views.save(SavedView(name="two", page="run"))
