"""A temporary folder of one process, which goes with it: at once, or when the next such process starts."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Final

from filelock import FileLock, Timeout

_IN_USE: Final = ".in-use"


class ScratchFolder:
    """A new temporary folder; those of its kind whose process was killed are removed first.

    Args:
        prefix: of the names of its kind.

    Attributes:
        path: the folder, for this user alone.
    """

    def __init__(self, prefix: str) -> None:
        for old in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
            with suppress(Timeout, OSError):  # in use, or removed by another process
                _remove_unused(old)
        self.path = Path(tempfile.mkdtemp(prefix=prefix))
        self._lock = FileLock(self.path / _IN_USE, mode=0o600)
        self._lock.acquire()

    def remove(self) -> None:
        """Removes it with all that is in it."""
        self._lock.release()
        shutil.rmtree(self.path, ignore_errors=True)


def _remove_unused(folder: Path) -> None:
    """Removes the folder of a process that is gone: nobody holds its lock.

    Others can put anything into the folder for temporary files, links too: only what is this user's, and was
    made here, is touched.
    """
    about, mark = folder.lstat(), (folder / _IN_USE).lstat()  # a link that was put here leads nowhere
    ours = not hasattr(os, "getuid") or about.st_uid == mark.st_uid == os.getuid()
    if ours and S_ISDIR(about.st_mode) and S_ISREG(mark.st_mode):
        with FileLock(folder / _IN_USE, timeout=0):
            shutil.rmtree(folder, ignore_errors=True)
