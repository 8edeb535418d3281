"""Writing: what is written reads back, what a reader would refuse is refused, what exists is continued."""

from __future__ import annotations

import gzip
import itertools
import json
import shutil
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from runpy import run_path
from typing import Any, NotRequired, get_args, get_origin, get_overloads, get_type_hints

import msgspec
import pytest
from builders import a_run

from untaken import limits
from untaken.errors import UntakenError
from untaken.ledger import (
    Draft,
    Evidence,
    Head,
    LedgerWriter,
    MemoryReference,
    Message,
    Observation,
    Plan,
    ReviewNote,
    RunFinished,
    RunStarted,
    RunWriter,
    SkillSelection,
    State,
    ToolCall,
    Verdict,
    append_events,
    context_hash,
    heads_path,
    load_heads,
    read_ledger,
    save_heads,
    verify_ledger,
)


def ticking() -> Callable[[], datetime]:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    return (start + timedelta(seconds=n) for n in itertools.count()).__next__


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs of today" / "a.jsonl"


def write_two(path: Path) -> None:
    with LedgerWriter(path, clock=ticking()) as ledger:
        first = ledger.start(run_id="r1", agent="desk", task_id="t", kind="workflow")
        second = ledger.start(run_id="r2", agent="desk", task_id="t", task_repeat=1)
        first.write(ToolCall, call_id="c", tool="search", arguments={"é": [1, 2.5, None, {"b": True}]})
        second.write(RunFinished, success=None, steps=0)
        first.write(RunFinished, success=True, steps=1, cost=3, metrics={"tokens": 12, "ok": True})


def test_what_is_written_reads_back_intact(path: Path) -> None:
    write_two(path)
    first, second = read_ledger(path)
    assert (first.integrity.verdict, second.integrity.verdict) == ("INTACT", "INTACT")
    assert (first.agent, first.success, first.actions[0].arguments["é"][1]) == ("desk", True, 2.5)
    assert second.started.task_repeat == 1
    assert load_heads(heads_path(path)) == {"r1": first.integrity.head, "r2": second.integrity.head}


def test_with_a_clock_the_bytes_are_the_same_and_only_ledger_heads_and_a_hidden_lock_are_left(
    path: Path, tmp_path: Path
) -> None:
    again = tmp_path / "again.jsonl"
    write_two(path)
    write_two(again)
    assert path.read_bytes() == again.read_bytes()
    assert heads_path(path).read_bytes() == heads_path(again).read_bytes()
    assert sorted(p.name for p in path.parent.iterdir()) == [".a.jsonl.lock", "a.jsonl", "a.jsonl.heads.json"]


def test_times_are_written_in_utc(path: Path) -> None:
    east = datetime(2026, 1, 1, 12, tzinfo=timezone(timedelta(hours=5)))
    with LedgerWriter(path) as ledger:
        ledger.start(run_id="r", agent="a", task_id="t", ts=east)
    assert json.loads(path.read_text())["ts"] == "2026-01-01T07:00:00Z"


def test_nested_records_and_tuples_are_written(path: Path) -> None:
    as_of = datetime(2026, 1, 1, tzinfo=UTC)
    with LedgerWriter(path, clock=ticking()) as ledger:
        run = ledger.start(run_id="r", agent="a", task_id="t", policy_memory=MemoryReference(as_of=as_of))
        written = run.write(SkillSelection, selected="x", alternatives=("y", "z"), context_hash="h")
        run.write(Verdict, sub_goal="s", passed=True, by="human:ann", evidence=[Evidence(seq=1, quote="x")])
    (read,) = read_ledger(path)
    assert written == read.selections[0]
    assert read.selections[0].alternatives == ["y", "z"]


