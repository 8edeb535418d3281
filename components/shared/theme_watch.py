"""Draws a page again when the browser changes between light and dark: figures are coloured on the server."""

from __future__ import annotations

from typing import Final

import streamlit as st

WATCHER: Final = """
const seen = new WeakMap();

export default function ({ parentElement, setTriggerValue }) {
  const now = getComputedStyle(parentElement.host ?? parentElement).getPropertyValue("--st-background-color");
  const before = seen.get(parentElement);
  seen.set(parentElement, now);
  if (before !== undefined && before !== now) setTriggerValue("changed", now);
}
"""

_watch = st.components.v2.component("untaken_theme", js=WATCHER)


def watch_theme() -> None:
    """Run the page again after a change of theme; the first theme of a session causes nothing."""
    with st.container(key="theme-watch", height=1, border=False):
        _watch(key="theme", on_changed_change=lambda: None)
