"""One line of a ledger: what is refused, why and at which column, and what is merely unusual."""

from __future__ import annotations

import json
from typing import Any, get_args

import msgspec
import pytest

from untaken import limits
from untaken.ledger import AnyEvent, Message, Observation, RunFinished, ToolCall, event_type
from untaken.ledger.decoding import OPEN_FIELDS, LineFault, decode_event, encode_event, run_of
from untaken.ledger.strict_json import JsonFault, parse_json

ZEROS = "0" * 64
HEAD = '"run_id":"r","seq":0,"ts":"2026-01-01T00:00:00Z","prev":"' + ZEROS + '"'


def say(content: str, old: str = "", new: str = "") -> str:
    """A MESSAGE line with this JSON as content, and one part of the line replaced."""
    line = '{"type":"MESSAGE",' + HEAD + ',"role":"user","content":' + content + "}"
    assert old in line
    return line.replace(old, new) if old else line


def finished(fields: str) -> str:
    return '{"type":"RUN_FINISHED",' + HEAD + ',"success":true,' + fields + '"steps":1}'


def chosen(layers: str) -> str:
    """A SKILL_SELECTION line in the context ``fine``, with these layers."""
    fields = ',"selected":"a","alternatives":["b"],"context_hash":"fine","context_layers":'
    return '{"type":"SKILL_SELECTION",' + HEAD + fields + layers + "}"


def raw(content: bytes) -> bytes:
    """A MESSAGE line with these bytes inside its string."""
    return say('"#"').encode().replace(b"#", content)


def nested(levels: int) -> str:
    """A MESSAGE line nested so many levels deep."""
    return say("[" * (levels - 1) + "]" * (levels - 1))


