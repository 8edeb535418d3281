"""Reading whole ledgers: strict and lenient, plain and compressed, one run and many, heads or none."""

from __future__ import annotations

import gzip
import io
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
import zstandard
from builders import RunBuilder, a_run

from untaken.errors import UntakenError
from untaken.ledger import (
    Head,
    Run,
    RunStarted,
    heads_path,
    read_ledger,
    save_heads,
    unread_runs,
    verify_ledger,
)
from untaken.ledger.reader import read_runs_as
from untaken.ledger.source import Front

GARBAGE = b'{"nobody": "knows"'


def three() -> list[RunBuilder]:
    return [a_run(f"r{n}").call("search", n=n).say("ok").finish() for n in range(3)]


def heads_of(*runs: RunBuilder) -> dict[str, Head]:
    return {run.run_id: run.head for run in runs}


def interleaved(*runs: RunBuilder) -> bytes:
    """One line of each run in turn."""
    longest = max(len(run.lines) for run in runs)
    lines = [run.lines[n] for n in range(longest) for run in runs if n < len(run.lines)]
    return b"".join(line + b"\n" for line in lines)


def contiguous(*runs: RunBuilder) -> bytes:
    return b"".join(run.ledger() for run in runs)


def verdicts(data: bytes, heads: Mapping[str, Head] | None = None) -> dict[str, str]:
    return {found.run_id: found.verdict for found in verify_ledger(data, heads=heads)}


@pytest.mark.parametrize("arrange", [contiguous, interleaved])
def test_every_run_is_read_in_the_order_in_which_they_begin(arrange) -> None:
    runs = three()
    read = read_ledger(arrange(*runs), heads=heads_of(*runs), name="three")
    assert [run.events for run in read] == [tuple(run.events) for run in runs]
    assert {run.integrity.verdict for run in read} == {"INTACT"}
    assert {run.source for run in read} == {"three"}
    assert [run.integrity.head for run in read] == [run.head for run in runs]


COMPRESSED = [
    ("plain", lambda data: data),
    ("gzip", gzip.compress),
    ("gzip in two members", lambda data: gzip.compress(data[:99]) + gzip.compress(data[99:])),
    ("gzip with an empty member", lambda data: gzip.compress(b"") + gzip.compress(data)),
    ("Zstandard", zstandard.compress),
    ("Zstandard in two frames", lambda data: zstandard.compress(data[:99]) + zstandard.compress(data[99:])),
]


@pytest.mark.parametrize(("desc", "pack"), COMPRESSED, ids=[case[0] for case in COMPRESSED])
def test_compression_is_recognised_by_content_not_by_name(desc: str, pack, tmp_path: Path) -> None:
    runs = three()
    path = tmp_path / "any.name"
    path.write_bytes(pack(contiguous(*runs)))
    save_heads(heads_path(path), heads_of(*runs))
    assert [run.integrity.verdict for run in read_ledger(path)] == ["INTACT"] * 3
    assert len(read_ledger(io.BytesIO(path.read_bytes()))) == 3


class Trickle(io.RawIOBase):
    """A stream that gives one byte at a time and cannot seek."""

    def __init__(self, data: bytes) -> None:
        self.rest = data

    def read(self, size: int = -1) -> bytes:
        byte, self.rest = self.rest[:1], self.rest[1:]
        return byte


@pytest.mark.parametrize(("desc", "pack"), COMPRESSED, ids=[case[0] for case in COMPRESSED])
def test_a_stream_may_give_few_bytes_at_a_time(desc: str, pack) -> None:
    run = a_run().finish()
    assert read_ledger(Trickle(pack(run.ledger())))[0].events == tuple(run.events)


DAMAGED = [
    ("gzip cut short", lambda data: gzip.compress(data)[:-9]),
    ("gzip cut in its header", lambda data: gzip.compress(data)[:6]),
    ("gzip with a wrong checksum", lambda data: gzip.compress(data)[:-8] + b"\0" * 8),
    ("gzip followed by text", lambda data: gzip.compress(data) + b"and more"),
    ("Zstandard cut short", lambda data: zstandard.compress(data)[:-3]),
    ("Zstandard followed by text", lambda data: zstandard.compress(data) + b"and more"),
    ("only a magic number", lambda data: b"\x28\xb5\x2f\xfd"),
]


@pytest.mark.parametrize(("desc", "spoil"), DAMAGED, ids=[case[0] for case in DAMAGED])
def test_damaged_compression_is_a_fault_of_the_file(desc: str, spoil) -> None:
    data = spoil(contiguous(*three()))
    with pytest.raises(UntakenError) as caught:
        read_ledger(data)
    assert caught.value.code == "ledger-compression"
    assert verdicts(data)[""] == "MALFORMED"
    _, findings = read_ledger(data, strict=False)
    assert "ledger-compression" in {finding.code for finding in findings}


