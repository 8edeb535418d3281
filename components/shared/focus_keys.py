"""Keys that put the cursor into a field: nothing is sent to the server, so nothing that is typed is lost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import streamlit as st

from components.shared.panels import panel

LISTENER: Final = """
const TYPING = "input, textarea, select, [contenteditable=true], [role=combobox], [role=gridcell]";

export default function ({ data }) {
  const pressed = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const typing = event.composedPath().some((one) => one instanceof Element && one.matches(TYPING));
    if (typing || document.querySelector("[role=dialog]")) return;
    const container = data.fields[event.key.toUpperCase()];
    const field = container && document.querySelector(
      `.st-key-${container} :is(textarea, input):not([disabled])`);
    if (!field) return;
    event.preventDefault();
    field.scrollIntoView({ block: "nearest" });
    field.focus();
  };
  document.addEventListener("keydown", pressed);
  return () => document.removeEventListener("keydown", pressed);
}
"""

_listen = st.components.v2.component("untaken_focus_keys", js=LISTENER)


@panel
def focus_keys(fields: Mapping[str, str]) -> None:
    """Listen for keys, each of which goes to the field in a container.

    Args:
        fields: key of the container by key of the keyboard, in upper case; ours, not a ledger's.
    """
    with st.container(key="focus-keys", height=1, border=False):
        _listen(key="focus-keys-listener", data={"fields": dict(fields)})
