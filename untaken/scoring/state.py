"""The run's state as the ledger tells it: STATE patches folded, then what RUN_FINISHED says."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from untaken.ledger import RunFinished, State

JsonObject = dict[str, Any]


def merge_patch(target: JsonObject, patch: JsonObject) -> list[str]:
    """Apply a JSON merge patch (RFC 7386) to `target`: objects merge, ``null`` removes, all else replaces.

    `target` is changed in place and shares no object with `patch`, so that no event is ever changed: but
    for lists, which a patch replaces as a whole.

    Returns:
        The fields of `target` that changed.
    """
    moved = []
    for key, value in patch.items():
        before = target.get(key)
        if value is None:
            target.pop(key, None)
            changed = before is not None
        elif isinstance(value, dict):
            below = before if isinstance(before, dict) else {}  # what was no object gives way to one
            target[key] = below
            changed = bool(merge_patch(below, value)) or below is not before
        else:
            target[key] = value
            changed = before is None or before != value
        if changed:
            moved.append(key)
    return moved


class StateFold:
    """The run's state, moved forward through the run.

    RUN_FINISHED.final_state is a state, not a patch: each of its top-level fields replaces the folded one as
    it is, ``null`` included; fields that it does not mention keep what the STATE events said.

    Args:
        events: STATE and RUN_FINISHED, in order.
        fields: the top-level fields that matter; others are left out. ``None`` for all.

    Attributes:
        state: the current state; empty at the beginning.
        changed: top-level field → `seq` of the event that last changed it.
        ahead: `seq` of the next event that says something about the state; infinite at the end.
    """

    __slots__ = ("_at", "_events", "_fields", "ahead", "changed", "state")

    def __init__(self, events: Sequence[State | RunFinished], fields: frozenset[str] | None = None) -> None:
        self.state: JsonObject = {}
        self.changed: dict[str, int] = {}
        self._events = events
        self._fields = fields
        self._at = 0
        self.ahead: float = events[0].seq if events else inf

    def forward(self, seq: int) -> set[str]:
        """Move to the state after event `seq`; the top-level fields that differ from the state before."""
        moved: set[str] = set()
        events, matter, at = self._events, self._fields, self._at
        while at < len(events) and (event := events[at]).seq <= seq:
            at += 1
            fields = event.state if isinstance(event, State) else event.final_state or {}
            if matter is None or not matter.isdisjoint(fields):
                merge = merge_patch if isinstance(event, State) else _replace  # a final state is no patch
                for field in merge(self.state, fields):
                    self.changed[field] = event.seq
                    moved.add(field)
        self._at = at
        self.ahead = events[at].seq if at < len(events) else inf
        return moved


def _replace(state: JsonObject, final: JsonObject) -> list[str]:
    """Take over the fields of `final` as they are; those that changed."""
    moved = [key for key, value in final.items() if key not in state or state[key] != value]
    state.update(final)
    return moved
