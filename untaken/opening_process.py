"""Makes a workspace of plain folders in a process of its own, while the app's own process still loads.

What is made is a workspace with tables (`untaken.scaling.reopening`), which opens in a tenth of the time.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from untaken.working_process import end_with_app, environment

_ENTRY: Final = "from untaken.opening_process import work; work()"


class OpeningJob(msgspec.Struct, frozen=True, kw_only=True):
    """What a process is to do: add what is found under `folders` to the workspace `at`."""

    folders: tuple[str, ...]
    at: str


class Opening:
    """A process that makes a workspace.

    Args:
        folders: of ledgers and plan graphs.
        at: where the workspace is kept.
    """

    def __init__(self, folders: Sequence[Path], at: Path) -> None:
        job = OpeningJob(folders=tuple(map(str, folders)), at=str(at))
        self._process = subprocess.Popen(  # noqa: S603 - fixed words
            [sys.executable, "-c", _ENTRY],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment(),
        )
        assert self._process.stdin is not None  # noqa: S101 - a pipe
        self._process.stdin.write(msgspec.json.encode(job) + b"\n")
        self._process.stdin.flush()

    def complete(self) -> bool:
        """Whether all of it was made, once the process has ended; where it was not, opening says why."""
        made = self._process.wait() == 0
        if self._process.stdin:
            self._process.stdin.close()
        return made

    def end(self) -> None:
        """Kills the process where it still works; what it was to make is not wanted any more."""
        self._process.kill()
        self.complete()


def work() -> None:
    """What the process does."""
    from untaken.scaling.reopening import reopen  # noqa: PLC0415 (slow: the app does not wait for it)
    from untaken.store import Workspace  # noqa: PLC0415 (as above)

    job = msgspec.json.decode(sys.stdin.buffer.readline(), type=OpeningJob)
    end_with_app()
    for folder in job.folders:
        Workspace.open_folder(folder, at=job.at).close()
    with Workspace(job.at) as store:
        reopen(store)
