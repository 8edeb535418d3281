"""Filters over a table's columns; what is chosen is in the address."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from components.shared import options, text


def by_value(frame: pd.DataFrame, columns: Mapping[str, str], *, key: str) -> pd.DataFrame:
    """The rows whose values are among those chosen, one widget a column; nothing chosen keeps every row.

    Args:
        frame: what to choose from.
        columns: column name → its words on screen (ours, not a ledger's).
        key: unique on the page.
    """
    kept = frame
    for place, (name, words) in zip(st.columns(len(columns)), columns.items(), strict=True):
        offered = sorted(frame[name].dropna().unique().tolist())
        st.session_state[f"{key}-{name}"] = options.asked(name, offered)
        with place:
            chosen = st.multiselect(
                words,
                offered,
                format_func=lambda value: text.one_line(value, 60),
                key=f"{key}-{name}",
                on_change=options.changed,
                args=(name, f"{key}-{name}"),
                placeholder="All",
            )
        if chosen:
            kept = kept[kept[name].isin(chosen)]
    return kept
