"""Notes on a run and the failure modes that people see in it: written, accepted, withdrawn."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import streamlit as st

from components.failure_modes import mode_writing
from components.review import signing, writing
from components.run import events as run_events
from components.shared import drafts, reviewer, roles, state, text
from components.shared.listeners import focus_keys
from components.shared.panels import panel
from untaken import limits
from untaken.analysis import (
    RUN,
    ModeSuggester,
    Note,
    Place,
    SuggestionQuality,
    Taxonomy,
    assignments_of,
    filed_texts,
    judged_suggestions,
    kept_taxonomy,
    note_without_mode,
    notes_of,
    settled_modes,
    suggestion_quality,
)
from untaken.errors import Unscored
from untaken.judging import SETTING
from untaken.ledger import Run
from untaken.numbers import counted, decimal, interval, percent
from untaken.views import RunReport

MOST_NOTES: Final = 10
MOST_MODES: Final = 40
NOTE_FIELD: Final = "note-field"
MODE_FIELD: Final = "mode-field"
SAVE_NOTE: Final = "note-save"
MAKE_MODE: Final = "note-to-mode"
SEEN: Final = "note_places_seen"
MOST_UNSAVED: Final = 8
TITLE_CHARS: Final = 26
"""Of a sub-goal: what a note is about fits on one line beside *Whole run*."""
PLACE: Final = "note_place"
"""What of a run the note panel is about."""


@panel
def of_run(report: RunReport) -> None:
    """About the selected sub-goal, an event that is open, or the run; the forms come first."""
    asked = state.selected("sub_goal")
    known = {goal.id: goal.title or goal.id for goal in report.graph.sub_goals} if report.graph else {}
    chosen = [Place(sub_goal=asked)] if asked in known else []
    events = [Place(event=seq) for seq in run_events.selected_events(report)]
    notes_and_modes(report.run, [*chosen, *events], goals=known)


def notes_and_modes(run: Run, offered: Sequence[Place] = (), *, goals: Mapping[str, str]) -> None:
    """What was written about the run, and fields for more.

    `offered` is what of it a note can be about, beside the whole; `goals` are titles of its sub-goals by id.
    """
    if run.integrity.broken:
        st.caption("You cannot add a note: the ledger is broken.")
    with st.container(key="notes-and-modes", gap="xsmall"):
        place = _place(run, offered, goals)
        taxonomy = kept_taxonomy(state.workspace().path)
        if not run.integrity.broken and roles.offered("reviewer", "add notes, modes and verdicts"):
            _note_form(run, place, taxonomy)
            _suggested(run, place, taxonomy)
        _assigned(run, taxonomy, goals)
        _notes(run, goals)
        _mention(run, place, goals)
        focus_keys({"N": NOTE_FIELD, "M": MODE_FIELD}, clicks={"C": MAKE_MODE}, saves={NOTE_FIELD: SAVE_NOTE})


def _place(run: Run, offered: Sequence[Place], goals: Mapping[str, str]) -> Place:
    """Where the next note goes: what was selected last in this run, unless another choice is made."""
    known = dict.fromkeys((RUN, *offered))
    before, seen = st.session_state.get(SEEN, ("", ()))
    fresh = [one for one in offered if one not in seen or before != run.digest]
    if before != run.digest:
        st.session_state[PLACE] = RUN
        fresh = [one for one in fresh if one.event is None]  # events were selected in the run before
    st.session_state[SEEN] = (run.digest, tuple(offered))
    chosen_before = st.session_state.get(PLACE)
    # Set even where it stays: a page that draws the control again drops what was chosen on another.
    st.session_state[PLACE] = fresh[-1] if fresh else chosen_before if chosen_before in known else RUN
    if len(known) == 1:
        return RUN
    chosen: Place | None = st.segmented_control(
        "About",
        tuple(known),
        key=PLACE,
        required=True,
        format_func=lambda one: text.label(place_words(one, goals)),
        label_visibility="collapsed",
    )
    return chosen or RUN


def _note_form(run: Run, place: Place, taxonomy: Taxonomy) -> None:
    field, store = note_field(run, place), state.workspace()
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="note-form"):
        with st.container(key=NOTE_FIELD):  # by which `focus_keys` finds the field
            drafts.text_area(
                "Note",
                field,
                max_chars=limits.NOTE_CHARS,
                height=68,
                placeholder="What did you see? (N)",
                label_visibility="collapsed",
            )
        with st.container(key=SAVE_NOTE, width="content"):
            st.button(
                "Add note",
                key=f"add-{field.key}",
                help="Ctrl+Enter in the field. Until then it is kept as your draft.",
                on_click=signing.save,
                args=(lambda author: mode_writing.save_note(store, run, field, place, author=author),),
            )
        with st.container(key=MODE_FIELD, width="stretch"):
            _mode_field(run, place, taxonomy)
        with st.container(
            horizontal=True, vertical_alignment="center", gap="medium", width="content", key="note-saved"
        ):
            writing.undo_last("note")
            signing.signer("note")


def _mode_field(run: Run, place: Place, taxonomy: Taxonomy) -> None:
    """Search as you type; a name that no mode has becomes a new one."""
    mine = {
        taxonomy.current(one.mode)
        for one in assignments_of(run)
        if one.place == place and one.by == reviewer.author() and one.status == "accepted"
    }
    named = {
        mode.id: _mode_words(mode.name, mode.definition) for mode in taxonomy.active if mode.id not in mine
    }
    key, store = f"pick-{mode_key(run, place, '')}", state.workspace()

    def picked() -> None:
        chosen = st.session_state.get(key)
        st.session_state[key] = None  # empty for the next mode
        if chosen:
            # The reviewer's last note at this place: a mode is read from it.
            own = [n.seq for n in notes_of(run) if n.place == place and n.author == reviewer.author()]
            about = {"place": place, "note": own[-1] if own else None}
            signing.save(
                lambda author: mode_writing.assign_named(store, run, str(chosen), by=author, **about)
            )

    st.selectbox(
        "Failure mode",
        options=list(named),
        index=None,
        key=key,
        format_func=lambda mode: named.get(mode, mode),
        filter_mode="contains",
        accept_new_options=True,
        placeholder="Mode (M)",
        label_visibility="collapsed",
        on_change=picked,
    )


def _notes(run: Run, goals: Mapping[str, str]) -> None:
    """The last notes, the newest first; one's own without a mode can become one."""
    given, author = notes_of(run), reviewer.author()
    offered = note_without_mode(run, author)
    for note in given[: -MOST_NOTES - 1 : -1]:  # from the newest on
        who = text.label((note.author or "unnamed").removeprefix("human:"), 60)
        about = "" if note.place == RUN else f" · {text.label(place_words(note.place, goals))}"
        origin = " · imported" if note.imported else ""
        with st.container(gap=None):
            st.text(note.text[: limits.NOTE_CHARS])
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.caption(f"{who}{about} · {note.at:%Y-%m-%d %H:%M} UTC{origin}", width="stretch")
                if note.author == author and author is not None and not run.integrity.broken:
                    _own_note(run, note, offered=note == offered)
    if len(given) > MOST_NOTES:
        st.caption(f"The last {MOST_NOTES} of {len(given):,}; see the events for the others.")


