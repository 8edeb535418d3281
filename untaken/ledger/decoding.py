"""One line of a ledger, strictly decoded into a typed event.

The decoder itself lets some things pass: it takes the last of two equal keys, skips unknown fields unread,
takes integers of any size and knows no depth limit. Most lines are cleared by one cheap argument: a line that
is exactly what the writer would write for the event it decodes to hides nothing. A line in another style is
cleared by counting: each key is followed by a colon, so as many such colons as decoded keys leave no room for
a second equal key. Whatever is not cleared goes to the exact parser, which names the fault.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import Any

import msgspec

from untaken import limits
from untaken.ledger.events import (
    AnyEvent,
    EvaluationSummary,
    Event,
    Message,
    Observation,
    RunFinished,
    RunStarted,
    SkillSelection,
    State,
    ToolCall,
)
from untaken.ledger.strict_json import INTEGER_HIGH, INTEGER_LOW, JsonFault, parse_json

FREE_FIELDS: dict[type[Event], str] = {
    RunStarted: "metadata",
    SkillSelection: "context",
    ToolCall: "arguments",
    Observation: "content",
    Message: "content",
    State: "state",
    RunFinished: "final_state",
    EvaluationSummary: "summary",
}
"""The one field of each event that holds free JSON, whose depth and integers no type bounds."""
OPEN_FIELDS: dict[type[Event], Callable[[Any], Any]] = {
    event: attrgetter(name) for event, name in FREE_FIELDS.items()
}

# In the writer's own style a line begins {"type":" without a space: the cheapest sign of another style.
_AFTER_TAG_NAME, _QUOTE = len('{"type":'), ord('"')
_LINE_BYTES = limits.LINE_BYTES
_JSON_DEPTH = limits.JSON_DEPTH
WHOLE_FIELDS = ("task_repeat", "steps", "decision_point")
"""Counts that other people's programs write as ``3.0`` now and then. (`seq` is the chain's own: never.)"""
_LEAP_SECOND = re.compile(r"(.{10}[Tt ]\d\d:\d\d:)60((?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d))")
_PATH = re.compile(r" - at `\$\.?([^`]*)`")
_RUN_ID = re.compile(rb'"run_id"[ \t\r]*:[ \t\r]*"([^"\\]{1,%d})"' % (4 * limits.NAME_CHARS))

_decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)
_decode, _decode_all = _decoder.decode, _decoder.decode_lines
_decode_any = msgspec.json.Decoder().decode
_encoder = msgspec.json.Encoder()
_encode_all = _encoder.encode_lines
encode_event = _encoder.encode
"""The bytes of an event's line, without the newline."""


class LineFault(ValueError):
    """Why a line is not a valid event.

    Attributes:
        code: error code, ``ledger-…``.
        message: the reason in words.
        column: 1-based, in characters.
    """

    def __init__(self, code: str, message: str, column: int = 1) -> None:
        super().__init__(message)
        self.code = f"ledger-{code}"
        self.message = message
        self.column = column


def decode_lines(lines: list[bytes]) -> Iterable[AnyEvent | LineFault]:
    """The event of each line, or why it is none (see `decode_event`)."""
    try:
        if lines[0][_AFTER_TAG_NAME] == _QUOTE:  # the writer's own style, as a rule: cleared all at once
            # The encoder ends every line with a newline, the last one too.
            whole = b"\n".join([*lines, b""])
            events = _decode_all(whole)
            if _encode_all(events) == whole:
                _refuse_misfits(events)
                return events
    # IndexError: a line shorter than its tag.
    except (msgspec.MsgspecError, ValueError, RecursionError, IndexError):
        pass
    return map(_decoded, lines)  # one by one as they are asked for: a reader may stop among them


def _decoded(line: bytes) -> AnyEvent | LineFault:
    try:
        return decode_event(line)
    except LineFault as fault:
        return fault


def _refuse_misfits(events: Sequence[AnyEvent]) -> None:
    """Raises `ValueError` where a moment is not in UTC, or free JSON not within the limits."""
    for event in events:
        if event.ts.tzinfo is not UTC:  # in UTC, it may be before the year 1 or after 9999
            raise ValueError
        open_field = OPEN_FIELDS.get(type(event))
        if open_field is not None and type(value := open_field(event)) is not str and value is not None:
            _count_keys(value, _JSON_DEPTH - 1)


def decode_event(line: bytes) -> AnyEvent:
    """Decode one line, without its newline, strictly.

    Raises:
        LineFault: the line is not a valid event; says why and at which column.
    """
    return _decoded_as(line)[0]


def read_back(event: Event) -> tuple[AnyEvent, bytes]:
    """An event as a reader of its line will see it, and the line of that.

    Raises:
        LineFault: as in `decode_event`.
    """
    line = encode_event(event)
    read, as_written = _decoded_as(line)
    return read, line if as_written else encode_event(read)


def _decoded_as(line: bytes) -> tuple[AnyEvent, bool]:
    """The event of a line, and whether the line is known to be exactly what the writer would write for it."""
    try:
        event = _decode(line)
        if line[_AFTER_TAG_NAME] == _QUOTE and encode_event(event) == line:
            _refuse_misfits([event])
            return event, True
        # Else `_examine` tries what the moment is in UTC.
        if event.ts.tzinfo is UTC and _has_no_twin_keys(line):
            return event, False
    except (msgspec.MsgspecError, ValueError, RecursionError):
        pass
    return _examine(line), False


