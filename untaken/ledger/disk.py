"""The few disk calls the ledger is written with, so that each can be made to fail in a test."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EEXIST
from pathlib import Path

write = os.write
fsync = os.fsync
truncate = os.ftruncate
rename = os.replace
unlink = os.unlink


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte: one call may write fewer."""
    view = memoryview(data)
    while view:
        view = view[write(descriptor, view) :]


def read_at(descriptor: int, offset: int, size: int) -> bytes:
    """Up to `size` bytes at `offset`; the end of a file opened for appending stays where writes go."""
    os.lseek(descriptor, offset, os.SEEK_SET)
    return os.read(descriptor, size)


def replace(path: Path, data: bytes, *, sync: bool) -> None:
    """Put `data` at `path` whole or not at all; where that fails, nothing of it is left.

    Raises:
        OSError: the disk fails, or `path` is a folder, a device or a pipe: these are never replaced.
    """
    if path.exists() and not path.is_file():
        raise FileExistsError(EEXIST, "not a regular file, so it is not replaced", str(path))
    fresh = path.with_name(path.name + ".new")  # in the same folder: across file systems a rename is a copy
    # Without O_BINARY, Windows writes a carriage return before each newline, and no hash is right.
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(fresh, flags, 0o644)
        try:
            write_all(descriptor, data)
            if sync:
                fsync(descriptor)
        finally:
            os.close(descriptor)
        rename(fresh, path)
    except OSError as error:
        _give_up(fresh, path, error)
        raise
    if sync:
        sync_folder(path.parent)


@contextmanager
def replacing_path(path: Path) -> Iterator[Path]:
    """A path to write to that takes the place of `path` where all of the block went well.

    Else nothing is left.

    Raises:
        OSError: as `replace`.
    """
    if path.exists() and not path.is_file():
        raise FileExistsError(EEXIST, "not a regular file, so it is not replaced", str(path))
    fresh = path.with_name(path.name + ".new")
    try:
        yield fresh
        rename(fresh, path)
    except BaseException as error:
        _give_up(fresh, path, error)
        raise


def _give_up(fresh: Path, path: Path, error: BaseException) -> None:
    """Nothing of a new file is left, and its error names the one that it was to replace."""
    with suppress(OSError):
        fresh.unlink(missing_ok=True)
    if isinstance(error, OSError) and error.errno and error.filename in (None, str(fresh)):
        error.filename = str(path)


def sync_folder(folder: Path) -> None:
    """Make a rename or a new name in `folder` durable, where the system can."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fsync(descriptor)
    finally:
        os.close(descriptor)


def remove(path: Path) -> None:
    """Remove a file that may already be missing."""
    if path.exists():
        unlink(path)
