"""How often failed runs fail at one place, and the success gained if they passed it (§5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from untaken import stats
from untaken.analysis.fix_first.tally import FailureTally
from untaken.errors import Score, Unscored

NO_SUCCESS: Final = Unscored("no run succeeded, so there is no rate to compare with")
NOBODY_PASSED: Final = Unscored("no run passed here, so there is no rate to compare with")
NONE_FAILED: Final = Unscored("no run failed")


@dataclass
class Passed:
    """The runs that passed a place, and what would be gained if those that fail there succeeded as often."""

    tally: FailureTally
    runs: Sequence[str]

    def figures(self, failed: Collection[str]) -> dict[str, Any]:
        """The fields of `FixItem` that say how often, and what success would be gained."""
        gain, low, high = self._gain(failed)
        return {
            "failed_runs": len(failed),
            "share": len(failed) / len(self.tally.failed) if self.tally.failed else NONE_FAILED,
            "gain": gain,
            "low": low,
            "high": high,
            "passed": len(self.runs),
            "passed_successes": len(self._won),
            "agents": agents_of(self.tally, failed),
        }

    def _gain(self, failed: Collection[str]) -> tuple[Score, Score, Score]:
        """Share of all runs × success of those that passed here, joined as a product of two estimates."""
        if not self.tally.failed:
            return NONE_FAILED, NONE_FAILED, NONE_FAILED
        if not self.tally.succeeded:
            return NO_SUCCESS, NO_SUCCESS, NO_SUCCESS
        if not self.runs:
            return NOBODY_PASSED, NOBODY_PASSED, NOBODY_PASSED
        everyone = self.tally.decided
        share, rate = len(failed) / everyone.n, len(self._won) / len(self.runs)
        often = everyone.interval(dict.fromkeys(failed, 1.0)) if failed else (0.0, 0.0)
        # `stats.product` works with logarithms: there is none of 0.
        if not failed or not self._won:
            return share * rate, 0.0, often[1]
        low, high = stats.product(share, often, rate, self._success)
        return share * rate, low, min(high, often[1])  # no more than all that fail here

    @cached_property
    def _won(self) -> dict[str, float]:
        return dict.fromkeys(filter(self.tally.succeeded.__contains__, self.runs), 1.0)

    @cached_property
    def _success(self) -> tuple[float, float]:
        return self.tally.by_task(self.runs).interval(self._won)


def agents_of(tally: FailureTally, runs: Collection[str]) -> dict[str, int]:
    """The number of some runs by agent, most first."""
    return dict(Counter(sorted(tally.corpus.runs[digest].agent for digest in runs)).most_common())