def test_runs_before_the_damage_are_kept() -> None:
    runs = three()
    cut = gzip.compress(contiguous(*runs))[:-4]
    read, _ = read_ledger(cut, strict=False, heads=heads_of(*runs))
    assert [run.integrity.verdict for run in read] == ["INTACT"] * 3


FORMS = [
    ("a final newline is missing", lambda data: data[:-1], {"r0": "INTACT"}),
    ("a blank line at the end", lambda data: data + b"\n", {"r0": "INTACT", "": "MALFORMED"}),
    ("a blank line inside", lambda data: data.replace(b"\n", b"\n\n", 1), {"r0": "INTACT", "": "MALFORMED"}),
    ("CR LF line ends", lambda data: data.replace(b"\n", b"\r\n"), {"r0": "ALTERED"}),
    ("a byte order mark", lambda data: b"\xef\xbb\xbf" + data, {"r0": "MALFORMED"}),
    ("nothing at all", lambda data: b"", {"r0": "TRUNCATED"}),
    ("garbage at the end", lambda data: data + GARBAGE, {"r0": "INTACT", "": "MALFORMED"}),
]  # fmt: skip


@pytest.mark.parametrize(("desc", "change", "want"), FORMS, ids=[case[0] for case in FORMS])
def test_the_form_of_the_file(desc: str, change, want: dict[str, str]) -> None:
    run = a_run("r0").call("search").finish()
    assert verdicts(change(run.ledger()), heads_of(run)) == want


def test_an_empty_ledger_is_refused_and_says_so() -> None:
    with pytest.raises(UntakenError) as caught:
        read_ledger(b"", name="e.jsonl")
    assert caught.value.code == "ledger-empty"
    assert read_ledger(b"", strict=False)[0] == []
    assert verdicts(b"") == {"": "MALFORMED"}


def test_crlf_is_named_in_the_reason() -> None:
    (found,) = verify_ledger(a_run().call("x").finish().ledger().replace(b"\n", b"\r\n"))
    assert ("CR LF" in found.reason, found.line) == (True, 2)


def test_a_run_without_a_head_is_unanchored_and_the_reason_says_what_is_not_proven() -> None:
    (found,) = verify_ledger(a_run().finish().ledger())
    assert (found.verdict, found.broken) == ("UNANCHORED", False)
    assert "cannot be ruled out" in found.reason
    assert "truncation" in found.reason
    runs = three()
    named = verdicts(contiguous(*runs), heads_of(*runs[:2]))
    assert named == {"r0": "INTACT", "r1": "INTACT", "r2": "UNANCHORED"}


def test_a_recorded_run_that_is_absent_is_truncated() -> None:
    runs = three()
    found = verify_ledger(contiguous(*runs[:2]), heads=heads_of(*runs))
    assert [(one.run_id, one.verdict, one.head is None) for one in found][2] == ("r2", "TRUNCATED", True)
    with pytest.raises(UntakenError) as caught:
        read_ledger(contiguous(*runs[:2]), heads=heads_of(*runs))
    assert (caught.value.code, caught.value.where.run) == ("ledger-truncated", "r2")


def test_heads_that_are_given_win_over_the_sidecar(tmp_path: Path) -> None:
    run = a_run("r0").call("x").finish()
    path = tmp_path / "a.jsonl"
    path.write_bytes(run.ledger())
    save_heads(heads_path(path), {"r0": Head(events=9, sha256="0" * 64)})
    assert verify_ledger(path)[0].verdict == "TRUNCATED"
    assert verify_ledger(path, heads=heads_of(run))[0].verdict == "INTACT"
    assert verify_ledger(path, heads={})[0].verdict == "UNANCHORED"


def test_a_malformed_line_costs_its_own_run_only() -> None:
    runs = three()
    data = interleaved(*runs).replace(runs[1].lines[2], runs[1].lines[2][:-1] + b",}")
    read, findings = read_ledger(data, strict=False, heads=heads_of(*runs))
    assert [run.integrity.verdict for run in read] == ["INTACT", "MALFORMED", "INTACT"]
    assert [len(run.events) for run in read] == [4, 2, 4]
    (finding,) = findings
    assert (finding.where.run, finding.where.line, finding.code) == ("r1", 8, "ledger-not-json")
    assert finding.where.column in (len(runs[1].lines[2]), len(runs[1].lines[2]) + 1)
    assert read[1].integrity.line == 8


def test_a_run_whose_start_is_unreadable_is_a_finding_and_a_verdict() -> None:
    runs = three()
    data = contiguous(*runs).replace(b'"agent":"agent"', b'"agent":""', 1)
    read, findings = read_ledger(data, strict=False)
    assert [run.run_id for run in read] == ["r1", "r2"]
    assert [(finding.code, finding.where.run) for finding in findings] == [("ledger-bad-event", "r0")]
    assert verdicts(data)["r0"] == "MALFORMED"


