"""Plan changes to fix first, on the Overview: supported better ways that failed runs did not take."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.shared import state, text
from components.shared.panels import panel
from untaken.answers.plan_words import statement_words
from untaken.corpus import Corpus
from untaken.fix_first import BetterWay, better_ways
from untaken.present.numbers import counted, interval, signed

MOST: Final = 3
LINKS: Final = 3


@panel
def draw(corpus: Corpus) -> None:
    """The first few better ways, with the runs behind each; nothing where no run has plan decisions."""
    if not corpus.plans.runs:
        return
    found = state.derived(better_ways)
    st.markdown("↪ **Plan changes** where runs of the same task that went another way succeeded more often")
    if not found:
        st.caption("No better way of a failed run is supported. Decisions says how much data that takes.")
        st.page_link("pages/decisions.py", label="Statements on the Decisions page")
        return
    st.caption(
        "Gain in success, by association, over all runs with plan decisions. Each failed run counts in one "
        "of these. Success is another unit than above, and a failure may be in both lists."
    )
    for way in found[:MOST]:
        _way(corpus, way)
    more = f" · {len(found) - MOST:,} more" if len(found) > MOST else ""
    st.page_link("pages/decisions.py", label=f"All statements on the Decisions page{more}")


def _way(corpus: Corpus, way: BetterWay) -> None:
    with st.container(border=True, gap="xsmall"):
        st.text(text.one_line(statement_words(way.statement), 700))
        st.caption(
            f"Gain {signed(way.gain, 3)} ({interval(way.low, way.high, digits=3)}): "
            f"{counted(way.often.count, 'failed run')} of {way.often.n:,} took the other way."
        )
        with st.container(horizontal=True, gap="medium"):
            for digest, seq in way.runs[:LINKS]:
                run = corpus.runs[digest]
                repeat = "" if run.started.task_repeat is None else f" · repeat {run.started.task_repeat}"
                st.page_link(
                    state.RUN_PAGE,
                    label=f"✗ {text.label(run.agent, 30)} on {text.label(run.task_id, 40)}{repeat}",
                    query_params={"run": digest, "change": str(seq)} | state.scope(),
                )
