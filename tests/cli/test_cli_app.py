"""What `untaken app` hands to the server."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import pytest

from untaken.app_folder import REQUIRED, SIGN_IN
from untaken.cli import main
from untaken.cli.app import HOSTS, _reach, _settings
from untaken.cli.console import Console


def test_a_demonstration_is_no_part_of_a_teams_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNTAKEN_STORE", "postgresql+psycopg://team@db/untaken")
    assert _settings(Namespace(workspace=None, demo=True))["UNTAKEN_STORE"] == ""
    assert "UNTAKEN_STORE" not in _settings(Namespace(workspace="w", demo=False))


def test_a_demonstration_writes_into_no_workspace_that_was_not_named(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("UNTAKEN_WORKSPACE", "/srv/team")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    made = _settings(Namespace(workspace=None, demo=True))
    assert Path(made["UNTAKEN_WORKSPACE"]).parent == tmp_path
    assert made["UNTAKEN_TEMPORARY"] == made["UNTAKEN_WORKSPACE"]
    assert _settings(Namespace(workspace="/tmp/kept", demo=True))["UNTAKEN_WORKSPACE"] == "/tmp/kept"
    assert _settings(Namespace(workspace=None, demo=False))["UNTAKEN_WORKSPACE"] == "/srv/team"


def test_another_address_is_refused_where_nothing_keeps_strangers_out(monkeypatch, tmp_path, capsys) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    for address in ("0.0.0.0", "::", "192.0.2.7", "untaken.example.org"):
        assert main(["app", str(tmp_path), "--address", address]) == 2
        assert "app-open-to-strangers" in capsys.readouterr().err


OPENED = [
    ("loopback", "127.0.0.1", False, False, {}, ""),
    ("loopback of IPv6", "::1", False, False, {}, ""),
    ("by name", "localhost", False, False, {}, ""),
    ("sign-in", "192.0.2.7", False, True, {SIGN_IN: REQUIRED, HOSTS: "localhost 127.0.0.1 192.0.2.7"}, ""),
    ("insecure", "192.0.2.7", True, False, {HOSTS: "localhost 127.0.0.1 192.0.2.7"}, "Anybody who reaches"),
    ("every address", "0.0.0.0", True, False, {}, "names no host"),
]


@pytest.mark.parametrize(
    ("desc", "address", "insecure", "sign_in", "want", "warned"), OPENED, ids=[case[0] for case in OPENED]
)
def test_an_address_is_opened_with_sign_in_or_a_warning(
    desc: str,
    address: str,
    insecure: bool,
    sign_in: bool,
    want: dict[str, str],
    warned: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    if sign_in:
        (tmp_path / ".streamlit").mkdir()
        (tmp_path / ".streamlit" / "secrets.toml").write_text('[auth]\nclient_id = "x"\n')
    monkeypatch.delenv(HOSTS, raising=False)
    given = Namespace(address=address, insecure=insecure)
    assert _reach(given, Console.of_process()) == want
    said = capsys.readouterr().err
    assert warned in said
    assert bool(said) is bool(warned)
