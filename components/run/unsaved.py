"""Notes and reasons that a reviewer wrote about other parts of a run and has not added yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import streamlit as st

from components.run import events as run_events
from components.shared import drafts, state, text
from untaken.analysis import RUN, Place
from untaken.ledger import Run

MOST: Final = 8
TITLE_CHARS: Final = 26
"""Of a sub-goal: what a note is about fits on one line beside *Whole run*."""
PLACE: Final = "note_place"
"""What of a run the note panel is about."""


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


def mention(run: Run, here: Place, goals: Mapping[str, str]) -> None:
    """Say which parts of the run but `here` have words that are not saved, each with a way there."""
    found = [one for one in _unsaved(run, tuple(goals)) if one[0] != here]
    for place, words in found[:MOST]:
        label = f"{words} · {text.label(place_words(place, goals))}"
        st.button(
            label,
            key=f"unsaved-{note_field(run, place).key}-{words[:13]}",  # a place may have a note and a reason
            icon=":material/edit_note:",
            type="tertiary",
            on_click=_show,
            args=(run.digest, place),
        )
    if len(found) > MOST:
        st.caption(f"and {len(found) - MOST:,} more")


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


def _show(digest: str, place: Place) -> None:
    """Select what a note is about."""
    if place.event is not None:
        run_events.open_event(place.event)
    elif place == RUN:
        st.session_state[PLACE] = RUN
    else:
        state.select(run=digest, sub_goal=place.sub_goal)
        st.session_state[PLACE] = place
