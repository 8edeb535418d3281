"""Text fields that keep what is typed: for each person apart, and by what the text is about.

A field on one run is another widget than the same field on the next run, so no text can be saved on the wrong
one. What a signed reviewer types is kept in the workspace until it is saved: a second after the last key it
survives another page, a reload and a restart of the server. Without a name it lives as long as the session.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Final

import msgspec
import streamlit as st
from msgspec import Struct

from components.shared import reviewer, state, text
from untaken.errors import UntakenError
from untaken.workspace import place_of

UNSIGNED: Final = "drafts_unsigned"
"""Texts of somebody who gave no name yet, by `DraftField.about`."""
REFUSED: Final = "drafts_refused"
"""Why a text could not be kept, by widget key."""


class DraftField(Struct, frozen=True, kw_only=True):
    """One text field."""

    name: str  # such as ``note``
    about: tuple[str, ...] = ()  # the digest of a run, the id of a graph (untrusted)
    default: str = ""  # what it holds before anything is typed, such as the saved description
    author: str = msgspec.field(default_factory=lambda: reviewer.author() or "")

    @property
    def whole(self) -> tuple[str, ...]:
        """The field with what it is about."""
        return (self.name, *self.about)

    @property
    def key(self) -> str:
        """The widget's key; `frame.js` knows by it whose words to send after a pause."""
        # Lengths keep ("a", "bc") apart from ("ab", "c"); the digest keeps text of files out of the page.
        parts = "\0".join(f"{len(part)}:{part}" for part in (self.author, *self.whole))
        return f"{self.name}-draft-{sha256(parts.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"

    @property
    def place(self) -> str:
        """Where its text is kept."""
        return place_of(self.whole)


def text_area(label: str, place: DraftField, **options: Any) -> str:
    """`st.text_area` whose text is kept; `options` are passed on."""
    return _field(st.text_area, label, place, options)


def text_input(label: str, place: DraftField, **options: Any) -> str:
    """`st.text_input` whose text is kept; `options` are passed on."""
    return _field(st.text_input, label, place, options)


def typed(place: DraftField) -> str:
    """What the field holds, blanks around it removed."""
    return str(st.session_state.get(place.key, "")).strip()


def kept_places() -> frozenset[str]:
    """`place` of every field in which this reviewer has words that are not saved."""
    author = reviewer.author()
    if author is not None:
        return state.workspace().text_drafts.places(author)
    unsigned: dict[tuple[str, ...], str] = st.session_state.get(UNSIGNED, {})
    return frozenset(place_of(whole) for whole, words in unsigned.items() if words)


def forget(place: DraftField) -> None:
    """Empties the field: its text is saved now."""
    st.session_state.pop(place.key, None)
    _keep(place, "")


def _field(widget: Any, label: str, place: DraftField, options: dict[str, Any]) -> str:
    if place.key not in st.session_state:  # written only then: writing replaces what is being typed
        st.session_state[place.key] = _kept(place) or place.default
    shown = widget(label, key=place.key, on_change=_changed, args=(place,), **options)
    if words := st.session_state.get(REFUSED, {}).get(place.key):
        st.caption(f"Not kept as a draft: {text.label(words, 300)}")
    return str(shown)


def _changed(place: DraftField) -> None:
    now = str(st.session_state.get(place.key, ""))  # a save by the same click has emptied it
    _keep(place, "" if now == place.default else now)


def _kept(place: DraftField) -> str:
    unsigned: dict[tuple[str, ...], str] = st.session_state.get(UNSIGNED, {})
    if not place.author:
        return unsigned.get(place.whole, "")
    found = state.workspace().text_drafts.find(place.author, place.whole)
    if not found and (found := unsigned.pop(place.whole, "")):  # typed before the name was given
        _keep(place, found)
    return found


def _keep(place: DraftField, words: str) -> None:
    refused: dict[str, str] = st.session_state.setdefault(REFUSED, {})
    refused.pop(place.key, None)
    if not place.author:
        st.session_state.setdefault(UNSIGNED, {})[place.whole] = words
        return
    try:
        with state.frame():  # widgets are answered before the frame of the page is drawn
            state.workspace().text_drafts.keep(place.author, place.whole, words)
    except UntakenError as error:
        refused[place.key] = f"{error.message}. {error.hint}"
