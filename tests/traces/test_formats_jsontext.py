"""Foreign text in any encoding, whole or in parts: what a fault costs, and what becomes of odd values."""

from __future__ import annotations

import codecs
import gc
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from weakref import ref

import msgspec
import pytest
from builders import a_run
from foreign_files import codes, converted, put
from trace_records import RECORDS

from untaken.errors import UntakenError
from untaken.ledger import Run
from untaken.ledger.chain import parse_heads
from untaken.plans import read_graph
from untaken.traces import Conversion
from untaken.traces.jsontext import JsonReader
from untaken.traces.losses import FINDINGS_PER_KIND, Findings, clip
from untaken.traces.outcomes import read_outcomes
from untaken.traces.tidy import DEPTH, OTHER, PLACES, TEXT_CHARS, Places, Tidier
from untaken.workspace import Workspace
from untaken.workspace.intake import UploadResult, take_in

TEXTS: list[dict[str, Any]] = [
    {"desc": "an array gives its elements", "text": "[1, 2, 3]", "want": [1, 2, 3]},
    {"desc": "one object", "text": '{"a": 1}', "want": [{"a": 1}]},
    {"desc": "one record per line", "text": '{"a": 1}\n\n{"a": 2}\n', "want": [{"a": 1}, {"a": 2}]},
    {"desc": "nothing", "text": "", "want": []},
    {"desc": "white space", "text": " \n\t ", "want": []},
    {"desc": "a missing comma", "text": "[1 2]", "want": [1, 2]},
    {"desc": "one comma too many", "text": "[1,,2]", "want": [1, 2], "code": "unreadable-record"},
    {"desc": "a broken record among good ones", "text": '[{"a": 1}, {"a": nope, "b": "}]"}, {"a": 3}]',
     "want": [{"a": 1}, {"a": 3}], "code": "unreadable-record"},
    {"desc": "a broken line among good ones", "text": '{"a": 1}\n{"a":\n{"a": 3}\n',
     "want": [{"a": 1}, {"a": 3}], "code": "unreadable-record"},
    {"desc": "cut short between records", "text": '[{"a": 1},', "want": [{"a": 1}], "code": "truncated-file"},
    {"desc": "cut short in a record", "text": '[{"a": 1}, {"a"', "want": [{"a": 1}],
     "code": "truncated-file"},
    {"desc": "cut short in a text", "text": '["a', "want": [], "code": "truncated-file"},
    {"desc": "a stray bracket", "text": "[1, }, 2]", "want": [1, 2], "code": "unreadable-record"},
    {"desc": "nothing but brackets", "text": "[" * 100_000, "want": [], "code": "truncated-file"},
    {"desc": "closing brackets only", "text": "}" * 5_000, "want": [], "code": "unreadable-record"},
    {"desc": "something after the end", "text": '{"a": 1} x', "want": [{"a": 1}],
     "code": "unreadable-record"},
    {"desc": "NaN", "text": '[{"a": NaN, "b": -Infinity}]', "want": [{"a": None, "b": None}],
     "code": "not-a-number"},
    {"desc": "a name twice", "text": '[{"a": 1, "a": 2}]', "want": [{"a": 2}], "code": "duplicate-key"},
    {"desc": "an integer of 5000 digits", "text": f"[{'9' * 5000}, 1]", "want": [1],
     "code": "unreadable-record"},
    {"desc": "a control character in a text", "text": '["a\tb"]', "want": ["a\tb"]},
]  # fmt: skip


def test_the_text_of_a_file_goes_with_its_reader_not_with_the_next_garbage_collection() -> None:
    gc.disable()
    try:
        reader = JsonReader('{"a": 1}', Findings(None))
        assert [element.value for element in reader.values()] == [{"a": 1}]
        left = ref(reader)
        del reader
        assert left() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("case", TEXTS, ids=lambda case: case["desc"])
def test_a_fault_costs_its_own_record(case: dict[str, Any]) -> None:
    findings = Findings("f.json")
    values = [element.value for element in JsonReader(case["text"], findings).values()]
    found = {finding.code for finding in findings.all()}
    assert values == case["want"]
    assert found >= ({case["code"]} if "code" in case else set())
    assert bool(found) == ("code" in case)


def test_a_fault_names_its_line() -> None:
    findings = Findings("f.json")
    list(JsonReader('[\n{"a": 1},\n{"a": oops}\n]', findings).values())
    (finding,) = findings.all()
    assert (finding.where.file, finding.where.line) == ("f.json", 3)