def _has_no_twin_keys(line: bytes) -> bool:
    """True where counting alone proves that no object holds a key twice; false proves nothing."""
    # A tab or a carriage return may stand between a key and its colon, where no pattern below finds it.
    if len(line) > _LINE_BYTES or b"\t" in line or b"\r" in line:
        return False
    # Colons inside texts only make this number too large, and the line goes to the exact parser.
    colons = line.count(b'":') + line.count(b" :")
    if b"\\" in line:
        if b'\\\\"' in line:  # the backslash is itself escaped, so that this quote may end a key after all
            return False
        # A quote after a single backslash is inside a string, so it ends no key.
        colons -= line.count(b'\\":')
    return colons == _count_keys(_decode_any(line), _JSON_DEPTH)


def _count_keys(value: Any, room: int) -> int:
    """Keys of all objects in `value`; raises `ValueError` beyond `room` levels or 64-bit integers."""
    keys = 0
    kind = type(value)
    if kind is dict:
        keys, children = len(value), value.values()
    else:
        children = value if kind is list else (value,)
    for child in children:
        kind = type(child)
        if kind is str:
            continue
        if kind is dict or kind is list:
            if room <= 1:
                raise ValueError
            keys += _count_keys(child, room - 1)
        elif kind is int and not INTEGER_LOW <= child <= INTEGER_HIGH:
            raise ValueError
    return keys


def _examine(line: bytes) -> AnyEvent:
    """The exact way: name the fault, or return the event of a line that is merely unusual."""
    if len(line) > limits.LINE_BYTES:
        raise LineFault("line-too-long", f"the line is longer than {limits.LINE_BYTES:,} bytes")
    try:
        value = parse_json(line)
    except JsonFault as fault:
        raise LineFault(fault.code, fault.message, fault.column) from None
    if not isinstance(value, dict):
        kinds = {list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
        kind = kinds.get(type(value), "a number")
        raise LineFault("not-an-object", f"a line holds one JSON object, not {kind}")
    try:
        event = _as_meant(line, value)
        event.ts.astimezone(UTC)
    except msgspec.MsgspecError as error:
        raise LineFault("bad-event", *_explain(str(error), line)) from None
    except (OverflowError, ValueError):
        message = "`ts`: outside the years 1 to 9999 in UTC"
        raise LineFault("bad-event", message, _column(line, "ts")) from None
    return event


def _as_meant(line: bytes, value: dict[str, Any]) -> AnyEvent:
    """The event, also of a count written as ``3.0``, an optional text as null, or a moment in a leap second.

    Raises:
        msgspec.MsgspecError: for the line as it is written, where that does not help.
    """
    try:
        return _decode(line)
    except msgspec.ValidationError as as_written:
        # Some languages have one type of numbers, or write an absent text as null.
        counts = {key: value.get(key) for key in WHOLE_FIELDS}
        whole = value | {key: int(n) for key, n in counts.items() if isinstance(n, float) and n.is_integer()}
        if whole.get("cost_unit", "") is None:
            del whole["cost_unit"]
        try:
            whole["ts"] = _after_leap_second(value.get("ts"))
            event: AnyEvent = msgspec.convert(whole, AnyEvent)
        except msgspec.ValidationError:
            raise as_written from None
        return event


def _after_leap_second(ts: Any) -> Any:
    """A moment in the 61st second of a month's last minute, which Python does not know: a second later."""
    found = _LEAP_SECOND.fullmatch(ts) if isinstance(ts, str) else None
    if found is None:
        return ts
    moment = msgspec.convert(f"{found[1]}59{found[2]}", datetime).astimezone(UTC) + timedelta(seconds=1)
    return moment if (moment.day, moment.hour, moment.minute, moment.second) == (1, 0, 0, 0) else ts


def _explain(message: str, line: bytes) -> tuple[str, int]:
    """The decoder's words with the field's name, and the column of that field."""
    found = _PATH.search(message)
    path = found[1] if found else ""
    what = _PATH.sub("", message)
    what = what[:1].lower() + what[1:]
    return (f"`{path}`: {what}" if path else what), _column(line, re.split(r"[.\[]", path)[0])


def _column(line: bytes, field: str) -> int:
    at = line.find(b'"%s"' % field.encode()) if field else -1
    return len(line[:at].decode("utf-8", "replace")) + 1 if at >= 0 else 1


class _Addressed(msgspec.Struct, gc=False):
    run_id: str


_decode_run_id = msgspec.json.Decoder(_Addressed).decode


def run_of(line: bytes) -> str | None:
    """The run of a line, as far as known, even if the line is not a valid event.

    The run of a line that is not JSON is known if exactly one ``"run_id": "…"`` occurs in it.
    """
    try:
        run_id = _decode_run_id(line).run_id
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        # Of two ids in a damaged line, one may be text that the run quotes: then no run is charged.
        found = set(_RUN_ID.findall(line[: limits.LINE_BYTES]))
        run_id = found.pop().decode("utf-8", "replace") if len(found) == 1 else ""
    return run_id if 0 < len(run_id) <= limits.NAME_CHARS else None
