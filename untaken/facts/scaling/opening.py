"""Who shares the work of many runs: from a number or an address to workers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from untaken.errors import UntakenError
from untaken.facts.scaling.dask_cluster import DaskCluster
from untaken.facts.scaling.pool import Cluster, LocalPool

ClusterPlace = int | str | Any | None
"""This process (``None``), a number of processes, the address of a Dask scheduler, or its client."""


@contextmanager
def open_cluster(place: ClusterPlace) -> Iterator[Cluster | None]:
    """Who shares the work; what is started or connected here ends with the block.

    Args:
        place: ``None`` for this process; a number of processes; the address of a Dask scheduler
            (``tcp://host:8786``); a ``dask.distributed.Client``; or a `Cluster` that is open already.

    Raises:
        UntakenError: ``cluster-invalid``; for Dask ``cluster-extra-missing``, ``cluster-unreachable``,
            ``cluster-version``.
    """
    if place is None or isinstance(place, Cluster):
        yield place
        return
    cluster = _cluster(place)
    try:
        yield cluster
    finally:
        cluster.close()


def _cluster(place: Any) -> Cluster:
    text = str(place)
    if isinstance(place, int) or text.isdecimal():
        if int(place) < 1:
            raise _invalid(text)
        return LocalPool(int(place))
    if isinstance(place, str) and "://" not in place:
        raise _invalid(text)
    return DaskCluster(place)


def _invalid(text: str) -> UntakenError:
    return UntakenError(
        "cluster-invalid",
        f"{text!r} is neither a number of processes nor an address",
        hint="For example 4, or tcp://10.0.0.1:8786.",
    )
