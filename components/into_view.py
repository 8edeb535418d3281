"""Scrolls the page to what a click has opened further down."""

from __future__ import annotations

from typing import Final

import streamlit as st

SCROLLER: Final = """
const seen = new WeakMap();

export default function ({ parentElement, data }) {
  const before = seen.get(parentElement);
  seen.set(parentElement, data.what);
  if (before === undefined || before === data.what || !data.what) return;
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const show = () => document.querySelector(`.st-key-${data.key}`)
    ?.scrollIntoView({ block: "nearest", behavior: calm ? "auto" : "smooth" });
  setTimeout(show, 150);  // once the rest of the page stands
}
"""

_scroll = st.components.v2.component("untaken_into_view", js=SCROLLER)


def into_view(key: str, what: str | None) -> None:
    """Bring a container into view when what it shows changes; what a page opens with stays where it is.

    Args:
        key: of the container; ours, not a ledger's.
        what: names what it shows now; ``None`` for nothing.
    """
    with st.container(key=f"into-view-{key}", height=1, border=False):
        _scroll(key=f"scroll-to-{key}", data={"key": key, "what": what or ""})
