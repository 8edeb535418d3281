"""A server that is started again shows kept answers; after a save one run is read, not the workspace."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from builders import a_run
from sessions import go_to, said, session, show_tab
from streamlit.testing.v1 import AppTest

from components.shared import after_saves, evaluating
from untaken import counterfactual
from untaken.analysis.workspace_corpus import WorkspaceCorpus
from untaken.counterfactual.evaluate import Evaluations
from untaken.facts.scaling.ledger_record import LedgerTable
from untaken.ledger import Draft, ReviewNote, Verdict
from untaken.views import first_page
from untaken.views.first_page import Overview, overview
from untaken.workspace import Workspace
from untaken.workspace.derived import FOLDER

Patch = pytest.MonkeyPatch


@pytest.fixture(autouse=True)
def server_started_anew() -> None:
    st.cache_resource.clear()
    st.cache_data.clear()


def started_again(folder: Path, monkeypatch: Patch) -> AppTest:
    """A session of a server that holds nothing of this workspace in memory."""
    evaluating.keep_made().join()
    st.cache_resource.clear()
    st.cache_data.clear()
    return session(folder, monkeypatch)


def shown(app: AppTest) -> tuple[str, list[object]]:
    """All that the page says, and its tables."""
    return said(app), [table.value.to_dict("split") for table in app.dataframe]


def was_read(folder: Path) -> bool:
    """Whether this server has read a ledger of the workspace."""
    return evaluating.held(str(folder)).is_read


def test_a_server_started_again_shows_the_same_first_page_and_reads_no_run(folder, monkeypatch) -> None:
    before = shown(session(folder, monkeypatch))
    assert was_read(folder)
    evaluating.keep_made().join()
    with Workspace(folder) as store:
        assert evaluating.first_page_is_kept(store)
    app = started_again(folder, monkeypatch)
    assert shown(app) == before
    assert not was_read(folder)
    go_to(app, "run")
    assert was_read(folder), "a page that needs the runs reads them"


def test_under_another_rule_runs_are_read_once_and_its_answers_kept_too(folder, monkeypatch) -> None:
    session(folder, monkeypatch)
    app = started_again(folder, monkeypatch)
    app.sidebar.radio(key="rules_missing").set_value("drop").run()
    assert was_read(folder)
    before = shown(app)
    app = started_again(folder, monkeypatch)
    app.sidebar.radio(key="rules_missing").set_value("drop").run()
    assert not was_read(folder)
    assert shown(app) == before


def test_a_verdict_makes_kept_answers_stale(folder: Path, monkeypatch: Patch) -> None:
    before = shown(session(folder, monkeypatch))
    with Workspace(folder) as store:
        for run in store.read_runs()[0]:
            if not run.integrity.broken:
                judged = {"sub_goal": "polite", "passed": False, "by": "human:zoe"}
                store.append_events(run, [Draft(Verdict, judged)])
    app = started_again(folder, monkeypatch)
    assert was_read(folder)
    assert "human:zoe" in app.sidebar.multiselect(key="rules_verdicts").options
    assert shown(app) != before


def test_a_ledger_changed_by_hand_is_read_and_shown_as_broken(folder: Path, monkeypatch: Patch) -> None:
    assert "broken" not in said(session(folder, monkeypatch))
    with Workspace(folder) as store:
        path = store.ledgers()[0].path
    data = bytearray(path.read_bytes())
    data[data.index(b'"search"') + 1] ^= 1
    path.write_bytes(data)
    app = started_again(folder, monkeypatch)
    assert was_read(folder)
    assert "1 broken ledger, excluded" in said(app)


@pytest.mark.parametrize("damage", [lambda file: file.write_bytes(file.read_bytes()[:-1]), Path.unlink])
def test_answers_that_are_damaged_or_gone_are_worked_out_again(damage, folder, monkeypatch) -> None:
    before = shown(session(folder, monkeypatch))
    evaluating.keep_made().join()
    for file in (folder / FOLDER).glob("answer.*"):
        damage(file)
    assert shown(started_again(folder, monkeypatch)) == before
    assert was_read(folder)
    assert shown(started_again(folder, monkeypatch)) == before
    assert not was_read(folder), "they were kept again"


def test_a_server_started_again_shows_decisions_and_waiting_signals_without_evaluating_a_decision(
    folder: Path, monkeypatch: Patch
) -> None:
    def pages(app: AppTest) -> Iterator[tuple[str, list[object]]]:
        yield shown(show_tab(go_to(app, "decisions"), "without-open", True))  # none has a history here
        yield shown(go_to(app, "memory"))

    before = list(pages(session(folder, monkeypatch)))
    assert all(tables for _, tables in before)
    app = started_again(folder, monkeypatch)
    asked: list[str] = []
    monkeypatch.setattr(Evaluations, "signals", lambda _, digest: asked.append(digest))
    again = pages(app)
    assert next(again) == before[0]
    assert not was_read(folder)
    assert next(again) == before[1]
    assert not asked


def test_after_a_verdict_or_under_another_rule_no_choice_is_worked_out_again(folder, monkeypatch) -> None:
    def decisions(app: AppTest) -> tuple[str, list[object]]:
        return shown(show_tab(go_to(app, "decisions"), "without-open", True))

    before = decisions(session(folder, monkeypatch))
    evaluating.keep_made().join()
    with Workspace(folder) as store:
        run = next(run for run in store.read_runs()[0] if not run.integrity.broken)
        store.append_events(run, [Draft(Verdict, {"sub_goal": "polite", "passed": False, "by": "human:zoe"})])
    gathered: list[object] = []
    monkeypatch.setattr(counterfactual, "choices", lambda *given, **_: gathered.append(given))
    app = started_again(folder, monkeypatch)
    assert decisions(app)[1] == before[1]
    app.sidebar.radio(key="rules_missing").set_value("drop").run()
    assert decisions(app)[1] == before[1]
    assert was_read(folder)
    assert not gathered


def test_a_server_started_again_lists_the_findings_without_scoring_a_run(folder: Path, monkeypatch) -> None:
    before = shown(go_to(session(folder, monkeypatch), "data"))
    assert "Findings" in before[0]
    app = started_again(folder, monkeypatch)
    scored: list[int] = []
    monkeypatch.setattr(LedgerTable, "scored", lambda _, place: scored.append(place))
    assert shown(go_to(app, "data")) == before
    assert not scored


def test_a_note_works_nothing_out_again_and_a_verdict_does(folder: Path, monkeypatch: Patch) -> None:
    session(folder, monkeypatch)
    calls = []

    def counted(*given: Any, **named: Any) -> Overview:
        calls.append(given)
        return overview(*given, **named)

    monkeypatch.setattr(first_page, "overview", counted)
    app = session(folder, monkeypatch)
    assert not calls
    with Workspace(folder) as store:
        run = next(run for run in store.read_runs()[0] if not run.integrity.broken)
        store.append_events(run, [Draft(ReviewNote, {"author": "human:zoe", "text": "late"})])
        app.run()
        assert not calls
        judged = {"sub_goal": "polite", "passed": False, "by": "human:zoe"}
        store.append_events(run, [Draft(Verdict, judged)])
    app.run()
    assert calls


def page() -> None:
    """A part of a page, drawn with it, and again by itself after a save."""
    import streamlit as st

    from components.shared import after_saves, state
    from untaken.analysis.failure_modes import RUN, note_draft

    @after_saves.alone
    def draw() -> None:
        (run,) = after_saves.corpus_with(st.session_state["digest"]).runs.values()
        st.text(f"{len(run.events)} events of {len(state.corpus().runs)} run")

    with state.frame():
        store = state.workspace()
        (run,) = state.corpus().runs.values()
        st.session_state["digest"] = run.digest
        state.group_name()
        draw()
    store.append_events(run, [note_draft("seen", author="human:ann", place=RUN)])
    st.session_state["reads"].clear()
    draw()


def test_a_part_that_is_drawn_again_after_a_save_reads_one_run_and_not_the_workspace(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    monkeypatch.setenv("UNTAKEN_WORKSPACE", str(tmp_path))
    monkeypatch.setattr(after_saves, "QUIET_SECONDS", 3_600.0)
    reads: list[object] = []
    read = WorkspaceCorpus.read

    def counted(corpus: WorkspaceCorpus, *given: object) -> object:
        reads.append(given)
        return read(corpus, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(WorkspaceCorpus, "read", counted)
    with Workspace(tmp_path) as store:
        store.add("a.jsonl", a_run("r1").call("look").finish(success=False).ledger())
        app = AppTest.from_function(page, default_timeout=60)
        app.session_state["reads"] = reads
        app.run()
    before, after = (int(words.value.split()[0]) for words in app.text)
    assert after == before + 1
    assert reads == []
