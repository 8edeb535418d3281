"""The state causality evaluator by the environment's own rules: exact, and the same every time (§7)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from operator import index
from typing import Final

from untaken.simulator.crafter import ACHIEVEMENTS, LocalView
from untaken.simulator.crafter.names import checked_task
from untaken.simulator.state_causality.causal_state import (
    STAY_ALIVE,
    CausalEdge,
    Concept,
    EdgeKind,
    StateVariable,
)
from untaken.simulator.state_causality.evaluator import StateCausality
from untaken.simulator.state_causality.mechanisms import Mechanism, Reach, mechanisms
from untaken.simulator.state_causality.variables import adjacent, faced, variables_of

HOPS: Final = 2
"""Most hops: without a limit nearly everything acts on everything, sooner or later."""


class SymbolicCausality(StateCausality):
    """Follows the rules: what acts on the task within a number of hops.

    A concept is a mechanism of the environment. Hop 1 is the mechanism that reaches the task (in open play:
    those that act on health); each further hop is the mechanisms that act on the causes found so far.
    """

    def __init__(self, hops: int | None = HOPS) -> None:
        """An evaluator.

        Args:
            hops: from a variable to the task at most; ``None`` for no limit.

        Raises:
            ValueError: for fewer than one hop.
        """
        if hops is not None and index(hops) < 1:
            raise ValueError(f"{hops} hops: at least one is needed")
        self.hops = hops
        self.by = f"rules of the environment, {'any number of' if hops is None else hops} hops"

    def decompose(
        self, task: str | None, observation: LocalView
    ) -> tuple[tuple[Concept, ...], tuple[StateVariable, ...]]:
        """Mechanisms with a cause in this state, and those the task rests on; all that the state shows."""
        variables = variables_of(observation)
        present = {variable.name for variable in variables}
        needed = within(task, self.hops)
        every = tuple(
            _concept(name)
            for name, m in mechanisms().items()
            if name in needed or not present.isdisjoint(m.causes)
        )
        return every, variables

    def concepts(self, task: str | None, concepts: Sequence[Concept]) -> tuple[Concept, ...]:
        """Those within the hops."""
        needed = within(task, self.hops)
        return tuple(concept for concept in concepts if concept.name in needed)

    def variables(
        self, variables: Sequence[StateVariable], concepts: Sequence[Concept]
    ) -> tuple[StateVariable, ...]:
        """Those that are a cause in one of the concepts."""
        causes = {cause for concept in concepts for cause in mechanisms()[concept.name].causes}
        return tuple(variable for variable in variables if variable.name in causes)

    def lacking(
        self, task: str | None, variables: Sequence[StateVariable], concepts: Sequence[Concept]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Missing: what the task needs, directly or indirectly. Absent: all else that is acted upon."""
        there, offered = {v.name for v in variables}, {concept.name for concept in concepts}
        hop = within(task, self.hops)
        kept = [mechanisms()[name] for name in hop if name in offered]
        missing: dict[str, None] = {}
        for m in kept:
            # What is missing must be known before the mechanisms that would bring it, hence hop by hop.
            if m.name in _ACHIEVED and (m.name == task or m.effect in missing):
                missing |= dict.fromkeys(c for c in m.causes if c not in there and c not in m.helps)
        causes = {cause for m in kept for cause in m.causes} - there - missing.keys()
        acting = there
        for _, layer in groupby(reversed(kept), lambda m: hop[m.name]):  # what is acted upon acts in turn
            acting = acting | {m.effect for m in layer if not acting.isdisjoint(m.causes)}
        return tuple(missing), tuple(dict.fromkeys(m.effect for m in kept if m.effect in causes & acting))

    def infer(
        self,
        variables: Sequence[StateVariable],
        concepts: Sequence[Concept],
        task: str | None,
        observation: LocalView,
    ) -> tuple[CausalEdge, ...]:
        """What each concept says, as far as it leads to the task; a thing out of reach needs the policy."""
        kept = [mechanisms()[concept.name] for concept in concepts]
        nodes = {variable.name for variable in variables}
        nodes.update(*self.lacking(task, variables, concepts))
        reached: dict[str, frozenset[str]] = {
            "": frozenset(),
            "front": frozenset({faced(observation)}),
            "around": adjacent(observation),
        }
        goal = task or STAY_ALIVE
        found: dict[tuple[str, str], CausalEdge] = {}
        for m in kept:
            effects = [goal] if m.name == task or (task is None and m.effect == "health") else []
            if m.effect in nodes and (task or m.effect != "health"):  # in open play health is the task
                effects.append(m.effect)
            for cause in filter(nodes.__contains__, m.causes):
                edge_kind = _kind(m, cause, reached[m.reach])
                for effect in effects:
                    # Two mechanisms may link one pair: the one that works from here says more.
                    if found.get((cause, effect), _ABSENT).kind != "rule":
                        found[cause, effect] = _edge(cause, effect, edge_kind, m)
        return tuple(found.values())


def _kind(m: Mechanism, cause: str, reached: frozenset[str]) -> EdgeKind:
    away = m.reach and cause.startswith("near_") and cause not in reached
    return "policy-mediated" if m.mediated or away else "rule"


# Asked at every step of an episode, mostly for the same few edges.
@lru_cache(maxsize=4096)
def _edge(cause: str, effect: str, kind: EdgeKind, m: Mechanism) -> CausalEdge:
    first = _FIRST[m.reach] if kind == "policy-mediated" else ""
    return CausalEdge(cause=cause, effect=effect, kind=kind, concept=m.name, reason=m.words + first)


_FIRST: Final[dict[Reach, str]] = {
    "": "",
    "front": "; the policy has to go and face it first",
    "around": "; the policy has to go beside it first",
}


_ACHIEVED: Final = frozenset(ACHIEVEMENTS)
_ABSENT: Final = CausalEdge(cause="-", effect="-", kind="policy-mediated", concept="-", reason="")


@lru_cache(maxsize=256)
def _concept(name: str) -> Concept:
    return mechanisms()[name].concept


@lru_cache(maxsize=256)
def within(task: str | None, hops: int | None) -> dict[str, int]:
    """The mechanisms that a task rests on within so many hops, each with its hop.

    Raises:
        UntakenError: ``achievement-unknown``.
    """
    if task is not None:
        checked_task(task)
    every = mechanisms().values()
    layer = [m for m in every if (m.effect == "health" if task is None else m.name == task)]
    found: dict[str, int] = {}
    hop = 1
    while layer and (hops is None or hop <= hops):
        found |= {m.name: hop for m in layer}
        causes = {cause for m in layer for cause in m.causes}
        layer = [m for m in every if m.effect in causes and m.name not in found]
        hop += 1
    return found