def _own_note(run: Run, note: Note, *, offered: bool) -> None:
    """What its author can do with a note."""
    store = state.workspace()
    if offered:
        name = text.one_line(note.text, limits.MODE_NAME_CHARS)
        with st.container(key=MAKE_MODE, width="content"):
            st.button(
                "Make it a failure mode (C)",
                key=f"make-mode-{run.digest[:16]}-{note.seq}",
                type="tertiary",
                help="Creates a failure mode of that name and assigns it. Rename it under Failure modes.",
                on_click=mode_writing.assign_named,
                args=(store, run, name),
                kwargs={"by": note.author, "place": note.place, "note": note.seq},
            )
    st.button(
        "Withdraw note",
        key=f"withdraw-note-{run.digest[:16]}-{note.seq}",
        type="tertiary",
        on_click=mode_writing.withdraw_note,
        args=(store, run, note, note.author),
    )


def _assigned(run: Run, taxonomy: Taxonomy, goals: Mapping[str, str]) -> None:
    """Every mode that somebody accepted; one's own can be withdrawn."""
    author = reviewer.author()
    accepted = [one for one in assignments_of(run) if one.status == "accepted"]
    for one in accepted[:MOST_MODES]:
        mode = taxonomy.by_id.get(taxonomy.current(one.mode))
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.html(dot(mode.colour if mode else "#6b7280"), width="content")
            st.text(text.one_line(mode.name if mode else one.mode, limits.MODE_NAME_CHARS), width="content")
            state_words = (
                "" if mode and mode.active else f" · {mode.status if mode else 'not in the taxonomy'}"
            )
            origin = " · imported" if one.imported else ""
            who = text.label(one.by.removeprefix("human:"), 60)
            st.caption(
                f"{text.label(place_words(one.place, goals))} · {who}{origin}{state_words}", width="stretch"
            )
            if one.by == author and not run.integrity.broken:
                st.button(
                    "Withdraw",
                    key=f"withdraw-mode-{run.digest[:16]}-{one.seq}",
                    type="tertiary",
                    on_click=mode_writing.assign,
                    args=(state.workspace(), run, one.mode),
                    kwargs={"by": author, "place": one.place, "status": "withdrawn"},
                )
    if len(accepted) > MOST_MODES:
        st.caption(f"The first {MOST_MODES} of {len(accepted):,}.")


