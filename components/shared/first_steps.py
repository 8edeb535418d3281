"""An empty workspace: samples, upload, recording an agent; and a short tour of the pages."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.shared import roles, state, text
from components.shared.panels import panel
from untaken.traces import formats
from untaken.workspace import Workspace

OFFERED: Final = ("graphs", "ledgers")
RECORDED: Final = """\
from untaken import LedgerWriter

with LedgerWriter("runs.jsonl") as ledger:
    with ledger.start(run_id="run-1", agent="my-agent", task_id="refund-1") as run:
        call = run.tool_call("search_orders", {"order": 17})
        run.observation({"status": "paid"}, call_id=call, ok=True)
        run.finish(success=True, cost=0.02)
"""
TOUR_DONE: Final = "tour_done"
STEP: Final = "tour_step"
GUIDE: Final = "guide_kept"
GUIDE_STATES: Final = ("on", "seen", "off")
"""States of the error-analysis guide: in use, in use with the matrix seen, dismissed."""
TOUR: Final = (
    ("Overview", "overview", "How often success misleads, and what to fix first."),
    ("Queue", "review", "Failing runs in order of effect. J and K move, 1 to 4 set a status."),
    ("Run", "run", "One run: its plan graph, its events, and why each sub-goal counts as it does."),
    ("Compare", "compare", "Runs of one task side by side, aligned by sub-goal."),
    ("Rankings", "rankings", "Whether outcome and sub-goals put agents in the same order."),
    ("Decisions", "decisions", "Choices linked to failure, with intervals and the runs behind them."),
    ("Annotate", "annotate", "Edit what should have happened; see at once what the edit changes."),
)


def draw() -> None:
    """What an empty workspace offers."""
    st.info("No runs yet. Upload run ledgers and plan graphs on the Data page.")
    samples, upload, record = st.columns(3)
    with samples, st.container(border=True, height="stretch"):
        st.markdown("**Try the samples**")
        st.caption("432 recorded runs of six agents at a refund desk, with a plan graph.")
        offer_samples()
    with upload, st.container(border=True, height="stretch"):
        st.markdown("**Upload traces**")
        st.caption(
            f"{len(formats())} formats of tracing tools, agents and benchmarks are recognised by content."
        )
        st.page_link("pages/data.py", label="Go to Data", icon=":material/upload_file:")
        with st.expander("Show the formats"):
            st.caption(formats_words())
    with record, st.container(border=True, height="stretch"):
        st.markdown("**Record your agent**")
        st.caption("Write a ledger as it runs, then upload the file.")
        with st.expander("Show the code"):
            st.code(RECORDED, language="python")


@panel
def offer_samples() -> None:
    """A button that adds the sample runs to the workspace."""
    if not roles.offered("owner", "add the samples"):
        return
    if st.button("Add the samples", key="add_samples", type="primary"):
        with st.spinner("Adding the samples and evaluating their runs …"):
            for part in OFFERED:
                Workspace.open_folder(state.SAMPLES / part, at=state.workspace().path).close()
        st.rerun()


def formats_words() -> str:
    """Which formats an upload can have."""
    return f"Recognised by content: {text.label(', '.join(one.name for one in formats()), 600)}."


@panel
def offer_tour() -> None:
    """The offer of a tour of seven pages, until it was taken or dismissed."""
    if tour_is_over() or st.session_state.get(STEP):
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="tour"):
        st.caption("New here? A tour of seven pages takes two minutes.", width="content")
        st.button("Start the tour", key="tour_start", type="tertiary", on_click=_go, args=(1,))
        _dismiss()


@panel
def tour(here: str) -> None:
    """The step that the tour is at, on every page until the tour is over; `here` is the title of this one."""
    step = int(st.session_state.get(STEP, 0))
    if tour_is_over() or not step:
        return
    title, page, words = TOUR[step - 1]
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="tour"):
        st.markdown(f"**{step} of {len(TOUR)} · {title}.** {words}", width="stretch")
        if here != title:
            st.page_link(f"pages/{page}.py", label=f"Open {title}", query_params=state.scope())
        following = "Finish" if step == len(TOUR) else f"Next: {TOUR[step][0]}"
        if st.button(following, key="tour_next", type="primary", on_click=_go, args=(step + 1,)):
            # Since the click, it is the next step.
            st.switch_page(f"pages/{page}.py", query_params=state.scope())
        _dismiss()


def _dismiss() -> None:
    st.button("Dismiss", key="tour_skip", type="tertiary", on_click=_go, args=(len(TOUR) + 1,))


def tour_is_over() -> bool:
    """Whether the tour was taken or dismissed."""
    return bool(st.session_state.get(TOUR_DONE))


def end_tour() -> None:
    """Do not offer the tour again."""
    st.session_state[TOUR_DONE] = True


def guide() -> str | None:
    """Whether the round of error analysis is followed (`GUIDE_STATES`); ``None`` before anybody chose."""
    found = st.session_state.get(GUIDE)
    return found if found in GUIDE_STATES else None


def keep_guide(chosen: str) -> None:
    """Follow the round of error analysis, or no longer; the browser remembers it."""
    st.session_state[GUIDE] = chosen


def _go(step: int) -> None:
    st.session_state[STEP] = step
    if step > len(TOUR):
        end_tour()
