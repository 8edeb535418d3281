"""Scrolls the page to what a click has opened further down."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.shared.panels import panel

SCROLLER: Final = """
const seen = new Map();

export default function ({ data }) {
  const before = seen.get(data.key);
  seen.set(data.key, data.what);
  if (before === undefined || before === data.what || !data.what) return;
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  let left = false;
  const leave = () => { left = true; };
  for (const own of ["wheel", "pointerdown", "keydown"])
    addEventListener(own, leave, { once: true, passive: true });
  const show = () => left || document.querySelector(`.st-key-${data.key}`)
    ?.scrollIntoView({ block: "nearest", behavior: calm ? "auto" : "smooth" });
  for (const wait of [150, 700, 2000, 4000]) setTimeout(show, wait);  // the rest of the page may still grow
}
"""

_scroll = st.components.v2.component("untaken_into_view", js=SCROLLER)


@panel
def into_view(key: str, what: str | None) -> None:
    """Scroll a container into view when its content changes, but not when the page opens.

    Args:
        key: of the container; ours, not a ledger's.
        what: names what it shows now; ``None`` for nothing.
    """
    with st.container(key=f"into-view-{key}", height=1, border=False):
        _scroll(key=f"scroll-to-{key}", data={"key": key, "what": what or ""})
