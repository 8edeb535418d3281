"""Whatever is queued, in whatever order: applied once, never before its run ended, never outweighing."""

from __future__ import annotations

import tempfile
from pathlib import Path

from histories import moment, seen
from hypothesis import given
from hypothesis import strategies as st
from test_memory_signals import a_signal

from untaken.counterfactual.memory import (
    Observed,
    PolicyMemory,
    Signal,
    apply_signals,
    preview,
    queue_path,
    queue_signals,
    verify_memory,
)

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
