"""Worker processes on this machine; a chunk that is lost with its worker is done again."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from statistics import median
from threading import Condition, Thread
from time import monotonic
from typing import Final, Protocol, runtime_checkable

from untaken.errors import UntakenError
from untaken.scaling.packing import pack, unpack

Work = Callable[[bytes, bytes], bytes]
"""Carries out one chunk: called with what all chunks share and with the chunk."""
TRIES: Final = 3
"""Workers that one chunk may cost."""
STRAGGLES: Final = 4.0
"""A chunk that takes this many times the median is done by an idle worker, too: the first answer counts."""
STRAGGLES_SECONDS: Final = 10.0
"""A chunk that takes less than this is not late."""
LOOK_SECONDS: Final = 1.0
_DONE, _FAILED, _SHARED, _CHUNK = b"+", b"!", b"s", b"c"


@runtime_checkable
class Cluster(Protocol):
    """Where the chunks of many runs are carried out: `LocalPool` or `DaskCluster`.

    Attributes:
        workers: how many chunks are carried out at once.
    """

    workers: int

    def map(self, work: Work, chunks: Sequence[bytes], shared: bytes = b"") -> Iterator[bytes]:
        """What `work` makes of each chunk, in the order of the chunks, each as soon as it is there.

        Args:
            work: a function of a module, so that a worker can import it.
            chunks: one for each call.
            shared: the first argument of every call; sent to each worker once.

        Raises:
            UntakenError: ``worker-lost`` where a chunk costs one worker after the other; whatever `work`
                raises.
        """
        ...

    def close(self) -> None:
        """Ends the workers that were started here."""
        ...


class LocalPool:
    """Processes of this machine, started when they are first needed.

    They are spawned, not forked: a script that uses a pool keeps its own work under
    ``if __name__ == "__main__":``.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._idle: list[_Worker] = []

    def map(self, work: Work, chunks: Sequence[bytes], shared: bytes = b"") -> Iterator[bytes]:
        """Like `Cluster.map`."""
        task = _Task(work=work, chunks=chunks, shared=shared)
        count = min(self.workers, len(chunks))
        workers = [self._idle.pop() if self._idle else _Worker() for _ in range(count)]
        threads = [Thread(target=task.serve, args=(worker,), daemon=True) for worker in workers]
        for thread in threads:
            thread.start()
        try:
            for number in range(len(chunks)):
                yield task.result(number)
        finally:
            task.stop()
            for thread in threads:
                thread.join()
            self._idle += workers

    def close(self) -> None:
        """Ends the processes."""
        while self._idle:
            self._idle.pop().stop()


@dataclass(eq=False, slots=True)
class _Worker:
    """One process, and the end of the pipe to it."""

    process: BaseProcess | None = None
    pipe: Connection | None = None
    shared: bytes | None = None

    def ask(self, work: Work, chunk: bytes, shared: bytes) -> bytes:
        """The answer of the process; EOFError or OSError where it ends instead."""
        pipe = self.pipe or self._start()
        if self.shared is not shared:
            pipe.send_bytes(_SHARED + shared)
            self.shared = shared
        pipe.send_bytes(_CHUNK + pack((work, chunk)))
        return pipe.recv_bytes()

    def _start(self) -> Connection:
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()  # so that reading fails once the process has ended
        return self.pipe

    def kill(self) -> None:
        """Ends the process at once: `ask` gets EOFError."""
        if self.process is not None:
            self.process.kill()

    def stop(self) -> None:
        """Ends the process; the next `ask` starts another one."""
        if self.process is not None and self.pipe is not None:
            self.process.kill()
            self.process.join()
            self.pipe.close()
        self.process = self.pipe = self.shared = None


