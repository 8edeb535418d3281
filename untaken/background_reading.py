"""Looks for possible prompt injections in a process of its own: no page waits for it.

Every text of a run is looked at in all the ways in which a model might read it (`untaken.judging.readings`).
For thousands of runs that takes longer than a visitor waits, and the interpreter runs one thread at a time.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any, Final

import msgspec

from untaken.errors import UntakenError
from untaken.judging import texts_to_judges
from untaken.ledger import Run
from untaken.ledger.run import TEXTS_TO_JUDGES
from untaken.limits import MIB
from untaken.workspace import StoredFile, Workspace
from untaken.workspace.intake_process import end_with_app, environment, output_to_app

_AT_ONCE: Final = 100
_BYTES_AT_ONCE: Final = 16 * MIB
"""Most ledgers, and most bytes of them where it is not one, that are in memory together."""
_ENTRY: Final = "from untaken.background_reading import work; work()"


class ReadingJob(msgspec.Struct, frozen=True, kw_only=True):
    """What a process is to read: ledgers of a workspace, by digest."""

    folder: str
    ledgers: tuple[str, ...]


Texts = tuple[tuple[int, str], ...]
"""What was found in a run, as it is kept with the run (`TEXTS_TO_JUDGES`)."""


class BackgroundReading:
    """A process that reads ledgers once more.

    Args:
        folder: of the workspace.
        ledgers: by digest.
        ended: called with `found` once it has ended.

    Attributes:
        found: what it has found so far, by digest of the run; also of runs with nothing to be found.
    """

    def __init__(
        self, folder: Path, ledgers: Sequence[str], ended: Callable[[Mapping[str, Texts]], None]
    ) -> None:
        self.found: dict[str, Texts] = {}
        self._ended = ended
        job = ReadingJob(folder=str(folder), ledgers=tuple(ledgers))
        self._listener = Thread(target=self._listen, args=(job,), daemon=True)
        self._listener.start()

    @property
    def at_work(self) -> bool:
        """Whether more may be found."""
        return self._listener.is_alive()

    def wait(self) -> None:
        """Until it has ended."""
        self._listener.join()

    def _listen(self, job: ReadingJob) -> None:
        with subprocess.Popen(  # noqa: S603 - fixed words
            [sys.executable, "-c", _ENTRY],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(),
        ) as process:
            assert process.stdin is not None  # noqa: S101 - a pipe
            assert process.stdout is not None  # noqa: S101 - a pipe
            with suppress(BrokenPipeError, msgspec.DecodeError):  # it was killed: who needs more asks again
                process.stdin.write(msgspec.json.encode(job) + b"\n")
                process.stdin.flush()
                for line in process.stdout:
                    self.found.update(msgspec.json.decode(line, type=dict[str, Texts]))
        self._ended(self.found)


def work() -> None:
    """What the process does: reads its job, and writes a line for each part of it that is done.

    A workspace that cannot be read ends it: the pages say what is wrong.
    """
    output = output_to_app()
    job = msgspec.json.decode(sys.stdin.buffer.readline(), type=ReadingJob)
    end_with_app()
    if not Path(job.folder).is_dir():  # a private area that was discarded: opening it would create it again
        return
    with suppress(UntakenError, OSError), Workspace(job.folder) as store:
        wanted = set(job.ledgers)
        ledgers = [file for file in store.ledgers() if file.digest in wanted]
        for part in _parts(ledgers):
            found: dict[str, Texts] = {}
            for _ in store.read_some(part, partial(_look, found)):
                pass
            output.write(msgspec.json.encode(found) + b"\n")
            output.flush()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it ends by itself now


def _look(found: dict[str, Texts], _: StoredFile, some: Sequence[tuple[Run, object]]) -> list[Any]:
    """Looks at some runs, of which their names stay."""
    for run, _lines in some:
        if not run.integrity.broken:
            texts_to_judges(run)
            found[run.digest] = run.__dict__[TEXTS_TO_JUDGES]
    return [run.integrity for run, _lines in some]


def _parts(ledgers: Iterable[StoredFile]) -> Iterator[list[StoredFile]]:
    part: list[StoredFile] = []
    for file in ledgers:
        if part and (len(part) == _AT_ONCE or sum(f.bytes for f in part) + file.bytes > _BYTES_AT_ONCE):
            yield part
            part = []
        part.append(file)
    if part:
        yield part
