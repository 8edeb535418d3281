"""Takes files in in a process of its own, so that no file can block the app.

The interpreter runs one thread at a time, and some work (parsing a large JSON text) does not let go of it: in
the app's own process it would stop every page and the Cancel button. Here each file has a deadline, the work
ends when it is cancelled, and the memory it took is free again afterwards.
"""

from __future__ import annotations

import mmap
import signal
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import IO, Final

import msgspec
from msgspec.structs import replace

from untaken import limits
from untaken.errors import Finding, UntakenError, Where
from untaken.working import telling
from untaken.workspace.app_process import end_with_app, environment, output_to_app
from untaken.workspace.intake import Progress, UploadResult, take_in
from untaken.workspace.workspace import Workspace

_TICK: Final = 0.2
"""Seconds between two looks at what the process does; `progress` is called as often."""
_GRACE: Final = 2.0
"""Seconds for a process to clean up after it is asked to end."""
_LENGTH: Final = 4
_AT: Final = struct.Struct("<QQQI")
_TURN: Final = struct.Struct("<Q")
_AT_BYTES: Final = 64 * limits.KIB
"""Size of the file, in the memory of both processes, that says how far the work is: it costs no message."""
_ENTRY: Final = "from untaken.workspace.intake_process import work; work()"


class IntakeJob(msgspec.Struct, frozen=True, kw_only=True):
    """What a process is to do: `files` are (name, path) of each."""

    folder: str
    files: tuple[tuple[str, str], ...]
    agent: str | None


class IntakeProgress(msgspec.Struct, frozen=True, kw_only=True):
    """Progress of the work: `name` is the current file; `turn` moves with every step."""

    turn: int
    done: int
    total: int
    name: str

    @classmethod
    def read(cls, shared: mmap.mmap) -> IntakeProgress:
        """How far the work is; while a step is being written, the name may be half of it."""
        turn, done, total, size = _AT.unpack_from(shared)
        name = shared[_AT.size : _AT.size + size].decode(errors="replace")
        return cls(turn=turn, done=done, total=total, name=name)

    def write(self, shared: mmap.mmap) -> None:
        """Says how far the work is."""
        name = self.name.encode(errors="replace")[: len(shared) - _AT.size]
        shared[: _AT.size + len(name)] = _AT.pack(self.turn, self.done, self.total, len(name)) + name

    @staticmethod
    def step(turn: int, shared: mmap.mmap) -> None:
        """Says that the work on the same file goes on."""
        _TURN.pack_into(shared, 0, turn)


class Rows(msgspec.Struct, frozen=True, tag=True):
    """The results for some files."""

    rows: list[UploadResult]


class Ended(msgspec.Struct, frozen=True, tag=True):
    """The last message: the order of the rows that came."""

    order: list[int]


class Failed(msgspec.Struct, frozen=True, tag=True):
    """The workspace could not be used: the last message."""

    finding: Finding


Message = Rows | Ended | Failed


class Stopped(msgspec.Struct, frozen=True, kw_only=True):
    """The work ended early, at the file `name`, for the reason in `finding`."""

    name: str
    finding: Finding


def take_in_apart(
    workspace: Workspace,
    files: Sequence[tuple[str, Path]],
    *,
    agent: str | None = None,
    progress: Progress | None = None,
    each: Callable[[list[UploadResult]], None] | None = None,
) -> list[UploadResult]:
    """`take_in` in another process, with deadlines; a file that holds it up is left out, the others go on.

    Args:
        workspace: where ledgers, graphs and traces are kept.
        files: (name, file) of each.
        agent: the agent's name for foreign traces that do not record it.
        progress: called several times a second. What it raises ends the process; what was added stays.
        each: as `take_in`: by it a caller knows what was added before `progress` raised.

    Returns:
        As `take_in`; then a row with the finding ``intake-deadline`` or ``intake-failed`` for each file that
        was left out.
    """
    left = [(name.encode(errors="replace").decode(), path) for name, path in files]  # no half characters
    left_out: list[UploadResult] = []
    new: set[str] = set()
    ends = monotonic() + limits.INTAKE_SECONDS
    while left:
        places = tuple((name, str(path)) for name, path in left)
        job = IntakeJob(folder=str(workspace.path), files=places, agent=agent)
        outcome = _attempt(job, new, progress, each, ends)
        if not isinstance(outcome, Stopped):
            # An earlier attempt may already have added the file: then it is new all the same.
            rows = [replace(row, new=True) if row.name in new else row for row in outcome]
            return rows + left_out
        late = monotonic() >= ends
        # Members are named after their archive. At least one file is left out, so attempts come to an end.
        at = [one for one in left if f"{outcome.name}/".startswith(f"{one[0]}/")] or left[:1]
        for name, _ in left if late else at:
            finding = replace(outcome.finding, where=Where(file=name))
            left_out.append(UploadResult(name=name, kind=None, findings=(finding,)))
        left = [] if late else [one for one in left if one not in at]
    return left_out