@dataclass(eq=False, slots=True, kw_only=True)
class _Task:
    """One `map`: which chunks are done, and who is at work on which since when."""

    work: Work
    chunks: Sequence[bytes]
    shared: bytes
    done: dict[int, bytes] = field(default_factory=dict)
    finished: set[int] = field(default_factory=set)
    took: list[float] = field(default_factory=list)
    lost: list[int] = field(default_factory=list)
    tries: dict[int, int] = field(default_factory=dict)
    at_work: dict[int, list[tuple[_Worker, float]]] = field(default_factory=dict)
    begun: int = 0
    error: BaseException | None = None
    stopped: bool = False
    changed: Condition = field(default_factory=Condition)

    def result(self, number: int) -> bytes:
        """Waits for a chunk; gives its result away."""
        with self.changed:
            while number not in self.done and self.error is None:
                self.changed.wait()
            if self.error is not None:
                raise self.error
            return self.done.pop(number)

    def stop(self) -> None:
        """Ends the workers that are still busy with this."""
        with self.changed:
            self.stopped = True
            for busy in self.at_work.values():
                for worker, _ in busy:
                    worker.kill()
            self.changed.notify_all()

    def serve(self, worker: _Worker) -> None:
        """Gives a worker one chunk after the other."""
        while (number := self._take(worker)) is not None:
            try:
                answer = worker.ask(self.work, self.chunks[number], self.shared)
            except (EOFError, OSError):
                worker.stop()
                self._lose(number, worker)
            else:
                self._finish(number, worker, answer)

    def _take(self, worker: _Worker) -> int | None:
        with self.changed:
            while not (self.stopped or self.error or len(self.finished) == len(self.chunks)):
                number = self._next()
                if number is not None:
                    self.at_work.setdefault(number, []).append((worker, monotonic()))
                    return number
                self.changed.wait(LOOK_SECONDS)
            return None

    def _next(self) -> int | None:
        """A chunk that is lost, or not begun, or late; ``None`` where all are in good hands."""
        if self.lost:
            return self.lost.pop()
        if self.begun < len(self.chunks):
            self.begun += 1
            return self.begun - 1
        late = max(STRAGGLES_SECONDS, STRAGGLES * median(self.took)) if self.took else float("inf")
        now = monotonic()
        return next(
            (n for n, busy in self.at_work.items() if len(busy) == 1 and now - busy[0][1] > late), None
        )

    def _finish(self, number: int, worker: _Worker, answer: bytes) -> None:
        with self.changed:
            busy = self.at_work.pop(number, [])
            if number in self.finished:
                return
            self.took += [monotonic() - since for each, since in busy if each is worker]
            self.finished.add(number)
            for other, _ in busy:
                if other is not worker:
                    other.kill()  # late, and its answer is no longer wanted
            if answer[:1] == _DONE:
                self.done[number] = answer[1:]
            else:
                self.error = self.error or unpack(answer[1:])
            self.changed.notify_all()

    def _lose(self, number: int, worker: _Worker) -> None:
        with self.changed:
            if number in self.finished or self.stopped:
                return
            busy = [each for each in self.at_work.get(number, []) if each[0] is not worker]
            self.at_work[number] = busy
            self.tries[number] = self.tries.get(number, 0) + 1
            if self.tries[number] >= TRIES:
                self.error = self.error or worker_lost(TRIES)
            elif not busy:
                del self.at_work[number]
                self.lost.append(number)
            self.changed.notify_all()


def worker_lost(tries: int) -> UntakenError:
    """The error where a chunk costs one worker after the other."""
    return UntakenError(
        "worker-lost",
        f"{tries} workers ended while they evaluated the same ledgers",
        hint="Most often the memory is full: use fewer workers, or split large ledgers.",
    )


def _serve(pipe: Connection) -> None:
    """The life of a worker process: one answer to each chunk."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    shared = b""
    try:
        while message := pipe.recv_bytes():
            if message[:1] == _SHARED:
                shared = message[1:]
                continue
            work, chunk = unpack(message[1:])
            pipe.send_bytes(_answer(work, chunk, shared))
    except (EOFError, OSError):
        return  # the parent has ended


def _answer(work: Work, chunk: bytes, shared: bytes) -> bytes:
    try:
        return _DONE + work(shared, chunk)
    except Exception as error:
        try:
            return _FAILED + pack(error)
        except Exception:  # an error of a library that cannot be sent
            return _FAILED + pack(RuntimeError(f"{type(error).__name__}: {error}"))
