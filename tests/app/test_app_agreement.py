"""The Criteria page shows whether judges agree with people, and the sub-goals on which they disagree."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import a_run
from sessions import said, session

from untaken.store import Workspace


def workspace(folder: Path, *, judged: bool) -> None:
    store = Workspace(folder)
    for i in range(4):
        run = a_run(f"r{i}", agent="x", task=f"t{i}").finish().verdict("s", True, "human:ann")
        if judged:
            run.verdict("s", i != 2, "judge:m")
        store.add(f"{i}.jsonl", run.ledger())


def test_agreement_is_told_with_its_n_and_its_kappa(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace(tmp_path, judged=True)
    app = session(tmp_path, monkeypatch, "criteria")
    assert "Do judges agree with people?" in said(app)
    assert "Of 4 sub-goals that both judged, 3 have the same verdict (75%); Cohen's κ 0.00" in said(app)
    assert "1 sub-goal where they disagree" in said(app)


def test_without_judges_there_is_no_such_section(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace(tmp_path, judged=False)
    app = session(tmp_path, monkeypatch, "criteria")
    assert "Do judges agree" not in said(app)


def test_a_judge_that_agrees_too_little_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Workspace(tmp_path)
    for i in range(12):
        run = a_run(f"r{i}", agent="x", task=f"t{i}").finish().verdict("s", i % 2 == 0, "human:ann")
        store.add(f"{i}.jsonl", run.verdict("s", True, "judge:m").ledger())
    app = session(tmp_path, monkeypatch, "criteria")
    assert "Unreliable, κ below 0.4: judge" in said(app)
    assert "m (κ 0.00, n = 12). `--min-kappa 0.4` leaves" in said(app)  # once, not for its sub-goal again
