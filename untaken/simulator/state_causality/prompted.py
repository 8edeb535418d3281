"""The state causality evaluator by a language model: four questions, each held to what was offered (§7)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Annotated, Final, Literal, TypeVar

from msgspec import Meta, Struct

from untaken.errors import Unscored
from untaken.judging import ModelAccess, Question, Template, read_template
from untaken.simulator.crafter import LocalView
from untaken.simulator.state_causality.causal_state import STAY_ALIVE, CausalEdge, Concept, StateVariable
from untaken.simulator.state_causality.evaluator import StateCausality
from untaken.simulator.state_causality.mechanisms import mechanisms
from untaken.simulator.state_causality.symbolic import within
from untaken.simulator.state_causality.variables import variables_of

NOTHING: Final = "the model named nothing of what it was offered"

_Name = Annotated[str, Meta(max_length=40)]
_Names = Annotated[list[_Name], Meta(max_length=16)]
_A = TypeVar("_A", bound=Struct)
_N = TypeVar("_N", Concept, StateVariable)


class Decomposed(Struct, frozen=True, forbid_unknown_fields=True):
    """The form of an answer to ``decompose.md``."""

    concepts: _Names
    variables: _Names


class Named(Struct, frozen=True, forbid_unknown_fields=True):
    """The form of an answer to ``concepts.md`` and ``variables.md``."""

    names: _Names


class AnsweredEdge(Struct, frozen=True, forbid_unknown_fields=True):
    """One edge as a model words it."""

    cause: _Name
    effect: _Name
    by: Literal["rule", "policy"]
    reason: Annotated[str, Meta(max_length=80)]


class Inferred(Struct, frozen=True, forbid_unknown_fields=True):
    """The form of an answer to ``infer.md``."""

    edges: Annotated[list[AnsweredEdge], Meta(max_length=12)]


class PromptedCausality(StateCausality):
    """Asks a language model. Names outside the offered concepts and variables are dropped and counted.

    No rule replaces a missing or unusable answer: the causal state is then unscored, with the reason. Its
    edges are claims of a model.
    """

    def __init__(self, model: ModelAccess, *, seed: int = 0) -> None:
        """An evaluator."""
        self._model, self._seed = model, seed
        self.by = f"{model.name}, by prompts"

    def decompose(
        self, task: str | None, observation: LocalView
    ) -> tuple[tuple[Concept, ...], tuple[StateVariable, ...]] | Unscored:
        """Those it names of the mechanisms with a cause in this state, and of the variables that it shows."""
        variables = variables_of(observation)
        # One hop: what reaches the task is always offered; on what else it rests is for the model to say.
        present, own = {v.name for v in variables}, within(task, 1)
        concepts = [
            m.concept for name, m in mechanisms().items() if name in own or not present.isdisjoint(m.causes)
        ]
        answer = self._ask(
            "decompose",
            Decomposed,
            _task(task),
            _listed("Concepts", concepts),
            _listed("Variables", variables),
        )
        if isinstance(answer, Unscored):
            return answer
        kept = self._offered(answer.concepts, concepts), self._offered(answer.variables, variables)
        return kept if all(kept) else Unscored(NOTHING)

    def concepts(self, task: str | None, concepts: Sequence[Concept]) -> tuple[Concept, ...] | Unscored:
        """Those it names of the concepts."""
        answer = self._ask("concepts", Named, _task(task), _listed("Concepts", concepts))
        return answer if isinstance(answer, Unscored) else self._named(answer, concepts)

    def variables(
        self, variables: Sequence[StateVariable], concepts: Sequence[Concept]
    ) -> tuple[StateVariable, ...] | Unscored:
        """Those it names of the variables."""
        answer = self._ask("variables", Named, _listed("Concepts", concepts), _listed("Variables", variables))
        return answer if isinstance(answer, Unscored) else self._named(answer, variables)

    def infer(
        self,
        variables: Sequence[StateVariable],
        concepts: Sequence[Concept],
        task: str | None,
        observation: LocalView,  # noqa: ARG002 (the variables describe it)
    ) -> tuple[CausalEdge, ...] | Unscored:
        """The edges it names between the variables and the task."""
        answer = self._ask(
            "infer", Inferred, _task(task), _listed("Concepts", concepts), _listed("Variables", variables)
        )
        if isinstance(answer, Unscored):
            return answer
        goal, known = task or STAY_ALIVE, {variable.name for variable in variables}
        found: dict[tuple[str, str], CausalEdge] = {}
        for answered in answer.edges:
            cause, effect = _normal(answered.cause), _normal(answered.effect)
            if cause in known and effect in known | {goal} and cause != effect:
                found.setdefault((cause, effect), _edge(cause, effect, answered, concepts))
            else:
                self.dropped += 1
        return tuple(found.values())

    def _ask(self, prompt: str, output: type[_A], *parts: str) -> _A | Unscored:
        question = Question(
            template=template(prompt), prompt="\n\n".join(parts), output=output, seed=self._seed
        )
        answer = self._model.ask(question)
        return answer if isinstance(answer, Unscored) else answer.output

    def _named(self, answer: Named, offered: Sequence[_N]) -> tuple[_N, ...] | Unscored:
        return self._offered(answer.names, offered) or Unscored(NOTHING)

    def _offered(self, names: Iterable[str], offered: Sequence[_N]) -> tuple[_N, ...]:
        """What is named, in the order in which it was offered."""
        named = {_normal(name) for name in names}
        self.dropped += len(named - {one.name for one in offered})
        return tuple(one for one in offered if one.name in named)


def template(name: str) -> Template:
    """The standing instructions of one of the four functions."""
    return read_template(files("untaken.simulator.state_causality") / "prompts" / f"{name}.md")


def _task(task: str | None) -> str:
    return f"Task: {task or STAY_ALIVE}"


def _listed(title: str, named: Sequence[Concept] | Sequence[StateVariable]) -> str:
    return "\n".join([f"{title}:", *(f"- {one.name}: {one.words}" for one in named)])


def _normal(name: str) -> str:
    return "_".join(name.strip().casefold().split())


def _edge(cause: str, effect: str, answered: AnsweredEdge, concepts: Sequence[Concept]) -> CausalEdge:
    """The edge, with the equivalent concept if there is one."""
    by_rule = [mechanisms()[concept.name] for concept in concepts]
    same = (m.name for m in by_rule if cause in m.causes and effect in (m.effect, m.name))
    return CausalEdge(
        cause=cause,
        effect=effect,
        kind="rule" if answered.by == "rule" else "policy-mediated",
        concept=next(same, ""),
        # A model's words may be read by another model and by people: no line ends or invisible marks in them.
        reason=" ".join("".join(c if c.isprintable() else " " for c in answered.reason).split()),
    )
