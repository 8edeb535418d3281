"""Which runs are compared with which policy memory, where there is more than one (§3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from untaken.counterfactual.memory.policy import PolicyMemory

Memories = Mapping[str, PolicyMemory]
"""The memory that each run is compared with, by the run's content digest."""


def by_memory(memories: Memories, digests: Iterable[str]) -> list[tuple[PolicyMemory, list[str]]]:
    """Each memory once with those of the runs that are compared with it, in the order in which they come."""
    found: dict[int, tuple[PolicyMemory, list[str]]] = {}
    for digest in digests:
        memory = memories[digest]
        found.setdefault(id(memory), (memory, []))[1].append(digest)
    return list(found.values())
