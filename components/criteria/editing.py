"""Editing the criteria of a workspace: accept, reject, reword, write, undo; upload files."""

from __future__ import annotations

from functools import partial
from hashlib import sha256
from typing import Any, Final

import streamlit as st

from components.shared import cards, drafts, exports, reviewer, roles, state, tables, text
from components.shared.panels import panel
from components.shared.spooling import opened
from untaken.errors import UntakenError
from untaken.judging import (
    BY,
    CRITERIA,
    REPLIES,
    CriteriaSet,
    Criterion,
    change_criteria,
    criteria_bytes,
    editing,
    forget_replies,
    take_in_criteria,
)

STATUS: Final = {"accepted": "✓ accepted", "proposed": "? proposed", "rejected": "✗ rejected"}
STEPS: Final = {"accept": "Accept", "reject": "Reject", "take_back": "Undo last change"}
DONE: Final = "criteria_done"
UPLOADED: Final = "criteria_uploaded"


def short(name: str) -> str:
    """A criterion's name as part of a widget's key: no words of a file."""
    return sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def author() -> str:
    """Who makes the changes, as they are signed."""
    return reviewer.author() or "human:reviewer"  # the engine wants an author: nobody has given a name


def _changed(edit: editing.Edit, message: str) -> bool:
    """Make the change, and keep its message."""
    try:
        roles.need("owner")
        change_criteria(state.workspace().path, edit)
    except UntakenError as error:
        st.session_state[DONE] = f"✗ Nothing was changed: {error.message}. {error.hint}"
        return False
    st.session_state[DONE] = f"✓ {message}"
    return True


def _signed(why: str) -> dict[str, Any]:
    return {"by": author(), "at": editing.now(), "why": why}


def decide(criterion: Criterion) -> None:
    """Accept it, reject it, or take the last change back; with who and why."""
    name, why = criterion.name, drafts.DraftField(name="criterion_why", about=(criterion.name,))
    who, reason = st.columns([1, 2])
    with who:
        reviewer.ask_reviewer()
    with reason:
        drafts.text_input("Why", why, max_chars=500, placeholder="Kept in the history.")
    steps = {
        "accept": (criterion.status != "accepted", editing.accept, f"{name} is accepted."),
        "reject": (criterion.status != "rejected", editing.reject, f"{name} is rejected."),
        "take_back": (
            any(change.before for change in editing.changes_in_force(criterion)),
            editing.take_back,
            f"Undid the last change to {name}.",
        ),
    }
    with st.container(horizontal=True):
        for step, (possible, edit, message) in steps.items():
            if st.button(STEPS[step], key=f"criterion_{step}", disabled=not possible):
                # Taking back may restore an earlier name: that one is shown then.
                earlier = (c.before.name for c in reversed(editing.changes_in_force(criterion)) if c.before)
                before = next(earlier) if step == "take_back" else name
                if _changed(partial(edit, name=name, **_signed(drafts.typed(why))), message):
                    drafts.forget(why)
                    state.select(criterion=before)
                st.rerun()


def reword(criterion: Criterion) -> None:
    """Other words, other values, another order; not for what is computed from the ledger."""
    if criterion.origin == BY:
        st.caption("Computed from the ledger, so its wording and values are fixed.")
        return
    with st.expander("Edit wording or order of values"):
        places = _places("edit", criterion)
        fields = _fields(places)
        if st.button("Save", key="criterion_save"):
            if _save(criterion, fields):
                _forget(places)
            st.rerun()


@panel
def write_new() -> None:
    """A criterion of one's own."""
    with st.expander("Write a criterion"):
        places = _places("write", None)
        fields = _fields(places)
        if st.button("Add", key="criterion_add"):
            written = partial(
                editing.write,
                name=fields["name"],
                description=fields["description"],
                accepted_values=fields["values"].splitlines(),
                **_signed(fields["why"]),
            )
            if _changed(written, f"{fields['name'].strip()} added."):
                _forget(places)
            st.rerun()


def _places(which: str, criterion: Criterion | None) -> dict[str, drafts.DraftField]:
    """The fields of a criterion, each keyed by the criterion."""
    defaults = {
        "name": criterion.name if criterion else "",
        "description": criterion.description if criterion else "",
        "values": "\n".join(criterion.accepted_values) if criterion else "",
        "why": "",
    }
    about = (criterion.name,) if criterion else ()
    return {
        field: drafts.DraftField(name=f"{which}_{field}", about=about, default=default)
        for field, default in defaults.items()
    }


def _fields(places: dict[str, drafts.DraftField]) -> dict[str, str]:
    return {
        "name": drafts.text_input("Name", places["name"], max_chars=200),
        "description": drafts.text_area("What it looks at", places["description"], height=80),
        "values": drafts.text_area("Accepted values, one per line, worst first", places["values"]),
        "why": drafts.text_input("Why", places["why"], max_chars=500),
    }


def _forget(places: dict[str, drafts.DraftField]) -> None:
    for place in places.values():
        drafts.forget(place)


def _save(criterion: Criterion, fields: dict[str, str]) -> bool:
    reworded = partial(
        editing.edit,
        name=criterion.name,
        new_name=fields["name"],
        description=fields["description"],
        accepted_values=fields["values"].splitlines(),
        **_signed(fields["why"]),
    )
    done = _changed(reworded, f"{criterion.name} updated.")
    if done:
        state.select(criterion=" ".join(fields["name"].split()))  # as it is saved: one blank between words
    return done


@panel
def add_files(recorded: bool) -> None:
    """Upload of criteria files and recorded replies, with a result for each; download of the list."""
    # A new uploader for each turn: the files of the last one are gone from it.
    turn = st.session_state.setdefault("criteria_turn", 0)
    files = st.file_uploader(
        f"Criteria files (NAME{CRITERIA[1]}, {CRITERIA[0]}), recorded replies (NAME{text.label(REPLIES)})",
        accept_multiple_files=True,
        key=f"criteria-upload-{turn}",
        help="Several files at once, AgentEval files included. Replies need the criteria file of the same "
        "name. Replies whose name begins with people are people's values, compared with the others.",
    )
    cards.shared_with_everybody()
    with st.container(horizontal=True):
        if st.button("Add files", type="primary", disabled=not files, key="criteria_add"):
            roles.need("owner")
            folder = state.workspace().path
            st.session_state[UPLOADED] = take_in_criteria(folder, [(f.name, opened(f).read()) for f in files])
            st.session_state["criteria_turn"] = turn + 1
            st.rerun()
        if recorded and st.button("Remove the recorded replies", key="criteria_forget"):
            roles.need("owner")
            passes = forget_replies(state.workspace().path)
            st.session_state[DONE] = f"✓ {passes} passes of recorded replies removed. The criteria are kept."
            st.session_state[UPLOADED] = ()
            st.rerun()
    if findings := st.session_state.get(UPLOADED):
        shown = exports.findings_table(findings).loc[:, ["severity", "file", "message", "hint", "code"]]
        tables.table(shown, key="added_files", name="Criteria files added")


def take_along(criteria: CriteriaSet) -> None:
    """The list as a criteria file."""
    tables.download(
        lambda: criteria_bytes(criteria),
        label="Criteria with history (JSON)",
        file="workspace.criteria.json",
        key="criteria-file",
    )


def history(criterion: Criterion) -> None:
    """Who did what to it, when, and why."""
    for change in reversed(criterion.history):
        why = f": {text.label(change.why, 500)}" if change.why else ""
        st.caption(
            f"{text.label(change.at, 40)} · **{text.label(change.author, 60)}** "
            f"{text.label(change.what, 200)}{why}"
        )
