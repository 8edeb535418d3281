"""Many files in parts of bounded number and size, and those found in folders added so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Final, TypeVar

from sqlalchemy import Engine

from untaken.errors import UntakenError
from untaken.limits import MIB
from untaken.workspace.faults import disk_failed

BATCH_FILES: Final = 500
BATCH_BYTES: Final = MIB
"""Most files and bytes written in one transaction: nobody else can write meanwhile."""
Item = TypeVar("Item")


def batches(items: Iterable[Item], size: Callable[[Item], int]) -> Iterator[list[Item]]:
    """The items in order, in parts; what is larger (`size`, in bytes) than a part may be is alone."""
    part: list[Item] = []
    room = BATCH_BYTES
    for item in items:
        needed = size(item)
        if part and (needed > room or len(part) == BATCH_FILES):
            yield part
            part, room = [], BATCH_BYTES
        part.append(item)
        room -= needed
    if part:
        yield part


def take_found(
    found: Sequence[tuple[Path, Path]],
    take: Callable[[str, Path], None],
    together: Callable[[], AbstractContextManager[None]],
    engine: Engine,
    progress: Callable[[int, int, str], None] | None,
) -> None:
    """Takes each file.

    Args:
        found: (folder, file in it) of each.
        take: adds a file under a name.
        together: around several small files.
        engine: of the workspace.
        progress: called after each file.

    Raises:
        UntakenError: where the disk or the database fails; the files of the batch at work are not added, and
            of the others it says how many are.
    """
    kept = done = 0
    try:
        for part in batches(found, lambda item: item[1].stat().st_size):
            with together() if len(part) > 1 else nullcontext():  # a single file has its own transaction
                for folder, path in part:
                    name = path.relative_to(folder).as_posix()
                    take(name, path)
                    done += 1
                    if progress:
                        progress(done, len(found), name)
            kept = done
    except (UntakenError, OSError) as error:
        why = disk_failed(error, engine.url) if isinstance(error, OSError) else error
        folder, path = found[kept]
        first = path.relative_to(folder).as_posix()
        message = (
            f"{len(found) - kept} of {len(found)} files were not added, from {first!r} on: {why.message}"
        )
        raise UntakenError(why.code, message, where=why.where, hint=why.hint) from error
