"""Features that failed runs have more often than runs that passed: exact, and adjusted for how many (§5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple

from untaken import stats
from untaken.scoring.causes.features import Feature, FeatureKind, Seen

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
    passed: Collection[Seen],
    tasks: Mapping[str, str],
    *,
    rank: Callable[[Feature], float] = lambda _: 0.0,
    allowed: Callable[[Feature], bool] = lambda _: True,
) -> Iterator[Represented]:
    """The feature that goes best with failing, in 3 runs of 2 tasks, one-sided exact p ≤ .05; then that of
    the runs left, and so on.

    Only runs in a feature's scope are compared, and p is adjusted by Holm over the features tested.

    Args:
        failed: what was seen of each failed run, by digest.
        passed: what was seen of runs that passed.
        tasks: the task of each failed run.
        rank: of features with the same p and kind, the one ranked highest is named.
        allowed: which features may be named at all.
    """
    having: dict[Feature, dict[str, None]] = {}
    for digest, (features, _) in failed.items():
        for feature in features:
            having.setdefault(feature, {})[digest] = None
    # Before any test: Holm counts what is tested, and what is too rare to be named is not.
    having = {f: runs for f, runs in having.items() if _enough(runs, tasks) and allowed(f)}
    if not having:
        return
    in_scope = Counter(chain.from_iterable(scopes for _, scopes in failed.values()))
    scope_passed = Counter(chain.from_iterable(scopes for _, scopes in passed))
    with_it = Counter(chain.from_iterable(having.keys() & features for features, _ in passed))
    while having:
        found = [
            Represented(
                feature,
                tuple(runs),
                in_scope[feature.scope],
                with_it[feature],
                scope_passed[feature.scope],
                stats.more_often_p(
                    len(runs), in_scope[feature.scope], with_it[feature], scope_passed[feature.scope]
                ),
            )
            for feature, runs in having.items()
        ]
        best = _best(found, rank)
        if best is None:
            return
        yield best
        for digest in best.runs:
            features, scopes = failed[digest]
            in_scope.subtract(scopes)  # runs that are explained no longer count as failing without a cause
            for feature in having.keys() & features:
                del having[feature][digest]
        having = {feature: runs for feature, runs in having.items() if _enough(runs, tasks)}


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
