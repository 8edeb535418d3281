"""``untaken criteria propose``: asked once, read ever after, and what cannot be asked is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import desk
import jsonschema
import pytest

from untaken.cli import main
from untaken.judging.asking import ModelAccess, ReplyStore
from untaken.judging.criteria import example_pair, load_criteria, propose
from untaken.ledger import read_ledger
from untaken.views import json_schema

pytest.importorskip("pydantic_ai", reason="the extra untaken[judge] is not installed")

from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

Capture = pytest.CaptureFixture[str]

MODEL = "http://127.0.0.1:9/v1#nobody"
"""Nobody answers there: what is printed comes from the store."""
TASK = "Answer refund requests."


def speak(_messages: list[Any], info: AgentInfo) -> ModelResponse:
    said = [
        {"name": "Tone", "description": "Politeness.", "accepted_values": ["rude", "kind"]},
        {"name": "\u001b[31mred", "description": "x", "accepted_values": ["no", "yes"]},
    ]
    return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, json.dumps({"criteria": said}))])


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """Ledgers, and the replies of a model that is not there any more."""
    desk.write_folder(tmp_path / "desk")
    runs = [run for file in sorted((tmp_path / "desk/ledgers").glob("*.jsonl")) for run in read_ledger(file)]
    successful, failed = example_pair(runs)
    with ModelAccess(FunctionModel(speak, model_name=MODEL), ReplyStore(tmp_path / "replies")) as model:
        propose(TASK, model=model, seeds=range(2))
        propose(TASK, successful=successful, failed=failed, model=model, seeds=range(2))
    return tmp_path


def words(world: Path, *more: str) -> list[str]:
    store = str(world / "replies")
    asked = ["--task", TASK, "--model", MODEL, "--seeds", "2", "--replies", store]
    return ["criteria", "propose", *asked, *more]


def test_a_proposal_fits_its_schema_and_is_written_as_a_file(world: Path, capsys: Capture) -> None:
    out = world / "made.criteria.json"
    assert main(words(world, str(world / "desk"), "--json", "-o", str(out))) == 0
    printed = capsys.readouterr()
    document = json.loads(printed.out)
    jsonschema.validate(document, json_schema("criteria-proposal"))
    assert document["answers"] == {"task": 2, "solution": 2}
    assert (document["successful"] is None, document["failed"] is None) == (False, False)
    assert [(c["name"], c["proposals"]) for c in document["criteria"]] == [("Tone", 4), ("[31mred", 4)]
    assert "4 of 4 answers from the reply store" in printed.err
    assert [c.status for c in load_criteria(out).criteria] == ["proposed"] * 2
    assert main(words(world, str(world / "desk"), "--json")) == 0
    assert json.loads(capsys.readouterr().out) == document


def test_the_task_may_stand_in_a_file_and_no_word_steers_the_terminal(world: Path, capsys: Capture) -> None:
    (world / "task.txt").write_text(TASK + "\n")
    given = words(world)
    given[given.index(TASK)] = f"@{world / 'task.txt'}"
    assert main(given) == 0
    out = capsys.readouterr().out
    assert "\u001b" not in out
    assert "2 criteria of 2 questions" in out
    assert "only after a person accepts them" in out


def test_what_nobody_recorded_is_not_made_up(world: Path, capsys: Capture) -> None:
    given = words(world, "--offline")
    given[given.index("2")] = "3"
    assert main(given) == 0
    assert "1 without an answer" in capsys.readouterr().out
    assert main(["criteria", "propose", "--task", "Another", *words(world, "--offline")[4:]]) == 2
    assert "model-silent" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("code", "more"),
    [
        ("seeds-invalid", ["--seeds", "0"]),
        ("threshold-invalid", ["--tau", "1.5"]),
        ("no-ledgers", ["--successful", "x"]),
        ("task-empty", ["--task", "  "]),
        ("path-not-found", ["--task", "@nowhere"]),
        ("run-unknown", ["DESK", "--failed", "nobody"]),
    ],
)
def test_what_cannot_be_carried_out_is_said(code: str, more: list[str], world: Path, capsys: Capture) -> None:
    given = [str(world / "desk") if word == "DESK" else word for word in more]
    assert main(words(world, *given)) == 2
    assert f"[{code}]" in capsys.readouterr().err


def test_the_runs_shown_can_be_named(world: Path, capsys: Capture) -> None:
    named = ["--successful", "careful-10", "--failed", "failing-20", "--offline", "--json"]
    main(words(world, str(world / "desk"), *named))
    document = json.loads(capsys.readouterr().out)
    assert (document["successful"], document["failed"]) == ("careful-10", "failing-20")
    assert document["answers"] == {"task": 2, "solution": 0}
    assert len(document["unanswered"]) == 2
