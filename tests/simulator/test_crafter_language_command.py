"""`untaken crafter run|win --policy language`: a model plays, and unanswered questions are reported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from untaken.cli import main
from untaken.judging.asking.access import SETTING
from untaken.ledger import Message, Run, ToolCall, read_ledger
from untaken.simulator.crafter.playing import Setup
from untaken.simulator.record import PlanningRecord, read_planning
from untaken.views import planned_steps_table, planning_summary
from untaken.views.schemas import json_schema

STEPS = 4
NOBODY = "http://127.0.0.1:9/v1#nobody"
"""No model is there."""


def told(
    capsys: pytest.CaptureFixture[str], *words: str, code: int = 0, steps: int = STEPS
) -> dict[str, Any]:
    shown = ["--policy", "language", "--steps", str(steps), "--json"]
    assert main(["crafter", *words, *shown]) == code
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def recorded(folder: Path) -> tuple[Run, PlanningRecord]:
    (ledger,), (planned,) = folder.glob("*.jsonl"), folder.glob("*.planning.json.zst")
    (run,) = read_ledger(ledger)
    assert run.integrity.verdict == "INTACT"
    return run, read_planning(planned)


def test_the_packaged_model_plays_and_its_replies_give_the_same_bytes_without_it(
    local: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SETTING, local)
    words = ["run", "--win", "--replies", str(tmp_path / "replies")]
    live = told(capsys, *words, "-o", str(tmp_path / "live"), steps=2)  # a real model takes its time
    again = told(capsys, *words, "-o", str(tmp_path / "again"), "--offline", steps=2)
    jsonschema.validate(live, json_schema("crafter-run"))
    assert live | {"ledgers": []} == again | {"ledgers": []}
    for file in (tmp_path / "live").iterdir():
        assert file.read_bytes() == (tmp_path / "again" / file.name).read_bytes(), file.name
    run, planned = recorded(tmp_path / "live")
    assert live["setup"]["options"] == {"model": local}
    assert run.started.metadata["options"] == planned.settings["options"] == {"model": local}
    assert run.agent == planned.agent == "language-smollm2-135m+win"
    (episode,) = live["episodes"]
    assert (episode["steps"], episode["unanswered"], episode["why_unanswered"]) == (2, 0, [])


def test_what_the_model_did_not_answer_is_in_ledger_record_and_document(tmp_path, capsys) -> None:
    words = ["--win", "--model", NOBODY, "--offline", "--replies", str(tmp_path / "none")]
    document = told(capsys, "run", *words, "-o", str(tmp_path / "runs"), code=2)
    (episode,) = document["episodes"]
    run, planned = recorded(tmp_path / "runs")
    asked = STEPS + episode["asked_again"]
    assert episode["unanswered"] == asked > STEPS
    assert episode["revised"] == planning_summary(planned).changed == 0
    (why,) = episode["why_unanswered"]
    assert "no reply of http://127.0.0.1:9/v1#nobody" in why
    messages = [event.content for event in run.events if isinstance(event, Message)]
    assert messages == [f"no usable answer, so it waits: {why}"] * asked
    assert {e.tool for e in run.events if isinstance(e, ToolCall)} == {"move"}
    assert run.finished.metrics["unanswered"] == asked
    assert {(s.action, s.unanswered) for s in planned.steps} == {("noop", why)}
    assert [bool(s.unanswered_again) for s in planned.steps] == [
        s.asked is not None and s.asked.revise for s in planned.steps
    ]
    assert planned_steps_table(planned)["unanswered"].str.startswith(why).all()


def test_without_a_name_it_says_how_to_name_a_model(capsys, monkeypatch) -> None:
    monkeypatch.delenv(SETTING, raising=False)
    for verb in ("run", "win"):
        assert main(["crafter", verb, "--policy", "language"]) == 2
        shown = capsys.readouterr().err
        assert "[model-not-named]" in shown
        assert SETTING in shown


@pytest.mark.parametrize(
    ("model", "agent"),
    [
        ("openai:gpt-4.1", "language-gpt-4.1"),
        ("ollama:llama3:8b", "language-llama3_8b"),
        ("http://127.0.0.1:8080/v1#../../name", "language-.._.._name"),
        ("local", "language-local"),
        ("a:" + "x" * 600, "language-" + "x" * 60),
    ],
)
def test_the_agent_of_a_run_is_named_after_the_model_as_a_file_can_be(model: str, agent: str) -> None:
    assert Setup(policy="language", options={"model": model}, steps=1).agent == agent
