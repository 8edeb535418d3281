"""Chunks carried out in this process, so that what they give can be compared without starting others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from programs import sent


class InChunks:
    """A cluster without processes."""

    workers = 3

    def __init__(self) -> None:
        self.chunks: list[int] = []

    def map(self, work: Callable[[Any, Any], Any], chunks: Sequence[Any], shared: Any) -> Iterator[Any]:
        self.chunks.append(len(chunks))
        return iter([sent(work(sent(shared), sent(chunk))) for chunk in chunks])

    def close(self) -> None:
        """Nothing was started."""
