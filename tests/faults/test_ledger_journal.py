"""Every state in which a writer can leave a ledger and its journal, then damaged: the exact verdicts.

What would prove the rule wrong (docs/concepts.md §1), so what is looked for here:

* a cut of the ledger that takes an acknowledged event, and a run of it that is still INTACT;
* a run that loses nothing by a cut, or only what was never acknowledged, and is not INTACT;
* a loss that shows before the ledger is opened for writing, and no longer shows after;
* a flipped bit of the journal after which an acknowledged event is gone, or a run is INTACT without it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from untaken.errors import UntakenError
from untaken.ledger import LedgerWriter, Message, disk, heads_path, read_ledger, verify_ledger
from untaken.ledger.journal import ACKNOWLEDGED, journal_path

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
CALLS = ("write", "fsync", "rename", "unlink")


@dataclass(frozen=True, kw_only=True)
class State:
    """The disk at one moment, and what had been acknowledged by then."""

    ledger: bytes
    heads: bytes | None
    journal: bytes | None
    acknowledged: dict[str, int] = field(hash=False)

    def put(self, path: Path, ledger: bytes | None = None, journal: bytes | None = None) -> Path:
        path.write_bytes(self.ledger if ledger is None else ledger)
        journal = self.journal if journal is None else journal
        for place, data in ((heads_path(path), self.heads), (journal_path(path), journal)):
            place.unlink(missing_ok=True)
            if data is not None:
                place.write_bytes(data)
        return path


def states(folder: Path) -> list[State]:
    """The disk after every disk call of a writer of two runs, and in the middle of every write."""
    path, found, acknowledged = folder / "a.jsonl", dict[object, State](), dict[str, int]()

    def look() -> None:
        ledger, heads, journal = (
            p.read_bytes() if p.exists() else None for p in (path, heads_path(path), journal_path(path))
        )
        # Cuts of a longer ledger beside the same journal are all that a shorter one can show.
        if journal is not None:
            found[heads, journal] = State(
                ledger=ledger or b"", heads=heads, journal=journal, acknowledged=dict(acknowledged)
            )

    def watched(real: Any) -> Any:
        def call(first: Any, *rest: Any) -> Any:
            if real is not disk_calls["write"]:
                done = real(first, *rest)
            elif rest[0] == ACKNOWLEDGED:
                acknowledged.update(whole_events(path.read_bytes()))
                done = real(first, *rest)
            else:
                half = len(rest[0]) // 2
                done = real(first, rest[0][:half])
                look()
                done += real(first, rest[0][half:])
            look()
            return done

        return call

    disk_calls = {name: getattr(disk, name) for name in CALLS}
    with pytest.MonkeyPatch.context() as patch:
        for name, real in disk_calls.items():
            patch.setattr(disk, name, watched(real))
        with LedgerWriter(path, clock=lambda: NOON, fsync="always") as ledger:
            for n, run_id in enumerate(["r", "s", "r", "s", "r"]):
                if n < 2:
                    ledger.start(run_id=run_id, agent="a", task_id="t")
                else:
                    ledger.write(Message, run_id, role="user", content="x" * n)
                if n == 2:
                    ledger.checkpoint()
    return list(found.values())


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> list[State]:
    return states(tmp_path_factory.mktemp("writer"))


def whole_events(data: bytes) -> dict[str, int]:
    """Events of each run in the bytes, the last one also without its newline."""
    count = dict[str, int]()
    for line in data.split(b"\n"):
        try:
            run_id = msgspec.json.decode(line)["run_id"]
        except msgspec.DecodeError:
            continue
        count[run_id] = count.get(run_id, 0) + 1
    return count


def is_torn(data: bytes) -> bool:
    tail = data.rpartition(b"\n")[2]
    return bool(tail) and not whole_events(tail)


def verdicts(path: Path) -> dict[str, str]:
    return {found.run_id: found.verdict for found in verify_ledger(path) if found.run_id}


def wanted(state: State, cut: int) -> dict[str, set[str]]:
    """The verdicts that a run may have, by what it has lost; one torn line is somebody's MALFORMED."""
    here = whole_events(state.ledger[:cut])
    broken = {"TRUNCATED", "MALFORMED"} if is_torn(state.ledger[:cut]) else {"TRUNCATED"}
    return {
        run_id: {"INTACT"} if here.get(run_id, 0) >= count else broken
        for run_id, count in state.acknowledged.items()
    }


def test_there_are_states_of_every_kind(left: list[State]) -> None:
    assert len(left) > 15
    assert any(state.heads is None for state in left)
    assert any(state.journal and state.heads and b"\n" in state.journal for state in left)
    assert any(state.journal and state.journal.endswith(b"}") for state in left)