def test_a_line_of_no_run_is_a_finding_of_the_file() -> None:
    runs = three()
    data = runs[0].ledger() + GARBAGE + b"\n" + runs[1].ledger()
    read, findings = read_ledger(data, strict=False)
    assert [run.integrity.verdict for run in read] == ["UNANCHORED", "UNANCHORED"]
    assert [(finding.where.run, finding.where.line) for finding in findings] == [(None, 5)]


@pytest.mark.parametrize("at", [0, 2, 3], ids=["the first", "one in the middle", "the last"])
def test_an_unreadable_line_in_the_place_of_an_event_is_the_runs_first_bad_line(at: int) -> None:
    runs = three()
    lines = contiguous(*runs).splitlines(keepends=True)
    lines[at] = GARBAGE + b"\n"
    found = verify_ledger(b"".join(lines), heads=heads_of(*runs))
    assert [(i.run_id, i.verdict, i.line) for i in found] == [
        ("r0", "MALFORMED", at + 1), ("r1", "INTACT", None), ("r2", "INTACT", None),
    ]  # fmt: skip


def test_strict_raises_at_the_first_fault_in_the_file() -> None:
    runs = three()
    data = runs[0].ledger() + GARBAGE + b"\n" + runs[1].ledger().replace(b"ok", b"no")
    with pytest.raises(UntakenError) as caught:
        read_ledger(data, name="x.jsonl")
    assert str(caught.value).startswith("x.jsonl:5:19: not JSON")


def test_two_runs_under_one_id_are_distinguished_from_tampering() -> None:
    data = a_run("same").finish().ledger() + a_run("same", agent="other").finish().ledger()
    read, findings = read_ledger(data, strict=False)
    assert [len(run.events) for run in read] == [2]
    assert [(f.code, f.where.line) for f in findings] == [("ledger-duplicate-run", 3)]
    assert verdicts(data) == {"same": "ALTERED"}


def test_a_run_has_one_start_and_it_is_the_first_event() -> None:
    twice = a_run("twice").say("ok").add(RunStarted, agent="agent", task_id="task").say("ok")
    headless = RunBuilder("headless")
    headless.events.clear()
    headless.lines.clear()
    headless.say("ok")
    found = verify_ledger(contiguous(twice, headless))
    assert [(one.run_id, one.verdict, one.line, one.reason) for one in found] == [
        ("twice", "MALFORMED", 3, "a second RUN_STARTED inside the run"),
        ("headless", "MALFORMED", 5, "a run starts with RUN_STARTED, not MESSAGE"),
    ]


def test_events_after_the_run_belong_to_it() -> None:
    run = a_run("r0").finish().verdict("a", True)
    other = a_run("r1").finish()
    data = run.lines[0] + b"\n" + run.lines[1] + b"\n" + other.ledger() + run.lines[2] + b"\n"
    read = read_ledger(data, heads=heads_of(run, other))
    assert [len(one.events) for one in read] == [3, 2]


def test_what_is_made_of_a_run_has_what_was_written_further_on_and_is_made_once_without(
    tmp_path: Path,
) -> None:
    run, other = a_run("r0").finish().verdict("a", True), a_run("r1")
    other.say("x" * 2**20).say("x" * 2**20).finish()  # a file is read in blocks
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"\n".join([*run.lines[:2], *other.lines, run.lines[2], b""]))
    made: list[tuple[str, int]] = []

    def make(some: Sequence[tuple[Run, object]]) -> Sequence[tuple[str, int]]:
        made.extend(now := [(run.run_id, len(run.events)) for run, _ in some])
        return now

    assert read_runs_as(path, make, at_once=1) == ([("r0", 3), ("r1", 4)], [])
    assert made == [("r0", 2), ("r1", 4), ("r0", 3)]


def test_a_selection_after_the_end_is_no_decision_point() -> None:
    run = a_run("r0").select("a", "b").select("b", "a").finish().select("a", "b")
    (read,) = read_ledger(run.ledger(), heads=heads_of(run))
    assert read.integrity.verdict == "INTACT"
    assert [selection.seq for selection in read.selections] == [1, 2]


def test_memory_stays_flat_over_many_contiguous_runs(tmp_path: Path) -> None:
    text = "x" * 2000

    def peak(count: int) -> int:
        path = tmp_path / f"{count}.jsonl"
        with path.open("wb") as file:
            for n in range(count):
                file.write(a_run(f"r{n}").say(text).say(text).say(text).finish().ledger())
        tracemalloc.start()
        found = read_runs_as(path, lambda some: [run.run_id for run, _ in some], at_once=8)
        high = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert len(found[0]) == count
        return high

    assert peak(399) < peak(40) + 500_000