def _attempt(
    job: IntakeJob,
    new: set[str],
    progress: Progress | None,
    each: Callable[[list[UploadResult]], None] | None,
    ends: float,
) -> list[UploadResult] | Stopped:
    """One process from its start to its end; the names of files that were new are put into `new`."""
    arrived: list[UploadResult] = []
    with _running(job) as (process, messages, shared):
        at = IntakeProgress.read(shared)
        reported_at, quiet_from = monotonic(), None  # until the first step it is starting
        while True:
            before, at = at, IntakeProgress.read(shared)
            now = monotonic()
            worked = now - _kept_waiting(process.pid)  # time spent waiting for a processor does not count
            if at.turn != before.turn:
                quiet_from = worked
            quiet = quiet_from is not None and worked - quiet_from >= limits.INTAKE_FILE_SECONDS
            if quiet or now >= ends:
                return Stopped(name=at.name, finding=_late(now >= ends))
            if progress and now >= reported_at + _TICK:
                reported_at = now
                progress(at.done, at.total, at.name)
            try:
                message = messages.get(timeout=_TICK)
            except Empty:
                continue
            match message:
                case Rows(rows=rows):
                    arrived += rows
                    new |= {row.name for row in rows if row.new}
                    if each:
                        each(rows)
                case Ended(order=order):
                    return [arrived[place] for place in order]
                case Failed(finding=finding):
                    return Stopped(name=IntakeProgress.read(shared).name, finding=finding)
                case None:
                    failed = _failed(process.wait())
                    return Stopped(name=IntakeProgress.read(shared).name, finding=failed)


def _kept_waiting(process: int) -> float:
    """Seconds that a process was ready to work and had no processor; 0 where the system does not tell."""
    try:
        return int(Path(f"/proc/{process}/schedstat").read_bytes().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


def _late(whole: bool) -> Finding:
    if whole:
        message = f"reading took longer than {limits.INTAKE_SECONDS:g} seconds (all files together)"
    else:
        message = f"reading it did not come a step further in {limits.INTAKE_FILE_SECONDS:g} seconds"
    return Finding(
        code="intake-deadline",
        message=f"{message}; it was given up",
        hint="Split it, or convert it on the command line without a time limit: untaken convert.",
        severity="error",
    )


def _failed(status: int) -> Finding:
    return Finding(
        code="intake-failed",
        message=f"the reading process stopped unexpectedly (exit status {status})",
        hint="It may have run out of memory. Split the file, or convert it on the command line.",
        severity="error",
    )


@contextmanager
def _running(
    job: IntakeJob,
) -> Iterator[tuple[subprocess.Popen[bytes], SimpleQueue[Message | None], mmap.mmap]]:
    """The process at work, what it says, and how far it is; ``None`` when it says no more.

    It has ended on the way out.
    """
    messages: SimpleQueue[Message | None] = SimpleQueue()
    with tempfile.TemporaryDirectory(prefix="untaken-") as scratch:
        at = Path(scratch, "progress")
        at.write_bytes(bytes(_AT_BYTES))
        process = subprocess.Popen(  # noqa: S603 - fixed words
            [sys.executable, "-c", _ENTRY, str(at)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment() | {"TMPDIR": scratch},
        )
        assert process.stdin is not None  # noqa: S101 - a pipe
        assert process.stdout is not None  # noqa: S101 - a pipe
        listening = Thread(target=_listen, args=(process.stdout, messages), daemon=True)
        listening.start()
        try:
            with suppress(BrokenPipeError):  # it ended already: the listener hears that
                process.stdin.write(_message(job))
                process.stdin.flush()
            with _shared(at) as shared:
                yield process, messages, shared
        finally:
            _end(process)  # first, because the listener waits for its end
            listening.join()
            process.stdout.close()
            with suppress(BrokenPipeError):
                process.stdin.close()


@contextmanager
def _shared(path: Path) -> Iterator[mmap.mmap]:
    """A file in memory, for all processes that have it there."""
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as shared:
        yield shared


def _message(message: IntakeJob | Message) -> bytes:
    """A message after its length in four bytes."""
    data = msgspec.msgpack.encode(message)
    return len(data).to_bytes(_LENGTH) + data


def _listen(stream: IO[bytes], messages: SimpleQueue[Message | None]) -> None:
    """Puts each message into the queue."""
    try:
        while size := stream.read(_LENGTH):
            messages.put(msgspec.msgpack.decode(stream.read(int.from_bytes(size)), type=Message))
    except msgspec.MsgspecError:
        messages.put(None)  # it ended in the middle of a message
    else:
        messages.put(None)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Lets the process clean up; one that cannot, because its work does not let go, is killed."""
    process.terminate()
    try:
        process.wait(_GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def work() -> None:
    """What the process does: reads its job, takes the files in, says how far it is and what they gave."""
    output = output_to_app()

    def send(message: Message) -> None:
        output.write(_message(message))
        output.flush()

    given = sys.stdin.buffer
    job = msgspec.msgpack.decode(given.read(int.from_bytes(given.read(_LENGTH))), type=IntakeJob)
    end_with_app()
    last: Message
    try:
        with Workspace(job.folder) as workspace, _shared(Path(sys.argv[1])) as shared:
            last = _work(job, workspace, shared, send)
    except UntakenError as error:
        last = Failed(error.finding())
    except OSError as error:
        hint = "Free some space, or check the disk that the workspace is on; then upload again."
        last = Failed(
            UntakenError("intake-failed", f"the disk failed: {error.strerror}", hint=hint).finding()
        )
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it ends by itself now
    send(last)


def _work(job: IntakeJob, workspace: Workspace, shared: mmap.mmap, send: Callable[[Message], None]) -> Ended:
    turns = count(1)
    sent: list[UploadResult] = []

    def progress(done: int, total: int, name: str) -> None:
        IntakeProgress(turn=next(turns), done=done, total=total, name=name).write(shared)

    def each(rows: list[UploadResult]) -> None:
        sent.extend(rows)
        send(Rows(rows))

    files = [(name, Path(path)) for name, path in job.files]
    with telling(lambda: IntakeProgress.step(next(turns), shared)):
        rows = take_in(workspace, files, agent=job.agent, progress=progress, each=each)
    # Rows were sent as they came; only now their final order is known.
    places = {id(row): place for place, row in enumerate(sent)}
    return Ended([places[id(row)] for row in rows])
