"""The taxonomy on the Failure modes page: presets, rewording, merging, splitting, retiring, restoring."""

from __future__ import annotations

from pathlib import Path

import pytest
from sessions import said, session
from test_app_review import workspace


def test_without_a_name_nothing_can_be_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with workspace(tmp_path, runs=1):
        pass
    app = session(tmp_path, monkeypatch, "failure_modes", view="taxonomy")
    assert app.button(key="preset-mast").disabled
    assert "No failure modes yet" in said(app)
