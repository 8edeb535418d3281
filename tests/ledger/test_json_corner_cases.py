"""JSON at its corners: alone, in an event, a ledger and a plan graph, each text is read or refused alike.

Written for this project along RFC 8259, section by section; in the spirit of the public collections of such
cases, and none of them.
"""

from __future__ import annotations

import math
from typing import Any

import pytest

from untaken.errors import UntakenError
from untaken.ledger import verify_ledger
from untaken.ledger.decoding import LineFault, decode_event
from untaken.ledger.strict_json import JsonFault, parse_json
from untaken.plans import read_graph

BEFORE = (
    b'{"type":"MESSAGE","run_id":"r","seq":0,"ts":"2026-01-01T00:00:00Z","prev":"'
    + b"0" * 64
    + b'","role":"user","content":'
)

READ: list[tuple[bytes, Any]] = [
    # white space (section 2)
    (b" 1", 1), (b"1 ", 1), (b"\t[\t1\t,\t2\t]\t", [1, 2]), (b"[ ]", []), (b"{ }", {}),
    (b'{ "a" : 1 }', {"a": 1}), (b"\r[1]\r", [1]),
    # literals (3)
    (b"null", None), (b"true", True), (b"false", False), (b"[null,true,false]", [None, True, False]),
    # objects (4)
    (b"{}", {}), (b'{"":0}', {"": 0}), (b'{"a":{}}', {"a": {}}), (b'{"a":1,"A":2}', {"a": 1, "A": 2}),
    (b'{"a":{"a":{"a":1}}}', {"a": {"a": {"a": 1}}}), (b'[{"a":1},{"a":2}]', [{"a": 1}, {"a": 2}]),
    (b'{"a":"\\"a\\":"}', {"a": '"a":'}), (b'{"\\u0000":1}', {"\0": 1}),
    (b'{"__proto__":1}', {"__proto__": 1}),
    ('{"é":1,"e\u0301":2}'.encode(), {"é": 1, "e\u0301": 2}), (b'{"1":1,"01":2}', {"1": 1, "01": 2}),
    # arrays (5)
    (b"[]", []), (b"[[]]", [[]]), (b"[[],[[]],{}]", [[], [[]], {}]), (b'[1,"1",1.0]', [1, "1", 1.0]),
    (b"[0,0,0]", [0, 0, 0]),
    # numbers (6)
    (b"0", 0), (b"-0", 0), (b"-1", -1), (b"9007199254740993", 9007199254740993),
    (b"18446744073709551615", 2**64 - 1),
    (b"-9223372036854775808", -(2**63)), (b"0.5", 0.5), (b"-0.5", -0.5), (b"1.0", 1.0), (b"1e2", 100.0),
    (b"1E2", 100.0), (b"1e+2", 100.0), (b"1e-2", 0.01), (b"1.5e00", 1.5), (b"0e0", 0.0), (b"0e999", 0.0),
    (b"1e-999", 0.0), (b"4.9e-324", 5e-324), (b"1.7976931348623157e308", 1.7976931348623157e308),
    (b"0." + b"3" * 400, 1 / 3), (b"123456789012345678.0", 123456789012345680.0),
    # strings (7)
    (b'""', ""), (b'" "', " "), (b'"\\"\\\\\\/\\b\\f\\n\\r\\t"', '"\\/\b\f\n\r\t'),
    (b'"\\u0041\\u00e9\\u20AC"', "Aé€"),
    (b'"\\ud83d\\ude00"', "😀"), ('"😀"'.encode(), "😀"),
    (b'"\\u0000"', "\0"), (b'"\\u007f\x7f"', "\x7f\x7f"),
    (b'"\\\\u0041"', "\\u0041"), ("\"\u2028\u2029\"".encode(), "\u2028\u2029"),
    ("\"\ufeff\"".encode(), "\ufeff"),
    ('"\ufffe\uffff"'.encode(), "\ufffe\uffff"), ("\"\U0010ffff\"".encode(), "\U0010ffff"),
    (b'"\\uDBFF\\uDFFF"', "\U0010ffff"), (b'"// no comment /* */"', "// no comment /* */"),
    (b'"NaN"', "NaN"), (b'"[[[[[["', "[[[[[["), (b'"\xc2\x80"', "\x80"),
]  # fmt: skip
"""Texts that are JSON, and their values."""

