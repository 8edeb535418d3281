"""`untaken crafter run`: plays, records runs that are intact, says the same in table and document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from untaken.cli import main
from untaken.ledger import read_ledger
from untaken.simulator.record import read_planning
from untaken.views.schemas import json_schema

FEW = ["--steps", "12", "--seed", "5"]


def document(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict[str, Any]:
    assert main(["crafter", "run", *words, *FEW, "--json"]) == code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_its_document_fits_its_schema(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, "--policy", "noisy", "--slips", "0.2", "--sce", "--win", "--task", "eat_cow")
    jsonschema.validate(found, json_schema("crafter-run"))
    assert found["setup"]["options"] == {"slips": 0.2}
    assert (found["setup"]["sce"], found["setup"]["win"]["reward"]) == (True, "shaped")
    (episode,) = found["episodes"]
    assert (episode["seed"], episode["steps"], episode["task"]) == (5, 12, "eat_cow")
    assert episode["run_id"] == "noisy+sce+win.crafter-eat_cow-seed5"
    assert found["ledgers"] == []


def test_each_episode_is_recorded_as_an_intact_run(capsys, tmp_path) -> None:
    out = tmp_path / "runs"
    found = document(capsys, "--policy", "random", "--episodes", "2", "--win", "-o", str(out))
    assert [Path(path).parent for path in found["ledgers"]] == [out, out]
    for path, episode in zip(found["ledgers"], found["episodes"], strict=True):
        (run,) = read_ledger(path)
        assert (run.integrity.verdict, run.run_id) == ("INTACT", episode["run_id"])
        planned = read_planning(out / f"{episode['run_id']}.planning.json.zst")
        assert (planned.run_id, len(planned.steps)) == (run.run_id, episode["steps"])
        assert sum(s.asked.revise for s in planned.steps if s.asked) == episode["asked_again"]


def test_what_is_recorded_is_scored_with_the_plan_graph_beside_it(capsys, tmp_path) -> None:
    words = ["crafter", "run", "--policy", "noisy", "--seed", "5", "--steps", "60", "-o", str(tmp_path)]
    assert main(words) == 0
    assert main(["graph", "check", str(tmp_path)]) == 0
    capsys.readouterr()
    assert main(["score", str(tmp_path), "--graphs", str(tmp_path), "--json"]) == 0
    (agent,) = json.loads(capsys.readouterr().out)["agents"]
    assert (agent["scored_runs"], agent["completed"] > 0) == (1, True)
    graph = tmp_path / "crafter.plan.yaml"
    mine = graph.read_text("utf-8") + "# mine\n"
    graph.write_text(mine, "utf-8")
    assert main([*words[:5], "6", *words[6:]]) == 0
    assert graph.read_text("utf-8") == mine


def test_a_run_is_not_recorded_twice(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ["crafter", "run", "--policy", "random", *FEW, "-o", str(tmp_path)]
    assert main(words) == 0
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert main(words) == 2
    assert "[ledger-run-exists]" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_two_processes_play_and_record_as_one_does(capsys, tmp_path) -> None:
    words = ["--policy", "noisy", "--episodes", "2", "--win"]
    one = document(capsys, *words, "-o", str(tmp_path / "one"))
    two = document(capsys, *words, "--workers", "2", "-o", str(tmp_path / "two"))
    assert one.pop("ledgers") != two.pop("ledgers")
    assert one == two
    names = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert names == sorted(path.name for path in (tmp_path / "two").iterdir())
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name


IDLE = [
    ("run", ["--policy", "noisy", "--below"], "--below has no effect without What-If-Not", "--win"),
    ("run", ["--policy", "noisy", "--reward", "env"], "--reward has no effect without", "--win"),
    ("run", ["--policy", "scripted", "--slips", "0.1"], "with the policy scripted", "noisy and uniform"),
    ("run", ["--policy", "random", "--slips", "0"], "with the policy random", "noisy and uniform"),
    ("run", ["--policy", "uniform", "--epsilon", "0.1"], "with the policy uniform", "applies to noisy;"),
    ("run", ["--policy", "language", "--model", "local", "--slips", "0.1"], "policy language", "noisy"),
    ("run", ["--policy", "noisy", "--model", "local"], "--model has no effect", "--policy language"),
    ("run", ["--policy", "noisy", "--replies", "here"], "--replies has no effect", "--policy language"),
    ("run", ["--policy", "noisy", "--offline"], "--offline has no effect", "--policy language"),
    ("win", ["--policy", "noisy", "--budget", "0"], "--budget has no effect", "--policy language"),
    ("win", ["--offline"], "--offline has no effect with the policy random", "--policy language"),
]


@pytest.mark.parametrize(("verb", "words", "what", "instead"), IDLE, ids=[" ".join(c[1]) for c in IDLE])
def test_an_option_that_would_do_nothing_is_refused_and_its_use_told(
    verb: str, words: list[str], what: str, instead: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["crafter", verb, *words]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    said, hint = shown.err.splitlines()
    assert what in said
    assert said.endswith("[option-without-effect]")
    assert instead in hint


USAGE = [
    ("no policy", []),
    ("an unknown policy", ["--policy", "none"]),
    ("an unknown task", ["--policy", "random", "--task", "fly"]),
    ("an unknown reward", ["--policy", "random", "--win", "--reward", "gold"]),
    ("no episode", ["--policy", "random", "--episodes", "0"]),
    ("no step", ["--policy", "random", "--steps", "0"]),
    ("no worker", ["--policy", "random", "--workers", "0"]),
    ("several workers for one model", ["--policy", "language", "--model", "local", "--workers", "2"]),
    ("an option of another policy", ["--policy", "random", "--epsilon", "0.1"]),
    ("no probability", ["--policy", "noisy", "--slips", "2"]),
]


@pytest.mark.parametrize(("desc", "words"), USAGE, ids=[case[0] for case in USAGE])
def test_what_cannot_be_played_is_a_usage_error(desc, words, capsys) -> None:
    assert main(["crafter", "run", *words]) == 2
    assert capsys.readouterr().err
