"""Structural causal models, and the two of agent planning: how actions and how states come about (§7).

A model is ⟨V, U, F⟩: each endogenous variable has a deterministic function of its parents, so that a
counterfactual is the same model with one function replaced. All chance is in variables of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any

import networkx as nx
from msgspec import Struct
from msgspec.structs import replace

from untaken.errors import UntakenError
from untaken.simulator.policy import Act, Policy, Seen, augment
from untaken.simulator.state_causality import StateCausality

if TYPE_CHECKING:
    from untaken.simulator.crafter import CrafterWorld

Function = Callable[..., Any]
_MISSING = object()  # `None` is a value, too


class Variable(Struct, frozen=True, kw_only=True):
    """One variable of a model.

    Attributes:
        name: as its function's callers write it, such as ``s_1``.
        words: its meaning.
        time: its slice t; ``None`` where it is of no moment.
        parents: names, in the order in which the function takes them.
        function: of the parents' values; ``None`` for an exogenous variable, whose value is given.
        set_by: ``do`` where an intervention replaced the function.
        default: the value of an exogenous variable that is not given.
    """

    name: str
    words: str
    time: int | None = None
    parents: tuple[str, ...] = ()
    function: Function | None = None
    set_by: str = ""
    default: Any = _MISSING

    @property
    def exogenous(self) -> bool:
        """Whether its value comes from outside."""
        return self.function is None


class StructuralCausalModel:
    """Variables, their parents and their functions; immutable."""

    def __init__(self, name: str, variables: tuple[Variable, ...] | list[Variable]) -> None:
        """A model.

        Raises:
            UntakenError: ``scm-invalid`` for a name twice, an unknown parent, parents of an exogenous
                variable, or a cycle.
        """
        self.name = name
        self.variables: Mapping[str, Variable] = {variable.name: variable for variable in variables}
        if len(self.variables) < len(variables):  # of one name, the mapping holds the last alone
            raise _invalid(name, "a variable is there twice")
        for variable in variables:
            unknown = [parent for parent in variable.parents if parent not in self.variables]
            if unknown:
                raise _invalid(name, f"{variable.name} has the parent {unknown[0]}, which is no variable")
            if variable.exogenous and variable.parents:
                raise _invalid(name, f"{variable.name} has parents and no function")
        try:
            self.order = tuple(TopologicalSorter({v.name: v.parents for v in variables}).static_order())
        except CycleError as error:
            raise _invalid(name, f"it has a cycle: {' → '.join(error.args[1])}") from error

    @property
    def endogenous(self) -> tuple[str, ...]:
        """V, causes first."""
        return tuple(name for name in self.order if not self.variables[name].exogenous)

    @property
    def exogenous(self) -> tuple[str, ...]:
        """U."""
        return tuple(name for name in self.order if self.variables[name].exogenous)

    def evaluate(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The value of every variable, from those of the exogenous ones.

        Raises:
            UntakenError: ``scm-value`` where one is not given, or what is given is not exogenous.
        """
        stray = sorted(given.keys() - set(self.exogenous))
        if stray:
            raise _value(self.name, f"{stray[0]} is not exogenous", f"do({stray[0]}=…) sets it.")
        values: dict[str, Any] = {}
        for name in self.order:
            variable = self.variables[name]
            if variable.function is not None:
                values[name] = variable.function(*(values[parent] for parent in variable.parents))
                continue
            values[name] = given.get(name, variable.default)
            if values[name] is _MISSING:
                needed = [n for n in self.exogenous if self.variables[n].default is _MISSING]
                raise _value(self.name, f"{name} is not given", f"It needs {', '.join(needed)}.")
        return values

    def do(self, **values: Any) -> StructuralCausalModel:
        """The model after an intervention: these variables have these values, whatever their parents do.

        Raises:
            UntakenError: ``scm-value`` for a name that is no variable.
        """
        stray = sorted(values.keys() - self.variables.keys())
        if stray:
            raise _value(self.name, f"{stray[0]} is no variable", f"One of: {', '.join(self.order)}.")
        changed = [
            replace(v, parents=(), function=_constant(values[v.name]), set_by="do") if v.name in values else v
            for v in self.variables.values()
        ]
        return StructuralCausalModel(f"{self.name}, do({', '.join(values)})", changed)

    def compose(self, other: StructuralCausalModel, name: str) -> StructuralCausalModel:
        """Both models as one: what is exogenous in one is what the other makes of it.

        Raises:
            UntakenError: ``scm-invalid`` where both have a function for the same variable, or a cycle arises.
        """
        both = dict(self.variables)
        for variable in other.variables.values():
            known = both.get(variable.name)
            if known is None or known.exogenous:
                both[variable.name] = variable
            elif not variable.exogenous:
                raise _invalid(name, f"both models have a function for {variable.name}")
        return StructuralCausalModel(name, list(both.values()))

    def graph(self) -> nx.DiGraph:
        """The causal graph; nodes with ``words``, ``time``, ``exogenous`` and ``set_by``."""
        graph = nx.DiGraph(name=self.name)
        for v in self.variables.values():
            graph.add_node(v.name, words=v.words, time=v.time, exogenous=v.exogenous, set_by=v.set_by)
            graph.add_edges_from((parent, v.name) for parent in v.parents)
        return graph