# What is wrong, the line, the expected code, and the text at the expected column (None: any column).
REFUSED: list[tuple[str, bytes | str, str, str | None]] = [
    ("empty", b"", "blank", None),
    ("only spaces", b" \t ", "blank", None),
    ("not JSON", b"hello", "not-json", "hello"),
    ("torn in a string", say('"hel')[:-1], "not-json", '"hel'),
    ("two objects", say("1") + say("2"), "not-json", '{"type"'),
    ("trailing comma", say('"a",'), "not-json", None),
    ("an array", b"[]", "not-an-object", "[]"),
    ("a number", b"7", "not-an-object", "7"),
    ("null", b"null", "not-an-object", "null"),
    ("byte order mark", "\ufeff" + say("1"), "byte-order-mark", "\ufeff"),
    ("UTF-16", say("1").encode("utf-16"), "not-utf8", None),
    ("Latin-1", raw(b"caf\xe9"), "not-utf8", '\ufffd"}'),
    ("overlong UTF-8", raw(b"\xc0\x80"), "not-utf8", "\ufffd"),
    ("a surrogate as UTF-8", raw(b"\xed\xa0\x80"), "not-utf8", "\ufffd"),
    ("a raw tab in a string", say('"a\tb"'), "not-json", "\tb"),
    ("a raw zero byte in a string", say('"a\0b"'), "not-json", "\0b"),
    ("NaN", say("NaN"), "not-finite", "NaN"),
    ("minus infinity after a string of it", say('["-Infinity",-Infinity]'), "not-finite", "-Infinity]"),
    ("a float beyond doubles", say("1e999"), "number-too-large", "1e999"),
    ("an integer of 65 bits", say(str(2**64)), "number-too-large", str(2**64)),
    ("a negative one", say(str(-(2**63) - 1)), "number-too-large", str(-(2**63) - 1)),
    ("a nested one", say('{"a":[' + str(2**64) + "]}"), "number-too-large", str(2**64)),
    ("ten thousand digits", say("9" * 10_000), "number-too-large", "999"),
    ("a lone high surrogate", say(r'"x\ud800"'), "lone-surrogate", r"\ud800"),
    ("a lone low surrogate", say(r'"\udc00"'), "lone-surrogate", r"\udc00"),
    ("a high surrogate and a letter", say(r'"\ud800\u0041"'), "lone-surrogate", r"\ud800"),
    ("two high surrogates", say(r'"\ud800\ud801\udc00"'), "lone-surrogate", r"\ud800"),
    ("a lone surrogate in an unknown field", say(r'1,"z":"\udfff"'), "lone-surrogate", r"\udfff"),
    ("NaN in an unknown field", say('1,"z":NaN'), "not-finite", "NaN"),
    ("bad UTF-8 in an unknown field", raw(b'","z":"\xff'), "not-utf8", "\ufffd"),
    ("65 bits in an unknown field", say(f'1,"z":{2**64}'), "number-too-large", str(2**64)),
    ("65 levels", nested(65), "too-deep", "[]"),
    ("65 levels in an unknown field", say('1,"z":' + "[" * 64 + "]" * 64), "too-deep", "[]"),
    ("100,000 levels", say("[" * 100_000), "too-deep", "["),
    ("duplicate key", say('1,"role":"x"'), "duplicate-key", '"role":"x"'),
    ("duplicate envelope key", say('1,"seq":0'), "duplicate-key", '"seq":0}'),
    ("duplicate nested key", say('{"a":1,"a":2}'), "duplicate-key", '"a":2'),
    ("duplicate unknown key", say('1,"z":1,"z":2'), "duplicate-key", '"z":2'),
    ("duplicate key, spaced", say('{"a" :1,"a" :2}'), "duplicate-key", '"a" :2'),
    ("duplicate key, once tabbed", say('{"a":1,"a"\t:2}'), "duplicate-key", '"a"\t:2'),
    ("duplicate key, once with a carriage return", say('{"a":1,"a"\r:2}'), "duplicate-key", '"a"\r:2'),
    ("duplicate key, spelt with an escape", say(r'{"a":1,"\u0061":1}'), "duplicate-key", None),
    ("duplicate key, ending in a backslash", say(r'{"a\\":1,"a\\":2}'), "duplicate-key", r'"a\\":2'),
    ("duplicate key, a quote and a colon", say(r'{"a":"\":","a":"\":"}'), "duplicate-key", None),
    ("unknown type", say("1", "MESSAGE", "GOSSIP"), "bad-event", '"type"'),
    ("no type", b'{"run_id":"r"}', "bad-event", None),
    ("no prev", say("1", '"prev"', '"prior"'), "bad-event", None),
    ("a short prev", say("1", ZEROS, "0" * 63), "bad-event", '"prev"'),
    ("a negative seq", say("1", '"seq":0', '"seq":-1'), "bad-event", '"seq"'),
    ("seq as text", say("1", '"seq":0', '"seq":"0"'), "bad-event", '"seq"'),
    ("seq as a float", say("1", '"seq":0', '"seq":0.0'), "bad-event", '"seq"'),
    ("an empty run id", say("1", '"r"', '""'), "bad-event", '"run_id"'),
    ("an endless run id", say("1", '"r"', '"' + "r" * 513 + '"'), "bad-event", '"run_id"'),
    ("a time without a zone", say("1", "00Z", "00"), "bad-event", '"ts"'),
    ("a 61st second in the middle of a month", say("1", "2026-01-01T00:00:00Z", "2016-12-30T23:59:60Z"),
     "bad-event", '"ts"'),
    ("a 61st second of no day", say("1", "2026-01-01T00:00:00Z", "2016-13-31T23:59:60Z"),
     "bad-event", '"ts"'),
    ("a time that UTC cannot hold", say("1", "2026-01-01T00:00:00Z", "0001-01-01T00:00:00+23:00"),
     "bad-event", '"ts"'),
    ("a negative cost", finished('"cost":-1.0,'), "bad-event", '"cost"'),
    ("success as text", finished("").replace("true", '"true"'), "bad-event", '"success"'),
    ("a chance above 1", chosen('["fine"],"propensities":{"a":1.5}'), "bad-event", None),
    ("layers that begin elsewhere", chosen('["coarse"]'), "bad-event", None),
    ("the same layer twice", chosen('["fine","coarse","coarse"]'), "bad-event", None),
    ("layers without any", chosen("[]"), "bad-event", '"context_layers"'),
    ("a layer without a name", chosen('["fine",""]'), "bad-event", '"context_layers"'),
    ("nine layers", chosen('["fine",' + ",".join(f'"{n}"' for n in range(8)) + "]"), "bad-event",
     '"context_layers"'),
    ("a line beyond the limit", " " * limits.LINE_BYTES + say("1"), "line-too-long", None),
    ("a line cut at the limit", say('"' + "x" * limits.LINE_BYTES + '"') + "\n", "line-too-long", None),
]  # fmt: skip


