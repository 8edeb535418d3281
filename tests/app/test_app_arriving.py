"""While somebody uploads, the pages of others stay as they were."""

from __future__ import annotations

from pathlib import Path

import desk
import pytest
from sessions import said, session

from components.shared import arriving
from untaken.ledger import Draft, Verdict
from untaken.workspace import Workspace

ADDED = "Files are being added"


def test_ledgers_count_when_all_of_an_upload_is_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Workspace(folder) as store:
        before = len(store.read_runs()[0])
        with arriving.upload(store):
            store.add("more.jsonl", desk.lucky(70).ledger())
            seen = said(session(folder, monkeypatch, "data"))
            assert f"2 files · {before} runs" in seen
            assert ADDED in seen
        seen = said(session(folder, monkeypatch, "data"))
        assert f"3 files · {before + 1} runs" in seen
        assert ADDED not in seen


def test_a_verdict_counts_at_once_whoever_uploads(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Workspace(folder) as store:
        first = store.read_runs()[0][0]
        with arriving.upload(store):
            store.add("more.jsonl", desk.lucky(70).ledger())
            session(folder, monkeypatch)
            verdict = Draft(Verdict, {"sub_goal": "polite", "passed": False, "by": "human:zoe"})
            store.append_events(first, [verdict])
            authors = session(folder, monkeypatch).sidebar.multiselect[0].options
            assert "human:zoe" in authors


def test_a_plan_graph_counts_at_once_whoever_uploads(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Workspace(folder) as store, arriving.upload(store):
        store.add("other.plan.yaml", desk.GRAPH.replace(b"id: desk", b"id: other"))
        assert "3 files" in said(session(folder, monkeypatch, "data"))


def test_of_two_uploads_the_first_to_end_counts_then(tmp_path: Path) -> None:
    with Workspace(tmp_path) as store:
        with arriving.upload(store):
            store.add("slow.jsonl", desk.lucky(1).ledger())
            with arriving.upload(store):
                store.add("quick.jsonl", desk.lucky(2).ledger())
                assert store.ledgers(arriving.position(store)) == []
            names = [file.name for file in store.ledgers(arriving.position(store))]
            assert names == ["slow.jsonl", "quick.jsonl"]
            store.add("slow-too.jsonl", desk.lucky(3).ledger())
            assert len(store.ledgers(arriving.position(store))) == 2
        assert arriving.position(store) is None
