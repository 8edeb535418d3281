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
    in_scope = Counter(chain.from_iterable(scopes for _, scopes in failed.values()))
    scope_passed = Counter(chain.from_iterable(scopes for _, scopes in passed.values()))
    with_it = Counter(chain.from_iterable(having.keys() & features for features, _ in passed.values()))
    found = []
    for feature, runs in having.items():
        sides = len(runs), in_scope[feature.scope], with_it[feature], scope_passed[feature.scope]
        p = stats.more_often_p(*sides)
        if feature.kind in _CHOSEN and p <= ALPHA:
            p = max(p, _p_inside_tasks(feature, failed, passed, tasks))
        found.append(Represented(feature, tuple(runs), *sides[1:], p))
    return found


def _p_inside_tasks(
    feature: Feature, failed: Mapping[str, Seen], passed: Mapping[str, Seen], tasks: Mapping[str, str]
) -> float:
    """P inside tasks, of a skill inside task and agent; 0 where none has runs with it and without."""
    strata = stats.strata_of(
        (tasks[digest], feature in features, fails)
        for fails, runs in ((True, failed), (False, passed))
        for digest, (features, scopes) in runs.items()
        if feature.scope in scopes
    )
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