def test_control_characters_of_a_file_are_visible_in_a_message() -> None:
    assert clip("a\nb\x1b") == "a\\nb\\x1b"


def test_a_file_of_faults_does_not_fill_the_report() -> None:
    findings = Findings("f.json")
    list(JsonReader("[" + "oops," * 50_000 + "1]", findings).values())
    assert len(findings.all()) == FINDINGS_PER_KIND + 2
    assert findings.all()[-2].code == "too-many-faults"
    assert findings.all()[-1].message.startswith("and ")


def test_members_are_read_one_by_one() -> None:
    reader = JsonReader('{"runs": [1, 2], "bad": {"x": oops}, "last": 4}', Findings(None))
    reader.peek()
    seen: dict[str, Any] = {}
    for name in reader.members():
        seen[name] = [e.value for e in reader.elements()] if name == "runs" else reader.member(name)
    assert seen == {"runs": [1, 2], "bad": None, "last": 4}


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


VALUES: list[dict[str, Any]] = [
    {"desc": "half a character", "value": "a\ud800b", "want": "a�b", "code": "lone-surrogate"},
    {"desc": "half a character in a name", "value": {"\udfff": 1}, "want": {"�": 1},
     "code": "lone-surrogate"},
    {"desc": "an integer beyond 64 bits", "value": 2**63, "want": str(2**63), "code": "number-too-large"},
    {"desc": "the largest integer", "value": 2**63 - 1, "want": 2**63 - 1},
    {"desc": "infinity", "value": float("inf"), "want": None, "code": "not-a-number"},
    {"desc": "truth is no number", "value": [True, False], "want": [True, False]},
    {"desc": "empty things", "value": [{}, [], "", None], "want": [{}, [], "", None]},
    {"desc": "the longest text", "value": "x" * TEXT_CHARS, "want": "x" * TEXT_CHARS},
    {"desc": "a long text", "value": "x" * (TEXT_CHARS + 1), "want": "x" * (TEXT_CHARS - 1) + "…",
     "code": "text-cut"},
    {"desc": "as deep as is kept", "value": nested(DEPTH), "want": nested(DEPTH)},
]  # fmt: skip


@pytest.mark.parametrize("case", VALUES, ids=lambda case: case["desc"])
def test_values_are_made_fit_for_a_ledger(case: dict[str, Any]) -> None:
    findings = Findings(None)
    tidied, _ = Tidier(Places([]), findings).record(case["value"], "x")
    assert tidied == case["want"]
    assert [f.code for f in findings.all()] == ([case["code"]] if "code" in case else [])


def test_what_is_nested_deeper_is_cut() -> None:
    findings = Findings(None)
    tidied, _ = Tidier(Places([]), findings).record(nested(500), "x")
    depth = 0
    while isinstance(tidied, list):
        tidied, depth = tidied[0], depth + 1
    assert depth == DEPTH
    assert [f.code for f in findings.all()] == ["too-deep"]


def test_made_up_names_are_counted_together() -> None:
    value = {f"name{n}": n for n in range(PLACES + 500)}
    _, held = Tidier(Places([]), Findings(None)).record(value, "")
    assert len(held) == PLACES + 1
    assert held[OTHER] == 500


RUN = a_run("r1").call("look").finish()
LEDGER = RUN.ledger().decode()
HEADS = msgspec.json.encode({"r1": RUN.head}).decode()
GRAPH = "schema: untaken.plan/1\nid: desk\nsub_goals:\n  - {id: look, rules: [{tool: look}]}\n"
OUTCOMES = "run_id,success\nr1,true\n"
TRACE = (
    '{"schema_version": "ATIF-v1.4", "session_id": "s", "agent": {"name": "a", "version": "1"}, '
    '"steps": [{"step_id": 1, "source": "user", "message": "hi"}]}'
)

