"""One set of weights for every command and page: `--weights`, else the settings of the workspace."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import a_run
from histories import lines_of

from untaken.analysis.workspace_corpus import WorkspaceCorpus
from untaken.errors import UntakenError
from untaken.workspace import Workspace
from untaken.workspace.settings import read_settings, settings_digest


def ledger() -> bytes:
    """Six runs: the cheap skill fails, the dear one succeeds."""
    lines = []
    for n in range(6):
        dear = bool(n % 2)
        one, other = ("dear", "cheap") if dear else ("cheap", "dear")
        run = a_run(f"r{n}").select(one, other).select(one, other, context="later")
        lines += lines_of(run.finish(dear, cost=2.0 if dear else 1.0, steps=4), n)
    return b"".join(lines)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    with Workspace(tmp_path / "w") as store:
        store.add("runs.jsonl", ledger())
    return tmp_path / "w"


def test_pages_take_the_same_weights_and_notice_when_they_change(workspace: Path) -> None:
    held = WorkspaceCorpus()
    with Workspace(workspace) as store:
        first = held.evaluate(store, held.read(store))
        before = settings_digest(store.path)
        (workspace / "untaken.yaml").write_text("weights: {success: 0, cost: 1, steps: 0}\n")
        second = held.evaluate(store, held.read(store))
        assert settings_digest(store.path) != before
    assert (first.weights.cost, second.weights.cost) == (0.3, 1.0)
    by = {c.selected: c.advantage for c in second.choices}
    assert by["dear"] == 1.0  # by cost alone the cheap one scores higher
    assert {c.selected: c.advantage for c in first.choices} != by


INVALID = [
    ("another key", "weigths: [1, 0, 0]", "settings-invalid"),
    ("two numbers", "weights: [1, 0]", "settings-invalid"),
    ("words", "weights: [a, b, c]", "settings-invalid"),
    ("a name alone", "identity: temperature", "settings-invalid"),
    ("a number as a name", "identity: [1]", "settings-invalid"),
    ("an empty name", "identity: ['']", "settings-invalid"),
    ("a list", "- 1", "settings-invalid"),
    ("a sum of two", "weights: [1, 1, 0]", "weights-invalid"),
]


@pytest.mark.parametrize(("desc", "text", "code"), INVALID, ids=[case[0] for case in INVALID])
def test_settings_that_say_anything_else_are_refused(desc: str, text: str, code: str, tmp_path: Path) -> None:
    (tmp_path / "untaken.yaml").write_text(text)
    with pytest.raises(UntakenError) as caught:
        read_settings(tmp_path)
    assert caught.value.code == code
