"""The queue of weak signals beside a memory file, and how its signals are folded in: exactly once (§3).

The log is the memory: a signal that was applied *is* a ``weak`` line of it, under the signal's own key. What
waits is what is queued and has no such line, so that nothing can be applied twice, wherever a crash comes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from hashlib import sha256
from os import PathLike
from pathlib import Path

from msgspec import Struct

from untaken.counterfactual.memory.lines import locked, numbered, replace_lines
from untaken.counterfactual.memory.policy import PolicyMemory
from untaken.counterfactual.memory.preview import preview
from untaken.counterfactual.memory.record import Observed, read_log, write_log
from untaken.counterfactual.memory.signals import (
    Signal,
    as_observation,
    parse_signal,
    same_meaning,
    same_signal,
    signal_line,
)
from untaken.errors import Finding, UntakenError, Where


class Applied(Struct, frozen=True, kw_only=True):
    """What one `apply_signals` did.

    Attributes:
        observations: the weak observations that are new in the memory.
        waiting: the signals that still wait.
        memory: as it is now.
    """

    observations: tuple[Observed, ...]
    waiting: tuple[Signal, ...]
    memory: PolicyMemory


def now() -> datetime:
    """The clock that says from when on an applied signal is known."""
    return datetime.now(UTC)


def queue_path(memory: str | PathLike[str]) -> Path:
    """Where the signals of a memory file wait: ``x.signals.jsonl`` beside ``x.memory.jsonl``."""
    path = Path(memory)
    return path.with_name(path.name.removesuffix(".jsonl").removesuffix(".memory") + ".signals.jsonl")


def read_queue(memory: str | PathLike[str]) -> tuple[Signal, ...]:
    """Every signal queued beside a memory file, by key; none where there is no queue.

    Raises:
        UntakenError: ``memory-too-large``, ``memory-malformed``, ``memory-conflict``; with file and line.
    """
    path = queue_path(memory)
    signals: dict[str, Signal] = {}
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return ()
    with file:
        for line, where in numbered(file, path.name):
            signal = parse_signal(line, where)
            same_signal(signals.setdefault(signal.key, signal), signal, where)
    return _in_order(signals.values())


def queue_signals(
    memory: str | PathLike[str], signals: Iterable[Signal], *, evaluated: Iterable[str] = ()
) -> int:
    """Update the queue of a memory file with the signals of evaluations, atomically.

    What was applied stays applied, in the memory.

    Returns:
        How many are new, or came in a newer form.

    Raises:
        UntakenError: ``memory-conflict`` for one key with two payloads among those given, or queued for
            another skill, context or run; ``memory-malformed`` for figures out of range, ``memory-locked``;
            as `read_queue`.
    """
    path, again = queue_path(memory), frozenset(evaluated)
    coming = _by_key(signals, Where(file=path.name))
    with locked(Path(memory)):
        queued = {signal.key: signal for signal in read_queue(memory)}
        # What a new evaluation of a run no longer suggests goes.
        kept = {key: signal for key, signal in queued.items() if signal.run_id not in again}
        for key in coming.keys() & kept.keys():
            same_meaning(kept[key], coming[key], Where(file=path.name))
        after = kept | coming  # renewed: later ledgers of earlier runs may change delta and support
        if after != queued:  # by key: the same bytes whatever the order of the runs
            replace_lines(path, map(signal_line, _in_order(after.values())))
    return sum(queued.get(key) != signal for key, signal in coming.items())


def waiting_signals(memory: PolicyMemory, signals: Iterable[Signal]) -> tuple[Signal, ...]:
    """Those of the signals that the memory does not hold yet, by key.

    Raises:
        UntakenError: ``memory-conflict`` where the memory holds something else under a signal's key.
    """
    waiting = []
    for signal in signals:
        held = memory.get(signal.key)
        if held is None:
            waiting.append(signal)
        elif held != as_observation(signal, ts=held.ts):
            raise UntakenError(
                "memory-conflict",
                f"the memory has a different entry for the signal {signal.key!r}",
                where=Where(run=signal.run_id),
                hint="two runs may share one run id; rebuild the memory from the ledgers",
            )
    return _in_order(waiting)


def apply_signals(
    memory: str | PathLike[str],
    *,
    everything: bool = False,
    at: datetime | None = None,
    clock: Callable[[], datetime] = now,
) -> Applied:
    """Fold the waiting signals of a memory file's queue into it, in one step, under its lock.

    Args:
        memory: the file.
        everything: also the signals without support, and those that push their estimate against their
            stated direction (`Effect.advised`).
        at: the moment from which they are known (with a time zone); that of `clock` where not given. For a
            run that ended later, its end.
        clock: says what time it is.

    Raises:
        UntakenError: as `PolicyMemory.load`, `read_queue` and `waiting_signals`.
    """
    with locked(Path(memory)):
        known = PolicyMemory.load(memory)
        waiting = waiting_signals(known, read_queue(memory))
        effects = preview(known.snapshot(), waiting)
        chosen = tuple(effect.signal for effect in effects if everything or effect.advised)
        return _folded(Path(memory), known, waiting, chosen, at or clock())


def fold_in(
    memory: str | PathLike[str], signals: Iterable[Signal], *, clock: Callable[[], datetime] = now
) -> Applied:
    """Fold exactly these signals into a memory file, as `apply_signals`; makes the file if there is none.

    For a memory that holds nothing but applied signals, its outcomes being read from the ledgers.
    """
    path = Path(memory)
    with locked(path):
        known = PolicyMemory.load(path) if path.exists() else PolicyMemory()
        waiting = waiting_signals(known, signals)
        return _folded(path, known, waiting, waiting, clock())


def applied_signals(memory: str | PathLike[str]) -> tuple[tuple[Observed, ...], tuple[Finding, ...]]:
    """The signals applied to a memory file, and why they cannot be read where they cannot.

    Where there is no file there are none. A damaged file is left as it is.
    """
    path = Path(memory)
    if not path.exists():
        return (), ()
    try:
        return tuple(observed for observed, _ in read_log(path) if observed.kind == "weak"), ()
    except UntakenError as error:
        unread = UntakenError(
            "memory-signals-unread",
            f"the signals applied before cannot be read and do not count: {error.message}",
            where=error.where,
            hint="restore the file, or move it and apply the signals again",
        )
        return (), (unread.finding("warning"),)


def applied_digest(memory: str | PathLike[str]) -> str:
    """Changes whenever the memory file does; empty if there is none."""
    path = Path(memory)
    return sha256(path.read_bytes()).hexdigest() if path.exists() else ""


def _folded(
    path: Path, known: PolicyMemory, waiting: tuple[Signal, ...], chosen: tuple[Signal, ...], moment: datetime
) -> Applied:
    observations = tuple(as_observation(signal, ts=moment) for signal in chosen)
    known.extend(observations)
    if observations:
        write_log(path, known.log)
    keys = {signal.key for signal in chosen}
    left = tuple(signal for signal in waiting if signal.key not in keys)
    return Applied(observations=observations, waiting=left, memory=known)


def _by_key(signals: Iterable[Signal], where: Where) -> dict[str, Signal]:
    found: dict[str, Signal] = {}
    for given in signals:
        signal = parse_signal(signal_line(given), where)  # under the rules of a line that is read
        same_signal(found.setdefault(signal.key, signal), signal, where)
    return found


def _in_order(signals: Iterable[Signal]) -> tuple[Signal, ...]:
    return tuple(sorted(signals, key=lambda signal: signal.key))
