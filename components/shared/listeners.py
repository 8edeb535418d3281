"""What the browser listens for: what a click opened further down, keys for fields, a change of theme."""

from __future__ import annotations

from collections.abc import Mapping
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


LISTENER: Final = """
const TYPING = "input, textarea, select, [contenteditable=true], [role=combobox], [role=gridcell]";
const find = (container, kind) =>
  container && document.querySelector(`.st-key-${container} ${kind}:not([disabled])`);

export default function ({ data }) {
  const pressed = (event) => {
    if (document.querySelector("[role=dialog]")) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.isTrusted) {
      const field = Object.keys(data.saves).find((one) => event.target.closest?.(`.st-key-${one}`));
      const button = find(data.saves[field], "button");
      if (button) setTimeout(() => { event.target.blur(); button.click(); });  // the words are sent before
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const typing = event.composedPath().some((one) => one instanceof Element && one.matches(TYPING));
    if (typing) return;
    const key = event.key.toUpperCase();
    const field = find(data.fields[key], ":is(textarea, input)"), button = find(data.clicks[key], "button");
    if (!field && !button) return;
    event.preventDefault();
    if (button) return button.click();
    field.scrollIntoView({ block: "nearest" });
    field.focus();
  };
  document.addEventListener("keydown", pressed);
  return () => document.removeEventListener("keydown", pressed);
}
"""

_listen = st.components.v2.component("untaken_focus_keys", js=LISTENER)


@panel
def focus_keys(
    fields: Mapping[str, str],
    *,
    clicks: Mapping[str, str] | None = None,
    saves: Mapping[str, str] | None = None,
) -> None:
    """Listen for keys; none acts while a field has the focus, but Ctrl+Enter.

    Args:
        fields: by key of the keyboard, in upper case, the key of the container whose field it goes to; ours,
            not a ledger's, here and below.
        clicks: the same for buttons.
        saves: by key of the container of a field, that of the button which Ctrl+Enter in the field presses.
    """
    with st.container(key="focus-keys", height=1, border=False):
        data = {"fields": dict(fields), "clicks": dict(clicks or {}), "saves": dict(saves or {})}
        _listen(key="focus-keys-listener", data=data)


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
