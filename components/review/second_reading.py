"""A run drawn for a second reader, who does not see what others wrote until they have saved (§9)."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.shared import after_saves, reviewer, state, text
from components.shared.panels import panel
from untaken.judging import author_of_draft, has_read, next_to_read_again, other_readers
from untaken.ledger import Draft, Run
from untaken.views import RunReport

ON: Final = "1"


def draw_one() -> None:
    """A button that opens the next run to be read again; nothing where nobody has read one."""
    corpus, reader = state.listed(), reviewer.author()
    # A draw of each reader's own, the same until the run is read.
    found = next_to_read_again(corpus.runs.values(), reader, seed=reader or "")
    if st.button(
        "Second reading",
        key="review-second",
        icon=":material/visibility_off:",
        disabled=found is None,
        help="A random run that someone else has read and you have not. Their verdicts, "
        "notes and failure modes are hidden until you have saved yours."
        if found
        else "You have read every run that others have read.",
    ):
        state.select(run=found, blind=ON)
        st.rerun()


def reader_of(run: Run) -> str | None:
    """Who reads the run blind now (empty before they signed); ``None`` where everything is shown."""
    # A link to another run is not read blind.
    if state.selected("blind") != ON or state.selected("run") != run.digest:
        return None
    reader = reviewer.author() or ""
    return None if has_read(run, reader) else reader


def hides() -> bool:
    """Whether the run that is selected is read blind now: what counts others' verdicts is hidden."""
    digest = state.selected("run")
    if state.selected("blind") != ON or digest not in state.corpus().runs:
        return False
    return reader_of(after_saves.corpus_with(digest).runs[digest]) is not None


def report_on(digest: str) -> RunReport:
    """The report on a run as this reader may see it."""
    now = after_saves.corpus_with(digest).runs[digest]
    return after_saves.report_on(digest, reader_of(now))


def marked(run: Run, event: Draft) -> Draft:
    """An event about a run, marked where its author reads the run blind."""
    author = author_of_draft(event)
    if state.selected("blind") != ON or author is None or state.selected("run") != run.digest:
        return event
    return event if has_read(run, author) else Draft(event.event, {**event.fields, "blind": True}, event.ts)


@panel
def notice(digest: str) -> None:
    """Say what is hidden, with a way to see it; after the first save, that it is shown now."""
    if state.selected("blind") != ON:
        return
    run = after_saves.corpus_with(digest).runs[digest]
    others = other_readers(run, reviewer.author())
    if not others:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="second-reading"):
        if reader_of(run) is None:
            names = ", ".join(text.label(name.removeprefix("human:"), 40) for name in sorted(others))
            st.caption(f":material/visibility: Your reading is saved. Now shown beside it: {names}.")
            return
        st.caption(
            ":material/visibility_off: **Second reading.** What others wrote about this run is hidden until "
            "you save a verdict, a note or a failure mode.",
            width="stretch",
        )
        st.button("Show it now", key="show-others", type="tertiary", on_click=_show)


def _show() -> None:
    state.select(run=state.selected("run"), sub_goal=state.selected("sub_goal"))