def dot(colour: str) -> str:
    """A mode's colour; taxonomy files hold none but ``#rrggbb``."""
    return (
        f'<span aria-hidden="true" style="display:inline-block;width:.7rem;height:.7rem;border-radius:50%;'
        f'background:{colour};border:1px solid currentColor"></span>'
    )


def _suggested(run: Run, place: Place, taxonomy: Taxonomy) -> None:
    """What similar notes and judges suggest at this place; none of it counts until it is accepted."""
    settled = settled_modes(run, place, taxonomy, by=reviewer.author() or "")
    judged = [one for one in judged_suggestions(run, taxonomy) if one.place == place]
    rows = [(taxonomy.current(one.mode), f"{one.by}: {one.reason or 'no reason given'}") for one in judged]
    asked = _asked(run, place)
    store = state.workspace()
    key = str(store.path), state.content(store), taxonomy.version
    suggester, quality = _suggester(*key, state.runs(), taxonomy)
    if asked:
        without = settled | {mode for mode, _ in rows}
        rows += [(s.mode, _why(s.like, s.likeness)) for s in suggester.suggest(asked, without=without)]
    _model_button(run, place)
    if not rows:
        return
    how = f"A suggestion counts once you accept it. {_quality_words(quality)}"
    with st.container(gap="xsmall"):
        for number, (mode, why) in enumerate(rows):
            _suggestion(run, place, mode, why, taxonomy, how=None if number else how)


def _model_button(run: Run, place: Place) -> None:
    """Ask the language model that the server names about the last note at this place."""
    name = os.environ.get(SETTING, "")
    note = _note_here(run, place)
    if name and note is not None:
        st.button(
            f"Ask {text.label(name, 40)} for a mode",
            key=f"ask-model-{mode_key(run, place, '')}",
            icon=":material/smart_toy:",
            help="Sends the last note here and the failure modes to the model.",
            on_click=mode_writing.ask_model,
            args=(state.workspace(), state.runs(), run, note, name),
        )


def _suggestion(run: Run, place: Place, mode: str, why: str, taxonomy: Taxonomy, *, how: str | None) -> None:
    """One to accept or dismiss; of the first, `how` far such suggestions can be trusted."""
    known = taxonomy.by_id.get(mode)
    note, store = _note_here(run, place), state.workspace()

    def word(**about: Any) -> Callable[[str], None]:
        return lambda author: mode_writing.assign(store, run, mode, by=author, place=place, **about)

    row = f"suggested-{mode_key(run, place, mode)}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=row):
        st.button(
            text.label(known.name if known else mode, limits.MODE_NAME_CHARS),
            icon=":material/check:",
            key=f"accept-{mode_key(run, place, mode)}",
            shortcut="A" if how else None,
            help=text.label(known.definition, 400) if known and known.definition else None,
            disabled=known is None or not known.active,
            on_click=signing.save,
            args=(word(note=note.seq if note else None),),
        )
        st.button(
            "Dismiss",
            key=f"dismiss-{mode_key(run, place, mode)}",
            type="tertiary",
            on_click=signing.save,
            args=(word(status="withdrawn"),),
        )
        st.caption(f"Suggested: {text.label(why, 160)}", width="stretch", help=how)


def mode_key(run: Run, place: Place, mode: str) -> str:
    """Part of a widget's key, without words of a file in it."""
    return drafts.DraftField(
        name="mode", about=(run.digest, str(place.event), place.sub_goal or "", mode)
    ).key


def _asked(run: Run, place: Place) -> str:
    """What suggestions are for: the note being written, else the last one at this place."""
    note = _note_here(run, place)
    return drafts.typed(note_field(run, place)) or (note.text if note else "")