def action_model(
    policy: Policy, *, steps: int = 1, causality: StateCausality | None = None
) -> StructuralCausalModel:
    """The action SCM: a_t = π(s_t, l, m_t), each step from a state and the task given from outside.

    What a policy remembers is a variable, m_t: it takes in s_t and is what answers, so that every function
    leaves its arguments as they are. A policy begins as it is handed over. Its draws are part of m_t.
    """

    def answered(t: int, state: CrafterWorld, task: str | None, memory: Policy) -> tuple[Act, Policy]:
        seen = Seen(observation=state.observe(), task=task, step=t)
        # A_t and m_{t+1} each ask a clone of their own: a function leaves its arguments as they are.
        twin = memory.clone()
        if causality is not None:
            seen = augment(seen, causality(task or twin.aim, seen.observation))
        return twin.act(seen), twin

    def variables() -> Iterator[Variable]:
        yield Variable(name="l", words="the task")
        yield Variable(name="m_0", words="what the policy remembers", time=0, function=policy.clone)
        for t in range(steps):
            parents = (f"s_{t}", "l", f"m_{t}")
            yield _state(t)
            yield Variable(
                name=f"a_{t}",
                words="the action: π(s, l), by what it remembers",
                time=t,
                parents=parents,
                # Bound now: the loop goes on.
                function=lambda state, task, memory, t=t: answered(t, state, task, memory)[0].action,
            )
            if t + 1 < steps:
                yield Variable(
                    name=f"m_{t + 1}",
                    words="what the policy remembers",
                    time=t + 1,
                    parents=parents,
                    function=lambda state, task, memory, t=t: answered(t, state, task, memory)[1],
                )

    return StructuralCausalModel("Action model", list(variables()))


def transition_model(*, steps: int = 1) -> StructuralCausalModel:
    """The transition SCM: s_{t+1} = f(s_t, a_t, u_t), each step from an action given from outside.

    A state is a world, its random numbers included: f steps a clone. u_t is ``None`` where those go on, and
    a whole number where others, drawn by it, take their place from this step on.
    """

    def variables() -> Iterator[Variable]:
        yield _state(0)
        for t in range(steps):
            yield Variable(name=f"a_{t}", words="the action", time=t)
            yield Variable(name=f"u_{t}", words="other random numbers, or none", time=t, default=None)
            yield Variable(
                name=f"s_{t + 1}",
                words="the state of the world",
                time=t + 1,
                parents=(f"s_{t}", f"a_{t}", f"u_{t}"),
                function=_stepped,
            )

    return StructuralCausalModel("Transition model", list(variables()))


def planning_model(
    policy: Policy, *, steps: int = 1, causality: StateCausality | None = None
) -> StructuralCausalModel:
    """M_AP = M(a) ∪ M(s), unrolled: given s_0 and l, what policy and world make of it."""
    actions = action_model(policy, steps=steps, causality=causality)
    return actions.compose(transition_model(steps=steps), "Agent planning model")


def _stepped(state: CrafterWorld, action: str, numbers: int | None) -> CrafterWorld:
    after = state.clone()
    if numbers is not None:
        after.reseed(numbers)
    after.step(action)
    return after


def _state(t: int) -> Variable:
    return Variable(name=f"s_{t}", words="the state of the world", time=t)


def _constant(value: Any) -> Function:
    return lambda: value  # made apart: one made in a loop would see the loop's last value


def _invalid(name: str, why: str) -> UntakenError:
    return UntakenError("scm-invalid", f"{name}: {why}", hint="Name each variable and each parent once.")


def _value(name: str, why: str, hint: str) -> UntakenError:
    return UntakenError("scm-value", f"{name}: {why}", hint=hint)
