"""The current reviewer: asked once per session, or known from the server's sign-in.

Sign-in is Streamlit's own (OpenID Connect). It is on where the server's ``secrets.toml`` has a section
``[auth]``; docs/cli.md says how to switch it on. Without it a name is what its bearer says it is.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final

import streamlit as st
from streamlit.errors import StreamlitAuthError

from components.shared import text
from components.shared.panels import panel
from untaken.app_folder import REQUIRED, SIGN_IN

NAME: Final = "reviewer_name"
FIELD: Final = "reviewer_field"
CHARS: Final = 100
_COMMON: Final = frozenset({
    *("redirect_uri", "cookie_secret", "client_id", "client_secret"),
    *("server_metadata_url", "client_kwargs", "expose_tokens"),
})  # fmt: skip
"""Settings of ``[auth]`` itself; a section in it is a provider."""


def reviewer() -> str | None:
    """The reviewer's name; ``None`` where it is not known yet. Untrusted words, on one line."""
    if sign_in():
        return _signed_in()
    return _plain(st.session_state.get(NAME))


def must_sign_in() -> bool:
    """Whether nothing may be shown to this visitor yet: the server is open to others, and has a sign-in."""
    return os.environ.get(SIGN_IN) == REQUIRED and _signed_in() is None


def author() -> str | None:
    """The reviewer as author of a verdict, a note or a version: ``human:NAME``."""
    name = reviewer()
    return f"human:{name}" if name else None


def email() -> str:
    """The address of who signed in; empty where the provider knows none, or has not verified it."""
    user = st.user.to_dict() if sign_in() else {}
    # A provider that says nothing of it is believed: many have verified addresses only.
    known = user.get("is_logged_in") and user.get("email_verified", True) is not False
    return str(user.get("email") or "") if known else ""


def kept_name() -> str:
    """The name for the browser to remember; empty if there is none, or the server signs people in."""
    return "" if sign_in() else str(st.session_state.get(NAME) or "")


def suggest_name(name: object) -> None:
    """A name that the browser remembers; it holds until another one is typed."""
    if isinstance(name, str) and not sign_in() and NAME not in st.session_state:
        st.session_state[NAME] = _plain(name)


@panel
def ask_reviewer() -> str | None:
    """Ask for the name, or offer to sign in, where it is not known; say it where it is. As `reviewer`."""
    known = reviewer()
    if sign_in():
        _signed_in_or_asked(known)
    else:
        st.session_state[FIELD] = known or ""  # Streamlit forgets a field that a page did not draw
        st.text_input(
            "Your name",
            key=FIELD,
            max_chars=CHARS,
            placeholder="the name that others know you by",
            help="Used on every page to sign what you save. This browser remembers it.",
            on_change=_keep,
        )
    return known


def draw_account() -> None:
    """Who is signed in, with the way out: on every page of a server that signs people in."""
    if sign_in() and (known := _signed_in()):
        with st.sidebar.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"Signed in as **{text.label(known)}**")
            st.button("Sign out", key="account_out", type="tertiary", on_click=st.logout)


def sign_in() -> Mapping[str, Any]:
    """The settings of the server's sign-in; empty if there is none."""
    found: Mapping[str, Any] = st.secrets.get("auth", {}) if st.secrets.load_if_toml_exists() else {}
    return found


def sign(name: object) -> str | None:
    """Take a name that somebody gave; what is left of it where it holds anything to be seen."""
    st.session_state[NAME] = _plain(name)
    return reviewer()


def _keep() -> None:
    sign(st.session_state[FIELD])


def _signed_in() -> str | None:
    user = st.user.to_dict()
    if not user.get("is_logged_in"):
        return None
    return next((name for key in ("name", "email", "sub") if (name := _plain(user.get(key)))), None)


def _plain(value: object) -> str | None:
    words = text.one_line(" ".join(str(value or "").split()), CHARS)
    return words or None


def _signed_in_or_asked(known: str | None) -> None:
    if known:
        st.caption(f"Signed in as **{text.label(known)}**")
        return
    providers = [
        name for name, part in sign_in().items() if isinstance(part, Mapping) and name not in _COMMON
    ]
    for provider in providers or [None]:  # none is named: `[auth]` itself is the provider
        words = f"Sign in with {text.label(provider, 40)}" if provider else "Sign in"
        back = "You return to the Overview. If you followed a link, open it again after you sign in."
        if st.button(words, key=f"reviewer_in_{provider or 'default'}", help=back):
            try:
                st.login(provider)
            except StreamlitAuthError as error:  # this server's own set-up, no visitor's words
                st.error(
                    f"Sign-in failed: {text.label(error, 300)} Ask the person who runs this server to fix it."
                )