REFUSED: list[tuple[bytes, str]] = [
    # not one value
    *((text, "not-json") for text in (
        b"1 2", b"1,2", b"[1][2]", b"{}{}", b"[1]]", b"{}}", b"[1", b"{", b"[", b"]", b"}", b",", b":",
        b'"',
    )),
    # literals
    *((text, "not-json") for text in (
        b"nul", b"nulll", b"True", b"FALSE", b"Null", b"undefined", b"None", b"tru\x00e", b"[true false]",
    )),
    # objects
    *((text, "not-json") for text in (
        b'{"a"}', b'{"a":}', b'{:1}', b'{"a":1,}', b'{,"a":1}', b'{"a":1,,"b":2}', b'{"a" 1}', b'{"a"::1}',
        b'{"a":1 "b":2}', b"{a:1}", b"{'a':1}", b"{1:1}", b"{null:1}", b'{"a":1]', b'{["a"]:1}',
        b'{"a":1;"b":2}',
    )),
    *((text, "duplicate-key") for text in (
        b'{"a":1,"a":1}', b'{"":1,"":2}', b'{"a":1,"b":2,"a":3}', b'[{"b":{"a":1,"a":1}}]',
        b'{"\\u0061":1,"a":2}', b'{"\\/":1,"/":2}', b'{"__proto__":1,"__proto__":2}',
    )),
    # arrays
    *((text, "not-json") for text in (
        b"[1,]", b"[,1]", b"[,]", b"[1,,2]", b"[1 2]", b"[1;2]", b"[1:2]", b"[1}", b"[1,\x00]", b"[...]",
    )),
    # numbers
    *((text, "not-json") for text in (
        b"+1", b"01", b"-01", b"00", b".5", b"5.", b"1.e1", b"-", b"--1", b"+-1", b"1e", b"1e+", b"1e1.5",
        b"0x10",
        b"1_000", b"1,5e", b"0b1", b"0o7", b"1d", b"1f", b"- 1", b"1 .5", b"Infinit", b"-nan", b"#1",
        "１".encode(), "٣".encode(), "½".encode(), b"0.5.5", b"1e5e5",
    )),
    *((text, "not-finite") for text in (b"NaN", b"Infinity", b"-Infinity", b'{"a":[NaN]}')),
    *((text, "number-too-large") for text in (
        b"18446744073709551616", b"-9223372036854775809", b"1e400", b"-1e400", b"9" * 5_000,
        b"1" + b"0" * 400 + b".0",
        b"[0,1e309]",
    )),
    # strings
    *((text, "not-json") for text in (
        b'"a', b"'a'", b'"\\x41"', b'"\\a"', b'"\\u12"', b'"\\u12G4"', b'"\\U0041"', b'"\\', b'"\\"',
        b'"a\x01b"',
        b'"a\x1fb"', b'"\\u"', b'"a""b"', b"`a`", "“a”".encode(), b'"\\ "', b'"\\u+041"', b'"\\u 041"',
        b'"\\u00_1"',
    )),
    *((text, "lone-surrogate") for text in (
        b'"\\ud800"', b'"\\udfff"', b'"\\ude00\\ud83d"', b'"\\ud83d\\u0041"', b'"\\ud83dx\\ude00"',
        b'{"\\udc00":1}', b'"\\ud83d\\\\ude00"',
    )),
    # characters
    *((text, "not-utf8") for text in (
        b'"\xff"', b'"\x80"', b'"\xc3"', b'"\xc0\xaf"', b'"\xe2\x82"', b'"\xed\xb0\x80"',
        b'"\xf4\x90\x80\x80"',
        b'"\xf8\x88\x80\x80\x80"', b"\xff", b'{"\xe9":1}',
    )),
    # what only looks like JSON
    *((text, "not-json") for text in (
        b"/* c */1", b"1 // c", b"# c\n1", b"\x0b1", b"\x0c1", "\u00a01".encode(), "1\u3000".encode(),
        b"[1]\x00",
        b"<a/>", b"a: 1", b"(1)", b"1;", b"\x1e1",
    )),
    # depth
    *((text, "too-deep") for text in (b"[" * 65 + b"]" * 65, b'{"a":' * 65 + b"1" + b"}" * 65,
    b"[" * 200_000)),
]  # fmt: skip
"""Texts that are no JSON, or more than a reader may rely on, and the fault."""

named = {"ids": lambda given: repr(given[:40]) if isinstance(given, bytes) else ""}


def same(one: Any, other: Any) -> bool:
    """Equal in value and type, so that 1 is not 1.0 and 1 is not True."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-15)
    return (type(one), one) == (type(other), other)


@pytest.mark.parametrize(("text", "value"), READ, **named)
def test_what_is_json_is_read_as_it_is_alone_and_in_an_event(text: bytes, value: Any) -> None:
    assert same(parse_json(text), value)
    assert same(decode_event(BEFORE + text + b"}").content, value)  # type: ignore[union-attr]


@pytest.mark.parametrize(("text", "code"), REFUSED, **named)
def test_what_is_none_is_refused_for_its_fault_alone_and_in_an_event(text: bytes, code: str) -> None:
    with pytest.raises(JsonFault) as alone:
        parse_json(text)
    assert alone.value.code == code
    with pytest.raises(LineFault):
        decode_event(BEFORE + text + b"}")


def test_a_ledger_of_corner_cases_gives_findings_and_never_a_crash() -> None:
    for text, _ in REFUSED:
        found = verify_ledger(BEFORE + text + b"}\n")
        assert {one.verdict for one in found}.isdisjoint({"INTACT", "UNANCHORED"}), text
        assert all(one.reason for one in found), text


def test_a_plan_graph_of_corner_cases_is_refused_in_words() -> None:
    for text, _ in REFUSED:
        with pytest.raises(UntakenError) as refused:
            read_graph(b'{"schema":"untaken.plan/1","id":' + text + b"}", name="a.plan.json")
        assert refused.value.code.startswith("plan-"), text
        assert refused.value.message, text
