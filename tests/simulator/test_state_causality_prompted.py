"""A language model as state causality evaluator: strange names are dropped, nothing is made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from crafter_worlds import walked

from untaken.judging.asking import ModelAccess, ReplyStore
from untaken.simulator.state_causality import CausalState, PromptedCausality
from untaken.simulator.state_causality.prompted import NOTHING, template

pytest.importorskip("pydantic_ai", reason="the extra untaken[judge] is not installed")

from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

TASK = "collect_sapling"
STATE = walked().observe()
CONCEPTS = ["collect_sapling", "turning"]
VARIABLES = ["near_grass", "facing", "sleeping"]
EDGE = {"cause": "near_grass", "effect": "collect_sapling", "by": "rule", "reason": "it grows there"}
GOOD: dict[str, Any] = {
    "decompose": {"concepts": [*CONCEPTS, "hunger"], "variables": [*VARIABLES, "food"]},
    "concepts": {"names": CONCEPTS},
    "variables": {"names": VARIABLES},
    "infer": {"edges": [EDGE, {"cause": "sleeping", "effect": "facing", "by": "policy", "reason": ""}]},
}
FUNCTIONS = tuple(GOOD)


class Oracle:
    """A fake model: gives the prepared answer to each function, and records the questions."""

    def __init__(self, **answers: Any) -> None:
        self.answers, self.asked = GOOD | answers, dict[str, str]()
        self.model = FunctionModel(self._speak, model_name="oracle")

    def _speak(self, messages: list[Any], info: AgentInfo) -> ModelResponse:
        name = next(name for name in FUNCTIONS if template(name).text == info.instructions)
        self.asked[name] = str(messages[0].parts[-1].content)
        said = json.dumps(self.answers[name])
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, said)])


def evaluated(folder: Path, oracle: Oracle, *, offline: bool = False, task: str | None = TASK) -> CausalState:
    with ModelAccess(oracle.model, ReplyStore(folder), offline=offline) as model:
        return PromptedCausality(model)(task, STATE)


def test_what_it_names_is_the_causal_state(tmp_path: Path) -> None:
    found = evaluated(tmp_path, Oracle())
    assert {concept.name for concept in found.concepts} == {*CONCEPTS, "hunger"}
    assert set(found.kept_concepts) == set(CONCEPTS)
    assert {variable.name for variable in found.variables} == {*VARIABLES, "food"}
    assert set(found.kept) == set(VARIABLES)
    assert [(e.cause, e.effect, e.kind, e.concept) for e in found.edges] == [
        ("near_grass", "collect_sapling", "rule", "collect_sapling"),
        ("sleeping", "facing", "policy-mediated", "turning"),
    ]
    place = found.kept.index
    assert found.adjacency[place("sleeping")][place("facing")] == 1
    assert sum(map(sum, found.adjacency)) == 1
    assert (found.dropped, found.unscored, found.by) == (0, "", "oracle, by prompts")
    assert msgspec.json.decode(found.to_json(), type=CausalState) == found


def test_each_question_offers_what_the_function_takes(tmp_path: Path) -> None:
    oracle = Oracle()
    evaluated(tmp_path, oracle)
    assert set(oracle.asked) == set(FUNCTIONS)
    assert all(f"Task: {TASK}" in oracle.asked[name] for name in ("decompose", "concepts", "infer"))
    assert "- near_grass: " in oracle.asked["decompose"]
    assert "- hunger: " in oracle.asked["concepts"]
    assert "Variables" not in oracle.asked["concepts"]
    assert "Task" not in oracle.asked["variables"]
    assert "- hunger: " not in oracle.asked["infer"]
    assert "- food: " not in oracle.asked["infer"]


def test_names_that_were_not_offered_are_dropped_and_counted_and_spelling_is_forgiven(tmp_path: Path) -> None:
    strange = Oracle(
        decompose={"concepts": [*CONCEPTS, "alchemy"], "variables": [" Near Grass ", "facing", "gold"]},
        variables={"names": ["near_grass", "food"]},
        infer={"edges": [EDGE, {**EDGE, "cause": "gold"}, {**EDGE, "effect": "near_grass"}, EDGE]},
    )
    found = evaluated(tmp_path, strange)
    assert (found.kept, found.dropped) == (("near_grass",), 5)
    assert [(edge.cause, edge.effect) for edge in found.edges] == [("near_grass", "collect_sapling")]


EMPTY = {
    "decompose": {"concepts": ["alchemy"], "variables": VARIABLES},
    "concepts": {"names": []},
    "variables": {"names": ["gold"]},
}


@pytest.mark.parametrize("function", EMPTY)
def test_an_answer_that_names_nothing_of_what_was_offered_leaves_nothing(function, tmp_path) -> None:
    found = evaluated(tmp_path, Oracle(**{function: EMPTY[function]}))
    assert (found.unscored, found.kept, found.edges, found.adjacency) == (NOTHING, (), (), ())
    assert found.in_words() == ""


MALFORMED: dict[str, Any] = {
    "decompose": {"concepts": CONCEPTS},
    "concepts": {"names": ["x" * 41]},
    "variables": {"names": ["near_grass"] * 17},
    "infer": {"edges": [{**EDGE, "by": "magic"}]},
}


@pytest.mark.parametrize("function", MALFORMED)
def test_an_answer_out_of_form_leaves_nothing_and_says_why(function: str, tmp_path: Path) -> None:
    found = evaluated(tmp_path, Oracle(**{function: MALFORMED[function]}))
    assert "expected format" in found.unscored
    assert (found.kept, found.edges) == ((), ())


def test_replies_are_kept_and_give_the_same_without_a_model(tmp_path: Path) -> None:
    first, silent = evaluated(tmp_path, Oracle()), Oracle()
    assert evaluated(tmp_path, silent, offline=True) == first
    assert silent.asked == {}
    nothing = evaluated(tmp_path / "other", silent, offline=True)
    assert "requests are disabled" in nothing.unscored