UNWRITABLE: list[tuple[str, type, dict[str, Any], str]] = [
    ("NaN for a cost", RunFinished, {"success": True, "steps": 1, "cost": float("nan")}, "not a JSON number"),
    ("an unknown field", Message, {"role": "user", "content": "x", "mood": 1}, "mood"),
    ("a field left out", Message, {"role": "user"}, "content"),
    ("a field of the wrong type", Message, {"role": 5, "content": "x"}, "role"),
    ("a line too long", State, {"state": {"x": "x" * limits.LINE_BYTES}}, "longer than"),
    ("an empty name", ToolCall, {"call_id": "c", "tool": "", "arguments": {}}, "tool"),
    ("a time without a zone", Message, {"role": "a", "content": "x", "ts": datetime(2026, 1, 1)}, "timezone"),
    ("a start inside the run", RunStarted, {"agent": "a", "task_id": "t"}, "already contains this run"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("desc", "kind", "fields", "words"), UNWRITABLE, ids=[case[0] for case in UNWRITABLE]
)
def test_what_a_reader_would_refuse_is_not_written(
    desc: str, kind: type, fields: dict[str, Any], words: str, path: Path
) -> None:
    with LedgerWriter(path, clock=ticking()) as ledger:
        run = ledger.start(run_id="r", agent="a", task_id="t")
        with pytest.raises(UntakenError, match=words) as caught:
            run.write(kind, **fields)
        assert caught.value.where.run == "r"
        run.write(Message, role="user", content="and it goes on")
    assert [run.integrity.verdict for run in read_ledger(path)] == ["INTACT"]
    assert len(read_ledger(path)[0].events) == 2


def test_a_choice_is_written_with_its_situation_readable_and_hashed(path: Path) -> None:
    situation = {"stock": "low", "orders": 2}
    with LedgerWriter(path) as ledger:
        run = ledger.start(run_id="r", agent="a", task_id="t")
        run.choose("wait", ("wait", "buy"), situation, propensities={"wait": 0.9, "buy": 0.1})
        run.choose("buy", ["wait"], {"orders": 2.0, "stock": "low"})
        with pytest.raises(UntakenError) as caught:
            run.choose("wait", ["buy"], {"at": datetime(2026, 1, 1, tzinfo=UTC)})
    first, second = read_ledger(path)[0].of(SkillSelection)
    assert (first.selected, first.alternatives, first.context) == ("wait", ["wait", "buy"], situation)
    assert first.context_hash == second.context_hash == context_hash(situation)
    assert (first.propensities, second.propensities) == ({"wait": 0.9, "buy": 0.1}, None)
    assert caught.value.code == "context-not-canonical"


def test_a_choice_is_written_with_its_situation_from_fine_to_coarse(path: Path) -> None:
    fine, coarse = {"stock": "low", "orders": 2}, {"stock": "low"}
    with LedgerWriter(path) as ledger:
        run = ledger.start(run_id="r", agent="a", task_id="t")
        run.choose("buy", ["wait"], fine, coarser=[coarse, coarse])
        run.choose("buy", ["wait"], fine, coarser=[fine])
        with pytest.raises(UntakenError, match="context_layers"):
            run.choose("buy", ["wait"], fine, coarser=[{"n": n} for n in range(limits.CONTEXT_LAYERS)])
    layered, plain = read_ledger(path)[0].selections
    assert layered.context_layers == layered.layers == tuple(map(context_hash, (fine, coarse)))
    assert (layered.context, layered.context_hash) == (fine, context_hash(fine))
    assert (plain.context_layers, plain.layers) == (None, (context_hash(fine),))
    assert b"context_layers" not in path.read_bytes().splitlines()[2]


def test_a_run_is_begun_once_and_before_its_events(path: Path) -> None:
    with LedgerWriter(path) as ledger:
        with pytest.raises(UntakenError) as unknown:
            ledger.write(Message, "r", role="user", content="x")
        ledger.start(run_id="r", agent="a", task_id="t")
        with pytest.raises(UntakenError) as twice:
            ledger.start(run_id="r", agent="a", task_id="t")
    assert (unknown.value.code, twice.value.code) == ("ledger-unknown-run", "ledger-run-exists")


@pytest.mark.parametrize("torn", [b"", b'{"type":"MESSA'])
def test_an_existing_ledger_is_continued(torn: bytes, path: Path) -> None:
    write_two(path)
    whole = path.read_bytes()
    path.write_bytes(whole + torn)
    with LedgerWriter(path, clock=ticking()) as ledger:
        ledger.start(run_id="r3", agent="a", task_id="t")
        ledger.write(ReviewNote, "r1", author="ann", text="look at line 3")
        assert [found.code for found in ledger.findings] == ["ledger-torn-line"] * bool(torn)
    assert path.read_bytes().startswith(whole + b"{")
    runs = read_ledger(path)
    assert [len(run.events) for run in runs] == [4, 2, 1]
    assert {run.integrity.verdict for run in runs} == {"INTACT"}


def test_a_ledger_of_another_program_is_continued_without_rewriting_a_byte(path: Path) -> None:
    before = a_run("r1").call("x").finish().ledger().replace(b'"seq":0', b'"seq": 0')[:-1]
    before = before.split(b"\n")[0]
    path.parent.mkdir()
    path.write_bytes(before)
    with LedgerWriter(path, clock=ticking()) as ledger:
        ledger.write(Message, "r1", role="user", content="x")
    assert path.read_bytes().startswith(before + b"\n{")
    assert verify_ledger(path)[0].verdict == "INTACT"


def note(text: str = "x") -> Draft:
    return Draft(ReviewNote, {"author": "a", "text": text})


def test_appended_events_move_the_head_and_nothing_appended_writes_nothing(path: Path) -> None:
    write_two(path)
    head = append_events(path, "r1", [note(f"{n}") for n in range(3)], clock=ticking())
    assert head.events == 6
    assert load_heads(heads_path(path))["r1"] == head
    assert read_ledger(path)[0].integrity.head == head
    before = path.read_bytes()
    assert append_events(path, "r1", []) == head
    assert path.read_bytes() == before


def test_several_events_are_appended_all_or_none(path: Path) -> None:
    write_two(path)
    before = path.read_bytes()
    bad = Draft(ToolCall, {"call_id": "c", "tool": "t", "arguments": {}})
    with pytest.raises(UntakenError, match="TOOL_CALL after RUN_FINISHED"):
        append_events(path, "r1", [note(), bad])
    assert path.read_bytes() == before
    assert verify_ledger(path)[0].verdict == "INTACT"


def test_another_keeper_of_heads_hears_the_new_head_before_a_byte_is_written(path: Path) -> None:
    write_two(path)
    before, heard = path.read_bytes(), []

    def intend(head: Head) -> None:
        heard.append(head)
        assert path.read_bytes() == before

    head = append_events(path, "r1", [note()], intend=intend)
    assert heard == [head]


def test_appending_to_an_unanchored_run_anchors_it_from_then_on(path: Path) -> None:
    write_two(path)
    heads_path(path).unlink()
    append_events(path, "r1", [note()])
    assert [found.verdict for found in verify_ledger(path)] == ["INTACT", "UNANCHORED"]


IDS = ("r", "r1", "r11", "é", 'q"')
"""Of runs: they begin like others, are words of others, or are written with escapes."""


@pytest.mark.parametrize("run_id", IDS)
def test_a_writer_for_one_run_writes_what_a_writer_for_all_does(
    run_id: str, path: Path, tmp_path: Path
) -> None:
    path.parent.mkdir()
    path.write_bytes(b"".join(a_run(one).say(" ".join(IDS)).finish().ledger() for one in IDS))
    save_heads(heads_path(path), {found.run_id: found.head for found in verify_ledger(path) if found.head})
    whole = Path(shutil.copytree(path.parent, tmp_path / "whole")) / path.name
    drafts = [note(text) for text in ("x", "y")]
    with LedgerWriter(path, clock=ticking(), only=run_id) as ledger:
        head = ledger.append(run_id, drafts)
    with LedgerWriter(whole, clock=ticking()) as ledger:
        assert ledger.append(run_id, drafts) == head
    assert path.read_bytes() == whole.read_bytes()
    assert heads_path(path).read_bytes() == heads_path(whole).read_bytes()
    assert {found.verdict for found in verify_ledger(path)} == {"INTACT"}


def test_a_writer_for_one_run_knows_no_other_and_begins_none(path: Path) -> None:
    write_two(path)
    with LedgerWriter(path, only="r1") as ledger:
        with pytest.raises(UntakenError, match="no such run"):
            ledger.head("r2")
        with pytest.raises(UntakenError, match="for one run"):
            ledger.start(run_id="r3", agent="a", task_id="t")


BROKEN = [
    ("TRUNCATED", lambda data: data.rsplit(b"\n", 2)[0] + b"\n"),
    ("ALTERED", lambda data: data.replace(b"search", b"forget")),
    ("MALFORMED", lambda data: data.replace(b'"steps":1', b'"steps":x')),
]


@pytest.mark.parametrize(("verdict", "spoil"), BROKEN, ids=[case[0] for case in BROKEN])
def test_a_broken_run_is_never_written_to(verdict: str, spoil, path: Path) -> None:
    write_two(path)
    path.write_bytes(spoil(path.read_bytes()))
    before = path.read_bytes()
    with pytest.raises(UntakenError, match=verdict) as caught:
        append_events(path, "r1", [note()])
    assert caught.value.code == "ledger-broken-run"
    assert path.read_bytes() == before
    append_events(path, "r2", [note()])
    assert {found.run_id: found.verdict for found in verify_ledger(path)} == {"r1": verdict, "r2": "INTACT"}


def test_a_ledger_that_is_compressed_or_not_there_is_not_appended_to(path: Path) -> None:
    with pytest.raises(UntakenError) as absent:
        append_events(path, "r1", [note()])
    assert not path.exists()
    write_two(path)
    path.write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(UntakenError) as compressed:
        append_events(path, "r1", [note()])
    assert (absent.value.code, compressed.value.code) == ("ledger-not-found", "ledger-compressed")


def test_a_second_writer_waits_and_then_says_who_is_in_the_way(path: Path) -> None:
    with LedgerWriter(path), pytest.raises(UntakenError, match="another program is writing") as caught:
        LedgerWriter(path, timeout=0.05)
    assert caught.value.code == "ledger-locked"


def test_a_closed_writer_writes_no_more(path: Path) -> None:
    ledger = LedgerWriter(path)
    ledger.start(run_id="r", agent="a", task_id="t")
    ledger.close()
    ledger.close()
    with pytest.raises(UntakenError) as caught:
        ledger.write(Message, "r", role="user", content="x")
    assert caught.value.code == "ledger-closed"


def test_an_error_in_the_agent_keeps_what_was_written(path: Path) -> None:
    def run_agent() -> None:
        with LedgerWriter(path) as ledger:
            ledger.start(run_id="r", agent="a", task_id="t")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_agent()
    assert verify_ledger(path)[0].verdict == "INTACT"


def test_a_reader_beside_a_living_writer_sees_every_acknowledged_event(path: Path) -> None:
    with LedgerWriter(path) as ledger:
        run = ledger.start(run_id="r", agent="a", task_id="t")
        for n in range(2, 9):
            run.write(Message, role="user", content="x" * n)
            (read,) = read_ledger(path)
            assert (len(read.events), read.integrity.verdict) == (n, "INTACT")
            if n == 5:
                ledger.checkpoint()


def test_the_journal_is_folded_into_the_heads_now_and_then(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("untaken.ledger.ledger_file._CHECKPOINT_EVERY", 3)
    with LedgerWriter(path) as ledger:
        run = ledger.start(run_id="r", agent="a", task_id="t")
        for _ in range(20):
            run.write(Message, role="user", content="x")
        assert load_heads(heads_path(path))["r"].events >= 16
    assert verify_ledger(path)[0].verdict == "INTACT"


def test_threads_share_a_writer_without_breaking_a_link(path: Path) -> None:
    with LedgerWriter(path, fsync="never") as ledger:
        ledger.start(run_id="r", agent="a", task_id="t")
        say = lambda: [ledger.write(Message, "r", role="user", content="x") for _ in range(50)]  # noqa: E731
        threads = [threading.Thread(target=say) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [(f.verdict, f.head.events) for f in verify_ledger(path) if f.head] == [("INTACT", 201)]


APPEND_TEN_NOTES = """
import sys
from untaken.ledger import Draft, ReviewNote, append_events
for n in range(10):
    note = Draft(ReviewNote, {"author": "a", "text": str(n)})
    append_events(sys.argv[1], "r1", [note], fsync="never", timeout=60)
"""


def test_processes_that_append_to_one_ledger_break_no_link(path: Path) -> None:
    write_two(path)
    workers = [subprocess.Popen([sys.executable, "-c", APPEND_TEN_NOTES, str(path)]) for _ in range(2)]
    assert [worker.wait(120) for worker in workers] == [0, 0]
    (first, _) = verify_ledger(path)
    assert (first.verdict, first.head and first.head.events) == ("INTACT", 23)


def test_save_heads_replaces_the_file_whole(tmp_path: Path) -> None:
    path = tmp_path / "x.heads.json"
    heads = {"é/\n": Head(events=2, sha256="a" * 64)}
    save_heads(path, {"old": Head(events=1, sha256="b" * 64)})
    save_heads(path, heads)
    assert load_heads(path) == heads
    assert [p.name for p in tmp_path.iterdir()] == ["x.heads.json"]


def test_heads_are_read_up_to_their_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, heads = tmp_path / "x.heads.json", {"r": Head(events=1, sha256="b" * 64)}
    save_heads(path, heads)
    monkeypatch.setattr(limits, "HEADS_FILE_BYTES", path.stat().st_size)
    assert load_heads(path) == heads
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(UntakenError) as refused:
        load_heads(path)
    assert (refused.value.code, refused.value.message) == ("ledger-heads", "the file is too large")


def test_the_example_of_the_writer_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import untaken.ledger

    monkeypatch.chdir(tmp_path)
    example = (LedgerWriter.__doc__ or "").partition("\n\n")[2].split("An existing")[0]
    Path("example.py").write_text(textwrap.dedent(example), "utf-8")
    run_path("example.py", vars(untaken.ledger).copy())
    (run,) = read_ledger("runs.jsonl")
    assert (run.success, run.integrity.verdict, len(run.events)) == (True, "INTACT", 4)


@pytest.mark.parametrize("writer", [LedgerWriter, RunWriter])
def test_a_type_checker_knows_the_fields_of_the_events_that_agents_write(writer: type) -> None:
    typed = set()
    for one in get_overloads(writer.write):
        hints = get_type_hints(one)
        if hints["fields"] is Any:
            continue
        (event,), (fields,) = get_args(hints["event"]), get_args(hints["fields"])
        own = [f for f in msgspec.structs.fields(event) if f.name not in ("run_id", "seq", "ts", "prev")]
        given = get_type_hints(fields, include_extras=True)
        optional = {*fields.__optional_keys__} | {f for f in given if get_origin(given[f]) is NotRequired}
        assert set(given) == {"ts", *(f.name for f in own)}, event
        assert set(given) - optional == {f.name for f in own if f.required}, event
        typed.add(event)
    assert typed >= {Plan, SkillSelection, ToolCall, Observation, Message, State, Verdict, RunFinished}
