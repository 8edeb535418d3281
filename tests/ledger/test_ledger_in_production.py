"""A ledger beside an agent in production: any value is written, any error stays out of the agent's way."""

from __future__ import annotations

import logging
import math
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mypy import api as mypy

from scripts.ledger_wheel import lay_out
from untaken.errors import UntakenError
from untaken.ledger import (
    Evidence,
    LedgerWriter,
    Message,
    Observation,
    Run,
    RunFinished,
    ToolCall,
    Verdict,
    disk,
    read_ledger,
)
from untaken.ledger.encoding import plain


@dataclass
class Order:
    number: int
    placed: date


class Item(msgspec.Struct):
    name: str
    price: float


class Colour(Enum):
    RED = "red"


Point = namedtuple("Point", ["x", "y"])


class Awkward:
    def __repr__(self) -> str:
        raise RuntimeError("no")


class Plain(NamedTuple):
    desc: str
    value: Any
    want: Any
    noted: bool = False


VALUES = [
    Plain("a dataclass", Order(7, date(2026, 3, 1)), {"number": 7, "placed": "2026-03-01"}),
    Plain("a msgspec struct", Item("pen", 1.5), {"name": "pen", "price": 1.5}),
    Plain("a named tuple", Point(1, 2), {"x": 1, "y": 2}),
    Plain("a path", PurePosixPath("a/b"), "a/b"),
    Plain("a moment", datetime(2026, 3, 1, 12, tzinfo=UTC), "2026-03-01T12:00:00+00:00"),
    Plain("a duration", timedelta(seconds=1.5), 1.5),
    Plain("a decimal", Decimal("1.10"), "1.10"),
    Plain("a UUID", UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    Plain("an enum", Colour.RED, "red"),
    Plain("a set", {3, 1, 2}, [1, 2, 3]),
    Plain("bytes that are text", b"hello", "hello"),
    Plain("bytes that are none", b"\xff\x00", "base64:/wA="),
    Plain("an exception", ValueError("no seat"), "ValueError: no seat"),
    Plain("a numpy number", np.float32(0.5), 0.5),
    Plain("a numpy truth", np.bool_(True), True),
    Plain("a numpy array", np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
    Plain("keys that are no texts", {1: "a", (2, 3): "b", None: "c"}, {"1": "a", "[2, 3]": "b", "null": "c"}),
    Plain("NaN", math.nan, "NaN", True),
    Plain("NaN in an array", np.array([1.0, np.nan]), [1.0, "NaN"], True),
    Plain("infinity", [math.inf, -math.inf], ["Infinity", "-Infinity"], True),
    Plain("an integer too large", 2**70, hex(2**70), True),
    Plain("a lone surrogate", "a\ud800", "a?", True),
    Plain("keys that become equal", {1: "a", "1": "b"}, {"1": "a", "1~1": "b"}, True),
    Plain("an unknown object", Awkward(), "Awkward, which raised RuntimeError", True),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.jsonl"


def only_run(path: Path) -> Run:
    [run] = read_ledger(path)
    return run


@pytest.mark.parametrize("case", VALUES, ids=lambda case: case.desc)
def test_any_value_is_written_and_what_changed_is_named(case: Plain, path: Path) -> None:
    with LedgerWriter(path) as ledger, ledger.start(run_id="r", agent="a", task_id="t") as run:
        run.observation({"value": case.value})
    assert only_run(path).events[1].content == {"value": case.want}
    assert {finding.code for finding in ledger.findings} <= {"ledger-value-as-text"}
    assert all("OBSERVATION.content.value" in finding.message for finding in ledger.findings)
    assert bool(ledger.findings) is case.noted


def test_a_pydantic_model_is_written_by_its_fields(path: Path) -> None:
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("Seat", row=(int, ...), at=(datetime, ...))
    seat = model(row=3, at=datetime(2026, 3, 1, tzinfo=UTC))
    with LedgerWriter(path) as ledger, ledger.start(run_id="r", agent="a", task_id="t") as run:
        run.tool_call("book", {"seat": seat})
    assert only_run(path).actions[0].arguments == {"seat": {"row": 3, "at": "2026-03-01T00:00:00+00:00"}}


def test_a_value_that_holds_itself_ends(path: Path) -> None:
    loop: list[Any] = []
    loop.append(loop)
    with LedgerWriter(path) as ledger, ledger.start(run_id="r", agent="a", task_id="t") as run:
        run.message("agent", loop)
    assert only_run(path).integrity.verdict == "INTACT"
    assert [finding.code for finding in ledger.findings] == ["ledger-value-as-text"]


TEXT = st.text(st.characters(exclude_categories=["Cs"]))
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | FLOATS | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
    max_leaves=20,
)


@given(value=JSON)
def test_json_is_written_as_it_is(value: Any) -> None:
    notes: list[str] = []
    assert plain(value, "x", lambda place, _: notes.append(place)) == value
    assert not notes


def test_each_helper_writes_its_event(path: Path) -> None:
    with LedgerWriter(path) as ledger, ledger.start(run_id="r", agent="a", task_id="t") as run:
        run.plan(["look", "buy"], reason="first idea")
        run.message("user", "A ticket, please.")
        run.choose("search", ["search", "guess"], {"order": "named"})
        call = run.tool_call("search", {"day": "monday"}, sub_goal="look")
        run.observation(["seat 3"], call_id=call, ok=True)
        run.state({"seat": 3})
        run.verdict("look", passed=True, by="test", evidence=[Evidence(seq=5, quote="seat 3")])
        run.finish(success=True, cost=0.02, metrics={"score": 1.0})
    read = only_run(path)
    kinds = [type(event).__name__ for event in read.events]
    assert kinds == ["RunStarted", "Plan", "Message", "SkillSelection", "ToolCall", "Observation", "State",
                     "Verdict", "RunFinished"]  # fmt: skip
    assert (read.actions[0].call_id, read.events[5].call_id) == ("call-1", "call-1")
    assert (read.success, read.finished.steps, read.finished.cost) == (True, 1, 0.02)
    assert not ledger.findings


class End(NamedTuple):
    desc: str
    raised: type[BaseException] | None
    success: bool | None
    error: str | None


ENDS = [
    End("a crash", ValueError, False, "ValueError: no seat"),
    End("an interruption", KeyboardInterrupt, None, "KeyboardInterrupt: no seat"),
    End("no word about the outcome", None, None, None),
]


@pytest.mark.parametrize("case", ENDS, ids=lambda case: case.desc)
def test_a_run_left_early_is_finished_with_its_error(case: End, path: Path) -> None:
    def work() -> None:
        with LedgerWriter(path) as ledger, ledger.start(run_id="r", agent="a", task_id="t") as run:
            run.tool_call("search")
            if case.raised is not None:
                raise case.raised("no seat")

    if case.raised is None:
        work()
    else:
        with pytest.raises(case.raised, match="no seat"):
            work()
    finished = only_run(path).finished
    assert (finished.success, finished.error, finished.steps) == (case.success, case.error, 1)


def test_a_finished_run_that_crashes_later_keeps_its_outcome(path: Path) -> None:
    def work() -> None:
        with LedgerWriter(path) as ledger, ledger.start(run_id="r", agent="a", task_id="t") as run:
            run.finish(success=True)
            raise ValueError("late")

    with pytest.raises(ValueError, match="late"):
        work()
    assert only_run(path).finished.success is True


class Wrong(NamedTuple):
    desc: str
    event: type
    fields: dict[str, Any]
    names: str


WRONG = [
    Wrong("a number for a name", Message, {"role": 5, "content": "x"}, "role"),
    Wrong("a text for a truth", RunFinished, {"success": "yes", "steps": 1}, "success"),
    Wrong("a field misspelt", Message, {"rule": "user", "content": "x"},
          "MESSAGE.rule: unknown field; did you mean 'role'?"),
    Wrong("NaN for a cost", RunFinished, {"success": True, "steps": 1, "cost": math.nan},
          "RUN_FINISHED.cost: nan"),
    Wrong("NaN for a metric", RunFinished, {"success": True, "steps": 1, "metrics": {"f1": math.nan}},
          "RUN_FINISHED.metrics.f1"),
    Wrong("a list for arguments", ToolCall, {"call_id": "c", "tool": "x", "arguments": [1]}, "arguments"),
    Wrong("nobody's verdict", Verdict, {"sub_goal": "s", "passed": True, "by": "me"}, "by"),
]  # fmt: skip


@pytest.mark.parametrize("case", WRONG, ids=lambda case: case.desc)
def test_a_wrong_field_is_named(case: Wrong, path: Path) -> None:
    with LedgerWriter(path) as ledger:
        run = ledger.start(run_id="r", agent="a", task_id="t")
        with pytest.raises(UntakenError) as refused:
            run.write(case.event, **case.fields)
    assert refused.value.code == "ledger-unwritable"
    assert case.names in refused.value.message


@pytest.mark.parametrize("case", WRONG, ids=lambda case: case.desc)
def test_an_agent_in_production_never_sees_it(
    case: Wrong, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "untaken.ledger"), LedgerWriter(path, on_error="warn") as ledger:
        run = ledger.start(run_id="r", agent="a", task_id="t")
        assert run.write(case.event, **case.fields) is None
        if case.event is not RunFinished:
            run.message("agent", "on it goes")
    read = only_run(path)
    notes = [event.content for event in read.events if isinstance(event, Message) and event.role == "untaken"]
    assert [note["not_recorded"] for note in notes] == [case.event.__struct_config__.tag]
    assert case.names in notes[0]["message"]
    assert [finding.code for finding in ledger.findings] == ["ledger-unwritable"]
    assert len(caplog.records) == 1
    assert read.events[-1].content == "on it goes" if case.event is not RunFinished else read.finished


def test_an_outcome_that_cannot_be_written_whole_still_ends_the_run(path: Path) -> None:
    with (
        LedgerWriter(path, on_error="warn") as ledger,
        ledger.start(run_id="r", agent="a", task_id="t") as run,
    ):
        run.finish(success=True, cost=math.nan, steps=4)
    finished = only_run(path).finished
    assert (finished.success, finished.cost, finished.steps) == (True, None, 4)
    assert "RUN_FINISHED.cost" in (finished.error or "")


def test_a_run_id_that_is_taken_goes_on_under_the_next_one(path: Path) -> None:
    for _ in range(3):
        with LedgerWriter(path, on_error="warn") as ledger, ledger.start(run_id="r", agent="a", task_id="t"):
            pass
    assert [run.run_id for run in read_ledger(path)] == ["r", "r~2", "r~3"]


def whole_agent(ledger: LedgerWriter) -> str:
    """An agent that uses everything, and returns its answer."""
    with ledger.start(run_id="r", agent=None, task_id=3) as run:  # type: ignore[arg-type]
        run.observation("x", call_id=run.tool_call("search", {"bad": {1, "a"}}))
        run.finish(success=True)
    ledger.checkpoint()
    ledger.close()
    return "answer"


def a_folder(path: Path) -> None:
    path.mkdir()


def no_ledger(path: Path) -> None:
    path.write_bytes(b"\x1f\x8b damaged")


def bad_heads(path: Path) -> None:
    path.with_name(f"{path.name}.heads.json").write_text("[")


@pytest.mark.parametrize(
    "spoil", [a_folder, no_ledger, bad_heads, lambda path: None], ids=lambda f: f.__name__
)
def test_an_agent_answers_whatever_is_at_the_path(spoil: Callable[[Path], None], path: Path) -> None:
    spoil(path)
    with LedgerWriter(path, on_error="warn") as ledger:
        assert whole_agent(ledger) == "answer"
    assert ledger.findings


def test_an_agent_answers_on_a_full_disk(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with LedgerWriter(path, on_error="warn") as ledger:
        ledger.start(run_id="before", agent="a", task_id="t")
        monkeypatch.setattr(disk, "write_all", full)
        ledger.start(run_id="r", agent="a", task_id="t").tool_call("search")
        assert whole_agent(ledger) == "answer"
    (found, *_) = [finding for finding in ledger.findings if "No space left" in finding.message]
    assert found.where is not None
    assert found.where.run == "r"


def test_without_being_asked_the_writer_raises(path: Path) -> None:
    with LedgerWriter(path) as ledger:
        ledger.start(run_id="r", agent="a", task_id="t")
        with pytest.raises(UntakenError, match="already contains this run"):
            ledger.start(run_id="r", agent="a", task_id="t")
    with pytest.raises(ValueError, match="on_error is 'ignore'"):
        LedgerWriter(path, on_error="ignore")  # type: ignore[arg-type]


def test_an_observation_needs_no_call(path: Path) -> None:
    with LedgerWriter(path) as ledger, ledger.start(run_id="r", agent="a", task_id="t") as run:
        run.observation("rain", ok=True)
    assert isinstance(only_run(path).events[1], Observation)


USER = """
from untaken_ledger import Evidence, LedgerWriter, Message

def record(ledger: LedgerWriter) -> None:
    with ledger.start(run_id="r", agent="a", task_id="t", task_repeat=1) as run:
        run.plan(["look"], reason=None)
        call: str = run.tool_call("search", {"day": 1}, sub_goal="look")
        run.observation({"seat": 3}, call_id=call, ok=True, transient=False)
        run.message("agent", "done")
        run.state({"seat": 3})
        run.choose("a", ["a", "b"], {"order": "named"}, coarser=[{}], propensities={"a": 0.7})
        run.verdict("look", passed=None, by="test", evidence=[Evidence(seq=1, quote="x")])
        if (said := run.write(Message, role="agent", content="x")) is not None:
            print(said.role)
        run.finish(success=None, cost=0.5, metrics={"score": 1.0, "ok": True})
"""


def test_the_helpers_are_typed_for_users(tmp_path: Path) -> None:
    lay_out(tmp_path)  # the ledger alone: the whole engine takes ten times as long
    (tmp_path / "user.py").write_text(USER + "\n\nLedgerWriter('x', on_error='ignore')\n", encoding="utf-8")
    out, err, _ = mypy.run(["--strict", "--config-file=", str(tmp_path / "user.py")])
    found = [line for line in out.splitlines() if "user.py" in line]
    assert not err
    assert len(found) == 1
    assert 'Argument "on_error" to "LedgerWriter" has incompatible type' in found[0]
