"""What `untaken app` hands to the server."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import pytest

from untaken.cli.app import _settings


def test_a_demonstration_is_no_part_of_a_teams_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNTAKEN_STORE", "postgresql+psycopg://team@db/untaken")
    assert _settings(Namespace(workspace=None, demo=True))["UNTAKEN_STORE"] == ""
    assert "UNTAKEN_STORE" not in _settings(Namespace(workspace="w", demo=False))


def test_a_demonstration_writes_into_no_workspace_that_was_not_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNTAKEN_WORKSPACE", "/srv/team")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    made = _settings(Namespace(workspace=None, demo=True))
    assert Path(made["UNTAKEN_WORKSPACE"]).parent == tmp_path
    assert made["UNTAKEN_TEMPORARY"] == made["UNTAKEN_WORKSPACE"]
    assert _settings(Namespace(workspace="/tmp/kept", demo=True))["UNTAKEN_WORKSPACE"] == "/tmp/kept"
    assert _settings(Namespace(workspace=None, demo=False))["UNTAKEN_WORKSPACE"] == "/srv/team"
