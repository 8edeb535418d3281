"""Chunks carried out in this process, so that what they give can be compared without starting others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from untaken.facts.scaling.pool import Work


class InChunks:
    """A cluster without processes."""

    workers = 3

    def __init__(self) -> None:
        self.chunks: list[int] = []

    def map(self, work: Work, chunks: Sequence[bytes], shared: bytes = b"") -> Iterator[bytes]:
        self.chunks.append(len(chunks))
        return iter([work(shared, chunk) for chunk in chunks])

    def close(self) -> None:
        """Nothing was started."""
