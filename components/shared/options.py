"""Choices on a page that decide what it shows, and are in its address: filters, groups, what is left out.

A click in the navigation clears the address: the session keeps them for each page, and writes them back.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

import streamlit as st

from components.shared import cards, state
from components.shared.panels import panel

NAMES: Final = (
    *("fix_agent", "fix_by", "missed"),
    *("task_id", "selected", "alternative", "choice_support", "verdict", "measure", "every_path"),
    *("labels", "values", "disturbance", "tab"),
    *("versions_by", "first", "second"),
)
"""What of an address these are, beside the filters of Review and `agent`, which is one of Decisions, too."""
KEPT: Final = "options_of_pages"
ON: Final = "1"


def asked(name: str, offered: Collection[str]) -> list[str]:
    """The values of an option that are offered: of the address, else those kept for this page."""
    kept = _kept()
    if name in st.query_params:
        kept[name] = st.query_params.get_all(name)
    state.write_address(name, kept.get(name, ()))
    return [value for value in kept.get(name, ()) if value in offered]


def one(name: str, offered: Collection[str]) -> str | None:
    """The value of an option with one value at most."""
    return next(iter(asked(name, offered)), None)


def keep(name: str, values: Sequence[str]) -> None:
    """Choose values of an option; none for what is usual."""
    _kept()[name] = list(values)
    state.write_address(name, values)


def changed(name: str, key: str) -> None:
    """Choose what a widget holds now: some values, one, none, or whether it is on."""
    value = st.session_state[key]
    if isinstance(value, bool):
        keep(name, [ON] if value else [])
    elif isinstance(value, list):
        keep(name, value)
    else:
        keep(name, [] if value is None else [str(value)])


def pick(
    label: str, name: str, words: Mapping[str, str], usual: str | None, *, key: str, **more: Any
) -> str | None:
    """A widget that chooses one value of an option; until somebody does, the usual one. As `cards.picker`."""
    now = one(name, words) or usual
    return cards.picker(label, words, now, lambda _: changed(name, key), key=key, **more)


@panel
def tabs(key: str, views: Mapping[str, Callable[[], object]]) -> None:
    """Tabs of which the open one alone is drawn; which one it is, is in the address."""
    # Other views are offered now, and what was open is none of them.
    if st.session_state.get(key) not in views:
        st.session_state.pop(key, None)
    open_tab(key, list(views))
    places = st.tabs(list(views), key=key, on_change="rerun")
    for place, draw in zip(places, views.values(), strict=True):
        if place.open:
            with place:
                draw()


def open_tab(key: str, offered: Sequence[str]) -> None:
    """Open the tab that the address names, before these tabs are drawn; write down which is open."""
    asked_for = one("tab", offered)
    if asked_for and st.session_state.get(key) not in offered:
        st.session_state[key] = asked_for
    now = st.session_state.get(key)
    keep("tab", [] if now is None or now == offered[0] else [now])


def _kept() -> dict[str, list[str]]:
    pages: dict[str, dict[str, list[str]]] = st.session_state.setdefault(KEPT, {})
    return pages.setdefault(str(st.session_state.get(state.PAGE)), {})
