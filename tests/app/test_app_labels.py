"""The Rankings page corrects a judge by people's labels when it is asked to, and says so."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import a_run
from sessions import said, session, show_tab

from untaken.workspace import Workspace


def workspace(folder: Path, *, labelled: int) -> None:
    """Two agents on 16 tasks; the judge is wrong on every eighth, people labelled the first ones."""
    store = Workspace(folder)
    for agent, bar in (("x", 3), ("y", 6)):
        for i in range(16):
            met = i % 8 >= bar
            run = (
                a_run(f"{agent}{i}", agent=agent, task=f"t{i}")
                .finish(met)
                .verdict("s", met != (i % 8 == 0), "judge:m")
            )
            if i < labelled:
                run.verdict("s", met, "human:ann")
            store.add(f"{agent}{i}.jsonl", run.ledger())


@pytest.mark.parametrize("labelled", [0, 16])
def test_without_labels_or_with_all_of_them_the_page_says_what_is_needed(
    labelled: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace(tmp_path, labelled=labelled)
    app = show_tab(session(tmp_path, monkeypatch, "rankings"), "rankings_tabs", "Labels and judge")
    assert f"A judge decided 32 sub-goals, and people labelled {2 * labelled} of them" in said(app)
    assert "labels_on" not in app.session_state