def test_missing_files_and_folders_are_named(tmp_path: Path) -> None:
    for path, word in [(tmp_path / "no.jsonl", "no such file"), (tmp_path, "folder")]:
        with pytest.raises(UntakenError, match=word) as caught:
            verify_ledger(path)
        assert caught.value.code == "ledger-not-found"
        assert caught.value.hint


HASH = '"sha256":"' + "0" * 64 + '"'
BAD_HEADS = [
    ("not JSON", "{"),
    ("an array", "[]"),
    ("a run twice", f'{{"a":{{"events":1,{HASH}}},"a":{{"events":2,{HASH}}}}}'),
    ("no events", f'{{"a":{{{HASH}}}}}'),
    ("zero events", f'{{"a":{{"events":0,{HASH}}}}}'),
    ("a short hash", '{"a":{"events":1,"sha256":"00"}}'),
]  # fmt: skip


@pytest.mark.parametrize(("desc", "data"), BAD_HEADS, ids=[case[0] for case in BAD_HEADS])
def test_a_bad_heads_file_is_never_taken_for_no_heads(desc: str, data: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(a_run().finish().ledger())
    heads_path(path).write_text(data)
    with pytest.raises(UntakenError) as caught:
        read_ledger(path, strict=False)
    assert caught.value.code == "ledger-heads"
    assert str(heads_path(path)) in str(caught.value)


def test_a_run_that_cannot_be_read_at_all_is_not_lost_among_the_findings() -> None:
    sound, altered, unread, absent = (a_run(f"r{n}").call("search", n=n).finish() for n in range(4))
    data = sound.ledger() + altered.ledger().replace(b"search", b"forget")
    data += unread.ledger().replace(b'"agent":"agent"', b'"agent":""')
    runs, findings = read_ledger(data, strict=False, heads=heads_of(sound, altered, absent), name="four")
    assert [run.run_id for run in runs] == ["r0", "r1"]
    faults = unread_runs(runs, findings)
    found = {fault.where.run: fault.code for fault in faults}
    assert found == {"r2": "ledger-bad-event", "r3": "ledger-truncated"}
    assert unread_runs(runs, findings[:0]) == ()


def long_runs() -> list[RunBuilder]:
    return [a_run(f"r{n}").call("search", n=n).say("a").say("b").say("c").finish() for n in range(2)]


DAMAGES: dict[str, Callable[[list[bytes], int], list[bytes]]] = {
    "one line is missing": lambda lines, at: lines[:at] + lines[at + 1 :],
    "one line comes twice": lambda lines, at: lines[: at + 1] + lines[at:],
    "two lines are swapped": lambda lines, at: lines[:at] + lines[at : at + 2][::-1] + lines[at + 2 :],
    "the end is missing": lambda lines, at: lines[: at + 1],
    "a digit of a hash": lambda lines, at: _changed(lines, at, lambda line: line[:-20] + b"0" + line[-19:]),
    "another run's id": lambda lines, at: _changed(lines, at, lambda line: line.replace(b'"r0"', b'"r1"')),
    "no JSON": lambda lines, at: _changed(lines, at, lambda _: GARBAGE),
    "other spaces": lambda lines, at: _changed(lines, at, lambda line: line.replace(b":", b": ", 1)),
    "one text": lambda lines, at: _changed(lines, at, lambda line: line.replace(b'"b"', b'"x"')),
}


def _changed(lines: list[bytes], at: int, change: Callable[[bytes], bytes]) -> list[bytes]:
    return [*lines[:at], change(lines[at]), *lines[at + 1 :]]


class LineByLine(io.BytesIO):
    """A stream that gives one line at a time, so that no two are accepted at once."""

    def read(self, size: int | None = -1, /) -> bytes:
        return self.readline(size)


@pytest.mark.parametrize("anchored", [True, False], ids=["heads", "no heads"])
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_many_lines_accepted_at_once_are_judged_as_line_by_line(
    damage: Callable[[list[bytes], int], list[bytes]], anchored: bool
) -> None:
    runs = long_runs()
    whole = contiguous(*runs).splitlines()
    heads = heads_of(*runs) if anchored else {}
    for at in range(len(whole)):
        damaged = b"\n".join(damage(whole, at)) + b"\n"
        at_once = read_ledger(damaged, strict=False, heads=heads)
        assert at_once == read_ledger(LineByLine(damaged), strict=False, heads=heads)


def test_the_front_of_a_file_ends_where_it_ends_wherever_it_is_read_from() -> None:
    front = Front(io.BytesIO(b"0123456789"), 6)
    assert (front.after(2), front.after(6), front.after(8)) == (b"2345", b"", b"")
    front.rewind()
    assert (front.read(4), front.read(4), front.read(4)) == (b"0123", b"45", b"")
