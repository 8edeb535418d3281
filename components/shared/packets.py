"""A finding to hand over to a coding agent: its packet as text to copy, and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from components.shared import state, tables, text
from untaken.views import PACKET_DOCUMENT, Packet, dump, packet_markdown

MOST = 50
LABEL = "Copy for a coding agent"


def control(
    make: Callable[..., Packet], items: Sequence[Any], key: str, words: Callable[[Any], str] = str
) -> None:
    """A button that opens the packet of one of these items; it is made only then."""
    with st.popover(LABEL, icon=":material/content_copy:", key=f"packet-{key}", on_change="rerun") as opened:
        if not opened.open:
            return
        item = items[0]
        if len(items) > 1:
            places = range(min(MOST, len(items)))
            named = [text.one_line(words(one), 120) for one in items[:MOST]]
            item = items[st.selectbox("Of", places, format_func=named.__getitem__, key=f"packet-of-{key}")]
        packet = make(state.corpus(), item)
        st.code(packet_markdown(packet), language="markdown", height=360, wrap_lines=True)
        tables.download(
            lambda: dump(PACKET_DOCUMENT(packet)).encode(),
            label="Packet (JSON)",
            file="packet.json",
            key=f"packet-json-{key}",
        )
