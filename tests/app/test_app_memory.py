"""The Memory page: any snapshot, how an estimate came about, and weak signals folded in on purpose only."""

from __future__ import annotations

from pathlib import Path

import desk
import pytest
from builders import a_run
from histories import lines_of
from sessions import go_to, metrics, said, session, show_tab, table
from streamlit.testing.v1 import AppTest

from untaken.analysis.corpus import evaluate_corpus
from untaken.analysis.memories import POLICY, remembered
from untaken.counterfactual.memory import PolicyMemory, applied_signals
from untaken.views.memory import signals_waiting
from untaken.workspace import Workspace

Patch = pytest.MonkeyPatch


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace with the desk's runs, day after day."""
    with Workspace(tmp_path) as store:
        store.add("desk.plan.yaml", desk.GRAPH)
        lines = [line for day, run in enumerate(desk.builders()) for line in lines_of(run, day)]
        store.add("runs.jsonl", b"".join(lines))
    return tmp_path


def memory_of(folder: Path) -> PolicyMemory:
    """What the workspace remembers of the agents compared, by the engine alone."""
    with Workspace(folder) as store:
        runs = store.read_runs()[0]
        careful = next(run for run in runs if run.agent == "careful")
        return remembered(runs, folder)[careful.digest]


def waiting(folder: Path) -> int:
    with Workspace(folder) as store:
        runs, graphs = store.read_runs()[0], store.graph_set()
    return len(signals_waiting(evaluate_corpus(runs, graphs, memory=remembered(runs, folder), resamples=9)))


def signals(folder: Path, monkeypatch: Patch) -> AppTest:
    """The page with the weak signals that wait."""
    return show_tab(session(folder, monkeypatch, "memory"), "memory_tabs", "Weak signals")


def test_signals_are_folded_in_only_where_asked_twice(folder: Path, monkeypatch: Patch) -> None:
    count, before = waiting(folder), memory_of(folder)
    assert count > 0
    app = signals(folder, monkeypatch)
    assert len(table(app, "Pending weak signals")) == count
    advised = app.button(key="memory_apply_advised")
    assert advised.disabled == (advised.label == "Apply the 0 advised")
    app.button(key="memory_apply_all").click().run()
    app.button(key="memory_apply_no").click().run()
    assert not (folder / POLICY).exists()

    app.button(key="memory_apply_all").click().run()
    app.button(key="memory_apply_yes").click().run()
    assert not app.exception
    assert f"{count} weak signals applied" in said(app)
    assert metrics(app)["Signals waiting"] == "0"
    show_tab(app, "memory_tabs", "Applied signals")
    assert len(table(app, "Applied weak signals")) == count
    assert len(applied_signals(folder / POLICY)[0]) == count
    assert metrics(app)["Observations"] == str(len(before) + count)
    last = before.moments[-1]
    assert memory_of(folder).snapshot(last).digest == before.snapshot(last).digest

    app.run()
    assert f"{count} weak signals applied" not in said(app)
    assert waiting(folder) == 0


def test_a_damaged_file_of_applied_signals_is_said_and_costs_nothing_else(
    folder: Path, monkeypatch: Patch
) -> None:
    (folder / POLICY).write_bytes(b"nonsense\n")
    app = signals(folder, monkeypatch)
    assert metrics(app)["Observations"] == str(len(memory_of(folder)))
    app.button(key="memory_apply_all").click().run()
    app.button(key="memory_apply_yes").click().run()
    assert "Nothing was applied" in said(app)
    assert (folder / POLICY).read_bytes() == b"nonsense\n"
    go_to(app, "data")
    assert "memory-signals-unread" in table(app, "Findings")["code"].tolist()


def test_a_page_says_which_runs_are_identical_and_count_once(tmp_path: Path, monkeypatch: Patch) -> None:
    with Workspace(tmp_path) as store:
        for name, seed in (("one", 1), ("again", 1), ("other", 2)):
            run = a_run(name, metadata={"seed": seed}).select("a", "b").select("b", "a")
            store.add(f"{name}.jsonl", run.finish(True, cost=1.0, steps=2).ledger())
    app = session(tmp_path, monkeypatch)
    for page in ("memory", "decisions"):
        words = said(go_to(app, page))
        assert words.count("did exactly the same as another of the same task and agent") == 1
        assert "1 run counted once in intervals and tests" in words


def test_the_memory_shown_is_that_of_the_agents_compared(folder: Path, monkeypatch: Patch) -> None:
    app = signals(folder, monkeypatch)
    assert metrics(app)["Observations"] == str(len(memory_of(folder)))
    assert "only agents with common tasks are compared" in said(app)
    app.selectbox(key="group").select("other").run()
    assert not app.metric
    assert "No history yet" in said(app)
