"""What the state causality evaluator finds in a state: concepts, variables, and which acts on which (§7)."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta, Struct

EdgeKind = Literal["rule", "tested", "policy-mediated"]
STAY_ALIVE: Final = "stay_alive"
"""The node of the task in open play."""

_Name = Annotated[str, Meta(min_length=1, max_length=60)]
_Words = Annotated[str, Meta(max_length=300)]


class Concept(Struct, frozen=True, kw_only=True):
    """One c ∈ C: a mechanism by which things act on each other."""

    name: _Name
    words: _Words


class StateVariable(Struct, frozen=True, kw_only=True):
    """One v ∈ V with its value in a state.

    Attributes:
        words: the value, to be read.
        number: the value: an amount, a distance in steps, 0 or 1, or the number of what is faced.
    """

    name: _Name
    words: _Words
    number: float


class CausalEdge(Struct, frozen=True, kw_only=True):
    """CR[cause, effect] = 1.

    Attributes:
        effect: a variable, or the node of the task.
        kind: ``rule``: the environment reads the cause when it works out the effect. ``tested``: and a change
            of the cause in clones changed the effect. ``policy-mediated``: from this state the cause acts
            only through what the policy does first.
        concept: by which mechanism; empty where none is named.
        reason: why, in words.
    """

    cause: _Name
    effect: _Name
    kind: EdgeKind
    concept: Annotated[str, Meta(max_length=60)]
    reason: _Words


class CausalState(Struct, frozen=True, kw_only=True):
    """The causal representation CR_t of a state, for one task.

    Attributes:
        task: an achievement, or ``None`` in open play.
        by: who says so, with its settings.
        concepts: C_t; `kept_concepts` names C'_t among them.
        variables: V_t; `kept` names V'_t among them, in the same order.
        missing: what the task needs within the hops, and this state lacks.
        absent: what else is not in this state but would act through a kept cause: a zombie at night.
        edges: among `kept`, `missing`, `absent` and the task, in a stable order.
        dropped: names that a model gave outside what it was offered.
        unscored: why there is no representation; empty if there is one.
    """

    task: _Name | None
    by: _Words
    concepts: tuple[Concept, ...] = ()
    kept_concepts: tuple[_Name, ...] = ()
    variables: tuple[StateVariable, ...] = ()
    kept: tuple[_Name, ...] = ()
    missing: tuple[_Name, ...] = ()
    absent: tuple[_Name, ...] = ()
    edges: tuple[CausalEdge, ...] = ()
    dropped: int = 0
    unscored: str = ""

    @property
    def goal(self) -> str:
        """The node of the task."""
        return self.task or STAY_ALIVE

    @property
    def adjacency(self) -> tuple[tuple[int, ...], ...]:
        """CR_t over the kept variables: row i, column j is 1 where i acts on j."""
        pairs = {(edge.cause, edge.effect) for edge in self.edges}
        return tuple(tuple(int((u, v) in pairs) for v in self.kept) for u in self.kept)

    @property
    def summary(self) -> str:
        """How much is kept, in words."""
        if self.unscored:
            return f"no causal representation: {self.unscored}"
        return f"{len(self.kept)} of {len(self.variables)} variables kept"

    def in_words(self) -> str:
        """Plain text for a policy that reads."""
        if self.unscored:
            return ""
        shown = {variable.name: variable.words for variable in self.variables}
        lines = [f"What acts on {plain(self.goal)}:"]
        lines += [f"- {plain(name)}: {shown.get(name, '')}" for name in self.kept]
        lines += [f"- {plain(name)}: missing" for name in self.missing]
        lines += [f"- {plain(name)}: not here" for name in self.absent]
        lines += [f"{plain(e.cause)} → {plain(e.effect)} ({e.kind}): {e.reason}" for e in self.edges]
        return "\n".join(lines)

    def to_json(self) -> str:
        """One JSON object; equal states give equal text."""
        return msgspec.json.encode(self, order="deterministic").decode()


def require_known_names(state: CausalState) -> None:
    """Refuses a state whose edges or kept names are not in its lists.

    Raises:
        msgspec.ValidationError: names one of them.
    """
    known = {variable.name for variable in state.variables}
    nodes = {*state.kept, *state.missing, *state.absent, state.goal}
    stray = [name for name in state.kept if name not in known]
    stray += [name for e in state.edges for name in (e.cause, e.effect) if name not in nodes]
    stray += sorted(set(state.kept_concepts) - {concept.name for concept in state.concepts})
    if stray:
        raise msgspec.ValidationError(f"{stray[0]!r} is used and not listed")


def plain(name: str) -> str:
    """A name as a sentence has it."""
    return name.replace("_", " ")
