"""What reviewers save: verdicts and notes go to the run's ledger, status, assignee and tags to the workspace.

Each function is called by a widget, before the page is drawn again; `show_messages` shows the result, and
`undo_last` takes the last one back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import streamlit as st

from components.review import second_reading
from components.shared import drafts, roles, state, text
from components.shared.panels import panel
from untaken.errors import UntakenError
from untaken.ledger import Draft, Head, Run, Verdict
from untaken.scoring import not_withdrawn
from untaken.workspace import Review, ReviewConflict, Workspace

MESSAGES: Final = "review_told"
MOST_MESSAGES: Final = 3
VERDICTS: Final = {True: "met", False: "not met", None: "cannot tell"}


def save_verdict(
    store: Workspace, run: Run, sub_goal: str, passed: bool | None, *, author: str, why: drafts.DraftField
) -> None:
    """Append the reviewer's verdict on a sub-goal; `why` is the field that holds its reason."""
    fields = {"sub_goal": sub_goal, "passed": passed, "by": author, "reason": drafts.typed(why) or None}
    if append(store, run, [Draft(Verdict, fields)]):
        drafts.forget(why)
        take_back = _verdict_before(run, sub_goal, author)  # of the run as it was before this save
        undoable(f"Verdict saved: {VERDICTS[passed]}", lambda: append(store, run, [take_back]))


def settle(store: Workspace, run: Run, sub_goal: str, passed: bool, *, author: str) -> None:
    """Append what reviewers who differed agreed on; their own verdicts stay as they are."""
    fields = {"sub_goal": sub_goal, "by": author, "settles": True}
    if append(store, run, [Draft(Verdict, fields | {"passed": passed})]):
        open_again = Draft(Verdict, fields | {"passed": None})  # without an opinion it settles nothing
        undoable(f"Settled: {VERDICTS[passed]}", lambda: append(store, run, [open_again]))


def withdraw_verdict(store: Workspace, run: Run, sub_goal: str, *, author: str) -> None:
    """Append that the reviewer takes their verdict on a sub-goal back; what was said stays in the ledger."""
    take_back = _verdict_before(run, sub_goal, author)  # before the withdrawal is part of the run
    if append(store, run, [_withdrawal(sub_goal, author)]):
        undoable("Verdict withdrawn", lambda: append(store, run, [take_back]))


def _verdict_before(run: Run, sub_goal: str, author: str) -> Draft:
    """What says again what an author said of a sub-goal so far: a verdict, or that there is none."""
    own = [v for v in not_withdrawn(run.of(Verdict)) if (v.sub_goal, v.by) == (sub_goal, author)]
    opinions = [verdict for verdict in own if not verdict.settles]
    if not opinions:
        return _withdrawal(sub_goal, author)
    fields = {
        "sub_goal": sub_goal,
        "passed": opinions[-1].passed,
        "by": author,
        "reason": opinions[-1].reason,
    }
    return Draft(Verdict, fields | {"blind": opinions[-1].blind})


def _withdrawal(sub_goal: str, author: str) -> Draft:
    return Draft(Verdict, {"sub_goal": sub_goal, "passed": None, "by": author, "withdrawn": True})


def save_review(store: Workspace, seen: Sequence[Review], *, author: str, **what: Any) -> None:
    """Change reviews, as `Reviews.change` does."""
    changed = _change(store, seen, author, what)
    if changed:
        named = ", ".join(what)
        words = f"{named.capitalize()} saved" if len(seen) == 1 else f"{len(changed)} runs changed"
        before = {one.run: {name: getattr(one, name) for name in what} for one in seen}
        undoable(words, lambda: _restore(store, changed, before, author))


def _restore(
    store: Workspace, changed: Sequence[Review], before: Mapping[str, Mapping[str, Any]], author: str
) -> None:
    for one in changed:
        _change(store, [one], author, before[one.run])  # each had values of its own


def _change(store: Workspace, seen: Sequence[Review], author: str, what: Mapping[str, Any]) -> list[Review]:
    """The reviews as they are now; without those that others changed in the meantime, which is said."""
    try:
        roles.need("reviewer")
        answers = store.reviews.change(seen, author=author, **what)
    except UntakenError as error:
        add_message(f"{error.message}. {error.hint}")
        return []
    refused = [answer for answer in answers if isinstance(answer, ReviewConflict)]
    for answer in refused[:MOST_MESSAGES]:
        add_message(
            f"Not saved: {answer.now.updated_by} changed the review of {answer.now.run_id} in the "
            f"meantime. It is {answer.now.status} now. Check it and save again."
        )
    if len(refused) > MOST_MESSAGES:
        add_message(f"and {len(refused) - MOST_MESSAGES} more that others changed in the meantime")
    return [answer for answer in answers if not isinstance(answer, ReviewConflict)]


@panel
def show_messages() -> None:
    """Show what could not be saved, once."""
    for words in st.session_state.pop(MESSAGES, ()):
        st.warning(text.label(words, 400), icon=":material/sync_problem:")


def append(store: Workspace, run: Run, events: Sequence[Draft]) -> Head | None:
    """Append events to the run's ledger and give its new head, or say why not; none where it holds them."""
    try:
        roles.need("reviewer")
        before = store.run_now(run).integrity.head
        end = store.append_events(run, [second_reading.marked(run, event) for event in events])
        if end != before:
            return end
        add_message("Not saved again: the run already holds exactly this")
    except UntakenError as error:
        add_message(f"Not saved: {error.message}. {error.hint}")
    except OSError as error:
        add_message(f"Not saved, disk error: “{error.strerror or error}”. No data is lost.")
    return None


def add_message(words: str) -> None:
    """Have words said when the page is drawn again."""
    st.session_state.setdefault(MESSAGES, []).append(words)


SAVED: Final = "undo_saved"
UNDONE: Final = "undo_undone"
MOST_UNDONE: Final = 20


class Undo(NamedTuple):
    """What was saved, in words of ours, what takes it back, and the run that was open.

    Taking back is saved, too: a ledger forgets nothing.
    """

    words: str
    act: Callable[[], object]
    run: str | None

    def __str__(self) -> str:
        elsewhere = "" if self.run == state.selected("run") else ", in another run"
        return f"{text.label(self.words, 60)}{elsewhere}"


def undoable(words: str, act: Callable[[], object]) -> None:
    """Remember what was just saved."""
    every: list[Undo] = st.session_state.setdefault(SAVED, [])
    every.append(Undo(words, act, state.selected("run")))
    del every[:-MOST_UNDONE]


def undo_last(key: str) -> None:
    """What was saved last, with a button that takes it back."""
    every: list[Undo] = st.session_state.get(SAVED, [])
    undone = st.session_state.pop(UNDONE, None)
    if not every and undone is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=f"saved-{key}"):
        st.caption(undone or f"✓ {every[-1]}", width="content")
        if every:
            words = f"Undo “{every[-1]}”" if undone else "Undo"
            st.button(words, key=f"undo-{key}", shortcut="U", type="tertiary", on_click=_undo)


def _undo() -> None:
    every: list[Undo] = st.session_state.get(SAVED, [])
    if not every:
        return
    last, left = every.pop(), list(every)
    words = str(last)
    with state.frame():
        last.act()
    st.session_state[SAVED] = left  # taking back is no save of its own
    st.session_state[UNDONE] = f"↩ Undone: {words[:1].lower()}{words[1:]}"
