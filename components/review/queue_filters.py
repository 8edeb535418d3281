"""Filters of the Queue page; they are part of the address, so that it can be shared."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.shared import state, text
from components.shared.panels import panel
from untaken.views import META

KEPT: Final = "review_filters"
FIRST: Final = ("status", "assignee", "tag", "agent", "task", "kind")
"""Fields that come first; the others follow where there is something to choose between."""
PLAIN: Final = re.compile(r"(?=.{1,40}$)[A-Za-z0-9]+([_ ][A-Za-z0-9]+)*")
"""Keys without anything to escape: a screen reader would read the backslash aloud."""


def remember(offered: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The filters of the address, or those of the session where a navigation click cleared them."""
    asked = {field: st.query_params.get_all(field) for field in offered if field in st.query_params}
    filters = asked or st.session_state.get(KEPT, {})
    _choose({field: values for field, values in filters.items() if field in offered})
    return dict(st.session_state[KEPT])


def fold(filters: Mapping[str, Sequence[str]]) -> DeltaGenerator:
    """What the order and the filters are drawn in; it says how many filters are in force."""
    used = sum(bool(values) for values in filters.values())
    words = f"Order and filters ({used} active)" if used else "Order and filters"
    return st.popover(words, icon=":material/filter_list:")


@panel
def draw(offered: Mapping[str, Sequence[str]], filters: Mapping[str, Sequence[str]]) -> None:
    """One widget a field."""
    first = [field for field in FIRST if field in offered]
    # A further field only where it has anything to choose between.
    useful = [f for f, some in offered.items() if f not in FIRST and (len(some) > 1 or filters.get(f))]
    recorded = [field for field in useful if field.startswith(META)]
    for field in (*first, *(field for field in useful if field not in recorded)):
        _widget(field, offered[field], filters.get(field, ()))
    if recorded:
        st.caption("Metadata of the runs (from RUN\\_STARTED):")
    for field in recorded:
        _widget(field, offered[field], filters.get(field, ()))
    if any(filters.values()):
        st.button("Clear all filters", key="filters-clear", type="tertiary", on_click=_choose, args=({},))


def _widget(field: str, values: Sequence[str], chosen: Sequence[str]) -> None:
    key = f"filter-{field.encode().hex()[:60]}"  # a metadata key may hold anything
    st.session_state[key] = list(chosen)
    st.multiselect(
        _words(field),
        options=list(dict.fromkeys([*values, *chosen])),  # what no longer occurs can still be taken out
        format_func=lambda value: text.one_line(value, 60),
        key=key,
        placeholder="All",
        on_change=lambda: _changed(field, key),
    )


def _words(field: str) -> str:
    if not field.startswith(META):
        return field.capitalize()
    key = field.removeprefix(META)
    return key if PLAIN.fullmatch(key) else text.label(key, 40)


def _changed(field: str, key: str) -> None:
    _choose({**st.session_state.get(KEPT, {}), field: list(st.session_state[key])})


def _choose(filters: Mapping[str, Sequence[str]]) -> None:
    chosen = {field: list(values) for field, values in filters.items() if values}
    for field in {**st.session_state.get(KEPT, {}), **chosen}:  # those that are gone leave the address
        state.write_address(field, chosen.get(field, ()))
    st.session_state[KEPT] = chosen