def test_a_cut_ledger_beside_a_journal_is_never_intact_and_what_lost_nothing_is(
    left: list[State], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    step = 1 if request.config.getoption("--slow") else 4
    for state in left:
        for cut in sorted({*range(0, len(state.ledger) + 1, step), *line_cuts(state.ledger)}):
            path = state.put(tmp_path / "a.jsonl", ledger=state.ledger[:cut])
            found = verdicts(path)
            for run_id, allowed in wanted(state, cut).items():
                assert found.get(run_id) in allowed, (state, cut)
            assert [*found.values()].count("MALFORMED") <= 1
            assert found.keys() - state.acknowledged.keys() <= {"r", "s"}


def line_cuts(data: bytes) -> Iterator[int]:
    """The ends of all lines, and the bytes around them."""
    ends = [0, *(n + 1 for n, byte in enumerate(data) if byte == ord("\n")), len(data)]
    near = {end + by for end in ends for by in (-2, -1, 0, 1, 2)}
    return iter(sorted(n for n in near if 0 <= n <= len(data)))


def test_opening_for_writing_forgets_no_loss(left: list[State], tmp_path: Path) -> None:
    for state in left:
        for cut in line_cuts(state.ledger):
            path = state.put(tmp_path / "a.jsonl", ledger=state.ledger[:cut])
            before, content = verdicts(path), state.ledger[:cut]
            lost = any(before.get(run_id) != "INTACT" for run_id in state.acknowledged)
            if lost and is_torn(content):
                with pytest.raises(UntakenError, match="ledger-torn-line"):
                    LedgerWriter(path)
            else:
                with LedgerWriter(path, clock=lambda: NOON) as ledger:
                    ledger.start(run_id="new", agent="a", task_id="t")
                assert verdicts(path).pop("new") == "INTACT"
            after = verdicts(path)
            for run_id, allowed in wanted(state, cut).items():
                assert after[run_id] in allowed, (state, cut, before)


def test_a_flipped_bit_of_the_journal_is_refused_or_loses_nothing(left, tmp_path, request) -> None:
    step = 1 if request.config.getoption("--slow") else 5  # prime to 8: every bit of a byte is met
    for state in some_of_each_kind(left):
        journal = state.journal or b""
        acknowledges = journal.rfind(b"\n")
        for bit in range(0, len(journal) * 8, step):
            flipped = bytearray(journal)
            flipped[bit // 8] ^= 1 << bit % 8
            path = state.put(tmp_path / "a.jsonl", journal=bytes(flipped))
            once = bit % 8 == 0  # opening for writing takes longer: one bit of a byte
            if bit // 8 < acknowledges or flipped[bit // 8] == ord("\n"):
                for touch in (verify_ledger, LedgerWriter)[: 1 + once]:
                    with pytest.raises(UntakenError, match="ledger-journal"):
                        touch(path)
                assert path.read_bytes() == state.ledger
                continue
            for found in verify_ledger(path):
                events = found.head.events if found.head else 0
                lost = events < state.acknowledged.get(found.run_id, 0)
                assert not (lost and found.verdict == "INTACT"), (state, bit)
            if once:
                LedgerWriter(path).close()
                here = whole_events(path.read_bytes())
                assert all(here[run_id] >= count for run_id, count in state.acknowledged.items())


def some_of_each_kind(left: list[State]) -> Iterator[State]:
    """Before and after the heads were first moved, the fullest journals: open, and all acknowledged."""
    for moved in (False, True):
        for is_open in (False, True):
            yield [
                s for s in left if (s.heads is not None, (s.journal or b"")[-1:] == b"}") == (moved, is_open)
            ][-1]


def test_a_cut_journal_loses_no_event_and_makes_no_longer_run_intact(left, tmp_path) -> None:
    state = left[-1]
    for cut in range(len(state.journal)):
        path = state.put(tmp_path / "a.jsonl", journal=state.journal[:cut])
        LedgerWriter(path).close()
        assert path.read_bytes() == state.ledger
        recorded = whole_events(state.ledger)
        for run in read_ledger(path, strict=False)[0]:
            assert run.integrity.verdict == (
                "INTACT" if len(run.events) == recorded[run.run_id] else "ALTERED"
            )


def test_only_heads_that_lie_elsewhere_show_that_ledger_heads_and_journal_were_put_back_together(
    left: list[State], tmp_path: Path
) -> None:
    """What the rule cannot see, said in docs/concepts.md §1."""
    before = next(state for state in left if whole_events(state.ledger) == state.acknowledged != {})
    after = max(left, key=lambda state: sum(state.acknowledged.values()))
    assert sum(after.acknowledged.values()) > sum(before.acknowledged.values())
    path = before.put(tmp_path / "a.jsonl")
    assert set(verdicts(path).values()) == {"INTACT"}
    later = verify_ledger(after.put(tmp_path / "b.jsonl"))
    elsewhere = {found.run_id: found.head for found in later if found.head}
    assert "TRUNCATED" in {found.verdict for found in verify_ledger(path, heads=elsewhere)}
