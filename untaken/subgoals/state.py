"""The run's state as the ledger tells it: STATE patches folded, then what RUN_FINISHED says."""

from __future__ import annotations

from collections.abc import Sequence
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
    """

    __slots__ = ("_finished", "_next", "_patches", "changed", "state")

    def __init__(self, patches: Sequence[State], finished: RunFinished | None) -> None:
        self.state: JsonObject = {}
        self.changed: dict[str, int] = {}
        self._patches = patches
        self._next = 0
        self._finished = finished

    def forward(self, seq: int) -> bool:
        """Move to the state after event `seq`; whether it differs from the state before."""
        moved = False
        while self._next < len(self._patches) and self._patches[self._next].seq <= seq:
            event = self._patches[self._next]
            self._next += 1
            for key, value in event.state.items():
                if merge_patch(self.state, {key: value}):
                    self.changed[key] = event.seq
                    moved = True
        if self._finished is not None and self._finished.seq <= seq:
            moved |= self._finish(self._finished)
            self._finished = None
        return moved

    def _finish(self, event: RunFinished) -> bool:
        moved = False
        for key, value in (event.final_state or {}).items():
            if key not in self.state or self.state[key] != value:
                self.changed[key] = event.seq
                moved = True
            self.state[key] = value
        return moved
