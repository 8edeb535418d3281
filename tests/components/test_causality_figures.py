"""Drawings of causal graphs: colour, line and words show the kinds of edges and nodes."""

from __future__ import annotations

from typing import Any

import pytest
from drawn import HOSTILE, markup
from programs import run_python

from components import figures
from untaken.simulator.players import policy_named
from untaken.simulator.scm import StructuralCausalModel, Variable, planning_model
from untaken.simulator.state_causality import CausalEdge, CausalState, Concept, EdgeKind, StateVariable


def an_edge(cause: str, effect: str, kind: EdgeKind = "rule") -> CausalEdge:
    return CausalEdge(cause=cause, effect=effect, kind=kind, concept="c", reason="so it is")


def a_state(*edges: CausalEdge, **more: Any) -> CausalState:
    values = {"near_tree": "2 steps away: 2 left", "sleeping": "awake", "energy": "4", "idle": "1"}
    given: dict[str, Any] = {
        "task": "collect_wood",
        "by": "a test",
        "concepts": (Concept(name="c", words="words"),),
        "kept_concepts": ("c",),
        "variables": tuple(StateVariable(name=n, words=w, number=1) for n, w in values.items()),
        "kept": tuple(values),
        "missing": ("axe",),
        "absent": ("near_zombie",),
    }
    return CausalState(**given | more, edges=edges)


STATE = a_state(
    an_edge("near_tree", "collect_wood", "policy-mediated"),
    an_edge("sleeping", "collect_wood", "tested"),
    an_edge("axe", "collect_wood"),
    an_edge("near_zombie", "sleeping"),
)


def boxes(figure: Any) -> list[Any]:
    return [s for s in figure.layout.shapes if s.path and s.path.endswith("Z") and s.line.width]


def lines(figure: Any) -> list[Any]:
    return [s for s in figure.layout.shapes if not (s.path and s.path.endswith("Z"))]


@pytest.mark.parametrize("dark", [False, True])
def test_kinds_of_nodes_and_edges_differ_in_more_than_colour(dark: bool) -> None:
    figure = figures.state_causality_figure(STATE, dark=dark)
    drawn = dict(zip(figure.data[0].text, boxes(figure), strict=True))
    assert {words: (box.line.dash, box.line.width) for words, box in drawn.items()} == {
        "· near zombie<br>not here": ("dot", 2),
        "∅ axe<br>missing": ("dash", 2),
        "near tree<br>2 steps away: 2 left": ("solid", 2),
        "sleeping<br>awake": ("solid", 2),
        "★ collect wood": ("solid", 4),
    }  # what has no edge is not drawn
    styles = sorted((line.line.dash, line.line.width) for line in lines(figure))
    assert styles == [("dash", 1.5), ("solid", 1.5), ("solid", 1.5), ("solid", 3)]
    legend = figure.layout.annotations[0].text
    kinds = ("the task", "kept", "missing", "not here", "▸</span> rule", "tested", "what the policy does")
    assert [words for words in kinds if words not in legend] == []
    assert figure.layout.meta["description"] == "What acts on collect_wood: 4 of 4 variables kept, 4 edges"


def test_two_that_act_on_each_other_can_be_drawn() -> None:
    ways = (("sleeping", "collect_wood"), ("sleeping", "energy"), ("energy", "sleeping"))
    figure = figures.state_causality_figure(a_state(*(an_edge(*way) for way in ways)))
    assert len(lines(figure)) == 3


@pytest.mark.parametrize("state", [CausalState(task=None, by="m", unscored="no <b>answer"), a_state()])
def test_without_edges_it_says_so(state: CausalState) -> None:
    figure = figures.state_causality_figure(state)
    assert len(figure.layout.annotations) == 1
    assert "<b>" not in figure.layout.annotations[0].text


def test_hostile_names_stay_words() -> None:
    state = a_state(
        an_edge(HOSTILE, "collect_wood"),
        variables=(StateVariable(name=HOSTILE, words=HOSTILE, number=1),),
        kept=(HOSTILE,),
    )
    model = StructuralCausalModel(HOSTILE, [Variable(name=HOSTILE, words=HOSTILE)])
    assert markup(figures.state_causality_figure(state), figures.scm_figure(model)) == []


@pytest.mark.parametrize("dark", [False, True])
def test_a_model_is_drawn_moment_by_moment_and_an_intervention_cuts_its_arrows(dark: bool) -> None:
    model = planning_model(policy_named("random"), steps=2)
    figure = figures.scm_figure(model, dark=dark)
    place = dict(zip(figure.data[0].text, zip(figure.data[0].x, figure.data[0].y, strict=True), strict=True))
    assert place["s<sub>0</sub>"][0] < place["a<sub>0</sub>"][0] < place["s<sub>1</sub>"][0]
    assert len({place[f"s<sub>{t}</sub>"][1] for t in range(3)}) == 1
    assert len(lines(figure)) == model.graph().number_of_edges()
    changed = figures.scm_figure(model.do(a_1="noop"), dark=dark)
    assert len(lines(changed)) == len(lines(figure)) - 3
    assert "set by do" in changed.layout.annotations[0].text
    assert "set by do" not in figure.layout.annotations[0].text


def test_any_other_model_is_drawn_by_its_graph() -> None:
    rain = Variable(name="rain", words="it rains")
    wet = Variable(name="the wet grass", words="wet", parents=("rain",), function=lambda rain: rain)
    figure = figures.scm_figure(StructuralCausalModel("weather", [rain, wet]).graph())
    assert list(figure.data[0].text) == ["rain", "the wet grass"]
    assert figure.layout.meta["description"] == "weather: 2 variables, 1 edges"


PROGRAM = """
import sys; sys.modules['crafter'] = None
import msgspec
from components import figures
from untaken.simulator.players import policy_named
from untaken.simulator.scm import planning_model
from untaken.simulator.state_causality import CausalState
state = msgspec.json.decode({state!r}, type=CausalState)
figure = figures.state_causality_figure(state)
print(len(figure.data[0].text), len(figures.scm_figure(planning_model(policy_named('random'))).data))
"""


def test_both_are_drawn_from_plain_data_without_crafter_installed() -> None:
    assert run_python(PROGRAM.format(state=STATE.to_json())).stdout.strip() == "5 2"
