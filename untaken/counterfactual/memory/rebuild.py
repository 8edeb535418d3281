"""Memory files built from ledgers, and checked against their log, queue and ledgers (§3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Literal

from msgspec import Struct

from untaken.counterfactual.memory.lines import locked
from untaken.counterfactual.memory.policy import PolicyMemory
from untaken.counterfactual.memory.queue import applied_signals, queue_path, read_queue, waiting_signals
from untaken.counterfactual.memory.record import Observed, line_of, write_log
from untaken.counterfactual.memory.signals import signal_line
from untaken.ledger import Run


class Difference(Struct, frozen=True, kw_only=True, gc=False):
    """One way in which a file is not what it was made of.

    Attributes:
        kind: ``form``: the bytes are not those that the log is written as. ``missing``: an outcome of the
            ledgers that the memory lacks; ``extra``: one that the ledgers do not have; ``other``: one under a
            known key with another payload.
        key: of the observation; empty for a whole file.
    """

    kind: Literal["form", "missing", "extra", "other"]
    key: str
    message: str


def rebuild_memory(
    memory: str | PathLike[str], runs: Iterable[Run], *, identity: Sequence[str] = ()
) -> PolicyMemory:
    """Build a memory file from runs; signals that were applied to the file that is there stay in it.

    `identity` names metadata of runs that can change their agents.

    Raises:
        UntakenError: ``memory-locked``.
    """
    path = Path(memory)
    # From before the reading: a signal that is applied in between would be lost.
    with locked(path):
        applied, unread = applied_signals(path)
        built = PolicyMemory.build(runs, applied=applied, identity=identity)
        built.findings += unread
        write_log(path, built.log)
    return built


def verify_memory(
    memory: str | PathLike[str], runs: Iterable[Run] | None = None, *, identity: Sequence[str] = ()
) -> tuple[PolicyMemory, tuple[Difference, ...]]:
    """Read a memory file and its queue strictly, rebuild both, and name what differs.

    Raises:
        UntakenError: as `PolicyMemory.load`, `read_queue` and `waiting_signals`.
    """
    path = Path(memory)
    known, queued = PolicyMemory.load(path), read_queue(path)
    waiting_signals(known, queued)  # for what it raises alone
    found = [*_form(path, b"".join(map(line_of, known.log)))]
    if queue_path(path).exists():
        found += _form(queue_path(path), b"".join(map(signal_line, queued)))
    if runs is not None:
        found += _outcomes(known, PolicyMemory.build(runs, identity=identity))
    return known, tuple(found)


def _form(path: Path, rebuilt: bytes) -> Iterator[Difference]:
    stored = path.read_bytes()
    if stored == rebuilt:
        return
    pairs = zip(stored.splitlines(), rebuilt.splitlines(), strict=False)
    lines = min(stored.count(b"\n"), rebuilt.count(b"\n"))
    # Where one is the beginning of the other, they part at the line after it.
    first = next((number for number, (a, b) in enumerate(pairs, start=1) if a != b), lines + 1)
    message = f"{path.name}: from line {first} the bytes differ from the rebuilt log"
    yield Difference(kind="form", key="", message=message)


def _outcomes(known: PolicyMemory, rebuilt: PolicyMemory) -> Iterator[Difference]:
    held = {observed.key: observed for observed in known.log if observed.kind == "outcome"}
    wanted = {observed.key: observed for observed in rebuilt.log}
    for key in sorted(held.keys() | wanted.keys()):
        if held.get(key) != wanted.get(key):
            yield _difference(key, held.get(key), wanted.get(key))


def _difference(key: str, held: Observed | None, wanted: Observed | None) -> Difference:
    if held is None:
        return Difference(kind="missing", key=key, message="in the ledgers but not in the memory")
    if wanted is None:
        return Difference(kind="extra", key=key, message="in the memory but not in the ledgers")
    fields = [name for name in Observed.__struct_fields__ if getattr(held, name) != getattr(wanted, name)]
    differences = ", ".join(
        f"{name} is {getattr(held, name)}, not {getattr(wanted, name)}" for name in fields
    )
    return Difference(kind="other", key=key, message=differences)
