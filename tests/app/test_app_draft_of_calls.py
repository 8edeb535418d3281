"""Annotate drafts a plan from the calls of one task: changes are in it, reads are offered and not ticked."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import a_run
from sessions import said, session, show_tab

from components.annotate.session import CURRENT
from untaken.workspace import Workspace


def test_a_read_is_in_the_draft_only_if_it_is_ticked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Workspace(tmp_path) as store:
        runs = [
            a_run(f"r{n}").call("find", ok=True, order="A1").call("pay", ok=True, amount=67).finish().ledger()
            for n in range(3)
        ]
        store.add("runs.jsonl", b"".join(runs))
    app = session(tmp_path, monkeypatch, "annotate")
    show_tab(app, "suggest_source", "calls")
    assert "pay" in said(app)
    (read,) = [box for box in app.checkbox if box.label.startswith("find")]
    assert read.value is False
    app.button(key="suggest_take").click().run()
    assert not app.exception
    (node,) = app.session_state[CURRENT].graph.sub_goals
    assert node.check.tool_call.arguments == {"amount": 67}
