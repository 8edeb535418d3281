"""A tab of the Rankings page: rates from a few people's labels and a judge, switched on by the reader."""

from __future__ import annotations

from functools import partial

import streamlit as st

from components import figures
from components.shared import options, state, tables, text
from components.shared.panels import panel
from untaken.answers import labelled_rates_table, rates_with_labels
from untaken.errors import Unscored
from untaken.present.numbers import counted, decimal


@panel
def section() -> None:
    """A hint where people labelled nothing, or everything, that a judge decided."""
    found = state.derived(rates_with_labels)
    whole = found.overall
    if not found.adds:
        st.info(
            f"A judge decided {whole.items:,} sub-goals, and people labelled {whole.labels:,} of them. Rates "
            "need labels on some: a random draw of at least 10, from 5 tasks; the judge counts from 30 on."
        )
        return
    share = f"{whole.labels:,} of the {whole.items:,} sub-goals that a judge decided"
    st.session_state["labels_on"] = options.one("labels", [options.ON]) is not None
    if not st.toggle(
        "Correct the judge by people's labels",
        key="labels_on",
        on_change=options.changed,
        args=("labels", "labels_on"),
        help=f"People labelled {share}.",
    ):
        st.caption(f"People labelled {share}. Off: rankings take each recorded verdict as it is.")
        return
    for finding in found.findings:
        st.warning(f"{text.label(finding.message, 300)}. {finding.hint}")
    worth = "" if isinstance(whole.worth, Unscored) else f", worth {decimal(whole.worth, 1)} times the labels"
    st.caption(
        f"Share of sub-goals met, from {share}{worth}. With fewer than 30 labels the judge does not count. "
        f"95% intervals, for tasks like these; {found.cluster}s are independent. Labels must be a random "
        "draw. The rankings stay as they are."
    )
    drawn = partial(figures.labelled_rates_figure, found, dark=state.is_dark())
    tables.figure(drawn, key="labelled", name="Rates from labels and judge")
    rates = ("value", "low", "high", "people", "people_low", "people_high", "judge")
    tables.folded_table(
        "As a table, with differences of agents and sub-goals",
        lambda: labelled_rates_table(found),
        key="labelled-rates",
        name="Rates from labels and judge",
        columns=dict.fromkeys(rates, tables.PERCENT),
        height=320,
    )
    if found.outside:
        st.caption(f"{counted(found.outside, 'label')} on sub-goals without a judge's verdict, not used.")
