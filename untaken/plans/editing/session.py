"""A sitting of editing: what it began with, what was done, what can be undone and done again.

A value, not an object that changes: every step gives a new session, so a page keeps one in its state and a
graph is never half edited.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Self

from msgspec import Struct
from msgspec.structs import replace

from untaken.errors import first_few
from untaken.plans.editing.applying import apply_all
from untaken.plans.editing.edits import Edit, in_words
from untaken.plans.plan_graph import PlanGraph
from untaken.plans.structure import graph_digest

STEPS: Final = 500
"""Number of steps that can be undone."""


class UndoStep(Struct, frozen=True, kw_only=True):
    """What was done at once, in words, and the graph before it."""

    words: str
    before: PlanGraph


class Session(Struct, frozen=True, kw_only=True):
    """A plan graph being edited.

    Attributes:
        base: the graph as it was opened or last saved.
        graph: as it is now.
        done: what can be undone, the latest last.
        undone: what can be done again, the next one last; its `before` is the graph after it.
    """

    base: PlanGraph
    graph: PlanGraph
    done: tuple[UndoStep, ...] = ()
    undone: tuple[UndoStep, ...] = ()

    @classmethod
    def of(cls, base: PlanGraph, graph: PlanGraph | None = None) -> Self:
        """A new sitting on a graph, or on a draft of its next version."""
        return cls(base=base, graph=graph or base)

    @property
    def changed(self) -> bool:
        """Whether anything differs from `base`."""
        # The cheap test first.
        return self.graph is not self.base and graph_digest(self.graph) != graph_digest(self.base)

    def edit(self, edits: Edit | Sequence[Edit]) -> Self:
        """Apply one command, or several as one step; where nothing changes, the same session.

        Raises:
            UntakenError: as `apply`; the session stays what it is.
        """
        several: Sequence[Edit] = edits if isinstance(edits, Sequence) else (edits,)
        return self.take(apply_all(self.graph, several), words(several))

    def take(self, graph: PlanGraph, name: str) -> Self:
        """Another graph as one step that can be undone: an import, a merge, a draft that was discovered."""
        if graph_digest(graph) == graph_digest(self.graph):
            return self
        done = (*self.done, UndoStep(words=name, before=self.graph))[-STEPS:]
        return replace(self, graph=graph, done=done, undone=())  # what was undone led somewhere else

    def undo(self) -> Self:
        """The session before the last step, or the same session if there is no step."""
        if not self.done:
            return self
        *done, last = self.done
        undone = (*self.undone, UndoStep(words=last.words, before=self.graph))
        return replace(self, graph=last.before, done=tuple(done), undone=undone)

    def redo(self) -> Self:
        """The session after the last undone step, or the same session if nothing was undone."""
        if not self.undone:
            return self
        *undone, following = self.undone
        done = (*self.done, UndoStep(words=following.words, before=self.graph))
        return replace(self, graph=following.before, done=done, undone=tuple(undone))

    def saved(self, graph: PlanGraph) -> Self:
        """The sitting goes on from a saved version; what was done can still be undone."""
        return replace(self, base=graph, graph=graph)


def words(edits: Iterable[Edit]) -> str:
    """Several commands in one line."""
    listed = [in_words(edit) for edit in edits]
    return listed[0] if len(listed) == 1 else f"{len(listed)} changes: {first_few(listed, 3)}"
