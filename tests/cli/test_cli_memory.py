"""Policy memory on the command line: signals queued, previewed, applied once, and all of it verified."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import desk
import jsonschema
import msgspec
import pytest
from builders import a_run
from histories import lines_of

from untaken.analysis.workspace_corpus import WorkspaceCorpus
from untaken.cli import main
from untaken.counterfactual.memory import PolicyMemory
from untaken.errors import UntakenError
from untaken.ledger import LedgerWriter
from untaken.ledger import events as e
from untaken.views import json_schema
from untaken.workspace import Workspace
from untaken.workspace.settings import read_settings, settings_digest

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def world(tmp_path: Path, capsys: Capture) -> Path:
    """The desk's runs, day after day, so that later ones have something to learn, and their memory."""
    (tmp_path / "ledgers").mkdir()
    for day, builder in enumerate(desk.builders()):
        (tmp_path / "ledgers" / f"{builder.run_id}.jsonl").write_bytes(b"".join(lines_of(builder, day)))
    assert main(["memory", "build", str(tmp_path / "ledgers"), "-o", str(tmp_path / "x.memory.jsonl")]) == 0
    capsys.readouterr()
    return tmp_path


def does(words: str, world: Path, capsys: Capture, want: int = 0) -> dict[str, Any]:
    """The document that a command prints, checked against its schema."""
    assert main([*words.format(w=world, m=world / "x.memory.jsonl").split(), "--json"]) == want
    document = dict(json.loads(capsys.readouterr().out))
    jsonschema.validate(document, json_schema(document["schema"].split(".")[1].split("/")[0]))
    return document


def test_an_evaluation_is_the_same_before_and_after_signals_are_queued_beside_it_and_applied(
    world: Path, capsys: Capture
) -> None:
    alone = does("counterfactual {w}/ledgers", world, capsys)
    evaluate = "counterfactual {w}/ledgers --memory {m}"
    before = does(evaluate, world, capsys)
    does("memory queue {m} {w}/ledgers", world, capsys)
    assert does("counterfactual {w}", world, capsys) == alone  # of a folder that holds memory and queue
    does("memory apply {m} --all", world, capsys)
    after = does(evaluate, world, capsys)
    for run in (*before["runs"], *after["runs"]):
        run["notes"] = []  # that the memory holds something newer is noted
    assert after == before


def test_names_from_a_ledger_cannot_steer_the_terminal(tmp_path: Path, capsys: Capture) -> None:
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


def test_pages_take_the_same_weights_and_notice_when_they_change(tmp_path: Path) -> None:
    """Of six runs the cheap skill fails, the dear one succeeds."""
    lines = []
    for n in range(6):
        one, other = ("dear", "cheap") if n % 2 else ("cheap", "dear")
        run = a_run(f"r{n}").select(one, other).select(one, other, context="later")
        lines += lines_of(run.finish(bool(n % 2), cost=1.0 + n % 2, steps=4), n)
    held = WorkspaceCorpus()
    with Workspace(tmp_path) as store:
        store.add("runs.jsonl", b"".join(lines))
        first = held.evaluate(store, held.read(store))
        before = settings_digest(store.path)
        (tmp_path / "untaken.yaml").write_text("weights: {success: 0, cost: 1, steps: 0}\n")
        second = held.evaluate(store, held.read(store))
        assert settings_digest(store.path) != before
    assert (first.weights.cost, second.weights.cost) == (0.3, 1.0)
    by = {c.selected: c.advantage for c in second.choices}
    assert by["dear"] == 1.0  # by cost alone the cheap one scores higher
    assert {c.selected: c.advantage for c in first.choices} != by


INVALID = [
    ("another key", "weigths: [1, 0, 0]", "settings-invalid"),
    ("two numbers", "weights: [1, 0]", "settings-invalid"),
    ("words", "weights: [a, b, c]", "settings-invalid"),
    ("a name alone", "identity: temperature", "settings-invalid"),
    ("a number as a name", "identity: [1]", "settings-invalid"),
    ("an empty name", "identity: ['']", "settings-invalid"),
    ("a list", "- 1", "settings-invalid"),
    ("a sum of two", "weights: [1, 1, 0]", "weights-invalid"),
]


@pytest.mark.parametrize(("desc", "text", "code"), INVALID, ids=[case[0] for case in INVALID])
def test_settings_that_say_anything_else_are_refused(desc: str, text: str, code: str, tmp_path: Path) -> None:
    (tmp_path / "untaken.yaml").write_text(text)
    with pytest.raises(UntakenError) as caught:
        read_settings(tmp_path)
    assert caught.value.code == code