@pytest.mark.parametrize(("desc", "line", "code", "at"), REFUSED, ids=[case[0] for case in REFUSED])
def test_a_line_with_one_fault_is_refused_for_that_fault(
    desc: str, line: bytes | str, code: str, at: str | None
) -> None:
    line = line.encode() if isinstance(line, str) else line
    with pytest.raises(LineFault) as caught:
        decode_event(line)
    assert caught.value.code == f"ledger-{code}"
    assert caught.value.message
    place = line.decode(errors="replace")[caught.value.column - 1 :]
    assert place.startswith(at or ""), place[:40]


UNUSUAL: list[tuple[str, str, Any]] = [
    ("keys in another order", '{"content":1,"role":"user",' + HEAD + ',"type":"MESSAGE"}', 1),
    ("spaces everywhere", say("1").replace(",", " , ").replace('":', '" : '), 1),
    ("a carriage return at the end", say("1") + "\r", 1),
    ("an unknown field", say('1,"zoo":{"a":[1,{"a":2}]}'), 1),
    ("escaped characters", say(r'"\u00e9\u002f\/\ud83d\ude00"'), "é//😀"),
    ("an escaped backslash before ud800", say(r'"\\ud800"'), r"\ud800"),
    ("a quote and a colon in a string", say(r'"{\"a\": 1, \"a\": 2}"'), '{"a": 1, "a": 2}'),
    ("separators that are no newline", say('"a\u2028b\x85"'), "a\u2028b\x85"),
    ("the widest integers", say(f"[{2**64 - 1},{-(2**63)}]"), [2**64 - 1, -(2**63)]),
    ("a float in long form", say("0.1000000000000000055511151231257827"), 0.1),
    ("minus zero", say("-0.0"), -0.0),
    ("another zone", say("1", "00Z", "00+05:30"), 1),
    ("64 levels", nested(64), None),
    ("64 levels in another style", nested(64).replace(":[", ": ["), None),
]


@pytest.mark.parametrize(("desc", "line", "content"), UNUSUAL, ids=[case[0] for case in UNUSUAL])
def test_a_line_that_is_merely_unusual_is_read(desc: str, line: str, content: Any) -> None:
    event = decode_event(line.encode())
    assert isinstance(event, Message)
    assert content is None or event.content == content


def test_a_null_field_is_a_field_left_out() -> None:
    event = decode_event(finished('"cost":null,').encode())
    assert isinstance(event, RunFinished)
    assert event.cost is None


def test_another_programs_way_to_write_a_count_or_an_absent_text_is_read() -> None:
    event = decode_event(finished('"cost":1,"cost_unit":null,').replace('"steps":1', '"steps":1.0').encode())
    assert isinstance(event, RunFinished)
    assert (event.steps, type(event.steps), event.cost, event.cost_unit) == (1, int, 1.0, "usd")


