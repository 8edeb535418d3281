"""Who may do what: the roles that a workspace gives to those who sign in."""

from __future__ import annotations

from functools import lru_cache

import streamlit as st

from components.shared import private_session, reviewer, state
from untaken.app_folder import is_loopback
from untaken.errors import UntakenError
from untaken.workspace import ROLES, Role, Roles, read_settings, settings_digest


def role(*, shared: bool = False) -> Role:
    """What this visitor is in the workspace in view, or in the one that all share."""
    folder = str(state.shared_workspace().path)
    roles = _roles(folder, settings_digest(folder))
    # A workspace without roles is everybody's, and a private area is its visitor's.
    if roles is None or (private_session.area() is not None and not shared):
        return "owner"
    # Without sign-in nobody has a role; who runs the app for this machine alone owns it.
    if not reviewer.sign_in() and is_loopback(str(st.get_option("server.address"))):
        return "owner"
    return roles.of(reviewer.email())


def may(needed: Role, *, shared: bool = False) -> bool:
    """Whether the visitor has this role, or one that may do more."""
    return ROLES.index(role(shared=shared)) >= ROLES.index(needed)


def need(needed: Role, *, shared: bool = False) -> None:
    """To be called before anything is written.

    Raises:
        UntakenError: ``role-missing``.
    """
    if not may(needed, shared=shared):
        raise UntakenError(
            "role-missing",
            f"this needs the role {needed}, and you are a {role(shared=shared)} of this workspace",
            hint="Ask an owner of the workspace to do it, or to give you the role.",
        )


def offered(needed: Role, what: str) -> bool:
    """Whether to draw what lets the visitor do something; where not, who may is said in its place."""
    found = may(needed)
    if not found:
        who = "owners" if needed == "owner" else "reviewers and owners"
        st.caption(f":material/lock: Only {who} of this workspace can {what}. You are a {role()}.")
    return found


@lru_cache(maxsize=4)
def _roles(folder: str, _digest: str) -> Roles | None:
    return read_settings(folder).roles
