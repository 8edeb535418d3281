"""What reviewers save: verdicts and notes go to the run's ledger, status, assignee and tags to the workspace.

Each function is called by a widget, before the page is drawn again; `show_messages` shows the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import streamlit as st

from components.shared import drafts, text
from components.shared.panels import panel
from untaken.errors import UntakenError
from untaken.ledger import Draft, Run, Verdict
from untaken.store import Workspace
from untaken.store.reviews import Review, ReviewConflict

MESSAGES: Final = "review_told"
MOST_MESSAGES: Final = 3
VERDICTS: Final = {True: "met", False: "not met", None: "cannot tell"}


def save_verdict(
    store: Workspace, run: Run, sub_goal: str, passed: bool | None, *, why: drafts.DraftField
) -> None:
    """Append the reviewer's verdict on a sub-goal; `why` is the field that holds its reason."""
    words = drafts.typed(why)
    fields = {"sub_goal": sub_goal, "passed": passed, "by": why.author, "reason": words or None}
    if append(store, run, [Draft(Verdict, fields)]):
        drafts.forget(why)
        st.toast(f"Verdict saved: {VERDICTS[passed]}. Press W to withdraw it.", icon=":material/gavel:")


def withdraw_verdict(store: Workspace, run: Run, sub_goal: str, *, author: str) -> None:
    """Append that the reviewer takes their verdict on a sub-goal back; what was said stays in the ledger."""
    fields = {"sub_goal": sub_goal, "passed": None, "by": author, "withdrawn": True}
    if append(store, run, [Draft(Verdict, fields)]):
        st.toast("Verdict withdrawn. The history keeps it.", icon=":material/undo:")


def save_review(store: Workspace, seen: Sequence[Review], *, author: str, **what: Any) -> None:
    """Change reviews, as `Reviews.change` does."""
    try:
        answers = store.reviews.change(seen, author=author, **what)
    except UntakenError as error:
        add_message(f"{error.message}. {error.hint}")
        return
    refused = [answer for answer in answers if isinstance(answer, ReviewConflict)]
    for answer in refused[:MOST_MESSAGES]:
        add_message(
            f"Not saved: {answer.now.updated_by} changed the review of {answer.now.run_id} in the "
            "meantime. It is "
            f"{answer.now.status} now. Check it and save again."
        )
    if len(refused) > MOST_MESSAGES:
        add_message(f"and {len(refused) - MOST_MESSAGES} more that others changed in the meantime")


@panel
def show_messages() -> None:
    """Show what could not be saved, once."""
    for words in st.session_state.pop(MESSAGES, ()):
        st.warning(text.label(words, 400), icon=":material/sync_problem:")


def append(store: Workspace, run: Run, events: Sequence[Draft]) -> bool:
    """Append events to the run's ledger, or say why not."""
    try:
        store.append_events(run, events)
    except UntakenError as error:
        add_message(f"Not saved: {error.message}. {error.hint}")
        return False
    except OSError as error:
        add_message(f"Not saved, disk error: “{error.strerror or error}”. No data is lost.")
        return False
    return True


def add_message(words: str) -> None:
    """Have words said when the page is drawn again."""
    st.session_state.setdefault(MESSAGES, []).append(words)
