"""The taxonomy on the Failure modes page: presets, rewording, merging, splitting, retiring, restoring."""

from __future__ import annotations

from pathlib import Path

import pytest
from sessions import said, session
from streamlit.testing.v1 import AppTest
from test_app_notes import with_modes
from test_app_review import named, workspace


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    with workspace(tmp_path, runs=1):
        with_modes(tmp_path, "Paid twice", "Paid late")
    app = session(tmp_path, monkeypatch, "failure_modes")
    app.query_params["view"] = "taxonomy"
    named(app.run())
    return app


def test_without_a_name_nothing_can_be_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with workspace(tmp_path, runs=1):
        pass
    app = session(tmp_path, monkeypatch, "failure_modes")
    app.query_params["view"] = "taxonomy"
    app.run()
    assert app.button(key="preset-mast").disabled
    assert "No failure modes yet" in said(app)
