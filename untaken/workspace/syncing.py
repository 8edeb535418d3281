"""Waiting until files that were written are safe from a power cut: one by one, or many together."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

TOGETHER_FROM: Final = 64
"""Files in one folder from which its whole file system is synced, which costs as much as one file of it."""
_AT_ONCE: Final = 16
_FILE_SYSTEMS: Final = frozenset(("ext4", "xfs", "btrfs", "overlay"))
"""Those of which it is known that a sync of the whole waits for the disk, as that of a file does."""
_REPORTS_FAULTS: Final = (5, 8)
"""The first Linux whose sync of a file system reports that a write has failed."""
_MOUNTS: Final = Path("/proc/self/mountinfo")


class Unsynced:
    """Files that are written and not yet safe, by the folder that they are in."""

    def __init__(self) -> None:
        self._files: dict[str, dict[str, None]] = {}
        self._folders: dict[str, int] = {}

    def expect(self, path: Path) -> None:
        """Called before a file is written: who opens its folder later misses earlier faults."""
        folder = str(path.parent)
        if folder not in self._folders and os.name == "posix":
            self._folders[folder] = os.open(folder, os.O_RDONLY)

    def add(self, path: Path) -> None:
        """Notes a file that was written."""
        self._files.setdefault(str(path.parent), {})[str(path)] = None

    def sync(self) -> None:
        """Waits until they are safe."""
        left: list[Path] = []
        for folder, files in self._files.items():
            whole = file_system_sync(Path(folder)) if len(files) >= TOGETHER_FROM else None
            if whole is None:
                left += map(Path, files)
            else:
                whole(self._folders[folder])
        # Syncing is waiting for the disk, so several files wait at the same time.
        shares = [share for n in range(_AT_ONCE) if (share := left[n::_AT_ONCE])]
        if shares:
            with ThreadPoolExecutor(len(shares)) as pool:
                list(pool.map(_sync_files, shares))
        # Folders synced with their whole file system have their names synced, too.
        for parent in dict.fromkeys(path.parent for path in left):
            sync_folder(parent)

    def close(self) -> None:
        """Lets go of the folders."""
        for descriptor in self._folders.values():
            os.close(descriptor)


UNSYNCED: Final[ContextVar[Unsynced | None]] = ContextVar("files to be synced", default=None)


@contextmanager
def synced_together() -> Iterator[None]:
    """Copies kept inside are safe from a power cut at its end."""
    waiting = Unsynced()
    before = UNSYNCED.set(waiting)
    try:
        try:
            yield
        finally:
            UNSYNCED.reset(before)
        waiting.sync()
    finally:
        waiting.close()


def file_system_sync(folder: Path) -> Callable[[int], None] | None:
    """What syncs the whole file system of a folder, by a descriptor; ``None`` where it must not be used."""
    system = _syncfs()
    return system if system is not None and _file_system(folder.stat().st_dev) in _FILE_SYSTEMS else None


@cache
def _syncfs() -> Callable[[int], None] | None:
    """The system's call; ``None`` on a system without it, or whose call hides failed writes."""
    if sys.platform != "linux":
        return None
    release = re.match(r"(\d+)\.(\d+)", os.uname().release)
    call = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
    if call is None or release is None or tuple(map(int, release.groups())) < _REPORTS_FAULTS:
        return None

    def syncfs(descriptor: int) -> None:
        if call(descriptor) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))

    return syncfs


@lru_cache(maxsize=64)
def _file_system(device: int) -> str | None:
    """The kind of the file system of a device, as far as the system says it."""
    wanted = f"{os.major(device)}:{os.minor(device)}"
    try:
        lines = _MOUNTS.read_text("utf-8", "replace").splitlines()
    except OSError:
        return None
    # "36 35 98:0 / /mnt rw shared:1 - ext4 …": the third field is the device, the kind follows the dash.
    for line in lines:
        place, _, kind = line.partition(" - ")
        if place.split(" ", 3)[2] == wanted:
            return kind.split(" ", 1)[0]
    return None


def _sync_files(paths: Iterable[Path]) -> None:
    for path in paths:
        _sync(path, os.O_RDWR)  # Windows syncs only what is open for writing


def sync_folder(folder: Path) -> None:
    """Makes the names in a folder durable, where the system can."""
    if os.name == "posix":
        _sync(folder, os.O_RDONLY)


def _sync(path: Path, mode: int) -> None:
    descriptor = os.open(path, mode)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
