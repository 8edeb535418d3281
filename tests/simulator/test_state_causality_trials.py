"""Every edge that the rules claim is one in clones; what is none, is not."""

from __future__ import annotations

from functools import cache

import pytest
from crafter_worlds import NIGHT, walked

from benchmarks.crafter_edges import DRAWS, EdgeTrial, TriedCauses, _judged, rule_edges, try_edges
from untaken.simulator.crafter import ACHIEVEMENTS
from untaken.simulator.state_causality import CausalEdge, CausalState, SymbolicCausality
from untaken.simulator.state_causality.mechanisms import mechanisms

MECHANISMS = tuple(mechanisms())


@cache
def tried(mechanism: str) -> tuple[EdgeTrial, ...]:
    edges = tuple(edge for edge in rule_edges() if edge.concept == mechanism)
    return try_edges(walked(), CausalState(task=None, by="all rules", edges=edges)).trials


@pytest.mark.parametrize("mechanism", [name for name, m in mechanisms().items() if not m.mediated])
def test_each_cause_that_a_rule_claims_changes_its_effect_in_clones(mechanism: str) -> None:
    trials = tried(mechanism)
    assert trials
    for trial in trials:
        assert (trial.found, trial.draws) == ("effect", DRAWS), f"{trial.edge.cause}: {trial.reason}"
        assert min(trial.higher, trial.lower) <= 2, trial.reason


STRANGERS = ("sapling", "coal", "wood_sword", "near_sand", "near_diamond")


@pytest.mark.parametrize("mechanism", [name for name in MECHANISMS if name != "nightfall"])
def test_what_no_rule_names_changes_nothing(mechanism: str) -> None:
    m = mechanisms()[mechanism]
    effects = [e for e in (m.effect, m.name if m.name in ACHIEVEMENTS else "") if e]
    edges = tuple(
        CausalEdge(cause=cause, effect=effect, kind="rule", concept=m.name, reason="no")
        for cause in STRANGERS
        for effect in effects
        if cause not in m.causes and cause != effect
    )
    found = try_edges(walked(), CausalState(task=None, by="nobody", edges=edges))
    assert edges
    assert [t.found for t in found.trials] == ["no effect"] * len(edges)
    assert found.causes.edges == edges, "an edge without an effect keeps its kind"


def of_a_state(task: str | None, steps: int = NIGHT) -> TriedCauses:
    world = walked(steps)
    return try_edges(world, SymbolicCausality()(task, world.observe()))


@pytest.mark.parametrize("task", ["collect_wood", "defeat_zombie", "make_stone_pickaxe", "wake_up", None])
def test_rules_of_a_state_stand_the_test_and_what_needs_the_policy_changes_nothing_by_itself(task) -> None:
    found = of_a_state(task)
    assert all(t.found == "effect" for t in found.trials if t.edge.kind == "rule")
    for before, after in zip(found.trials, found.causes.edges, strict=True):
        if before.edge.kind == "rule":
            assert after.kind == "tested"
            assert "pairs of clones" in after.reason
        else:
            assert before.found in ("no effect", "not tried")
            assert after == before.edge
    assert any(trial.edge.kind == "rule" for trial in found.trials)


def test_what_is_not_in_the_state_and_needs_the_policy_is_not_tried_and_it_is_said() -> None:
    found = of_a_state("make_iron_pickaxe")
    left = [t for t in found.trials if t.found == "not tried"]
    assert {t.edge.cause for t in left} >= {"near_furnace"}
    assert {(t.reason, t.draws) for t in left} == {("the cause is not in this state", 0)}


@pytest.mark.parametrize(
    ("higher", "lower", "p"), [(0, 0, 1.0), (8, 0, 2 / 256), (0, 8, 2 / 256), (4, 4, 1.0), (7, 1, 18 / 256)]
)
def test_the_sign_test_is_exact(higher: int, lower: int, p: float) -> None:
    edge = CausalEdge(cause="near_tree", effect="collect_wood", kind="rule", concept="", reason="")
    pairs = [(0.0, 1.0)] * higher + [(1.0, 0.0)] * lower
    assert _judged(edge, pairs).p == pytest.approx(p)
