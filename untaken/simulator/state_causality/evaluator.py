"""The interface of every state causality evaluator (§7)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from untaken.errors import Unscored
from untaken.simulator.state_causality.causal_state import CausalEdge, CausalState, Concept, StateVariable

if TYPE_CHECKING:
    from untaken.simulator.crafter import LocalView


class StateCausality(ABC):
    """Infers what acts on a task in a state, by the four functions of Algorithm 1, lines 4 to 7.

    Attributes:
        by: who it is, with its settings.
        dropped: names that were given outside what was offered, so far.
    """

    by: str
    dropped: int = 0

    @abstractmethod
    def decompose(
        self, task: str | None, observation: LocalView
    ) -> tuple[tuple[Concept, ...], tuple[StateVariable, ...]] | Unscored:
        """f_decomp(l, s) = (C, V): the concepts and the variables of a state."""

    @abstractmethod
    def concepts(self, task: str | None, concepts: Sequence[Concept]) -> tuple[Concept, ...] | Unscored:
        """f_concept(l, C) = C': those of the concepts that the task rests on."""

    @abstractmethod
    def variables(
        self, variables: Sequence[StateVariable], concepts: Sequence[Concept]
    ) -> tuple[StateVariable, ...] | Unscored:
        """f_var(V, C') = V': those of the variables that belong to a kept concept."""

    @abstractmethod
    def infer(
        self,
        variables: Sequence[StateVariable],
        concepts: Sequence[Concept],
        task: str | None,
        observation: LocalView,
    ) -> tuple[CausalEdge, ...] | Unscored:
        """f_infer(V', C', l, s): the adjacency as its edges, each with its kind and reason.

        Edges end in a variable or in the node of the task; `CausalState.adjacency` is the matrix over V'.
        """

    def lacking(
        self, task: str | None, variables: Sequence[StateVariable], concepts: Sequence[Concept]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What the state lacks, as `CausalState.missing` and `absent`; nothing where nobody can say."""
        del task, variables, concepts
        return (), ()

    def evaluate(self, task: str | None, observation: LocalView) -> CausalState:
        """Runs all four, one after the other.

        Args:
            task: an achievement; ``None`` for open play, where the task is staying alive.
            observation: the state as the policy sees it.

        Returns:
            The representation; one without any edge, and with the reason, where a function gave none.

        Raises:
            UntakenError: ``achievement-unknown`` for a task that is none.
        """
        before = self.dropped
        found = self.decompose(task, observation)
        if isinstance(found, Unscored):
            return CausalState(task=task, by=self.by, unscored=found.reason)
        every, seen = found

        def without(why: Unscored) -> CausalState:
            return CausalState(task=task, by=self.by, concepts=every, variables=seen, unscored=why.reason)

        kept = self.concepts(task, every)
        if isinstance(kept, Unscored):
            return without(kept)
        named = self.variables(seen, kept)
        if isinstance(named, Unscored):
            return without(named)
        edges = self.infer(named, kept, task, observation)
        if isinstance(edges, Unscored):
            return without(edges)
        missing, absent = self.lacking(task, named, kept)
        return CausalState(
            task=task,
            by=self.by,
            concepts=every,
            kept_concepts=tuple(concept.name for concept in kept),
            variables=seen,
            kept=tuple(variable.name for variable in named),
            missing=missing,
            absent=absent,
            edges=edges,
            dropped=self.dropped - before,  # of this state alone
        )

    __call__ = evaluate
