"""What reviewers save: verdicts and notes go to the run's ledger, status, assignee and tags to the workspace.

Each function is called by a widget, before the page is drawn again; what came of it is said by `say`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import streamlit as st

from components import text
from untaken.errors import UntakenError
from untaken.ledger import Draft, Event, ReviewNote, Run, Verdict
from untaken.store import Workspace
from untaken.store.reviews import Review, ReviewConflict

TOLD: Final = "review_told"
MOST_TOLD: Final = 3


def save_verdict(
    store: Workspace, run: Run, sub_goal: str, passed: bool | None, *, author: str, reason: str
) -> None:
    """Append the reviewer's word on a sub-goal; `reason` names the field it is written in."""
    words = _take(reason)
    fields = {"sub_goal": sub_goal, "passed": passed, "by": author, "reason": words or None}
    if not _append(store, run, Verdict, fields):
        st.session_state[reason] = words


def save_note(store: Workspace, run: Run, *, author: str, field: str) -> None:
    """Append a note; `field` names the field it is written in."""
    words = _take(field)
    if words and not _append(store, run, ReviewNote, {"author": author, "text": words}):
        st.session_state[field] = words


def save_review(store: Workspace, seen: Sequence[Review], *, author: str, **what: Any) -> None:
    """Change where reviews stand, as `Reviews.change` does."""
    try:
        answers = store.reviews.change(seen, author=author, **what)
    except UntakenError as error:
        _tell(f"{error.message}. {error.hint}")
        return
    refused = [answer for answer in answers if isinstance(answer, ReviewConflict)]
    for answer in refused[:MOST_TOLD]:
        _tell(
            f"Not saved: {answer.now.updated_by} changed the review of {answer.now.run_id} meanwhile. It is "
            f"{answer.now.status} now; look at it and save again."
        )
    if len(refused) > MOST_TOLD:
        _tell(f"and {len(refused) - MOST_TOLD} more that others changed meanwhile")


def say() -> None:
    """Show what could not be saved, once."""
    for words in st.session_state.pop(TOLD, ()):
        st.warning(text.label(words, 400), icon=":material/sync_problem:")


def _append(store: Workspace, run: Run, event: type[Event], fields: dict[str, Any]) -> bool:
    try:
        store.append_events(run, [Draft(event, fields)])
    except UntakenError as error:
        _tell(f"Not saved: {error.message}. {error.hint}")
        return False
    except OSError as error:
        _tell(
            f"Not saved: the disk answers “{error.strerror or error}”. Nothing of it is lost or half-written."
        )
        return False
    return True


def _take(field: str) -> str:
    words = str(st.session_state.get(field, "")).strip()
    st.session_state[field] = ""
    return words


def _tell(words: str) -> None:
    st.session_state.setdefault(TOLD, []).append(words)
