"""Policy memory on the command line: signals queued, previewed, applied once, and all of it verified."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import desk
import jsonschema
import msgspec
import pytest
from histories import lines_of

from untaken.cli import main
from untaken.counterfactual.memory import PolicyMemory, queue_path, read_queue
from untaken.ledger import LedgerWriter
from untaken.ledger import events as e
from untaken.views import json_schema

LATER = "2027-01-01T00:00:00Z"


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


def test_queue_preview_apply_and_verify_in_a_row(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    queued = does("memory queue {m} {w}/ledgers", world, capsys)
    waiting = queued["waiting"]
    assert queued["queued"] == len(waiting) > 4
    assert does("memory queue {m} {w}/ledgers", world, capsys)["queued"] == 0
    effects = does("memory preview {m}", world, capsys)["effects"]
    assert [effect["key"] for effect in effects] == [signal["key"] for signal in waiting]
    supported = sum(signal["supported"] for signal in waiting)
    assert len(does(f"memory apply {{m}} --at {LATER}", world, capsys)["applied"]) == supported
    assert does("memory apply {m}", world, capsys)["applied"] == []
    rest = does(f"memory apply {{m}} --all --at {LATER}", world, capsys)
    assert (len(rest["applied"]), rest["waiting"]) == (len(waiting) - supported, [])
    verified = does("memory verify {m} {w}/ledgers", world, capsys)
    assert (verified["same"], verified["digest"]) == (True, rest["digest"])
    assert does("memory queue {m}", world, capsys)["applied"] == len(waiting)


def test_with_append_the_signals_are_queued_and_again_nothing_is(
    world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = "counterfactual {w}/ledgers --memory {m} --append"
    signals = does(words, world, capsys)["signals"]
    assert [s.key for s in read_queue(world / "x.memory.jsonl")] == sorted(s["key"] for s in signals)
    files = {path: path.read_bytes() for path in world.rglob("*.jsonl")}
    assert b"COUNTERFACTUAL_INSIGHT" in b"".join(files.values())
    main(words.format(w=world, m=world / "x.memory.jsonl").split())
    assert "0 signals queued\n0 events appended" in capsys.readouterr().out
    assert {path: path.read_bytes() for path in world.rglob("*.jsonl")} == files
    assert does("memory queue {m} {w}/ledgers", world, capsys)["queued"] == 0


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


def test_building_again_keeps_what_was_applied(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    does("memory queue {m} {w}/ledgers", world, capsys)
    does(f"memory apply {{m}} --all --at {LATER}", world, capsys)
    before = (world / "x.memory.jsonl").read_bytes()
    does("memory build {w}/ledgers -o {m}", world, capsys)
    assert (world / "x.memory.jsonl").read_bytes() == before


def test_a_folder_of_ledgers_may_hold_the_memory_and_its_queue(
    world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = does("counterfactual {w}/ledgers", world, capsys)
    does("memory queue {m} {w}/ledgers", world, capsys)
    assert does("counterfactual {w}", world, capsys) == alone


class Case(NamedTuple):
    desc: str
    words: str
    want: int
    says: str


CASES = [
    Case("no memory", "memory queue {w}/none", 2, "memory-missing"),
    Case("nothing queued", "memory preview {m}", 0, "0 signals"),
    Case("nothing to apply", "memory apply {m}", 0, "0 signals applied; 0 pending"),
    Case("no time", "memory apply {m} --at soon", 2, "time-invalid"),
    Case("a time without a zone", "memory apply {m} --at 2027-01-01", 2, "time-invalid"),
    Case("a time outside the calendar", "memory apply {m} --at 0001-01-01T00:00:00+23:00", 2, "time-invalid"),
    Case("as built", "memory verify {m} {w}/ledgers", 0, "the same as rebuilt from its log and its ledgers"),
    Case("against some of the ledgers", "memory verify {m} {w}/ledgers/careful-10.jsonl", 1, "extra"),
    Case("no ledgers", "memory verify {m} {w}/none", 2, "path-not-found"),
    Case("a broken ledger", "memory verify {m} {w}/broken.jsonl", 1, "ledger-altered"),
    Case("signals of a broken ledger", "memory queue {m} {w}/broken.jsonl", 1, "0 signals queued"),
    Case("a damaged queue", "memory apply {w}/bad.memory.jsonl", 2, "memory-malformed"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.desc)
def test_exit_codes_say_what_happened(case: Case, world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = desk.careful(1).ledger().splitlines(keepends=True)
    (world / "broken.jsonl").write_bytes(b"".join([*lines[:2], *lines[3:]]))
    PolicyMemory().save(world / "bad.memory.jsonl")
    queue_path(world / "bad.memory.jsonl").write_text("nonsense\n")
    assert main(case.words.format(w=world, m=world / "x.memory.jsonl").split()) == case.want
    shown = capsys.readouterr()
    assert case.says in shown.out + shown.err


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