def _note_here(run: Run, place: Place) -> Note | None:
    """The last note at this place, by anybody."""
    return next((note for note in reversed(notes_of(run)) if note.place == place), None)


def _why(like: Note | None, likeness: float) -> str:
    what = "its definition" if like is None else f"the note “{text.one_line(like.text, 80)}”"
    return f"similar to {what} ({decimal(likeness)} of 1)"


def _quality_words(quality: SuggestionQuality) -> str:
    if isinstance(quality.right, Unscored) or isinstance(quality.majority, Unscored):
        return "How often such suggestions are right is not known: file notes on at least two runs."
    span = (
        ""
        if isinstance(quality.low, Unscored) or isinstance(quality.high, Unscored)
        else f" (95% {interval(quality.low, quality.high, percent)})"
    )
    return (
        f"By similar notes, the first suggestion is right on {percent(quality.right)}{span} of "
        f"{counted(quality.notes, 'filed note')} of {counted(quality.runs, 'run')}, each run's "
        f"own notes left out; the most frequent mode alone: {percent(quality.majority)}."
    )


def _mode_words(name: str, definition: str) -> str:
    short = text.one_line(name, limits.MODE_NAME_CHARS)
    return f"{short} · {text.one_line(definition, 90)}" if definition else short


@st.cache_resource(ttl=3600, max_entries=4, show_spinner=False)
def _suggester(
    folder: str,  # noqa: ARG001 (with the next two, the key of the cache)
    content: str,  # noqa: ARG001
    version: int,  # noqa: ARG001
    _runs: Sequence[Run],
    _taxonomy: Taxonomy,
) -> tuple[ModeSuggester, SuggestionQuality]:
    filed = filed_texts(_runs, _taxonomy)
    return ModeSuggester(filed), suggestion_quality(filed)


def place_words(place: Place, goals: Mapping[str, str]) -> str:
    """Where in a run, in words; titles of sub-goals (by id) are untrusted text."""
    if place.event is not None:
        return f"Event {place.event:,}"
    if place.sub_goal is None:
        return "Whole run"
    return text.short(goals.get(place.sub_goal, place.sub_goal), TITLE_CHARS)


def note_field(run: Run, place: Place) -> drafts.DraftField:
    """The field for a note; each place of each run has its own."""
    if place == RUN:
        return drafts.DraftField(name="note", about=(run.digest,))
    where = ("event", str(place.event)) if place.event is not None else ("sub_goal", place.sub_goal or "")
    return drafts.DraftField(name="note", about=(run.digest, *where))


def reason_field(run: Run, sub_goal: str) -> drafts.DraftField:
    """The field for why a sub-goal is met or not."""
    return drafts.DraftField(name="why", about=(run.digest, sub_goal))


def _mention(run: Run, here: Place, goals: Mapping[str, str]) -> None:
    """Say which parts of the run but `here` have words that are not saved, each with a way there."""
    found = [one for one in _unsaved(run, tuple(goals)) if one[0] != here]
    for place, words in found[:MOST_UNSAVED]:
        label = f"{words} · {text.label(place_words(place, goals))}"
        st.button(
            label,
            key=f"unsaved-{note_field(run, place).key}-{words[:13]}",  # a place may have a note and a reason
            icon=":material/edit_note:",
            type="tertiary",
            on_click=_select,
            args=(run.digest, place),
        )
    if len(found) > MOST_UNSAVED:
        st.caption(f"and {len(found) - MOST_UNSAVED:,} more")


def _unsaved(run: Run, goals: tuple[str, ...]) -> Iterator[tuple[Place, str]]:
    kept = drafts.kept_places()
    if not kept:  # a run may have thousands of events: only then are they gone through
        return
    places = [RUN, *(Place(sub_goal=goal) for goal in goals)]
    places += [Place(event=event.seq) for event in run.events]
    for place in places:
        if note_field(run, place).place in kept:
            yield place, "Unsaved note"
        if place.sub_goal is not None and reason_field(run, place.sub_goal).place in kept:
            yield place, "Unsaved reason of a verdict"


def _select(digest: str, place: Place) -> None:
    """Select what a note is about."""
    if place.event is not None:
        run_events.open_event(place.event)
    elif place == RUN:
        st.session_state[PLACE] = RUN
    else:
        state.select(run=digest, sub_goal=place.sub_goal)
        st.session_state[PLACE] = place
