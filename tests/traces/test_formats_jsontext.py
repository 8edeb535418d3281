"""Foreign JSON: what a fault costs, and what is made of values no ledger can hold."""

from __future__ import annotations

import codecs
import gc
from typing import Any
from weakref import ref

import pytest

from untaken.traces.jsontext import JsonReader, decode_text
from untaken.traces.losses import FINDINGS_PER_KIND, Findings
from untaken.traces.tidy import DEPTH, OTHER, PLACES, TEXT_CHARS, Places, Tidier

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


ENCODINGS = [
    ("utf-8", "é".encode(), "é", 0),
    ("utf-8 with a mark", codecs.BOM_UTF8 + "é".encode(), "é", 0),
    ("utf-16", codecs.BOM_UTF16_LE + "é".encode("utf-16-le"), "é", 0),
    ("latin-1", b"a\xe9b", "a�b", 1),
]


@pytest.mark.parametrize(("desc", "data", "want", "faults"), ENCODINGS)
def test_encodings(desc: str, data: bytes, want: str, faults: int) -> None:
    findings = Findings(None)
    assert decode_text(data, findings) == want
    assert len(findings.all()) == faults


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


def test_values_are_counted_by_place() -> None:
    places = Places(["a[].b", "c.**"])
    value = {"a": [{"b": 1, "x": "y"}, {"b": None}, {"b": 2}], "c": {"any": {"thing": [1, 2]}}}
    _, held = Tidier(places, Findings(None)).record(value, "")
    assert held == {"a[].b": 2, "a[].x": 1, "c.**": 2}


def test_what_is_kept_below_a_dropped_place_is_counted_as_kept() -> None:
    places = Places(["info.status", "info.cost.total", "info.calls[].args.**"], ["info.**"])
    value = {
        "info": {"status": "ok", "cost": {"total": 1, "tax": 2}, "other": {"x": 3},
            "calls": [{"args": {"y": 4}, "n": 5}]},
    }  # fmt: skip
    _, held = Tidier(places, Findings(None)).record(value, "")
    assert dict(held) == {"info.status": 1, "info.cost.total": 1, "info.calls[].args.**": 1, "info.**": 3}


def test_made_up_names_are_counted_together() -> None:
    value = {f"name{n}": n for n in range(PLACES + 500)}
    _, held = Tidier(Places([]), Findings(None)).record(value, "")
    assert len(held) == PLACES + 1
    assert held[OTHER] == 500
