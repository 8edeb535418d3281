"""Broken runs: shown on Data and on their own page, and logged once, outside their ledgers."""

from __future__ import annotations

from pathlib import Path

import desk
import pytest
from builders import a_run
from sessions import go_to, metrics, said, session

from untaken.ledger import heads_path, save_heads
from untaken.workspace import Workspace

Patch = pytest.MonkeyPatch


def broken_folder(folder: Path) -> Path:
    """Sound runs, one altered in the middle, and one of which not even the start can be read."""
    folder.mkdir()
    sound, altered, unread = desk.careful(1), desk.careful(2), desk.careful(3)
    both = sound.ledger() + altered.ledger().replace(b'"search"', b'"sealed"', 1)
    (folder / "a.jsonl").write_bytes(both)
    save_heads(heads_path(folder / "a.jsonl"), {run.run_id: run.head for run in (sound, altered)})
    (folder / "b.jsonl").write_bytes(unread.ledger().replace(b'"agent":"careful"', b'"agent":""', 1))
    (folder / "desk.plan.yaml").write_bytes(desk.GRAPH)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """Every ledger below the folder, and every heads file."""
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*.jsonl*")) if path.is_file()}


def logged(workspace: Path) -> list[tuple[str, str | None]]:
    """Code and run of each line of the audit log."""
    with Workspace(workspace) as store:
        return [(entry.code, entry.run) for entry in store.audit_log()]


def test_every_broken_run_is_listed_on_the_data_page_and_logged_once(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    source, at = broken_folder(tmp_path / "source"), tmp_path / "workspace"
    Workspace.open_folder(source, at=at).close()
    before = contents(tmp_path)
    for _ in range(2):
        app = session(at, monkeypatch, "data")
        assert "2 broken runs" in said(app)
        assert "UNREADABLE · careful\\-3 · " in said(app)
        assert "2 broken ledgers, excluded" in said(go_to(app, "overview"))
        assert metrics(app)["Success, mean over tasks"] == "100%"
        assert logged(at) == [("DTL-STRAT-006", "careful-2"), ("DTL-STRAT-006", "careful-3")]
    app = go_to(app, "run")
    picker = app.selectbox(key="run_picker")
    picker.select_index(next(n for n, name in enumerate(picker.options) if "careful-2" in name)).run()
    assert "ALTERED" in app.error[0].value
    assert "DTL-STRAT-006" in app.error[0].value
    assert contents(tmp_path) == before


def test_where_every_run_is_broken_a_page_says_so_and_leads_to_the_data(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    with Workspace.open_folder(tmp_path) as store:
        store.add("a.jsonl", desk.careful(2).ledger().replace(b'"search"', b'"sealed"', 1))
    app = session(tmp_path, monkeypatch)
    for page in ("overview", "rankings", "criteria"):
        words = [warning.value for warning in go_to(app, page).warning]
        assert words == ["Every run here is broken, so nothing can be counted."]
        assert "See what is broken" in [link.proto.label for link in app.get("page_link")]


def test_agents_of_broken_runs_alone_are_not_said_to_be_comparable(folder: Path, monkeypatch: Patch) -> None:
    app = session(folder, monkeypatch, "data")
    stranger = a_run("s-1", agent="stranger", task="elsewhere").call("search", ok=True).finish(False)
    broken = stranger.ledger().replace(b'"search"', b'"sealed"', 1)
    app.file_uploader[0].set_value(("s.jsonl", broken, "application/jsonl")).run()
    next(button for button in app.button if button.label == "Add 1 file").click().run()
    assert "1 broken run" in said(app)
    (compared,) = [line for line in said(app).splitlines() if line.startswith("Can be compared: ")]
    assert "stray" in compared
    assert "stranger" not in compared
