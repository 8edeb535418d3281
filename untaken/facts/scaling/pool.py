"""Worker processes on this machine; a chunk that is lost with its worker is done again."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from math import ceil
from multiprocessing import get_context
from typing import Any, Final, Protocol, TypeVar, runtime_checkable

from untaken.errors import UntakenError
from untaken.limits import MIB

Shared = TypeVar("Shared")
Chunk = TypeVar("Chunk")
Answer = TypeVar("Answer")
Item = TypeVar("Item")
CHUNKS_PER_WORKER: Final = 8
"""Fewest chunks, where there are that many items: the last chunks then finish at about the same time."""
CHUNK_BYTES: Final = 64 * MIB
"""Most bytes of ledgers in a chunk: what a worker holds at once, and what is lost with it."""
TRIES: Final = 3
"""Times in a row that workers may end without an answer."""
_SHARED: Final[list[Any]] = []
"""In a worker: what all chunks share."""


@runtime_checkable
class Cluster(Protocol):
    """Where the chunks of many runs are carried out: `LocalPool` or `DaskCluster`.

    Attributes:
        workers: how many chunks are carried out at once.
    """

    workers: int

    def map(
        self, work: Callable[[Shared, Chunk], Answer], chunks: Sequence[Chunk], shared: Shared
    ) -> Iterator[Answer]:
        """What `work` makes of each chunk, in the order of the chunks, each as soon as it is there.

        Args:
            work: called with what all chunks share and with a chunk. A function of a module, so that a worker
                can import it.
            chunks: one for each call.
            shared: sent to each worker once.

        Raises:
            UntakenError: ``worker-lost`` where a chunk costs one worker after the other; whatever `work`
                raises.
        """
        ...

    def close(self) -> None:
        """Ends the workers that were started here."""
        ...


class LocalPool:
    """Processes of this machine, for as long as a `map` takes.

    They are spawned, not forked: a script that uses a pool keeps its own work under
    ``if __name__ == "__main__":``.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def map(
        self, work: Callable[[Shared, Chunk], Answer], chunks: Sequence[Chunk], shared: Shared
    ) -> Iterator[Answer]:
        """Like `Cluster.map`."""
        done = lost = 0
        while done < len(chunks):
            try:
                for answer in self._answers(work, chunks[done:], shared):
                    yield answer
                    done, lost = done + 1, 0
            except BrokenProcessPool:
                lost += 1
                if lost == TRIES:
                    raise worker_lost() from None

    def _answers(
        self, work: Callable[[Shared, Chunk], Answer], chunks: Sequence[Chunk], shared: Shared
    ) -> Iterator[Answer]:
        workers = min(self.workers, len(chunks))
        with ProcessPoolExecutor(workers, get_context("spawn"), _begin, (shared,)) as pool:
            try:
                yield from pool.map(partial(_answer, work), chunks)
            finally:
                # After Ctrl-C nobody waits for what is under way; after the last answer nothing is. If asked
                # to end, workers could wait for ever: one that was killed may hold the lock of their queue.
                for process in list(pool._processes.values()):
                    process.kill()

    def close(self) -> None:
        """Nothing is left: the processes end with their `map`."""


def worker_lost() -> UntakenError:
    """The error where a chunk costs one worker after the other."""
    return UntakenError(
        "worker-lost",
        f"{TRIES} workers ended while they evaluated the same ledgers",
        hint="Most often the memory is full: use fewer workers, or split large ledgers.",
    )


def _begin(shared: object) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    _SHARED[:] = [shared]


def _answer(work: Callable[[Any, Chunk], Answer], chunk: Chunk) -> Answer:
    return work(_SHARED[0], chunk)


def chunks(items: Sequence[Item], sizes: Sequence[int], *, workers: int) -> Iterator[list[Item]]:
    """The items in order, in chunks of about equal size.

    Args:
        items: files.
        sizes: bytes of each item. One that is larger than a chunk is a chunk of its own.
        workers: how many share the work.
    """
    most = min(CHUNK_BYTES, ceil(sum(sizes) / (CHUNKS_PER_WORKER * workers)))
    chunk: list[Item] = []
    filled = 0
    for item, size in zip(items, sizes, strict=True):
        if chunk and filled + size > most:
            yield chunk
            chunk, filled = [], 0
        chunk.append(item)
        filled += size
    if chunk:
        yield chunk
