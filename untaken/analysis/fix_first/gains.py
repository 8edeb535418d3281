"""How often failed runs fail at one place, and the success gained if they passed it (§5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any, Final

from untaken import stats
from untaken.analysis.fix_first.tally import FailureTally
from untaken.errors import Score, Unscored

NO_SUCCESS: Final = Unscored("no run succeeded, so there is no rate to compare with")
NOBODY_PASSED: Final = Unscored("no run passed here, so there is no rate to compare with")
NONE_FAILED: Final = Unscored("no run failed")


def figures_of(tally: FailureTally, runs: Collection[str], passed: Sequence[str]) -> dict[str, Any]:
    """The fields of `FixItem` that say how often, and what success would be gained."""
    won = tally.successes(passed)
    gain, low, high = _gain(tally, runs, passed, won)
    agents = Counter(sorted(tally.runs[digest].agent for digest in runs))
    return {
        "failed_runs": len(runs),
        "share": len(runs) / len(tally.failed) if tally.failed else NONE_FAILED,
        "gain": gain,
        "low": low,
        "high": high,
        "passed": len(passed),
        "passed_successes": won,
        "agents": dict(agents.most_common()),
    }


def _gain(
    tally: FailureTally, runs: Collection[str], passed: Sequence[str], won: int
) -> tuple[Score, Score, Score]:
    """Share of all runs × success of those that passed here, joined as a product of two estimates."""
    if not tally.failed:
        return NONE_FAILED, NONE_FAILED, NONE_FAILED
    if not tally.succeeded:
        return NO_SUCCESS, NO_SUCCESS, NO_SUCCESS
    if not passed:
        return NOBODY_PASSED, NOBODY_PASSED, NOBODY_PASSED
    everyone = tally.decided
    share, rate = len(runs) / everyone.n, won / len(passed)
    # `stats.product` works with logarithms: there is none of 0.
    if not runs or not won:
        return share * rate, 0.0, (everyone.interval(dict.fromkeys(runs, 1.0))[1] if runs else 0.0)
    here = tally.by_task(passed)
    often = everyone.interval(dict.fromkeys(runs, 1.0))
    much = here.interval({digest: 1.0 for digest in passed if digest in tally.succeeded})
    low, high = stats.product(share, often, rate, much)
    return share * rate, low, min(high, often[1])  # no more than all that fail here
