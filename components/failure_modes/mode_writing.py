"""What reviewers save of notes and failure modes: to the run's ledger, and new modes to the taxonomy.

Each function is called by a widget, before the page is drawn again; what came of it is said by
`review.writing.show_messages`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from components.criteria.proposing import REPLIES
from components.review import writing
from components.shared import drafts
from untaken.asking import ModelAccess, ReplyStore
from untaken.errors import Unscored, UntakenError
from untaken.failure_modes import (
    AssignmentStatus,
    Note,
    Place,
    TaxonomyEdit,
    assignment_draft,
    change_taxonomy,
    create_mode,
    filed_texts,
    find_mode,
    kept_taxonomy,
    note_draft,
    withdrawal_draft,
)
from untaken.failure_modes.editing import one_line
from untaken.failure_modes.files import plain_name
from untaken.failure_modes.model_suggesting import model_suggestions, suggestion_drafts
from untaken.ledger import Run
from untaken.store import Workspace

MOST_REQUESTS: Final = 4
"""Requests for one note: an answer in the wrong form is asked for again."""


def save_note(store: Workspace, run: Run, field: drafts.DraftField, place: Place) -> None:
    """Append the note that a field holds; what is empty is not saved."""
    words = drafts.typed(field)
    if words and writing.append(store, run, [note_draft(words, author=field.author, place=place)]):
        drafts.forget(field)


def withdraw_note(store: Workspace, run: Run, seq: int, author: str) -> None:
    """Take back one's own note."""
    writing.append(store, run, [withdrawal_draft(run, seq, author=author)])


def ask_model(store: Workspace, runs: Sequence[Run], run: Run, note: Note, name: str) -> None:
    """Ask a language model what a note may mean, and append its suggestion, or say why there is none."""
    taxonomy = kept_taxonomy(store.path)
    try:
        with ModelAccess(name, ReplyStore(store.path / REPLIES), budget=MOST_REQUESTS) as model:
            found = model_suggestions([note], taxonomy, filed_texts(runs, taxonomy), model)
    except UntakenError as error:
        writing.add_message(f"Not asked: {error.message}. {error.hint}")
        return
    drafts = suggestion_drafts(run, found)
    if drafts:
        writing.append(store, run, drafts)
    elif not found:
        writing.add_message("No failure modes yet. Create one first.")
    else:
        why = found[0].mode
        writing.add_message(
            f"No suggestion: {why.reason if isinstance(why, Unscored) else 'none of the modes fits'}."
        )


def assign(
    store: Workspace,
    run: Run,
    mode: str,
    *,
    by: str,
    place: Place,
    status: AssignmentStatus = "accepted",
    note: int | None = None,
) -> None:
    """Append the reviewer's word on a mode."""
    writing.append(store, run, [assignment_draft(mode, by=by, place=place, status=status, note=note)])


def pick(store: Workspace, run: Run, key: str, *, by: str, place: Place, note: int | None = None) -> None:
    """Assign the mode that the field `key` holds, and empty the field."""
    chosen = st.session_state.get(key)
    st.session_state[key] = None
    if chosen:
        assign(store, run, str(chosen), by=by, place=place, note=note)


def create(store: Workspace, run: Run, key: str, *, by: str, place: Place, note: int | None = None) -> None:
    """Create the mode whose name the field `key` holds, and assign it; one of that name is taken as it is."""
    name = one_line(str(st.session_state.get(key, "")))
    if not name:
        return
    active = {plain_name(mode.name) for mode in kept_taxonomy(store.path).active}
    if plain_name(name) in active or change(store, lambda known: create_mode(known, name, by=by)[0]):
        mode = find_mode(kept_taxonomy(store.path), name)
        st.session_state[key] = ""
        assign(store, run, mode.id, by=by, place=place, note=note)


def change(store: Workspace, edit: TaxonomyEdit) -> bool:
    """Change the taxonomy, or say why not."""
    try:
        change_taxonomy(store.path, edit)
    except UntakenError as error:
        writing.add_message(f"Not saved: {error.message}. {error.hint}")
        return False
    except OSError as error:
        writing.add_message(f"Not saved, disk error: “{error.strerror or error}”.")
        return False
    return True
