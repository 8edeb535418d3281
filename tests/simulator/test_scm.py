"""Evaluated, the models of agent planning give the states of the loop; intervened on, those of a clone."""

from __future__ import annotations

from typing import Any

import networkx as nx
import pytest
from crafter_worlds import NIGHT, some_actions, walked

from untaken.errors import UntakenError
from untaken.simulator.loop import Turn, play
from untaken.simulator.players import policy_named
from untaken.simulator.policy import Policy
from untaken.simulator.scm import StructuralCausalModel, Variable, planning_model, transition_model
from untaken.simulator.state_causality import SymbolicCausality

K = 12
TASK = "collect_wood"


def begun(name: str, seed: int = 3, task: str | None = TASK) -> Policy:
    policy = policy_named(name)
    policy.begin(seed, task)
    return policy


def exogenous(name: str, **more: Any) -> Variable:
    return Variable(name=name, words="given", **more)


def endogenous(name: str, *parents: str, function: Any = lambda *values: sum(values)) -> Variable:
    return Variable(name=name, words="made", parents=parents, function=function)


CHAIN = StructuralCausalModel(
    "a chain",
    [
        endogenous("y", "x", "u", function=lambda x, u: 10 * x + u),
        endogenous("x", "z", function=lambda z: z + 1),
        exogenous("z"),
        exogenous("u", default=0),
    ],
)


# Any model


def test_values_follow_from_those_given_causes_first() -> None:
    assert CHAIN.evaluate({"z": 1, "u": 5}) == {"z": 1, "u": 5, "x": 2, "y": 25}
    assert CHAIN.evaluate({"z": 1})["y"] == 20
    assert (set(CHAIN.endogenous), set(CHAIN.exogenous)) == ({"x", "y"}, {"z", "u"})


def test_an_intervention_cuts_what_led_there_and_leaves_the_model_as_it_was() -> None:
    changed = CHAIN.do(x=7)
    assert changed.evaluate({"z": 1, "u": 5}) == {"z": 1, "u": 5, "x": 7, "y": 75}
    assert set(changed.graph().edges) == {("x", "y"), ("u", "y")}
    assert set(CHAIN.graph().edges) == {("z", "x"), ("x", "y"), ("u", "y")}
    assert CHAIN.do(z=4).evaluate({})["y"] == 50


def test_a_number_seen_and_a_number_set_are_different_things() -> None:
    """Rain makes the grass wet, and the path; wetting the grass leaves the path dry."""
    wet = StructuralCausalModel(
        "w", [exogenous("rain"), endogenous("grass", "rain"), endogenous("path", "rain")]
    )
    assert wet.evaluate({"rain": 1})["path"] == 1
    assert wet.do(grass=1).evaluate({"rain": 0})["path"] == 0


INVALID = {
    "twice": ([exogenous("x"), exogenous("x")], "twice"),
    "unknown parent": ([endogenous("x", "z")], "no variable"),
    "cycle": ([endogenous("x", "y"), endogenous("y", "x")], "cycle"),
    "parents without a function": ([exogenous("z"), exogenous("x", parents=("z",))], "no function"),
}


@pytest.mark.parametrize(("variables", "said"), INVALID.values(), ids=INVALID)
def test_what_is_no_model_is_refused(variables: list[Variable], said: str) -> None:
    with pytest.raises(UntakenError, match=said) as caught:
        StructuralCausalModel("m", variables)
    assert caught.value.code == "scm-invalid"


# Those of agent planning


def stepped(
    policy: Policy, causality: SymbolicCausality | None = None, task: str | None = TASK
) -> tuple[list[str], list[str]]:
    """Actions and hashes of the states by the loop."""
    world, hashes, actions = walked(), [], []

    def keep(turn: Turn) -> None:
        actions.append(turn.action)
        hashes.append(world.state_hash())

    play(world, policy, task=task, steps=K, causality=causality, seed=3, record=keep)
    return actions, hashes


@pytest.mark.parametrize("causality", [None, SymbolicCausality()], ids=["without causes", "with causes"])
@pytest.mark.parametrize("task", ["collect_diamond", None])
@pytest.mark.parametrize("name", ["random", "scripted", "noisy"])
def test_the_unrolled_model_gives_the_actions_and_states_of_the_loop(name, task, causality) -> None:
    actions, hashes = stepped(policy_named(name), causality, task)
    assert len(actions) == K
    model = planning_model(begun(name, task=task), steps=K, causality=causality)
    values = model.evaluate({"s_0": walked(), "l": task})
    assert [values[f"a_{t}"] for t in range(K)] == actions
    assert [values[f"s_{t}"].state_hash() for t in range(1, K + 1)] == hashes


@pytest.mark.parametrize("action", ["noop", "do", "sleep", "move_left", "place_table"])
def test_do_an_action_is_a_forced_step_in_a_clone(action: str) -> None:
    t = 5
    model = planning_model(begun("noisy"), steps=K)
    given = {"s_0": walked(NIGHT), "l": TASK}
    as_it_was, changed = model.evaluate(given), model.do(a_5=action).evaluate(given)
    forced = as_it_was[f"s_{t}"].clone()
    forced.step(action)
    assert changed[f"s_{t + 1}"].state_hash() == forced.state_hash()
    for earlier in range(t + 1):
        assert changed[f"s_{earlier}"].state_hash() == as_it_was[f"s_{earlier}"].state_hash()
    if action != as_it_was[f"a_{t}"]:
        assert changed[f"s_{t + 1}"].state_hash() != as_it_was[f"s_{t + 1}"].state_hash()


def test_the_transition_model_takes_any_actions_and_other_random_numbers() -> None:
    actions = some_actions(K)
    given = {"s_0": walked(), **{f"a_{t}": a for t, a in enumerate(actions)}}
    model, world = transition_model(steps=K), walked()
    values = model.evaluate(given)
    for action in actions:
        world.step(action)
    assert values[f"s_{K}"].state_hash() == world.state_hash()
    other, again, third = (model.evaluate(given | {"u_2": n})[f"s_{K}"].state_hash() for n in (1, 1, 2))
    assert other == again
    assert len({other, third, world.state_hash()}) == 3


def test_its_graph_is_that_of_the_source_and_has_no_cycle() -> None:
    graph = planning_model(begun("random"), steps=2).graph()
    assert nx.is_directed_acyclic_graph(graph)
    assert set(graph.predecessors("a_1")) == {"s_1", "l", "m_1"}
    assert set(graph.predecessors("s_1")) == {"s_0", "a_0", "u_0"}
    assert {node for node, exogenous in graph.nodes(data="exogenous") if exogenous} == {
        "l",
        "s_0",
        "u_0",
        "u_1",
    }
    assert not any(edge for edge in graph.edges if edge[1].startswith("l"))
