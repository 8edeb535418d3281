"""Plan changes to fix first, on the Overview: options that succeeded more often, not taken by failed runs."""

from __future__ import annotations

import streamlit as st

from components.shared import state, text
from components.shared.panels import panel
from untaken.answers.first_page import ShownWay, plan_changes_to_fix
from untaken.present.numbers import counted, interval, signed


@panel
def draw() -> None:
    """The first few of them, with the runs behind each; nothing where no run has plan decisions."""
    found = state.derived(plan_changes_to_fix)
    if not found.decided:
        return
    st.markdown("↪ **Plan changes** where runs of the same task that went another way succeeded more often")
    if not found.count:
        st.caption("No other option is supported for a failed run. Decisions says how much data that takes.")
        st.page_link("pages/decisions.py", label="Statements on the Decisions page")
        return
    st.caption(
        "Gain in success, by association, over all runs with plan decisions. Each failed run counts in one "
        "of these. Success is another unit than above, and a failure may be in both lists."
    )
    for way in found.ways:
        _way(way)
    left = found.count - len(found.ways)
    more = f" · {left:,} more" if left else ""
    st.page_link("pages/decisions.py", label=f"All statements on the Decisions page{more}")


def _way(way: ShownWay) -> None:
    with st.container(border=True, gap="xsmall"):
        st.text(text.one_line(way.words, 700))
        st.caption(
            f"Gain {signed(way.gain, 3)} ({interval(way.low, way.high, digits=3)}): "
            f"{counted(way.often.count, 'failed run')} of {way.often.n:,} took the other way."
        )
        with st.container(horizontal=True, gap="medium"):
            for run in way.runs:
                repeat = "" if run.task_repeat is None else f" · repeat {run.task_repeat}"
                st.page_link(
                    state.RUN_PAGE,
                    label=f"✗ {text.label(run.agent, 30)} on {text.label(run.task_id, 40)}{repeat}",
                    query_params={"run": run.digest, "change": str(run.seq)} | state.scope(),
                )
