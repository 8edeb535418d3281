"""Workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from importlib import import_module
from typing import Any

from untaken.errors import UntakenError
from untaken.extras import load_extra
from untaken.facts.scaling.pool import TRIES, Answer, Chunk, Shared, worker_lost


class DaskCluster:
    """A Dask cluster, by the address of its scheduler or by a client.

    Dask gives the chunks of a worker that ends to others. Workers read the ledgers themselves: paths and URLs
    must be the same for all of them.
    """

    def __init__(self, place: Any) -> None:
        """Connects.

        Args:
            place: ``tcp://…``, ``tls://…`` or a ``dask.distributed.Client``.

        Raises:
            UntakenError: ``cluster-extra-missing``, ``cluster-unreachable``, ``cluster-version``.
        """
        distributed = load_extra("distributed", "cluster-extra-missing", "cluster", "Dask is not installed")
        self._lost = CancelledError, distributed.KilledWorker
        self._own = isinstance(place, str)
        try:
            # Never the default client: the caller's own tasks stay where they are.
            self._client: Any = distributed.Client(place, set_as_default=False) if self._own else place
            versions = self._client.run(_version)
        except (OSError, ValueError) as error:
            raise UntakenError(
                "cluster-unreachable",
                f"no Dask scheduler at {place}: {error}",
                hint="Name the address that `dask scheduler` prints, such as tcp://10.0.0.1:8786.",
            ) from None
        self._check(versions)
        self.workers = max(1, sum(self._client.nthreads().values()))

    def _check(self, versions: dict[str, str]) -> None:
        others = sorted({version for version in versions.values() if version != _version()})
        if others or not versions:
            found = f"untaken {', '.join(others)} on its workers" if others else "no worker"
            self.close()
            raise UntakenError(
                "cluster-version" if others else "cluster-unreachable",
                f"this is untaken {_version()}; the cluster has {found}",
                hint="Install the same version everywhere." if others else "Start one: dask worker ADDRESS.",
            )

    def map(
        self, work: Callable[[Shared, Chunk], Answer], chunks: Sequence[Chunk], shared: Shared
    ) -> Iterator[Answer]:
        """Like `untaken.facts.scaling.pool.Cluster.map`."""
        common = self._client.scatter(shared, broadcast=True, hash=False) if chunks else None
        # Not pure: ledgers may have changed since Dask answered the same call.
        asked = [self._client.submit(work, common, chunk, pure=False) for chunk in chunks]
        for number, chunk in enumerate(chunks):
            yield self._result(work, asked[number], chunk, shared)
            asked[number] = None  # the cluster keeps an answer as long as somebody could ask for it

    def _result(
        self, work: Callable[[Shared, Chunk], Answer], asked: Any, chunk: Chunk, shared: Shared
    ) -> Answer:
        """The answer; asked again where it, or what all chunks share, is gone with a worker."""
        for _ in range(TRIES):
            try:
                answer: Answer = asked.result()
            except self._lost:
                asked = self._client.submit(work, shared, chunk, pure=False)
            else:
                return answer
        raise worker_lost()

    def close(self) -> None:
        """Closes the connection, if it was opened here; the cluster stays."""
        if self._own:
            self._client.close()


def _version() -> str:
    """What is installed here. (The package itself is above this room: it imports all of them.)"""
    return str(import_module("untaken").__version__)
