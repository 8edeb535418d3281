"""Where the runs contradict their plan graph: a typo must not read as an agent's failure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from components.shared import text
from components.shared.panels import panel
from untaken.numbers import counted
from untaken.scoring import GraphDoubt

SHOWN: Final = 3


@panel
def show(doubts: Sequence[GraphDoubt]) -> None:
    """One warning with the first few, the others folded; nothing where there are none."""
    for note in (doubt for doubt in doubts if doubt.severity == "note"):
        st.caption(text.label(f"{note.message[:1].upper()}{note.message[1:]}.", 400))
    doubts = [doubt for doubt in doubts if doubt.severity != "note"]
    if not doubts:
        return
    with st.container(border=True, gap="xsmall", key="graph-doubts"):
        count = counted(len(doubts), "finding")
        st.markdown(f":material/warning: **Check the plan graph first** · {count}")
        for doubt in doubts[:SHOWN]:
            _line(doubt)
        if doubts[SHOWN:]:
            with st.expander(f"{len(doubts) - SHOWN} more"):
                for doubt in doubts[SHOWN : 10 * SHOWN]:
                    _line(doubt)


def _line(doubt: GraphDoubt) -> None:
    st.text(text.one_line(f"{doubt.message}. {doubt.hint}", 400))
