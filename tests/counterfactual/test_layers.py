"""Layered contexts: where history is taken from, and that the pooled advantage is nearer to the truth."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from math import sqrt
from random import Random
from typing import NamedTuple

import jsonschema
import pytest
from builders import a_run
from histories import on_day

from untaken.counterfactual import Weights, choices, evaluate_run, level_words
from untaken.counterfactual.memory import Observed, PolicyMemory, Snapshot
from untaken.counterfactual.memory.history import History
from untaken.counterfactual.run_evaluation import Alternative
from untaken.errors import Unscored
from untaken.ledger import Run, SkillSelection
from untaken.views import counterfactual_document, dump, json_schema
from untaken.views.documents import entry

FINE, OTHER, COARSE = ("near", "day", "all"), ("far", "day", "all"), ("far", "night", "all")


def layered(
    run_id: str,
    *skills: str,
    layers: Sequence[str] = FINE,
    day: float,
    success: bool = True,
    agent: str = "agent",
    **fields: object,
) -> Run:
    """A run that took each of the skills, of ``a`` and ``b``, in one situation."""
    builder = a_run(run_id, agent=agent)
    for skill in (*skills, "rest"):
        builder.add(
            SkillSelection,
            selected=skill,
            alternatives=["a", "b"] if skill in "ab" else [],
            context_hash=layers[0],
            context={"place": layers[0]} | ({"time": layers[1]} if len(layers) > 1 else {}),
            context_layers=tuple(layers) if len(layers) > 1 else None,
            **fields,
        )
    return on_day(builder.finish(success, cost=1.0, steps=2).run(), day)


def branch_of(past: Sequence[Run], layers: Sequence[str] = FINE) -> Alternative:
    """The path ``b`` that a later run left for ``a``."""
    run = layered("now", "a", layers=layers, day=99, success=False)
    return evaluate_run(run, PolicyMemory.build([*past, run])).decisions[0].branches[0]


class Case(NamedTuple):
    desc: str
    alternative: tuple[int, int, int]
    """Runs that took it in the finest layer, in the middle one only, in the coarsest only."""
    selected: tuple[int, int, int]
    level: int | None
    shared: int | None


CASES = [
    Case("enough in the finest", (3, 5, 5), (3, 5, 5), 1, 1),
    Case("enough in the middle", (2, 1, 0), (3, 0, 0), 2, 2),
    Case("enough in the coarsest alone", (0, 0, 3), (0, 0, 3), 3, 3),
    Case("nowhere enough: the finest with any", (0, 1, 1), (1, 0, 0), 2, 2),
    Case("the selected skill is known in coarse terms only", (3, 0, 0), (0, 0, 3), 1, 3),
    Case("the selected skill has too few anywhere: the finest with both", (3, 0, 0), (0, 1, 1), 1, 2),
    Case("the selected skill is not known at all", (3, 0, 0), (0, 0, 0), 1, None),
    Case("the alternative is not known at all", (0, 0, 0), (3, 3, 3), None, None),
]


@pytest.mark.parametrize("case", CASES, ids=[case.desc for case in CASES])
def test_history_is_of_the_finest_level_that_has_enough(case: Case) -> None:
    past = [
        layered(f"{skill}-{layers[0]}-{layers[1]}-{i}", skill, layers=layers, day=i)
        for skill, numbers in (("a", case.selected), ("b", case.alternative))
        for layers, number in zip((FINE, OTHER, COARSE), numbers, strict=True)
        for i in range(number)
    ]
    branch = branch_of(past)
    assert (branch.level, branch.levels, branch.advantage_level) == (case.level, 3, case.shared)
    assert branch.n == (sum(case.alternative[: case.level]) if case.level else 0)
    where = case.shared if case.level else 1
    assert branch.n_selected == (sum(case.selected[:where]) if where else 0)
    assert branch.known is (case.level is not None)
    assert level_words(branch.level, 3) == (f"history at level {case.level} of 3" if case.level else "")
    assert level_words(branch.level, 1) == ""


def test_decision_points_that_go_back_to_one_coarse_layer_are_one_choice() -> None:
    runs = [
        layered(f"r{i}", "ab"[i % 2], layers=(f"place {i}", "day", "all"), day=i, success=i % 2 > 0)
        for i in range(12)
    ]
    memory = PolicyMemory.build(runs)
    evaluations = {run.digest: evaluate_run(run, memory) for run in runs}
    made = choices(evaluations, {run.digest: run for run in runs}, memory)
    assert [(c.selected, c.alternative, len(c.points)) for c in made] == [("a", "b", 6), ("b", "a", 6)]
    assert {(c.context_hash, c.level, c.levels, c.context, c.q_family) for c in made} == {
        ("day", 2, 3, '{"time":"day"}', 1)
    }


def test_layers_are_reported_in_the_document_where_there_are_any() -> None:
    document = {}
    for name, layers in (("layered", FINE), ("plain", FINE[:1])):
        past = [layered(f"{s}{i}", s, layers=layers, day=i) for s in "ab" for i in range(3)]
        made = evaluate_run(layered("now", "a", layers=layers, day=9), PolicyMemory.build(past))
        whole = entry(counterfactual_document([made], weights=Weights(), threshold=0.1))
        jsonschema.validate(whole, json_schema("counterfactual"))
        document[name] = whole["runs"][0]["decisions"][0]["alternatives"][0]
    told = {key: document["layered"][key] for key in document["layered"].keys() - document["plain"].keys()}
    assert (told.pop("pooled"), told.pop("strength")) == (0.0, 64)
    assert told.pop("pooled_low") == -told.pop("pooled_high") < 0  # six alike are no certainty
    assert told == {"level": 1, "levels": 3, "advantage_level": 1, "n_selected": 3}
    assert "layer" not in dump(document["plain"])


START = datetime(2026, 1, 1, tzinfo=UTC)
SKILLS = ("a", "b", "c")


def world(
    random: Random, *, skill: float, fine: float, runs: int
) -> tuple[Snapshot, dict[tuple[str, int], float]]:
    """A memory of runs in six fine situations of one coarse one, and the true rate of each skill in each."""
    coarse = {name: random.uniform(0.5 - skill, 0.5 + skill) for name in SKILLS}
    truth = {
        (name, at): min(0.95, max(0.05, coarse[name] + random.uniform(-fine, fine)))
        for name in SKILLS
        for at in range(6)
    }
    log = []
    for run in range(runs):
        name, at = random.choice(SKILLS), random.randrange(6)
        log.append(
            Observed(
                key=f"r{run}",
                kind="outcome",
                skill=name,
                context_hash=f"f{at}",
                context_layers=(f"f{at}", "all"),
                success=float(random.random() < truth[name, at]),
                cost=None,
                steps=None,
                weight=1.0,
                run_id=f"r{run}",
                ts=START + timedelta(hours=run),
            )
        )
    history = History(log)
    return Snapshot(history=history, as_of=None, cost_unit=None, observations=len(log)), truth


def compared(snapshot: Snapshot) -> list[tuple[float | None, float]]:
    """Raw advantage and pooled one of ``b`` over ``a``, in each fine situation."""
    run = a_run("now")
    for at in range(6):
        situation = {"context_hash": f"f{at}", "context_layers": (f"f{at}", "all")}
        run.add(SkillSelection, selected="a", alternatives=["b"], **situation)
    evaluation = evaluate_run(on_day(run.finish(True).run(), 99), snapshot)
    found = []
    for decision in evaluation.decisions:
        (branch,) = decision.branches
        raw = None if isinstance(branch.advantage, Unscored) else branch.advantage
        found.append((raw, branch.pooled))
    return found


@pytest.mark.parametrize("fine", [0.05, 0.2, 0.35])
def test_pooled_is_nearer_to_a_planted_truth_than_the_advantage_of_one_level(fine: float) -> None:
    random, raw_errors, pooled_errors = Random(4), list[float](), list[float]()
    for _ in range(40):
        snapshot, truth = world(random, skill=0.3, fine=fine, runs=120)
        for at, (raw, pooled) in enumerate(compared(snapshot)):
            if raw is not None:
                real = truth["b", at] - truth["a", at]
                raw_errors.append((raw - real) ** 2)
                pooled_errors.append((pooled - real) ** 2)
    assert len(raw_errors) > 200
    assert sqrt(sum(pooled_errors)) < 0.97 * sqrt(sum(raw_errors))
