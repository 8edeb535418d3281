"""Inspect logs: samples as runs, from archives of every compression, whole or cut off."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest
import zstandard
from foreign_files import codes, converted, put
from reading import Case, case, each

from untaken.traces import convert

EVAL = {"eval": {"task": "desk", "model": "openai/m", "run_id": "R"}, "status": "success", "version": 2}
CALL = {"id": "c1", "function": "look", "arguments": {"day": 1}}
TALK: list[dict[str, Any]] = [
    {"role": "user", "content": "Go."},
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "monday"},
]


def sample(number: int = 1, epoch: int = 1, value: Any = "C", **more: Any) -> dict[str, Any]:
    scores = {"match": {"value": value}}
    return {"id": number, "epoch": epoch, "messages": TALK, "scores": scores, **more}


def log(*samples: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**EVAL, "samples": list(samples), **more}


def spoken(*content: dict[str, Any]) -> dict[str, Any]:
    return log(sample(messages=[{"role": "assistant", "content": list(content)}]))


SCORES: list[tuple[Any, bool | None, float | None]] = [
    ("C", True, 1.0), ("P", None, 0.5), ("I", False, 0.0), ("N", False, 0.0),
    (1, True, 1.0), (0.5, None, 0.5), (True, True, 1.0), ("x", None, None),
]  # fmt: skip
ATTACHED = [{**TALK[0], "content": "attachment://h"}]
TIMEOUT = {**TALK[2], "error": {"type": "timeout", "message": "too slow"}}
FAILED = sample(error={"message": "boom"}, limit={"type": "token"}, messages=[*TALK[:2], TIMEOUT])
THOUGHT = {"type": "reasoning", "reasoning": "Hm."}
DIG = {"event": "tool", "id": "c9", "function": "dig", "arguments": {}, "result": "x", "error": None}
CASES = [
    case("a sample in an epoch is a run", log(sample(), sample(epoch=2, value="I")),
         tasks=["desk/1", "desk/1"], all_repeat=[1, 2], all_success=[True, False],
         all_words=[["Go."]] * 2, all_calls=[[("look", {"day": 1})]] * 2,
         all_answers=[[("monday", None)]] * 2),
    *(case(f"a score of {value} as the outcome", log(sample(value=value)), success=success,
           metrics=None if metric is None else {"score:match": metric}) for value, success, metric in SCORES),
    case("a log with metrics alone gives no run", {**EVAL, "results": {"scores": [{"name": "match"}]}},
         runs=[], found={"no-samples"}),
    case("attachments are put back", log(sample(messages=ATTACHED, attachments={"h": "the long text"})),
         words=["the long text"]),
    case("errors, limits and failed tools are there", log(FAILED, status="error"), error="boom",
         limit="token", ok=[False]),
    case("reasoning is a message of its own", spoken(THOUGHT, {"type": "text", "text": "Yes."}),
         said=[("reasoning", "Hm."), ("assistant", "Yes.")]),
    case("an empty text beside reasoning is no message", spoken(THOUGHT, {"type": "text", "text": ""}),
         said=[("reasoning", "Hm.")]),
    case("calls of sub-agents come after the messages", log(sample(events=[DIG])), tools=["look", "dig"]),
]  # fmt: skip


@each(CASES)
def test_a_log_of_inspect_is_read(tmp_path: Path, case: Case) -> None:
    case.holds("inspect", tmp_path)


def test_the_tasks_of_one_command_are_runs_of_their_own(tmp_path: Path) -> None:
    """``inspect eval a b`` writes a log for each task under one id of the run."""
    for task in ("desk", "door"):
        about = {"task": task, "model": "m", "run_id": "R", "eval_id": f"E-{task}"}
        put(tmp_path / "in" / f"{task}.json", {**log(sample()), "eval": about})
    done, runs = converted("inspect", tmp_path / "out", tmp_path / "in")
    assert [run.run_id for run in runs] == ["inspect/E-desk/1/1", "inspect/E-door/1/1"]
    assert "duplicate-run" not in codes(done)


def archive(path: Path, members: dict[str, Any], method: int = zipfile.ZIP_DEFLATED) -> Path:
    """An archive of JSON."""
    written = {name: json.dumps(content).encode() for name, content in members.items()}
    if method == 93:
        return put(path, zstd_archive(written))
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", method) as made:
        for name, content in written.items():
            made.writestr(name, content)
    return path


def zstd_archive(members: dict[str, bytes]) -> bytes:
    """A zip of method 93, which Python's own writer does not know here."""
    out, entries = io.BytesIO(), []
    for name, content in members.items():
        packed, raw = zstandard.compress(content), name.encode()
        sizes = zlib.crc32(content), len(packed), len(content), len(raw)
        common = struct.pack("<HHHHHIIIHH", 63, 0, 93, 0, 0, *sizes, 0)
        entries.append((common, raw, out.tell()))
        out.write(b"PK\x03\x04" + common + raw + packed)
    start = out.tell()
    for common, raw, offset in entries:
        out.write(b"PK\x01\x02\x3f\x00" + common + struct.pack("<HHHII", 0, 0, 0, 0, offset) + raw)
    size = out.tell() - start
    out.write(b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, len(entries), len(entries), size, start, 0))
    return out.getvalue()


SUMMARY = {"id": 1, "epoch": 1, "input": [{"role": "user", "content": "hi"}]}
WHOLE = {"header.json": EVAL, "samples/a_1_epoch_1.json": sample(), "summaries.json": [SUMMARY]}
CUT = {"_journal/start.json": {"eval": EVAL["eval"]}, "samples/1_epoch_1.json": sample()}
ARCHIVES: list[tuple[str, str, dict[str, Any], int]] = [
    ("stored", "log.eval", WHOLE, zipfile.ZIP_STORED),
    ("deflated", "log.eval", WHOLE, zipfile.ZIP_DEFLATED),
    ("of Zstandard", "log.eval", WHOLE, 93),
    ("under another name", "log.zip", WHOLE, zipfile.ZIP_DEFLATED),
    ("cut off, by its journal", "log.eval", CUT, zipfile.ZIP_DEFLATED),
]


@pytest.mark.parametrize(("desc", "name", "members", "method"), ARCHIVES, ids=[one[0] for one in ARCHIVES])
def test_an_archive_is_one_log(tmp_path, desc, name, members, method) -> None:
    source = archive(tmp_path / "in" / name, members, method)
    assert convert(None, [source], tmp_path / "any").format == "inspect"
    done, (run,) = converted("inspect", tmp_path / "out", source)
    assert (run.success, run.agent) == (True, "openai/m")
    assert ("log-not-complete" in codes(done)) is (members is CUT)


def test_a_damaged_sample_costs_itself_alone(tmp_path: Path) -> None:
    samples = {"samples/1.json": json.dumps(sample()).encode(), "samples/2.json": b"{}" * 40}
    content = zstd_archive({"header.json": json.dumps(EVAL).encode(), **samples})
    at = content.index(b"samples/2.json") + len(b"samples/2.json") + 4
    source = put(tmp_path / "in" / "log.eval", content[:at] + b"\xff\xff" + content[at + 2 :])
    done, runs = converted("inspect", tmp_path / "out", source)
    assert len(runs) == 1
    assert {"unreadable-file", "unreadable-record"} & set(codes(done))
