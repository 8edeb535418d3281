"""What was measured with the sample runs: ablations beside the published figures."""

from __future__ import annotations

from functools import partial

import streamlit as st

from components import figures
from components.shared import tables, text
from components.shared.panels import panel
from components.what_if_not import planned
from untaken.answers import ablation_table
from untaken.crafter.ablation import Ablation, remarks

POINTS = st.column_config.NumberColumn(format="%.1f")


@panel
def ablations(*, dark: bool) -> None:
    """What the ablations say, beside the published figures."""
    found = planned.ablations()
    if not found:
        return
    st.subheader("Ablation", anchor=False)
    name = st.segmented_control(
        "Measured in", list(found), default=next(iter(found)), required=True, key="ablation"
    )
    shown = found[str(name)]
    st.caption(
        "Measured on the sample runs: Algorithm 1 with parts removed, all arms in the same worlds. "
        + ("Runs with a task end when they reach it, so compare success rates." if shown.setup.task else "")
    )
    drawn = partial(figures.ablation_figure, shown, dark=dark)
    tables.figure(drawn, key="ablation-figure", name="Algorithm 1 with parts removed", of=(str(name),))
    _ablation_rows(shown)
    for remark in remarks(shown):
        st.caption(text.label(remark, 600))


def _ablation_rows(found: Ablation) -> None:
    shares = ("asked_again", "success_difference", "success_low", "success_high")
    numbers = ("score", "score_low", "score_high", "difference", "low", "high", "published", "published_sd")
    numbers += ("achievements", "more_achievements", "more_low", "more_high", "published_difference")
    tables.table(
        ablation_table(found),
        key="ablation-table",
        name="Ablation beside the published table",
        columns=dict.fromkeys(numbers, POINTS)
        | dict.fromkeys(shares, tables.PERCENT)
        | {"more_p_holm": tables.P_VALUE},
    )
