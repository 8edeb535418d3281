"""Features that failed runs have more often than runs that passed: exact, and adjusted for how many (§5)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeVar

from untaken import stats
from untaken.scoring.causes.features import Feature, FeatureKind, Seen

Key = TypeVar("Key", bound=Hashable)
LEAST_RUNS: Final = 3
LEAST_TASKS: Final = 2
ALPHA: Final = 0.05
ONE_AGENT: Final = 0.8
"""An agent is named where at least this share of the runs is by it: else others fail the same way, and one
cause would be as many as there are agents."""
_NEAREST: Final[Mapping[FeatureKind, int]] = {
    "error": 0,
    "argument": 1,
    "skill": 2,
    "absent": 3,
    "agent": 4,
}
"""Of features that go equally well with failing, the one nearer to what failed is named."""
_CHOSEN: Final[tuple[FeatureKind, ...]] = ("skill", "agent", "absent")
"""What may belong to the harder tasks: it must go with failing inside tasks, too."""


class Represented(NamedTuple):
    """A feature of `runs`, among `n` failed runs in its scope; `elsewhere_k` of `elsewhere_n` passed ones."""

    feature: Feature
    runs: tuple[str, ...]
    n: int
    elsewhere_k: int
    elsewhere_n: int
    p: float


def over_represented(
    failed: Mapping[str, Seen],
    passed: Mapping[str, Seen],
    tasks: Mapping[str, str],
    *,
    rank: Callable[[Feature], float] = lambda _: 0.0,
    allowed: Callable[[Feature], bool] = lambda _: True,
) -> Iterator[Represented]:
    """The feature that goes best with failing, in 3 runs of 2 tasks, one-sided exact p ≤ .05; then that of
    the runs without it, and so on.

    Only runs in a feature's scope are compared, and p is adjusted by Holm over the features tested.

    Args:
        failed: what was seen of each failed run, by digest.
        passed: what was seen of runs that passed.
        tasks: the task of each run.
        rank: of features with the same p and kind, the one ranked highest is named.
        allowed: which features may be named at all.
    """
    found: Represented | None = None
    while True:
        if found is not None:
            # On both sides: among runs without the one option all have the other, and it explains nothing.
            failed, passed = _without(failed, found.feature), _without(passed, found.feature)
        having: dict[Feature, dict[str, None]] = {}
        for digest, (features, _) in failed.items():
            for feature in features:
                having.setdefault(feature, {})[digest] = None
        # Before any test: Holm counts what is tested, and what is too rare to be named is not.
        having = {f: runs for f, runs in having.items() if _enough(runs, tasks) and allowed(f)}
        found = _best(_tested(having, failed, passed, tasks), rank)
        if found is None:
            return
        yield found


def _without(runs: Mapping[str, Seen], feature: Feature) -> dict[str, Seen]:
    return {digest: seen for digest, seen in runs.items() if feature not in seen[0]}


def _tested(
    having: Mapping[Feature, Collection[str]],
    failed: Mapping[str, Seen],
    passed: Mapping[str, Seen],
    tasks: Mapping[str, str],
) -> list[Represented]:
    fail = _by_task(failed, tasks, lambda seen: seen[1])
    passing = _by_task(passed, tasks, lambda seen: seen[1])
    passed_with = _by_task(passed, tasks, lambda seen: having.keys() & seen[0])
    found = []
    for feature, runs in having.items():
        of_scope = fail[feature.scope], passed_with[feature], passing[feature.scope]
        n, elsewhere_k, elsewhere_n = (counts.total() for counts in of_scope)
        p = stats.more_often_p(len(runs), n, elsewhere_k, elsewhere_n)
        if feature.kind in _CHOSEN and p <= ALPHA:
            p = max(p, _p_inside_tasks(Counter([tasks[run] for run in runs]), *of_scope))
        found.append(Represented(feature, tuple(runs), n, elsewhere_k, elsewhere_n, p))
    return found


def _by_task(
    runs: Mapping[str, Seen], tasks: Mapping[str, str], what: Callable[[Seen], Iterable[Key]]
) -> dict[Key, Counter[str]]:
    """Of each thing that was seen, the number of runs by task."""
    counts: dict[Key, Counter[str]] = defaultdict(Counter)
    for digest, seen in runs.items():
        for each in what(seen):
            counts[each][tasks[digest]] += 1
    return counts


def _p_inside_tasks(
    failed_with: Counter[str], failed: Counter[str], passed_with: Counter[str], passed: Counter[str]
) -> float:
    """P inside tasks, from numbers of runs; 0 where no task has runs with the feature and without."""
    strata = [
        stats.Stratum(k, k + passed_with[task], failed[task] - k, both - k - passed_with[task])
        for task in failed_with | passed_with
        if 0 < (k := failed_with[task]) + passed_with[task] < (both := failed[task] + passed[task])
    ]
    return stats.more_often_inside_p(strata) if strata else 0.0


def _enough(runs: Collection[str], tasks: Mapping[str, str]) -> bool:
    return len(runs) >= LEAST_RUNS and len({tasks[run] for run in runs}) >= LEAST_TASKS


def _best(tested: Sequence[Represented], rank: Callable[[Feature], float]) -> Represented | None:
    adjusted = stats.holm([one.p for one in tested])
    every = [
        one._replace(p=float(p))
        for one, p in zip(tested, adjusted, strict=True)
        if p <= ALPHA and (one.feature.kind != "agent" or len(one.runs) >= ONE_AGENT * one.n)
    ]
    best = min(map(_place, every), default=None)
    alike = [one for one in every if _place(one) == best]
    # A skill that was only chosen in one context is named with it.
    return min(
        alike, key=lambda one: (-rank(one.feature), not one.feature.argument, one.feature), default=None
    )


def _place(one: Represented) -> tuple[float, int]:
    return one.p, _NEAREST[one.feature.kind]
