"""Files that are replaced whole, so that readers see the old content or the new, and changed under a lock."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from secrets import token_hex
from time import sleep
from typing import Final, TypeVar

from filelock import FileLock

Content = TypeVar("Content")
POLL_SECONDS: Final = 0.005
"""Between two looks at a lock. It has no queue: who has just had it lets the others look first."""


def write_whole(file: Path, data: bytes) -> None:
    """Replace a file in one step."""
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
    with FileLock(file.with_name(f".{file.name}.lock")).acquire(poll_interval=POLL_SECONDS):
        before = read()
        changed = change(before)
        if changed != before:
            write_whole(file, encode(changed))
    sleep(2 * POLL_SECONDS)
    return changed
