"""Policy memory on the command line: signals queued, previewed, applied once, and all of it verified."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import desk
import jsonschema
import msgspec
import pytest
from histories import lines_of

from untaken.cli import main
from untaken.counterfactual.memory import PolicyMemory
from untaken.ledger import LedgerWriter
from untaken.ledger import events as e
from untaken.views import json_schema


def write_ledgers(folder: Path) -> Path:
    """The desk's runs, day after day: later ones have something to learn from."""
    folder.mkdir()
    for day, builder in enumerate(desk.builders()):
        (folder / f"{builder.run_id}.jsonl").write_bytes(b"".join(lines_of(builder, day)))
    return folder


@pytest.fixture
def world(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """Ledgers and a memory built from them."""
    write_ledgers(tmp_path / "ledgers")
    assert main(["memory", "build", str(tmp_path / "ledgers"), "-o", str(tmp_path / "x.memory.jsonl")]) == 0
    capsys.readouterr()
    return tmp_path


def does(words: str, world: Path, capsys: pytest.CaptureFixture[str], want: int = 0) -> dict[str, Any]:
    """The document that a command prints, checked against its schema."""
    assert main([*words.format(w=world, m=world / "x.memory.jsonl").split(), "--json"]) == want
    document = dict(json.loads(capsys.readouterr().out))
    jsonschema.validate(document, json_schema(document["schema"].split(".")[1].split("/")[0]))
    return document


def test_an_evaluation_is_the_same_before_and_after_signals_are_applied(
    world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evaluate = "counterfactual {w}/ledgers --memory {m}"
    before = does(evaluate, world, capsys)
    does("memory queue {m} {w}/ledgers", world, capsys)
    does("memory apply {m} --all", world, capsys)
    after = does(evaluate, world, capsys)
    for run in (*before["runs"], *after["runs"]):
        run["notes"] = []  # that the memory holds something newer is noted
    assert after == before


def test_a_folder_of_ledgers_may_hold_the_memory_and_its_queue(
    world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = does("counterfactual {w}/ledgers", world, capsys)
    does("memory queue {m} {w}/ledgers", world, capsys)
    assert does("counterfactual {w}", world, capsys) == alone


def test_names_from_a_ledger_cannot_steer_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.memory.jsonl"
    evil = "\x1b[2J\u202eevil"
    log = [
        msgspec.structs.replace(observed, skill=evil if observed.skill == "guess" else observed.skill)
        for observed in PolicyMemory.build(desk.runs()).log
    ]
    PolicyMemory(log).save(path)
    run = tmp_path / "a.jsonl"
    with LedgerWriter(run) as ledger:
        to = ledger.start(run_id=evil, agent="x", task_id="t")
        for _ in range(2):
            to.write(e.SkillSelection, selected="read_policy", alternatives=[evil], context_hash="policy")
        to.write(e.RunFinished, success=False, cost=1.0, steps=9)
    for verb in (f"queue {path} {run}", f"preview {path}", f"apply {path} --all", f"verify {path} {run}"):
        main(["memory", *verb.split()])
        shown = capsys.readouterr()
        assert "\x1b" not in shown.out + shown.err
        assert "\u202e" not in shown.out + shown.err
    assert any(observed.kind == "weak" for observed in PolicyMemory.load(path).log)
