"""How often something happens in runs, with its interval over tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from untaken import stats


@dataclass(frozen=True, slots=True, kw_only=True)
class Often:
    """How often: in `count` of `n` runs; `low` and `high` are the 95% interval of the share."""

    count: int
    n: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """`count` over `n`."""
        return self.count / self.n


def often_of(hits: Mapping[str, object], sample: stats.TaskSample) -> Often:
    """The share of the runs that are in `hits`."""
    low, high = sample.interval(dict.fromkeys(hits, 1.0))
    return Often(count=len(hits), n=sample.n, low=low, high=high)
