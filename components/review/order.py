"""The order of the runs on the Queue page, and the random draw for unbiased labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from components.failure_modes import view
from components.review import second_reading
from components.shared import options, state
from untaken.views import Case, most_informative_first

ORDERS: Final = {"severity": "Most severe first", "teaches": "Most informative first"}
ADDRESS: Final = "order"


def ordered(cases: Sequence[Case]) -> tuple[Case, ...]:
    """The cases in the order asked for, below the control that asks."""
    # Before its widget: that shows it.
    st.session_state["review_order"] = options.one(ADDRESS, ORDERS) or "severity"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        order = st.segmented_control(
            "Order",
            list(ORDERS),
            format_func=ORDERS.__getitem__,
            required=True,
            key="review_order",
            on_change=_keep,
            help="One unread run of each way to fail, then runs where a judge and people disagree.",
        )
        drawn = st.button(
            "Random run",
            key="review-random",
            icon=":material/casino:",
            help="The next run of the random draw, successful ones included, for unbiased labels.",
        )
        second_reading.draw_one()
    if drawn and (following := view.analysis().draw.following):
        state.select(run=following)
    if order != "teaches":
        return tuple(cases)
    return most_informative_first(view.analysis(), cases)


def _keep() -> None:
    order = st.session_state["review_order"]
    options.keep(ADDRESS, [] if order == "severity" else [order])  # the usual one needs no address
