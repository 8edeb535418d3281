"""What holds for every ledger: no single tampering passes as intact, and what is written is what is read."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from builders import RunBuilder, a_run
from hypothesis import given
from hypothesis import strategies as st

from untaken.errors import UntakenError
from untaken.ledger import (
    Head,
    Integrity,
    LedgerWriter,
    Message,
    Observation,
    State,
    ToolCall,
    read_ledger,
    verify_ledger,
)
from untaken.ledger.decoding import LineFault, decode_event
from untaken.ledger.strict_json import JsonFault, parse_json

NAMES = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=8)
NUMBERS = st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda children: st.lists(children, max_size=3) | st.dictionaries(TEXT, children, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(TEXT, JSON, max_size=3)
MAYBE = st.none() | st.booleans()
EVENTS = st.one_of(
    st.tuples(st.just(Message), st.fixed_dictionaries({"role": TEXT, "content": JSON})),
    st.tuples(st.just(State), st.fixed_dictionaries({"state": OBJECTS})),
    st.tuples(st.just(Observation), st.fixed_dictionaries({"content": JSON, "ok": MAYBE})),
    st.tuples(
        st.just(ToolCall), st.fixed_dictionaries({"call_id": TEXT, "tool": NAMES, "arguments": OBJECTS})
    ),
)


@st.composite
def ledgers(draw: st.DrawFn) -> tuple[list[bytes], dict[str, Head]]:
    """Lines of one to three runs, interleaved, and their heads."""
    runs: list[RunBuilder] = []
    for n in range(draw(st.integers(1, 3))):
        run = a_run(f"r{n}")
        for kind, fields in draw(st.lists(EVENTS, max_size=4)):
            run.add(kind, **fields)
        runs.append(run.finish() if draw(st.booleans()) else run)
    waiting = {run.run_id: list(run.lines) for run in runs}
    lines = []
    while waiting:
        run_id = draw(st.sampled_from(sorted(waiting)))
        lines.append(waiting[run_id].pop(0))
        waiting = {other: rest for other, rest in waiting.items() if rest}
    return lines, {run.run_id: run.head for run in runs}


def joined(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def all_intact(data: bytes, heads: dict[str, Head]) -> bool:
    found: list[Integrity] = verify_ledger(data, heads=heads)
    return all(one.verdict == "INTACT" for one in found)


@given(ledgers())
def test_an_untouched_ledger_is_intact(ledger: tuple[list[bytes], dict[str, Head]]) -> None:
    lines, heads = ledger
    assert all_intact(joined(lines), heads)


@given(ledgers(), st.data())
def test_one_changed_byte_is_never_intact(ledger, data) -> None:
    lines, heads = ledger
    content = joined(lines)
    at = data.draw(st.integers(0, len(content) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda value: value != content[at]))
    assert not all_intact(content[:at] + bytes([byte]) + content[at + 1 :], heads)


@given(ledgers(), st.data())
def test_two_swapped_lines_of_a_run_are_never_intact(ledger, data) -> None:
    lines, heads = ledger
    run_ids = [msgspec.json.decode(line)["run_id"] for line in lines]
    a = data.draw(st.integers(0, len(lines) - 1))
    same = [n for n, run_id in enumerate(run_ids) if run_id == run_ids[a] and n != a]
    if same:
        b = data.draw(st.sampled_from(same))
        lines[a], lines[b] = lines[b], lines[a]
        assert not all_intact(joined(lines), heads)


@given(ledgers(), st.data())
def test_a_cut_tail_is_never_intact(ledger: tuple[list[bytes], dict[str, Head]], data: st.DataObject) -> None:
    lines, heads = ledger
    content = joined(lines)
    cut = data.draw(st.integers(0, len(content) - 2))  # without its final newline alone, nothing is lost
    assert not all_intact(content[:cut], heads)


@given(ledgers())
def test_the_order_in_which_runs_are_interleaved_does_not_matter(ledger) -> None:
    lines, heads = ledger
    apart = sorted(lines, key=lambda line: msgspec.json.decode(line)["run_id"])
    first = {run.run_id: run.events for run in read_ledger(joined(lines), heads=heads)}
    assert first == {run.run_id: run.events for run in read_ledger(joined(apart), heads=heads)}


@given(st.lists(EVENTS, max_size=6))
def test_what_is_written_is_what_is_read(events: list[tuple[type, dict[str, Any]]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.jsonl"
        with LedgerWriter(path, clock=lambda: datetime(2026, 1, 1, tzinfo=UTC), fsync="never") as ledger:
            run = ledger.start(run_id="r", agent="a", task_id="t")
            written = [run.write(kind, **fields) for kind, fields in events]
        (read,) = read_ledger(path)
        assert list(read.events[1:]) == written
        assert [msgspec.structs.asdict(event) for event in written] == [
            msgspec.structs.asdict(event) | fields for event, (_, fields) in zip(written, events, strict=True)
        ]


@given(JSON)
def test_the_strict_parser_reads_all_proper_json(value: Any) -> None:
    assert parse_json(msgspec.json.encode(value)) == value


LINE = a_run("r").call("x", n=1).lines[1]


def fault_of(line: bytes) -> LineFault | None:
    try:
        decode_event(line)
    except LineFault as fault:
        return fault
    return None


@given(st.binary(max_size=40), st.integers(0, len(LINE)), st.integers(0, 20))
def test_any_bytes_are_an_event_or_a_named_fault(noise: bytes, at: int, width: int) -> None:
    fault = fault_of(LINE[:at] + noise + LINE[at + width :])
    if fault is not None:
        assert fault.code.startswith("ledger-")
        assert 1 <= fault.column <= len(LINE) + 42


SPACE = st.sampled_from(["", "", "", " ", "\t", "  "])
KEYS = st.sampled_from(['"a"', '"b"', r'"\u0061"', r'"a\\"', r'"\":"', '" :"', '"a: b"', '""'])
LEAVES = st.sampled_from(["1", "-0.0", "null", str(2**64), r'"\":"', '"x :y"', r'"\\"', r'"\ud83d"', "[]"])


def braced(pairs: list[tuple[str, str, str, str]]) -> str:
    return "{" + ",".join(key + before + ":" + after + value for key, before, after, value in pairs) + "}"


SLOPPY = st.recursive(
    LEAVES,
    lambda values: (
        st.lists(st.tuples(KEYS, SPACE, SPACE, values), max_size=3).map(braced)
        | st.lists(values, max_size=3).map(lambda items: "[" + ", ".join(items) + "]")
    ),
    max_leaves=6,
)


@given(SLOPPY, st.booleans())
def test_the_fast_way_and_the_exact_way_refuse_the_same(value: str, own_style: bool) -> None:
    line = LINE.replace(b'{"n":1}', b'{"x":' + value.encode() + b"}")
    if not own_style:
        line = line.replace(b'"TOOL_CALL",', b'"TOOL_CALL", ')
    fault = fault_of(line)
    exact = None
    try:
        parse_json(line)
    except JsonFault as refused:
        exact = f"ledger-{refused.code}"
    assert (fault.code if fault else None) == exact


@given(st.binary(max_size=200))
def test_reading_any_bytes_raises_nothing_but_named_errors(data: bytes) -> None:
    with pytest.raises(UntakenError, match="ledger-"):
        read_ledger(data)
    assert read_ledger(data, strict=False)[1]