@pytest.mark.parametrize("steps", ["1.5", '"1"', "1e300", "-1.0"])
def test_a_count_that_is_none_is_refused_as_it_is_written(steps: str) -> None:
    with pytest.raises(LineFault, match=r"^`steps`: expected ") as caught:
        decode_event(finished("").replace('"steps":1', f'"steps":{steps}').encode())
    assert caught.value.code == "ledger-bad-event"


@pytest.mark.parametrize("kind", ["REVIEW_NOTE", "EVALUATION_SUMMARY"])
def test_what_another_program_adds_after_the_run_needs_no_fields_of_ours(kind: str) -> None:
    event = decode_event(f'{{"type":"{kind}",{HEAD},"note":"look here","counts":{{"a":1}}}}'.encode())
    assert event_type(event) == kind


def test_the_fields_of_free_json_are_all_bounded() -> None:
    free = {
        (cls, field.name)
        for cls in get_args(AnyEvent)
        for field in msgspec.inspect.type_info(cls).fields  # type: ignore[union-attr]
        if "AnyType" in repr(field.type)
    }
    probes = {
        cls: {name for name in cls.__struct_fields__ if getter(_Probe()) == name}
        for cls, getter in OPEN_FIELDS.items()
    }
    assert free == {(cls, name) for cls, names in probes.items() for name in names}


class _Probe:
    def __getattr__(self, name: str) -> str:
        return name


@pytest.mark.parametrize("value", [2**64, [2**64], {"a": -(2**63) - 1}, [[[2**70]]]])
def test_an_integer_too_large_is_refused_in_the_writers_own_style(value: object) -> None:
    line = say(json.dumps(value, separators=(",", ":"))).encode()
    with pytest.raises(LineFault, match="64 bits"):
        decode_event(line)


def test_the_envelope_comes_first_in_a_written_line() -> None:
    event = decode_event(say("1").encode())
    assert list(json.loads(encode_event(event)))[:5] == ["type", "run_id", "seq", "ts", "prev"]


def test_written_fields_keep_the_documented_order() -> None:
    assert ToolCall.__struct_fields__[4:] == ("call_id", "tool", "arguments", "sub_goal", "requestor")
    assert Observation.__struct_fields__[4:] == ("call_id", "ok", "transient", "content")
    assert RunFinished.__struct_fields__[4:8] == ("success", "cost", "cost_unit", "steps")


ADDRESSED = [
    ("a valid event", say("1").encode(), "r"),
    ("an unknown type", b'{"type":"X","run_id":"r"}', "r"),
    ("torn after its run id", b'{"type":"X","run_id":"r","se', "r"),
    ("torn before its run id", b'{"type":"X","run', None),
    ("two different run ids", b'{"run_id":"a","x":{"run_id":"b"', None),
    ("the same run id twice", b'{"run_id":"a","x":{"run_id":"a"', "a"),
    ("a run id that is a number", b'{"run_id":1}', None),
    ("a run id in a string", rb'{"x":"\"run_id\":\"a\"', None),
    ("too long a run id", b'{"run_id":"' + b"a" * 600 + b'"}', None),
]


@pytest.mark.parametrize(("desc", "line", "want"), ADDRESSED, ids=[case[0] for case in ADDRESSED])
def test_a_bad_line_is_charged_to_its_run_only_where_it_names_one(
    desc: str, line: bytes, want: str | None
) -> None:
    assert run_of(line) == want


def test_a_fault_in_a_longer_text_names_line_and_column() -> None:
    with pytest.raises(JsonFault) as caught:
        parse_json(b'{\n "a": 1,\n "a": 2\n}')
    assert (caught.value.code, caught.value.line, caught.value.column) == ("duplicate-key", 3, 2)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00+00:00"),
        ("2016-12-31t15:59:60.25-08:00", "2017-01-01T00:00:00.250000+00:00"),
    ],
)
def test_a_leap_second_is_a_moment_of_rfc_3339(written: str, meant: str) -> None:
    line = say("1", "2026-01-01T00:00:00Z", written).encode()
    assert decode_event(line).ts.isoformat() == meant
