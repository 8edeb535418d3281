"""A document that a page exports is, byte for byte, the one that the verb prints."""

from __future__ import annotations

import json
from pathlib import Path

import desk
import pytest

from untaken.answers import EXPORTED, dump
from untaken.cli import main
from untaken.corpus import evaluate_corpus
from untaken.ledger import unread_runs
from untaken.memories import remembered
from untaken.store import Workspace

VERBS = {
    "score": "score a.jsonl b.jsonl bad.jsonl --graphs g --runs --json",
    "rank": "rank a.jsonl b.jsonl bad.jsonl --graphs g --json",
    "counterfactual": "counterfactual a.jsonl b.jsonl bad.jsonl --graphs g --card --json",
}
MUTATING = desk.GRAPH.replace(b"name: search", b"name: serch").replace(
    b"sub_goals:", b'mutates: ["*"]\nsub_goals:', 1
)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two ledgers, one that is broken, and two graphs, of which one is a draft."""
    runs = [run.ledger() for run in desk.builders()]
    (tmp_path / "g").mkdir()
    (tmp_path / "g" / "desk.plan.yaml").write_bytes(MUTATING)
    (tmp_path / "a.jsonl").write_bytes(b"".join(runs[::2]))
    (tmp_path / "b.jsonl").write_bytes(b"".join(runs[1::2]))
    (tmp_path / "bad.jsonl").write_bytes(b'{"type": "RUN_STARTED", "run_id": "cut"\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", EXPORTED)
def test_an_exported_document_is_what_the_verb_prints(
    name: str, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Workspace(files / "workspace") as store:
        for path in ("g/desk.plan.yaml", "a.jsonl", "b.jsonl", "bad.jsonl"):
            store.add(path, (files / path).read_bytes())
        runs, reading = store.read_runs()
        corpus = evaluate_corpus(runs, store.graph_set(), memory=remembered(runs, store.path))
    exported = dump(EXPORTED[name](corpus, reading, unread_runs(runs, reading)))
    main(VERBS[name].split())
    printed = capsys.readouterr().out
    assert json.loads(exported)["findings"]
    assert exported == printed
