"""The run's state as the ledger tells it: STATE patches folded, then what RUN_FINISHED says."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from untaken.ledger.events import RunFinished, State

JsonObject = dict[str, Any]


def merge_patch(target: JsonObject, patch: JsonObject) -> bool:
    """Apply a JSON merge patch (RFC 7386) to `target`: objects merge, ``null`` removes, all else replaces.

    `target` is changed in place and shares no object with `patch`, so that no event is ever changed.

    Returns:
        Whether anything changed.
    """
    moved = False
    for key, value in patch.items():
        if value is None:
            moved |= target.pop(key, None) is not None
        elif isinstance(value, dict):
            below = target.get(key)
            if not isinstance(below, dict):
                below = target[key] = {}
                moved = True
            moved |= merge_patch(below, value)
        else:
            moved |= key not in target or target[key] != value
            target[key] = value
    return moved


class StateFold:
    """The run's state, moved forward through the run.

    RUN_FINISHED.final_state is a state, not a patch: each of its top-level fields replaces the folded one as
    it is, ``null`` included; fields that it does not mention keep what the STATE events said.

    Attributes:
        state: as it stands now; empty at the beginning.
        changed: top-level field → `seq` of the event that last changed it.
        ahead: `seq` of the next event that says something about the state; infinite at the end.
    """

    __slots__ = ("_coming", "ahead", "changed", "state")

    def __init__(self, events: Sequence[State | RunFinished]) -> None:
        self.state: JsonObject = {}
        self.changed: dict[str, int] = {}
        self._coming = list(reversed(events))
        self.ahead: float = 0
        self._look_ahead()

    def forward(self, seq: int) -> set[str]:
        """Move to the state after event `seq`; the top-level fields that differ from the state before."""
        moved: set[str] = set()
        while self.ahead <= seq:
            event = self._coming.pop()
            now = (
                self._patch(event.state)
                if isinstance(event, State)
                else self._replace(event.final_state or {})
            )
            self.changed.update(dict.fromkeys(now, event.seq))
            moved.update(now)
            self._look_ahead()
        return moved

    def _look_ahead(self) -> None:
        self.ahead = self._coming[-1].seq if self._coming else inf

    def _patch(self, patch: JsonObject) -> list[str]:
        return [key for key, value in patch.items() if merge_patch(self.state, {key: value})]

    def _replace(self, final: JsonObject) -> list[str]:
        state = self.state
        moved = [key for key, value in final.items() if key not in state or state[key] != value]
        state.update(final)
        return moved
