"""The queue of weak signals: filled once, applied once, previewed before, verified after."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest
from histories import moment, past, seen, weak
from hypothesis import given
from hypothesis import strategies as st

from untaken.counterfactual.memory import (
    Effect,
    Observed,
    PolicyMemory,
    Signal,
    applied_digest,
    applied_signals,
    apply_signals,
    as_observation,
    fold_in,
    preview,
    queue_path,
    queue_signals,
    read_queue,
    rebuild_memory,
    verify_memory,
    waiting_signals,
)
from untaken.counterfactual.memory.signals import signal_line
from untaken.errors import Unscored, UntakenError

LATER = moment(100)
OUTCOMES = [seen("r1", day=1, success=0.25), seen("r2", day=2), seen("r3", "b", day=2), seen("r4", day=3)]


def a_signal(
    n: int = 1, skill: str = "a", *, direction: str = "negative", supported: bool = True, **fields: object
) -> Signal:
    return Signal(
        key=f"weak/s{n}/0000001/{direction}/{skill}",
        run_id=f"s{n}",
        decision_point=1,
        skill=skill,
        context_hash="ctx",
        direction=direction,  # type: ignore[arg-type]
        supported=supported,
        **{"outcome": 0.7 if direction == "negative" else 0.6, "delta": 0.4, "ended": moment(5), **fields},  # type: ignore[arg-type]
    )


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """A memory file with four outcomes."""
    path = tmp_path / "x.memory.jsonl"
    PolicyMemory(OUTCOMES).save(path)
    return path


# The queue


@pytest.mark.parametrize(
    ("name", "queue"),
    [("x.memory.jsonl", "x.signals.jsonl"), ("x.jsonl", "x.signals.jsonl"), ("x", "x.signals.jsonl")],
)
def test_the_queue_is_beside_the_memory(name: str, queue: str) -> None:
    assert queue_path(Path("f") / name) == Path("f") / queue


def test_a_waiting_signal_is_renewed_when_later_ledgers_change_its_figures(memory: Path) -> None:
    queue_signals(memory, [a_signal(), a_signal(2)])
    newer = a_signal(delta=0.2, supported=False)
    assert [queue_signals(memory, [newer]), queue_signals(memory, [newer])] == [1, 0]
    assert read_queue(memory) == (newer, a_signal(2))
    assert len(apply_signals(memory, at=LATER).observations) == 1


def test_what_a_run_evaluated_anew_signals_no_more_is_withdrawn(memory: Path) -> None:
    queue_signals(memory, [a_signal(), a_signal(1, "b"), a_signal(2)])
    assert queue_signals(memory, [a_signal()], evaluated=["s1", "s3"]) == 0
    assert read_queue(memory) == (a_signal(), a_signal(2))
    assert queue_signals(memory, [], evaluated=["s1"]) == 0
    assert read_queue(memory) == (a_signal(2),)


def test_a_signal_that_was_applied_stays_so_when_its_figures_change(memory: Path) -> None:
    queue_signals(memory, [a_signal()])
    before = apply_signals(memory, at=LATER).memory.log
    queue_signals(memory, [a_signal(delta=0.2, supported=False)], evaluated=["s1"])
    again = apply_signals(memory, everything=True)
    assert (again.observations, again.waiting, again.memory.log) == ((), (), before)


OTHERWISE = [
    ("figures twice over, of one evaluation", [a_signal(delta=0.5), a_signal(delta=0.6)]),
    ("another context", [msgspec.structs.replace(a_signal(), context_hash="elsewhere")]),
    ("another run under the same id", [a_signal(ended=moment(6))]),
    ("another claim", [a_signal(outcome=0.9)]),
]


@pytest.mark.parametrize(("desc", "signals"), OTHERWISE, ids=[case[0] for case in OTHERWISE])
def test_the_same_key_with_another_meaning_is_a_conflict_and_changes_nothing(desc, signals, memory) -> None:
    queue_signals(memory, [a_signal()])
    before = queue_path(memory).read_bytes()
    with pytest.raises(UntakenError, match="memory-conflict"):
        queue_signals(memory, [a_signal(2), *signals])
    assert queue_path(memory).read_bytes() == before


LINE = signal_line(a_signal())
DAMAGED = [
    ("not JSON", b"{\n", "memory-malformed"),
    ("a torn last line", LINE[:40], "memory-malformed"),
    ("an unknown field", LINE.replace(b'"delta"', b'"note":1,"delta"'), "memory-malformed"),
    ("a field twice", LINE.replace(b'"delta"', b'"delta":0.1,"delta"'), "memory-malformed"),
    ("an impossible claim", LINE.replace(b'"outcome":0.7', b'"outcome":1.7'), "memory-malformed"),
    ("no time zone", LINE.replace(b"Z", b""), "memory-malformed"),
    ("NaN", LINE.replace(b'"delta":0.4', b'"delta":NaN'), "memory-malformed"),
    ("another payload", LINE.replace(b'"delta":0.4', b'"delta":0.5'), "memory-conflict"),
]


@pytest.mark.parametrize(("desc", "line", "code"), DAMAGED, ids=[case[0] for case in DAMAGED])
def test_a_damaged_queue_is_refused_with_its_line(desc: str, line: bytes, code: str, memory: Path) -> None:
    queue_path(memory).write_bytes(LINE + line)
    with pytest.raises(UntakenError) as caught:
        apply_signals(memory)
    assert (caught.value.code, caught.value.where.line) == (code, 2)
    assert caught.value.hint
    assert PolicyMemory.load(memory).log == tuple(OUTCOMES)


# Applying


def test_the_supported_signals_are_applied_once_and_the_others_on_request(memory: Path) -> None:
    signals = [a_signal(1), a_signal(2, supported=False), a_signal(3)]
    queue_signals(memory, signals)
    first = apply_signals(memory, at=LATER)
    assert [o.key for o in first.observations] == [signals[0].key, signals[2].key]
    assert first.waiting == (signals[1],)
    again = apply_signals(memory, at=LATER + timedelta(days=1))
    assert (again.observations, again.waiting) == ((), (signals[1],))
    rest = apply_signals(memory, everything=True, at=LATER)
    assert ([o.key for o in rest.observations], rest.waiting) == ([signals[1].key], ())
    assert (
        PolicyMemory.load(memory).log
        == rest.memory.log
        == (*OUTCOMES, *first.observations, *rest.observations)
    )


def test_a_signal_whose_key_the_memory_holds_otherwise_is_a_conflict(memory: Path) -> None:
    PolicyMemory([*OUTCOMES, weak("s1", key=a_signal().key)]).save(memory)
    queue_signals(memory, [a_signal()])
    with pytest.raises(UntakenError) as caught:
        apply_signals(memory)
    assert (caught.value.code, caught.value.where.run) == ("memory-conflict", "s1")


APPLY = """
import sys
from untaken.counterfactual.memory import apply_signals
print(len(apply_signals(sys.argv[1], everything=True).observations))
"""


def test_two_processes_that_apply_at_once_apply_once(memory: Path) -> None:
    queue_signals(memory, [a_signal(n, supported=bool(n % 2)) for n in range(50)])
    workers = [
        subprocess.Popen([sys.executable, "-c", APPLY, str(memory)], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    assert sorted(int(worker.communicate()[0]) for worker in workers) == [0, 50]
    known = PolicyMemory.load(memory)
    assert (len(known), verify_memory(memory)[1]) == (54, ())


def test_a_file_of_nothing_but_applied_signals_needs_no_memory_before(tmp_path: Path) -> None:
    path = tmp_path / "policy.memory.jsonl"
    assert (applied_signals(path), applied_digest(path)) == (((), ()), "")
    done = fold_in(path, [a_signal(2), a_signal(1)], clock=lambda: LATER)
    digest = applied_digest(path)
    assert fold_in(path, [a_signal(1)]).observations == ()
    assert applied_signals(path) == (done.observations, ())
    assert applied_digest(path) == digest != ""


def test_a_damaged_file_of_applied_signals_is_a_finding_and_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "policy.memory.jsonl"
    path.write_bytes(b"nonsense\n")
    applied, (finding,) = applied_signals(path)
    assert (applied, finding.code, finding.severity) == ((), "memory-signals-unread", "warning")
    with pytest.raises(UntakenError):
        fold_in(path, [a_signal()])
    assert path.read_bytes() == b"nonsense\n"


# Preview


class Case(NamedTuple):
    desc: str
    outcomes: tuple[float, ...]
    applied: int
    signal: Signal
    flag: str
    moves: int


CASES = [
    Case("against a good skill", (1.0, 1.0), 0, a_signal(), "none", -1),
    Case("against a poor skill", (0.0, 0.0), 0, a_signal(), "against", 1),
    Case("for a poor skill", (0.0, 0.0), 0, a_signal(direction="positive"), "none", 1),
    Case("for a good skill", (1.0, 1.0), 0, a_signal(direction="positive"), "against", -1),
    Case("the estimate is there already", (0.7, 0.7), 0, a_signal(), "no_effect", 0),
    Case("a failure of what always fails", (0.0, 0.0), 0, a_signal(outcome=0.0), "no_effect", 0),
    Case("the cap is reached", (1.0, 0.0), 4, a_signal(), "no_effect", 0),
    Case(
        "over the cap, but with another claim", (1.0, 0.0), 4, a_signal(direction="positive"), "against", -1
    ),
    Case("nothing was observed", (), 0, a_signal(), "no_outcome", 0),
]


def previewed(case: Case) -> Effect:
    log = [seen(f"r{n}", success=success) for n, success in enumerate(case.outcomes)]
    log += [weak(f"w{n}", success=0.7) for n in range(case.applied)]
    (effect,) = preview(PolicyMemory(log).snapshot(), [case.signal])
    return effect


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.desc)
def test_a_signal_that_pushes_against_its_direction_or_moves_nothing_is_flagged(case: Case) -> None:
    effect = previewed(case)
    assert effect.flag == case.flag
    assert (effect.move > 1e-12) - (effect.move < -1e-12) == case.moves
    assert bool(effect.flag_reason) == (effect.flag != "none")


def test_a_preview_says_exactly_what_applying_does(memory: Path) -> None:
    signals = [a_signal(n, direction=way) for n in range(3) for way in ("negative", "positive")]
    signals += [a_signal(9, "b"), a_signal(9, "unseen")]
    snapshot = PolicyMemory.load(memory).snapshot()
    effects = preview(snapshot, signals)
    together = PolicyMemory([*OUTCOMES, *(as_observation(s, ts=LATER) for s in signals)]).snapshot()
    for signal, effect in zip(signals, effects, strict=True):
        alone = PolicyMemory([*OUTCOMES, as_observation(signal, ts=LATER)]).snapshot()
        for known, shown in ((snapshot, effect.before), (alone, effect.after), (together, effect.after_all)):
            record = known.record(signal.skill, "ctx")
            assert shown == record.success_rate if record else isinstance(shown, Unscored)
        if record := alone.record(signal.skill, "ctx"):
            assert (effect.weak_after, effect.cap, effect.n) == (record.weak_weight, record.n / 2, record.n)
    nothing = effects[-1]
    assert (nothing.flag, nothing.n, nothing.cap) == ("no_outcome", 0, 0)
    assert (nothing.weak_before, nothing.weak_after) == (0, 0)


# Verifying


def runs() -> list[object]:
    return [past(f"r{n}", "a|b", "b|a", day=n, success=bool(n % 2), cost=n / 3) for n in range(6)]


def test_a_memory_built_anew_keeps_what_was_applied_and_is_the_same_bytes(tmp_path: Path) -> None:
    path = tmp_path / "x.memory.jsonl"
    rebuild_memory(path, runs())
    queue_signals(path, [a_signal(1), a_signal(2)])
    apply_signals(path, everything=True, at=LATER)
    before = path.read_bytes()
    rebuild_memory(path, reversed(runs()))
    assert path.read_bytes() == before
    assert verify_memory(path, runs())[1] == ()
    assert waiting_signals(PolicyMemory.load(path), read_queue(path)) == ()


def test_a_memory_built_over_a_damaged_file_says_what_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "x.memory.jsonl"
    path.write_bytes(b"nonsense\n")
    assert "memory-signals-unread" in [finding.code for finding in rebuild_memory(path, runs()).findings]
    assert verify_memory(path, runs())[1] == ()


def test_what_differs_from_the_ledgers_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.memory.jsonl"
    log = list(PolicyMemory.build(runs()).log)
    forged = msgspec.structs.replace(log[1], success=1.0 - log[1].success)
    PolicyMemory([forged, *log[2:], seen("stranger")]).save(path)
    found = verify_memory(path, runs())[1]
    assert [(d.kind, d.key) for d in found] == [
        ("missing", log[0].key),
        ("other", log[1].key),
        ("extra", "outcome/stranger/a/ctx"),
    ]
    assert "success is 1.0, not 0.0" in found[1].message
    assert verify_memory(path)[1] == ()


@pytest.mark.parametrize("which", ["memory", "queue"])
def test_a_file_that_says_the_same_in_other_bytes_is_named_with_its_line(memory: Path, which: str) -> None:
    queue_signals(memory, [a_signal(1), a_signal(2)])
    path = memory if which == "memory" else queue_path(memory)
    first, second, *rest = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([first, second.replace(b":", b": ", 1), *rest]))
    (difference,) = verify_memory(memory)[1]
    assert difference.kind == "form"
    assert f"{path.name}: from line 2 the bytes differ" in difference.message


NAMES = st.sampled_from(["a", "b", "=cmd()", "\u202e", "a/b", "🜁"])
MOMENTS = st.sampled_from([moment(day) for day in (-1, 0, 1, 2, 5)])


@st.composite
def outcomes(draw: st.DrawFn) -> list[Observed]:
    return [
        seen(
            f"r{n}",
            draw(NAMES),
            day=draw(st.integers(0, 3)),
            success=draw(st.sampled_from([0.0, 0.5, 1.0])),
            cost=draw(st.none() | st.floats(0, 10)),
        )
        for n in range(draw(st.integers(0, 8)))
    ]


@st.composite
def signals(draw: st.DrawFn) -> list[Signal]:
    return [
        a_signal(
            n,
            draw(NAMES),
            direction=draw(st.sampled_from(["negative", "positive"])),
            supported=draw(st.booleans()),
            delta=draw(st.floats(0.1, 1, exclude_min=True)),
            ended=draw(MOMENTS),
        )
        for n in range(draw(st.integers(0, 12)))
    ]


def queued(folder: str, log: list[Observed], found: list[Signal]) -> Path:
    path = Path(folder) / "x.memory.jsonl"
    PolicyMemory(log).save(path)
    queue_signals(path, found)
    return path


@given(outcomes(), signals(), MOMENTS, st.booleans(), st.randoms(use_true_random=False))
def test_applied_twice_is_applied_once_in_any_order(log, found, at, everything, order) -> None:
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        path = queued(one, log, found)
        first = apply_signals(path, everything=everything, at=at)
        after = path.read_bytes()
        again = apply_signals(path, everything=everything, at=moment(50))
        effects = preview(PolicyMemory(log).snapshot(), found)
        assert {o.key for o in first.observations} == {
            effect.signal.key for effect in effects if everything or effect.advised
        }
        # What was left as it pushed against its direction may be as meant once the estimate has moved.
        assert {o.key for o in again.observations} <= {s.key for s in first.waiting if s.supported}
        ended = {signal.key: signal.ended for signal in found}
        assert all(o.ts == max(at, ended[o.key]) for o in first.observations)

        mixed = list(found)
        order.shuffle(mixed)  # type: ignore[attr-defined]
        twin = queued(other, log, mixed)
        apply_signals(twin, everything=everything, at=at)
        assert twin.read_bytes() == after
        assert not found or queue_path(twin).read_bytes() == queue_path(path).read_bytes()


@given(outcomes(), signals(), MOMENTS)
def test_speculation_never_outweighs_and_nothing_earlier_changes(log, found, at) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = queued(folder, log, found)
        before = PolicyMemory.load(path)
        after = apply_signals(path, everything=True, at=at).memory
        for record in after.snapshot().records():
            assert record.weak_weight <= record.n / 2
        earliest = min((max(at, signal.ended) for signal in found), default=at)
        for day in (-2, 0, 1, 2, 4):
            if moment(day) < earliest:
                assert after.snapshot(moment(day)).digest == before.snapshot(moment(day)).digest
        known, differences = verify_memory(path)
        assert (differences, known.snapshot().digest) == ((), after.snapshot().digest)


@given(outcomes(), signals())
def test_a_preview_never_leaves_the_span_from_the_estimate_to_the_claim(log, found) -> None:
    for effect in preview(PolicyMemory(log).snapshot(), found):
        if effect.flag == "no_outcome":
            assert effect.n == 0
            continue
        low, high = sorted((effect.before, effect.signal.outcome))
        assert low - 1e-12 <= effect.after <= high + 1e-12
        assert effect.weak_after <= effect.cap
        assert (effect.flag == "no_effect") == (abs(effect.move) < 1e-12)
