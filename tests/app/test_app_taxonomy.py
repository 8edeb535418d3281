"""The taxonomy on the Failure modes page: presets, rewording, merging, splitting, retiring, restoring."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sessions import said, session
from streamlit.testing.v1 import AppTest
from test_app_notes import with_modes
from test_app_review import field, named, plain, press, workspace

from untaken.analysis.failure_modes import Taxonomy, kept_taxonomy


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    with workspace(tmp_path, runs=1):
        with_modes(tmp_path, "Paid twice", "Paid late")
    app = session(tmp_path, monkeypatch, "failure_modes")
    app.query_params["view"] = "taxonomy"
    named(app.run())
    return app


def edit(app: AppTest, mode: str) -> AppTest:
    app.selectbox(key="taxonomy_mode").set_value(mode).run()
    assert not app.exception
    return app


def merge(app: AppTest) -> None:
    next(one for one in app.selectbox if one.label == "Merge into").set_value("paid-late").run()
    press(app, "mode-merge")


def split(app: AppTest) -> None:
    field(app.text_area, "Split into, one name per line").input("Refunded twice\nCharged twice\n").run()
    press(app, "mode-split")


def reword(app: AppTest) -> None:
    field(app.text_input, "Name").input("Paid more than once").run()
    field(app.text_area, "Definition").input("Two payments for one order.").run()
    press(app, "mode-save")


def retire_and_restore(app: AppTest) -> None:
    press(press(app, "mode-retire"), "mode-restore")


CHANGES = [
    ("merge", merge, {"paid-twice": "merged", "paid-late": "active"}, "merged it into Paid late"),
    (
        "split",
        split,
        {"paid-twice": "split", "paid-late": "active", "refunded-twice": "active", "charged-twice": "active"},
        "split it into Refunded twice, Charged twice",
    ),
    ("reword", reword, {"paid-twice": "active", "paid-late": "active"}, "changed name, definition"),
    ("restore", retire_and_restore, {"paid-twice": "active", "paid-late": "active"}, "restored it"),
]  # fmt: skip


@pytest.mark.parametrize(("_desc", "change", "want", "words"), CHANGES, ids=[d for d, *_ in CHANGES])
def test_a_change_is_kept_with_its_history(
    _desc: str,
    change: Callable[[AppTest], None],
    want: dict[str, str],
    words: str,
    app: AppTest,
    tmp_path: Path,
) -> None:
    change(edit(app, "paid-twice"))
    kept: Taxonomy = kept_taxonomy(tmp_path)
    assert {mode.id: mode.status for mode in kept.modes} == want
    last = kept.by_id["paid-twice"].history[-1]
    assert (last.author, last.what) == ("human:ann", words)
    assert words in plain(app)


def test_a_preset_is_added_once_and_a_refused_change_says_why(app: AppTest, tmp_path: Path) -> None:
    press(app, "preset-agentrx")
    assert len(kept_taxonomy(tmp_path).modes) == 11
    assert app.button(key="preset-agentrx").disabled
    edit(app, "paid-twice")
    field(app.text_input, "Name").input("Paid LATE").run()
    press(app, "mode-save")
    assert "two modes are called 'paid late'" in plain(app)
    assert kept_taxonomy(tmp_path).name("paid-twice") == "Paid twice"


def test_without_a_name_nothing_can_be_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with workspace(tmp_path, runs=1):
        pass
    app = session(tmp_path, monkeypatch, "failure_modes")
    app.query_params["view"] = "taxonomy"
    app.run()
    assert app.button(key="preset-mast").disabled
    assert "No failure modes yet" in said(app)
