"""What reviewers save of notes and failure modes: to the run's ledger, and new modes to the taxonomy.

Each function is called by a widget, before the page is drawn again; what came of it is said by
`review_writing.say`.
"""

from __future__ import annotations

import streamlit as st

from components import drafts, review_writing
from untaken.errors import UntakenError
from untaken.failure_modes import (
    AssignmentStatus,
    FailureMode,
    Place,
    TaxonomyEdit,
    assignment_draft,
    change_taxonomy,
    create_mode,
    find_mode,
    kept_taxonomy,
    note_draft,
)
from untaken.ledger import Run
from untaken.store import Workspace


def save_note(store: Workspace, run: Run, field: drafts.Place, place: Place) -> None:
    """Append the note that a field holds; what is empty is not saved."""
    words = drafts.typed(field)
    if words and review_writing.append(store, run, [note_draft(words, author=field.author, place=place)]):
        drafts.forget(field)


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
    review_writing.append(store, run, [assignment_draft(mode, by=by, place=place, status=status, note=note)])


def pick(store: Workspace, run: Run, key: str, *, by: str, place: Place, note: int | None = None) -> None:
    """Assign what the field `key` holds: the id of a mode, or the name of one that is created."""
    chosen = st.session_state.get(key)
    st.session_state[key] = None
    if not chosen or not str(chosen).strip():
        return
    try:
        mode = _known(store, str(chosen)) or _created(store, str(chosen), by)
    except UntakenError as error:
        review_writing.tell(f"Not saved: {error.message}. {error.hint}")
        return
    assign(store, run, mode.id, by=by, place=place, note=note)


def change(store: Workspace, edit: TaxonomyEdit) -> bool:
    """Change the taxonomy, or say why not."""
    try:
        change_taxonomy(store.path, edit)
    except UntakenError as error:
        review_writing.tell(f"Not saved: {error.message}. {error.hint}")
        return False
    except OSError as error:
        review_writing.tell(f"Not saved, disk error: “{error.strerror or error}”.")
        return False
    return True


def _known(store: Workspace, chosen: str) -> FailureMode | None:
    taxonomy = kept_taxonomy(store.path)
    try:
        return find_mode(taxonomy, chosen)
    except UntakenError:
        return None


def _created(store: Workspace, name: str, by: str) -> FailureMode:
    """Somebody else may have created it in the meantime: then that one is meant."""
    change_taxonomy(store.path, lambda known: create_mode(known, name, by=by)[0])
    return find_mode(kept_taxonomy(store.path), name)
