"""Metadata that a workspace names splits the strata of support: of skills and of plan statements (§2a)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from builders import RunBuilder, a_run
from histories import lines_of, on_day

from untaken.analysis.corpus import Corpus, evaluate_corpus
from untaken.analysis.workspace_corpus import WorkspaceCorpus
from untaken.cli import main
from untaken.counterfactual import Choice
from untaken.counterfactual.memory import PolicyMemory
from untaken.ledger import Run
from untaken.plans import parse_graph
from untaken.workspace import Workspace

GRAPH = """
schema: untaken.plan/1
id: desk
mutates: ["write_*"]
tasks: ["*"]
sub_goals:
  - {id: a, check: {tool_call: {name: write_a}}}
"""
World = Callable[[np.random.Generator, bool], tuple[str, float]]
"""Skill and chance of success, where the metadata has the one value or the other."""


def of_the_setting(random: np.random.Generator, hot: bool) -> tuple[str, float]:
    """The setting decides what is chosen, and what succeeds; the choice changes nothing."""
    return ("b" if random.random() < (0.9 if hot else 0.1) else "a"), (0.9 if hot else 0.2)


def hidden_by_the_setting(random: np.random.Generator, hot: bool) -> tuple[str, float]:
    """Skill b helps, but is chosen in the setting that fails."""
    skill = "b" if random.random() < (0.3 if hot else 0.7) else "a"
    return skill, (0.6 if hot else 0.0) + (0.4 if skill == "b" else 0.0)


def built_of(world: World, field: str, values: tuple[object, object]) -> list[RunBuilder]:
    random, runs = np.random.default_rng(3), []
    for n in range(160):
        hot = bool(random.random() < 0.5)
        skill, chance = world(random, hot)
        # Every run says something of its own: none is a copy of another.
        built = a_run(f"r{n:03}", task=f"t{n % 4}", metadata={field: values[hot]}).say(f"run {n}")
        built.select("open", "wait", context="begin")
        built.select(skill, "a" if skill == "b" else "b").call(f"write_{skill}", ok=True)
        runs.append(built.finish(bool(random.random() < chance), cost=1.0, steps=2))
    return runs


def runs_of(world: World, field: str, values: tuple[object, object]) -> list[Run]:
    return [on_day(built.run(), n) for n, built in enumerate(built_of(world, field, values))]


def evaluated(runs: list[Run], *identity: str) -> Corpus:
    graphs = [parse_graph(GRAPH, name="desk.plan.yaml")]
    return evaluate_corpus(runs, graphs, identity=identity, resamples=0)


def choice_of(corpus: Corpus) -> Choice:
    return next(choice for choice in corpus.choices if choice.alternative == "b")


FIELDS = [("temperature", (0.2, 1.0)), ("region", ("eu", "us")), ("tools", (["x"], ["x", "y"]))]


@pytest.mark.parametrize(("field", "values"), FIELDS, ids=[field for field, _ in FIELDS])
def test_a_field_that_changes_the_agent_makes_a_difference_unless_the_workspace_names_it(
    field: str, values: tuple[object, object]
) -> None:
    runs = runs_of(of_the_setting, field, values)
    unaware, aware = evaluated(runs), evaluated(runs, field)
    assert (choice_of(unaware).support, choice_of(aware).support) == ("supported", "weak")
    assert any(statement.supported for statement in unaware.plans.statements)
    assert not any(statement.supported for statement in aware.plans.statements)


def test_a_difference_that_the_field_hides_is_found_where_the_workspace_names_it() -> None:
    runs = runs_of(hidden_by_the_setting, "temperature", (0.2, 1.0))
    unaware, aware = evaluated(runs), evaluated(runs, "temperature")
    assert (choice_of(unaware).support, choice_of(aware).support) == ("weak", "supported")
    assert choice_of(aware).direction == "better"
    assert any(statement.supported for statement in aware.plans.statements)


def test_every_command_and_page_takes_the_names_from_the_workspace(tmp_path, capsys) -> None:
    built = built_of(of_the_setting, "temperature", (0.2, 1.0))
    with Workspace(tmp_path / "w") as store:
        store.add("runs.jsonl", b"".join(line for n, run in enumerate(built) for line in lines_of(run, n)))
        held = WorkspaceCorpus()
        before = held.evaluate(store, held.read(store))
        (store.path / "untaken.yaml").write_text("identity: [temperature]\n")
        after = held.evaluate(store, held.read(store))
    assert (choice_of(before).support, choice_of(after).support) == ("supported", "weak")
    capsys.readouterr()
    memory = tmp_path / "x.memory.jsonl"
    ledgers = str(tmp_path / "w" / "ledgers")
    assert main(["memory", "build", ledgers, "-o", str(memory)]) == 0
    assert main(["memory", "verify", str(memory), ledgers]) == 0
    assert {line.named for line in PolicyMemory.load(memory).log} == {
        (("temperature", "0.2"),),
        (("temperature", "1.0"),),
    }


def test_identical_runs_are_a_note_and_no_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [
        lines_of(a_run(f"r{n}").select("a", "b").select("c", "d").finish(True, cost=1.0, steps=2), n)
        for n in range(3)
    ]
    other = lines_of(a_run("r3").select("b", "a").finish(True, cost=1.0, steps=2), 3)
    (tmp_path / "runs.jsonl").write_bytes(b"".join(line for run in (*lines, other) for line in run))
    for verb in ("counterfactual", "triage"):
        assert main([verb, str(tmp_path), "--json"]) == 0
        printed = capsys.readouterr()
        (found,) = [f for f in json.loads(printed.out)["findings"] if f["code"] == "runs-identical"]
        assert found["severity"] == "note"
        assert found["message"].startswith("2 runs ")
        assert "runs-identical" not in printed.err
        assert found["message"] not in printed.err
