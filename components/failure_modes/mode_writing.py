"""What reviewers save of notes and failure modes: to the run's ledger, and new modes to the taxonomy.

Each function is called by a widget, before the page is drawn again; what came of it is said by
`review.writing.show_messages`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from components.criteria.proposing import REPLIES
from components.review import writing
from components.shared import drafts, roles
from untaken import limits
from untaken.analysis import (
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
    model_suggestions,
    note_draft,
    one_line,
    plain_name,
    suggestion_drafts,
    withdrawal_draft,
)
from untaken.errors import Unscored, UntakenError
from untaken.judging import ModelAccess, ReplyStore
from untaken.ledger import Draft, Head, Run
from untaken.workspace import Workspace

MOST_REQUESTS: Final = 4
"""Requests for one note: an answer in the wrong form is asked for again."""


def save_note(store: Workspace, run: Run, field: drafts.DraftField, place: Place, *, author: str) -> None:
    """Append the note that a field holds; what is empty is not saved."""
    words = drafts.typed(field)
    end = words and writing.append(store, run, [note_draft(words, author=author, place=place)])
    if end:
        drafts.forget(field)
        writing.undoable("Note saved", lambda: _withdraw(store, run, end.events - 1, author))


def withdraw_note(store: Workspace, run: Run, note: Note, author: str) -> None:
    """Take back one's own note."""
    again = note_draft(note.text, author=author, place=note.place)
    if _withdraw(store, run, note.seq, author):
        writing.undoable("Note withdrawn", lambda: writing.append(store, run, [again]))


def _withdraw(store: Workspace, run: Run, seq: int, author: str) -> Head | None:
    # As it is now: the note may be newer than the page.
    return writing.append(store, run, [withdrawal_draft(store.run_now(run), seq, author=author)])


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

    def word(status: AssignmentStatus) -> Draft:
        return assignment_draft(mode, by=by, place=place, status=status, note=note)

    if writing.append(store, run, [word(status)]):
        opposite: AssignmentStatus = "withdrawn" if status == "accepted" else "accepted"
        words = "Failure mode assigned" if status == "accepted" else "Failure mode withdrawn"
        writing.undoable(words, lambda: writing.append(store, run, [word(opposite)]))


def assign_named(store: Workspace, run: Run, name: str, **about: Any) -> None:
    """Assign the mode with this id or name, or the only one with these words in its name. As `assign`.

    A name that says something else is created.
    """
    name = one_line(name)[: limits.MODE_NAME_CHARS]
    known, plain = kept_taxonomy(store.path).active, plain_name(name)
    same = [mode for mode in known if mode.id == name or plain_name(mode.name) == plain]
    found = same or [mode for mode in known if plain in plain_name(mode.name)]
    if not plain:
        return
    if len(found) > 1 and not same:  # words of several modes are no new one
        writing.add_message(f"“{name}” is in the names of {len(found)} failure modes. Choose one of them.")
    elif found or change(store, lambda taxonomy: create_mode(taxonomy, name, by=about["by"])[0]):
        mode = found[0] if found else find_mode(kept_taxonomy(store.path), name)
        assign(store, run, mode.id, **about)


def change(store: Workspace, edit: TaxonomyEdit) -> bool:
    """Change the taxonomy, or say why not."""
    try:
        roles.need("reviewer")
        change_taxonomy(store.path, edit)
    except UntakenError as error:
        writing.add_message(f"Not saved: {error.message}. {error.hint}")
        return False
    except OSError as error:
        writing.add_message(f"Not saved, disk error: “{error.strerror or error}”.")
        return False
    return True
