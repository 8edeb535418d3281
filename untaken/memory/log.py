"""The memory file (`*.memory.jsonl`): one observation a line, read strictly, written atomically.

A line's canonical form is what `line_of` writes; a file may be formatted otherwise (a person's script may
have made it), but every line must be one well-formed observation with no unknown, missing or repeated field.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

import filelock
import msgspec

from untaken import limits
from untaken.errors import UntakenError, Where
from untaken.ledger.disk import sync_folder
from untaken.ledger.strict_json import JsonFault, parse_json
from untaken.memory.model import Observed
from untaken.memory.sums import WEIGHTS

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Observed)


def line_of(observed: Observed) -> bytes:
    """The observation as one canonical line, newline included."""
    return _encoder.encode(observed) + b"\n"


def checked(observed: Observed, where: Where | None = None) -> Observed:
    """The observation as its own line reads back, in UTC: what is stored is what will be loaded.

    Raises:
        UntakenError: ``memory-invalid`` where a field is out of range, or does not survive being written
            (NaN).
    """
    try:
        stored = _decoder.decode(_encoder.encode(observed))
    except (msgspec.MsgspecError, UnicodeError, TypeError) as error:
        raise _invalid(f"an observation cannot be stored: {error}", where) from error
    if stored != observed:
        raise _invalid("an observation has a number that JSON cannot hold", where)
    return _in_form(stored, where)


def parse_line(line: bytes, where: Where) -> Observed:
    """The observation on one line.

    Raises:
        UntakenError: ``memory-malformed`` for bytes that are no observation, ``memory-invalid`` for wrong
            figures.
    """
    try:
        observed = _decoder.decode(line)
        if line.rstrip(b"\n") != _encoder.encode(observed):
            parse_json(line)  # typed decoding keeps the last of two equal keys; the exact parser refuses them
    except JsonFault as fault:
        raise _malformed(fault.message, replace(where, column=fault.column)) from fault
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise _malformed(str(error), where) from error
    return _in_form(observed, where)


def read_log(path: Path) -> Iterator[tuple[Observed, Where]]:
    """Every observation of a file with its place, in file order, in bounded memory.

    Raises:
        UntakenError: ``memory-missing``, ``memory-too-large``, ``memory-malformed``, ``memory-invalid``.
    """
    try:
        file = path.open("rb")
    except (FileNotFoundError, IsADirectoryError) as error:
        raise UntakenError(
            "memory-missing",
            "there is no policy memory here",
            where=Where(file=str(path)),
            hint="make one from ledgers with `untaken memory build`",
        ) from error
    with file:
        for number, line in enumerate(_lines(file, path.name), start=1):
            where = Where(file=path.name, line=number)
            yield parse_line(line, where), where


@contextmanager
def locked(path: Path, timeout: float = 10.0) -> Iterator[None]:
    """Holds the lock of a memory file: who reads it and writes it back meanwhile waits.

    Raises:
        UntakenError: ``memory-locked`` where another holds it for longer than `timeout` seconds.
    """
    lock = filelock.FileLock(path.with_name(f".{path.name}.lock"), timeout=timeout)
    try:
        lock.acquire()
    except filelock.Timeout:
        raise UntakenError(
            "memory-locked",
            "another program is writing this policy memory",
            where=Where(file=str(path)),
            hint="wait until it is done, or write to a file of its own",
        ) from None
    try:
        yield
    finally:
        lock.release()


def write_log(path: Path, log: Iterable[Observed]) -> None:
    """Replace the file in one step: a reader, or a crash, meets the old file or the new one, never a part."""
    draft = path.with_name(f".{path.name}.{token_hex(8)}.tmp")
    try:
        with draft.open("xb") as file:
            file.writelines(map(line_of, log))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        sync_folder(path.parent)
    finally:
        draft.unlink(missing_ok=True)


def _lines(file: BinaryIO, name: str) -> Iterator[bytes]:
    size = number = 0
    while line := file.readline(limits.MEMORY_LINE_BYTES + 1):
        size, number = size + len(line), number + 1
        if len(line) > limits.MEMORY_LINE_BYTES or size > limits.MEMORY_FILE_BYTES:
            raise UntakenError(
                "memory-too-large",
                f"a line may have {limits.MEMORY_LINE_BYTES} bytes, a file {limits.MEMORY_FILE_BYTES}",
                where=Where(file=name, line=number),
                hint="this is not a policy memory written by this program",
            )
        yield line


def _malformed(message: str, where: Where) -> UntakenError:
    hint = "rebuild the memory from its ledgers with `untaken memory build`"
    return UntakenError("memory-malformed", f"not an observation: {message}", where=where, hint=hint)


def _in_form(observed: Observed, where: Where | None) -> Observed:
    if observed.weight != WEIGHTS[observed.kind]:
        raise _invalid(f"the weight of a {observed.kind} record is {WEIGHTS[observed.kind]}", where)
    if observed.ts.tzinfo is UTC:
        return observed
    try:
        return msgspec.structs.replace(observed, ts=observed.ts.astimezone(UTC))
    except OverflowError as error:
        raise _invalid("the moment lies outside the calendar in UTC", where) from error


def _invalid(message: str, where: Where | None) -> UntakenError:
    hint = "an observation has success 0..1, cost and steps ≥ 0 or null, and a moment with a time zone"
    return UntakenError("memory-invalid", message, where=where, hint=hint)
