"""Files that are replaced whole, so that readers see the old content or the new, and changed under a lock."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import TypeVar

if sys.platform == "win32":
    from filelock import FileLock
else:
    import fcntl

Content = TypeVar("Content")


def write_whole(file: Path, data: bytes) -> None:
    """Replace a file in one step."""
    # Beside it: within one file system a rename is one step.
    draft = file.with_name(f".{file.name}.{token_hex(8)}.tmp")
    try:
        draft.write_bytes(data)
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)


def change_file(
    file: Path,
    read: Callable[[], Content],
    change: Callable[[Content], Content],
    encode: Callable[[Content], bytes],
) -> Content:
    """Change the content of a file in one step, safe against concurrent changes; as it is now.

    Where `read`, `change` or `encode` fails, nothing is written.
    """
    with _locked(file.with_name(f".{file.name}.lock")):
        before = read()
        changed = change(before)
        if changed != before:
            write_whole(file, encode(changed))
    return changed


@contextmanager
def _locked(lock: Path) -> Iterator[None]:
    """Waits in the system's queue: of many who look again and again, one may look in vain for seconds."""
    if sys.platform == "win32":
        with FileLock(lock):  # Windows has no `flock`; this one looks again and again
            yield
    else:
        with lock.open("ab") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            yield