MARKED = {"utf-8": codecs.BOM_UTF8, "utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}
UTF_16 = ("utf-16-le", "utf-16-be")


def saved(text: str, encoding: str) -> bytes:
    return MARKED[encoding] + text.encode(encoding)


def added(folder: Path, name: str, data: bytes) -> UploadResult:
    with Workspace(folder / "workspace") as workspace:
        (row,) = take_in(workspace, [(name, data)])
    return row


@pytest.mark.parametrize("encoding", MARKED)
def test_a_trace_is_read(tmp_path: Path, encoding: str) -> None:
    row = added(tmp_path, "trace.json", saved(TRACE, encoding))
    assert (row.kind, row.runs) == ("atif", 1)


@pytest.mark.parametrize(
    ("encoding", "why"), [("utf-8", "byte order mark"), *((one, "UTF-16") for one in UTF_16)]
)
def test_a_ledger_is_refused_for_its_encoding(tmp_path: Path, encoding: str, why: str) -> None:
    row = added(tmp_path, "a.jsonl", saved(LEDGER, encoding))
    assert row.kind == "ledger"
    assert {verdict.verdict for verdict in row.integrity} == {"MALFORMED"}
    assert why in row.findings[0].message


@pytest.mark.parametrize(
    ("encoding", "why"), [("utf-8", "byte order mark"), *((one, "UTF-16") for one in UTF_16)]
)
def test_heads_are_refused_for_their_encoding(encoding: str, why: str) -> None:
    with pytest.raises(UntakenError, match=why) as refused:
        parse_heads(saved(HEADS, encoding), name="a.jsonl.heads.json")
    assert refused.value.code == "ledger-heads"


@pytest.mark.parametrize("encoding", UTF_16)
def test_plan_graphs_and_outcomes_in_utf_16_are_refused_by_name(tmp_path: Path, encoding: str) -> None:
    with pytest.raises(UntakenError, match="not UTF-8") as refused:
        read_graph(saved(GRAPH, encoding), name="g.plan.yaml")
    assert refused.value.code == "plan-not-utf8"
    table = tmp_path / "outcomes.csv"
    table.write_bytes(saved(OUTCOMES, encoding))
    with pytest.raises(UntakenError, match="not UTF-8") as refused:
        read_outcomes(table)
    assert refused.value.code == "outcomes-invalid"


def test_plan_graphs_and_outcomes_with_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    assert read_graph(saved(GRAPH, "utf-8"), name="g.plan.yaml")[0].id == "desk"
    table = tmp_path / "outcomes.csv"
    table.write_bytes(saved(OUTCOMES, "utf-8"))
    assert set(read_outcomes(table).by_run) == {"r1"}


Written = list[str]
LINES: dict[str, Written] = {
    format: [json.dumps(line) for line in content]
    for format, files in RECORDS.items()
    for name, content in files.items()
    if name.endswith(".jsonl") and isinstance(content, list) and len(content) > 2
}
"""The lines of the record of each format that is written line by line."""


def in_two(lines: Written) -> list[str]:
    return ["\n".join(lines[: len(lines) // 2]), "\n".join(lines[len(lines) // 2 :])]


SITUATIONS: dict[str, Callable[[Written], list[str]]] = {
    "a run in two files": in_two,
    "a part of a run that comes again": lambda lines: ["\n".join(lines), "\n".join(lines[:-1])],
    "a file still being written": lambda lines: ["\n".join(lines)[: -len(lines[-1]) // 2]],
    "records out of order": lambda lines: ["\n".join([lines[0], *lines[:0:-1]])],
    "naive times": lambda lines: ["\n".join(re.sub(r"(:\d\d(?:\.\d+)?)Z", r"\1", line) for line in lines)],
}


def read(folder: Path, format: str, contents: list[str]) -> tuple[Conversion, list[Run]]:
    files = [put(folder / "in" / f"{n}.jsonl", content) for n, content in enumerate(contents)]
    return converted(format, folder / "out", *files)


def facts(runs: list[Run]) -> list[Any]:
    """What was called and spent, and how it ended, however many files it came from."""
    return sorted(
        (run.run_id, [call.tool for call in run.actions], run.finished.metrics, run.finished.steps)
        for run in runs
        if run.finished
    )


@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("format", LINES)
def test_what_comes_in_pieces_is_right_or_named(tmp_path: Path, format: str, situation: str) -> None:
    whole, runs = read(tmp_path / "whole", format, ["\n".join(LINES[format])])
    done, found = read(tmp_path / "pieces", format, SITUATIONS[situation](LINES[format]))
    named = codes(done) - codes(whole)
    assert facts(found) == facts(runs) or named


def test_the_rest_of_a_run_names_the_file_in_which_it_begins(tmp_path: Path) -> None:
    done, runs = read(tmp_path, "claude-code", in_two(LINES["claude-code"]))
    (found,) = (finding for finding in done.findings if finding.code == "duplicate-run")
    assert (found.where.file, found.where.run) == ("1.jsonl", "claude-code/s1")
    assert found.message == "this run also begins in 0.jsonl; this one is kept as claude-code/s1~2"
    assert [run.run_id for run in runs] == ["claude-code/s1", "claude-code/s1~2"]
