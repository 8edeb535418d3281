"""What a part of a page that is drawn again by itself costs after a save."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import a_run
from streamlit.testing.v1 import AppTest

from components.shared import after_saves
from untaken.analysis.workspace_corpus import WorkspaceCorpus
from untaken.workspace import Workspace


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
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
    assert not app.exception
    before, after = (int(words.value.split()[0]) for words in app.text)
    assert after == before + 1
    assert reads == []
