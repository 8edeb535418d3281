"""The memory file: append-only, idempotent, strict, byte for byte."""
# ruff: noqa: E501  (tables of cases)

from __future__ import annotations

import json
from datetime import timedelta, timezone
from pathlib import Path

import msgspec
import pytest
from histories import moment, past, seen, weak
from msgspec import UNSET

from untaken import limits
from untaken.counterfactual.memory import PolicyMemory
from untaken.counterfactual.memory.lines import locked
from untaken.errors import UntakenError

LINE = (
    b'{"key":"outcome/r1/a/ctx","kind":"outcome","skill":"a","context_hash":"ctx","success":1.0,"cost":1.0,'
    b'"steps":1.0,"weight":1.0,"run_id":"r1","ts":"2026-01-01T00:00:00Z","cost_unit":"usd",'
    b'"task_id":"task","agent":"agent"}\n'
)


def file_of(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "x.memory.jsonl"
    path.write_bytes(data)
    return path


def test_saved_and_loaded_again_it_is_the_same_bytes(tmp_path: Path) -> None:
    memory = PolicyMemory.build([past(f"r{i}", "a", "b", day=i, cost=i / 3) for i in range(5)])
    memory.append(weak("r9", day=3))
    memory.save(tmp_path / "one.memory.jsonl")
    loaded = PolicyMemory.load(tmp_path / "one.memory.jsonl")
    loaded.save(tmp_path / "two.memory.jsonl")
    assert (tmp_path / "two.memory.jsonl").read_bytes() == (tmp_path / "one.memory.jsonl").read_bytes()
    assert loaded.log == memory.log
    assert loaded.snapshot().digest == memory.snapshot().digest
    names = sorted(p.name for p in tmp_path.iterdir() if p.suffix != ".lock")
    assert names == ["one.memory.jsonl", "two.memory.jsonl"]


def test_the_format_of_a_line_is_fixed(tmp_path: Path) -> None:
    PolicyMemory([seen("r1")]).save(tmp_path / "x.memory.jsonl")
    assert (tmp_path / "x.memory.jsonl").read_bytes() == LINE


@pytest.mark.parametrize(
    ("more", "run"),
    [
        ([seen("r2"), seen("r1", success=0.0)], "r1"),
        ([seen("r2"), seen("r2", success=0.0)], "r2"),
        ([seen("r2"), seen("r2"), seen("r3"), seen("r3", steps=7.0)], "r3"),
    ],
    ids=["known before", "new", "after a copy"],
)
def test_the_same_key_with_another_payload_is_a_conflict_and_changes_nothing(more, run) -> None:
    memory = PolicyMemory([seen("r1")])
    with pytest.raises(UntakenError) as error:
        memory.extend(more)
    assert (error.value.code, error.value.where.run) == ("memory-conflict", run)
    assert memory.log == (seen("r1"),)


BAD = [
    ("success above 1", {"success": 1.5}),
    ("success not a number", {"success": float("nan")}),
    ("cost below 0", {"cost": -1.0}),
    ("cost not a number", {"cost": float("nan")}),
    ("cost infinite", {"cost": float("inf")}),
    ("no skill", {"skill": ""}),
    ("endless skill", {"skill": "a" * (limits.NAME_CHARS + 1)}),
    ("weight of a weak record on an outcome", {"weight": 0.25}),
    ("moment without a time zone", {"ts": moment(0).replace(tzinfo=None)}),
    ("moment outside the calendar", {"ts": moment(0).replace(year=1, tzinfo=timezone(timedelta(hours=20)))}),
]


@pytest.mark.parametrize(("desc", "change"), BAD, ids=[case[0] for case in BAD])
def test_an_impossible_observation_is_refused(desc, change) -> None:
    memory = PolicyMemory()
    with pytest.raises(UntakenError, match="memory-invalid"):
        memory.append(msgspec.structs.replace(seen("r1"), **change))
    assert len(memory) == 0


FAULTS = [
    ("not JSON", LINE + b"{\n", "memory-malformed", 2),
    ("blank line", LINE + b"\n" + LINE, "memory-malformed", 2),
    ("torn last line", LINE + LINE[:40], "memory-malformed", 2),
    ("not UTF-8", LINE.replace(b'"a"', b'"\xff"'), "memory-malformed", 1),
    ("lone surrogate", LINE.replace(b'"a"', b'"\\ud800"'), "memory-malformed", 1),
    ("NaN", LINE.replace(b'"cost":1.0', b'"cost":NaN'), "memory-malformed", 1),
    ("number that does not fit", LINE.replace(b'"cost":1.0', b'"cost":1e999'), "memory-malformed", 1),
    ("success above 1", LINE.replace(b'"success":1.0', b'"success":1.01'), "memory-malformed", 1),
    ("a field missing", LINE.replace(b'"steps":1.0,', b""), "memory-malformed", 1),
    ("an unknown field", LINE.replace(b'"steps"', b'"note":1,"steps"'), "memory-malformed", 1),
    ("a field twice", LINE.replace(b'"steps"', b'"steps":2.0,"steps"'), "memory-malformed", 1),
    ("a number as text", LINE.replace(b'"cost":1.0', b'"cost":"1.0"'), "memory-malformed", 1),
    ("an array", b"[]\n", "memory-malformed", 1),
    ("deep nesting", b"[" * 60_000 + b"\n", "memory-malformed", 1),
    ("wrong weight", LINE.replace(b'"weight":1.0', b'"weight":0.5'), "memory-invalid", 1),
    ("line too long", b'{"key":"' + b"x" * limits.MEMORY_LINE_BYTES + b'"}\n', "memory-too-large", 1),
    ("key known with another payload", LINE + LINE.replace(b'"cost":1.0', b'"cost":2.0'), "memory-conflict", 2)
]  # fmt: skip


@pytest.mark.parametrize(("desc", "data", "code", "line"), FAULTS, ids=[case[0] for case in FAULTS])
def test_a_damaged_file_is_refused_with_its_line(desc, data, code, line, tmp_path: Path) -> None:
    with pytest.raises(UntakenError) as error:
        PolicyMemory.load(file_of(tmp_path, data))
    assert (error.value.code, error.value.where.file, error.value.where.line) == (
        code,
        "x.memory.jsonl",
        line,
    )
    assert error.value.hint


def test_a_line_formatted_otherwise_is_read_and_written_in_form(tmp_path: Path) -> None:
    fields = json.loads(LINE)
    del fields["cost_unit"]
    fields |= {"cost": 1, "ts": "2026-01-01T02:00:00+02:00"}
    loaded = PolicyMemory.load(file_of(tmp_path, json.dumps(fields, indent=None, sort_keys=True).encode()))
    loaded.save(tmp_path / "y.memory.jsonl")
    assert (tmp_path / "y.memory.jsonl").read_bytes() == LINE


def test_a_missing_file_says_what_to_do(tmp_path: Path) -> None:
    for path in (tmp_path / "none.memory.jsonl", tmp_path):
        with pytest.raises(UntakenError, match="no policy memory") as error:
            PolicyMemory.load(path)
        assert (error.value.code, "memory build" in error.value.hint) == ("memory-missing", True)


def test_a_file_of_an_earlier_version_names_no_task_and_no_agent(tmp_path: Path) -> None:
    earlier = LINE.replace(b',"task_id":"task","agent":"agent"', b"")
    (observed,) = PolicyMemory.load(file_of(tmp_path, earlier)).log
    assert (observed.task_id, observed.agent) == (UNSET, UNSET)
    PolicyMemory([observed]).save(tmp_path / "again.memory.jsonl")
    assert (tmp_path / "again.memory.jsonl").read_bytes() == earlier


def test_two_who_load_append_and_save_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.memory.jsonl"
    PolicyMemory([seen("r1")]).save(path)
    ann, bob = PolicyMemory.load(path), PolicyMemory.load(path)
    ann.append(seen("r2"))
    bob.append(seen("r3"))
    ann.save(path)
    bob.save(path)
    assert [o.run_id for o in PolicyMemory.load(path).log] == ["r1", "r2", "r3"]
    assert bob.log == PolicyMemory.load(path).log


def test_a_memory_built_anew_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "x.memory.jsonl"
    PolicyMemory([seen("r1")]).save(path)
    PolicyMemory([seen("r2")]).save(path)
    assert [o.run_id for o in PolicyMemory.load(path).log] == ["r2"]


def test_a_locked_file_is_named_after_a_while(tmp_path: Path) -> None:
    path = tmp_path / "x.memory.jsonl"
    with locked(path), pytest.raises(UntakenError) as caught, locked(path, timeout=0.01):
        pass
    assert caught.value.code == "memory-locked"


def test_hostile_names_survive_the_file(tmp_path: Path) -> None:
    names = ["<script>alert(1)</script>", "a\nb", "=cmd()", "\u202egnp", "\x00", "🜁" * limits.NAME_CHARS]
    memory = PolicyMemory([seen(name, name, context=name, key=f"k{i}") for i, name in enumerate(names)])
    memory.save(tmp_path / "x.memory.jsonl")
    assert PolicyMemory.load(tmp_path / "x.memory.jsonl").log == memory.log


def test_layers_are_stored_and_only_where_there_are_any(tmp_path: Path) -> None:
    layers = ("ctx", "coarse")
    memory = PolicyMemory([seen("r1"), seen("r2", context_layers=layers)])
    memory.save(tmp_path / "x.memory.jsonl")
    plain, told = (tmp_path / "x.memory.jsonl").read_bytes().splitlines(keepends=True)
    assert plain == LINE
    assert b',"context_layers":["ctx","coarse"],' in told
    loaded = PolicyMemory.load(tmp_path / "x.memory.jsonl")
    assert [o.layers for o in loaded.log] == [("ctx",), layers]
    assert loaded.snapshot().record("a", "coarse").n == 1
    (tmp_path / "x.memory.jsonl").write_bytes(told.replace(b'["ctx"', b'["other"'))
    with pytest.raises(UntakenError, match="context_hash") as caught:
        PolicyMemory.load(tmp_path / "x.memory.jsonl")
    assert caught.value.code == "memory-malformed"
