"""What is written about a run is written once, however often and by however many processes it is sent."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from untaken.ledger.events import ABOUT_RUN, Event, ModeAssignment, ReviewNote, Verdict
from untaken.ledger.run import Draft, Run

_ENVELOPE: Final = frozenset({"run_id", "seq", "ts", "prev"})
_ABOUT: Final[dict[type[Event], tuple[str, ...]]] = {
    Verdict: ("sub_goal", "by"),
    ModeAssignment: ("mode", "by", "sub_goal", "event"),
}
"""Fields that say what an event is about, where a later one takes the place of an earlier one."""


def without_repeats(run: Run, drafts: Iterable[Draft]) -> Sequence[Draft]:
    """The drafts that the run's ledger does not hold already; to be asked while its lock is held.

    A verdict repeats its author's latest one on that sub-goal: to say "met" again after "not met" is new. The
    same holds for a failure mode at one place of the run. Anything else about a run (a note, an insight)
    repeats any event of the same content.
    """
    held: dict[Hashable, bytes] = {}
    notes: dict[tuple[str | None, int], Hashable] = {}
    for event in run.events:
        if isinstance(event, ABOUT_RUN):
            key, content = _content(type(event), msgspec.structs.asdict(event))
            held[key] = content
            if isinstance(event, ReviewNote):
                notes[event.author, event.seq] = key
                if event.withdraws is not None:
                    # A withdrawn note is no longer there to be repeated.
                    held.pop(notes.get((event.author, event.withdraws)), None)
    fresh = []
    for draft in drafts:
        key, content = _content(draft.event, draft.fields)
        if held.get(key) != content:
            held[key] = content
            fresh.append(draft)
    return fresh


def _content(kind: type[Event], fields: Mapping[str, Any]) -> tuple[Hashable, bytes]:
    """What an event is about, and what it says."""
    usual = {field.name: field.default for field in msgspec.structs.fields(kind)}  # a draft need not say it
    given = {
        name: value
        for name, value in fields.items()
        if value is not None and value != usual.get(name) and name not in _ENVELOPE
    }
    content = msgspec.json.encode(given, order="deterministic")
    about = tuple(given.get(name) for name in _ABOUT[kind]) if kind in _ABOUT else content
    return (kind, about), content
