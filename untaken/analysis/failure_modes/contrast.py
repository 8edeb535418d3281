"""How often a failure mode occurs in successful runs of the same tasks, and so whether it harms (§9)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from msgspec import Struct

from untaken import stats
from untaken.analysis.failure_modes.reading import ReadRun, modes_seen
from untaken.errors import Score, Unscored


class ModeContrast(Struct, frozen=True, kw_only=True):
    """One mode in failed runs against successful ones, inside tasks. An association, never a cause.

    Attributes:
        in_failed of `failed`, in_successes of `successes`: over all runs that were read with an outcome.
        k1 of `n1` failed and `k0` of `n0` successful runs show it, over the `tasks` that have both.
        difference, low, high: of the two shares, weighted over tasks, with its 95% interval; unscored where
            no task has a failed and a successful run that were read.
        p: two-sided and exact; `q` after Benjamini-Hochberg over the modes compared.
        words: what this says, by q: of 14 modes that go with nothing, one has p ≤ .05 in 29-47% of corpora.
    """

    mode: str
    in_failed: int
    failed: int
    in_successes: int
    successes: int
    tasks: int
    k1: int
    n1: int
    k0: int
    n0: int
    difference: Score
    low: Score
    high: Score
    p: Score
    q: Score
    words: str


NOT_COMPARABLE = Unscored("no task has both a failed and a successful run that were read")
ALPHA = 0.05


def contrast_modes(runs: Iterable[ReadRun]) -> tuple[ModeContrast, ...]:
    """Each mode seen, in failed against successful runs of the same task.

    The risk difference Σ wₖ(p₁ₖ − p₀ₖ) / Σ wₖ over tasks k with wₖ = n₁ₖn₀ₖ / (n₁ₖ + n₀ₖ), its score interval
    and the exact conditional test of `untaken.stats.stratified`. Runs without an outcome are left out.
    """
    known = [run for run in runs if run.success is not None]
    tasks: dict[str, list[ReadRun]] = defaultdict(list)
    for run in known:
        tasks[run.task_id].append(run)
    both = [some for some in tasks.values() if len({run.success for run in some}) > 1]
    found = [(mode, [_stratum(mode, some) for some in both]) for mode in modes_seen(known)]
    # Without such a task nothing was compared: there is no p, rather than a p of 1.
    tested = [stats.exact_test(strata).p for _, strata in found] if both else []
    adjusted = stats.benjamini_hochberg(tested)
    return tuple(
        _contrast(mode, strata, known, (tested[at], adjusted[at]) if both else None)
        for at, (mode, strata) in enumerate(found)
    )


def _stratum(mode: str, runs: Sequence[ReadRun]) -> stats.Stratum:
    failed = [run.has(mode) for run in runs if not run.success]
    successes = [run.has(mode) for run in runs if run.success]
    return stats.Stratum(sum(failed), len(failed), sum(successes), len(successes))


def _contrast(
    mode: str, strata: Sequence[stats.Stratum], runs: Sequence[ReadRun], tested: tuple[float, float] | None
) -> ModeContrast:
    difference: Score = NOT_COMPARABLE
    low: Score = NOT_COMPARABLE
    high: Score = NOT_COMPARABLE
    if tested is not None:
        difference = stats.risk_difference(strata)
        low, high = stats.score_interval(strata)
    p, q = tested or (NOT_COMPARABLE, NOT_COMPARABLE)
    with_mode = [run for run in runs if run.has(mode)]
    return ModeContrast(
        mode=mode,
        in_failed=sum(run.failed for run in with_mode),
        failed=sum(run.failed for run in runs),
        in_successes=sum(not run.failed for run in with_mode),
        successes=sum(not run.failed for run in runs),
        tasks=len(strata),
        k1=sum(stratum.k1 for stratum in strata),
        n1=sum(stratum.n1 for stratum in strata),
        k0=sum(stratum.k0 for stratum in strata),
        n0=sum(stratum.n0 for stratum in strata),
        difference=difference,
        low=low,
        high=high,
        p=p,
        q=q,
        words=_words(difference, q),
    )


def _words(difference: Score, q: Score) -> str:
    if isinstance(difference, Unscored) or isinstance(q, Unscored):
        return "not comparable: read successful runs of the same tasks"
    if q > ALPHA:
        return "no difference shown"
    return "more often in failures" if difference > 0 else "more often in successes"
