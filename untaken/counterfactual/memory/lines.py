"""Files of one JSON object a line: read strictly, replaced in one step, one writer at a time."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO, Final, TypeVar

import filelock
import msgspec
from msgspec.structs import replace

from untaken import limits
from untaken.errors import UntakenError, Where
from untaken.ledger import JsonFault, disk, parse_json

Item = TypeVar("Item")
_LINES: Final = 4096
"""Written at a time."""

encode = msgspec.json.Encoder().encode


def parse(line: bytes, decoder: msgspec.json.Decoder[Item], where: Where, *, what: str, hint: str) -> Item:
    """The object on one line, with every field once and no other.

    Raises:
        UntakenError: ``memory-malformed``.
    """
    try:
        item = decoder.decode(line)
        if line.rstrip(b"\n") != encode(item):
            parse_json(line)  # typed decoding keeps the last of two equal keys; the exact parser refuses them
    except JsonFault as fault:
        at = replace(where, column=fault.column)
        raise UntakenError("memory-malformed", f"not {what}: {fault.message}", where=at, hint=hint) from fault
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise UntakenError("memory-malformed", f"not {what}: {error}", where=where, hint=hint) from error
    return item


def numbered(file: BinaryIO, name: str) -> Iterator[tuple[bytes, Where]]:
    """Every line of a file with its place, in bounded memory.

    Raises:
        UntakenError: ``memory-too-large``.
    """
    size = number = 0
    # One byte more than allowed: a line without an end is refused before it fills the memory.
    while line := file.readline(limits.MEMORY_LINE_BYTES + 1):
        size, number = size + len(line), number + 1
        where = Where(file=name, line=number)
        if len(line) > limits.MEMORY_LINE_BYTES or size > limits.MEMORY_FILE_BYTES:
            raise UntakenError(
                "memory-too-large",
                f"a line may have {limits.MEMORY_LINE_BYTES} bytes, a file {limits.MEMORY_FILE_BYTES}",
                where=where,
                hint="this is not a file of policy memory written by this program",
            )
        yield line, where


@contextmanager
def locked(path: Path, timeout: float = 10.0) -> Iterator[None]:
    """Holds the lock of a memory file, and of the queue beside it: who changes either meanwhile waits.

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
            hint="wait until it is done, or write to another file",
        ) from None
    try:
        yield
    finally:
        lock.release()


def replace_lines(path: Path, lines: Iterable[bytes]) -> None:
    """Replace the file in one step: a reader, or a crash, meets the old file or the new one, never a part."""
    draft = path.with_name(f".{path.name}.{token_hex(8)}.tmp")
    coming = iter(lines)
    try:
        # Without O_BINARY, Windows would write every line end as two bytes, and digests would differ.
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o644)
        try:
            while some := list(islice(coming, _LINES)):
                disk.write_all(descriptor, b"".join(some))
            disk.fsync(descriptor)
        finally:
            os.close(descriptor)
        disk.rename(draft, path)
        disk.sync_folder(path.parent)
    finally:
        disk.remove(draft)  # already renamed, unless something failed
