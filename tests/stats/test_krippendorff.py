"""Krippendorff's α against published data and an independent formula."""
# ruff: noqa: E501  (tables of cases)

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from untaken.errors import Unscored
from untaken.stats.krippendorff import alpha_interval, nominal_alpha, ordinal_alpha

# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, section C: 4 observers, 12 units.
OBSERVERS = (
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
)
PUBLISHED = [
    [value for value in unit if value != "."] for unit in zip(*map(str.split, OBSERVERS), strict=True)
]
# The same paper, section A: 2 observers, 10 units, two values: α = 0.095.
TWO = list(zip("0100000010", "1110010000", strict=True))


def by_coincidences(units: list[list[object]]) -> float:
    """α from the matrix of coincidences, as the paper computes it: another way than the program's."""
    cells: dict[tuple[object, object], float] = {}
    for unit in units:
        for pair in permutations(range(len(unit)), 2):
            key = unit[pair[0]], unit[pair[1]]
            cells[key] = cells.get(key, 0.0) + 1 / (len(unit) - 1)
    values = {c for c, _ in cells}
    margin = {c: sum(n for (a, _), n in cells.items() if a == c) for c in values}
    total = sum(margin.values())
    same = sum(n for (a, b), n in cells.items() if a == b)
    chance = sum(m * (m - 1) for m in margin.values())
    return ((total - 1) * same - chance) / (total * (total - 1) - chance)


@pytest.mark.parametrize(("units", "alpha"), [(PUBLISHED, 0.743), (TWO, 0.095)], ids=["four", "two"])
def test_alpha_is_that_of_the_published_examples(units: list[list[object]], alpha: float) -> None:
    assert nominal_alpha(units) == pytest.approx(alpha, abs=5e-4)
    assert by_coincidences(units) == pytest.approx(alpha, abs=5e-4)


@given(st.lists(st.lists(st.sampled_from([True, False, None]), max_size=4), max_size=12))
def test_alpha_is_that_of_the_coincidences_and_never_above_1(units: list[list[object]]) -> None:
    alpha = nominal_alpha(units)
    pairable = [value for unit in units if len(unit) > 1 for value in unit]
    if len(set(pairable)) < 2:
        assert isinstance(alpha, Unscored)
    else:
        assert alpha == pytest.approx(by_coincidences(units), abs=1e-9)
        assert alpha <= 1
        low, high = alpha_interval({str(i): [unit] for i, unit in enumerate(units)})
        assert isinstance(low, Unscored) or low <= high <= 1


def test_the_interval_of_alpha_takes_clusters_not_items_for_independent() -> None:
    units = [[True, True]] * 12 + [[False, False]] * 12 + [[True, False]] * 6
    alone = alpha_interval({str(i): [unit] for i, unit in enumerate(units)})
    together = alpha_interval({str(i): [unit] * 5 for i, unit in enumerate(units)})
    assert together[1] - together[0] == pytest.approx(alone[1] - alone[0], rel=0.3)
    assert alone[0] < nominal_alpha(units) < alone[1]


def test_the_interval_is_the_same_in_any_order_also_where_both_answers_are_as_frequent() -> None:
    yes, no, apart = (True, True), (False, False), (True, False)
    some = {"a": [yes, apart], "b": [no], "c": [apart, yes, yes], "d": [no, no], "e": [apart], "f": [no, yes]}
    there, back = alpha_interval(some), alpha_interval(dict(reversed(some.items())))
    assert there == pytest.approx(back, rel=1e-12)


TOO_LITTLE = [
    ("one cluster", {"one": [[1, 2], [1, 1]]}, "two tasks or runs"),
    ("few clusters of three answers", {str(i): [[1, 2], [1, 3]] for i in range(9)}, "too few tasks"),
    ("one disagreement of three answers", {str(i): [[1, 2 if i == 3 else 1], [3, 3]] for i in range(12)}, "too few disagreements"),
    ("the rarer answer twice", {str(i): [[1, 2 if i < 2 else 1]] for i in range(30)}, "rarer answer"),
    ("one task holds all of the other answer", {"a": [[1, 1]] * 5 + [[1, 2]], **{task: [[2, 2]] for task in "bcde"}}, "both answers, in two tasks"),
    ("the rarer answer in two tasks", {str(i): [[1, 2 if i < 2 else 1]] * 9 for i in range(30)}, "rarer")
]  # fmt: skip


@pytest.mark.parametrize(("desc", "clusters", "want"), TOO_LITTLE, ids=[case[0] for case in TOO_LITTLE])
def test_too_little_evidence_has_no_interval_but_a_reason(desc, clusters, want) -> None:
    low, high = alpha_interval(clusters)
    assert isinstance(low, Unscored)
    assert low == high
    assert want in low.reason


@pytest.mark.parametrize("rare", [[1, 1, 1], [6, 1, 1, 1, 1]], ids=["items", "tasks of one weight"])
def test_the_fewest_rare_answers_that_give_an_interval(rare: list[int]) -> None:
    low, high = alpha_interval({str(i): [[1, 2]] * n + [[1, 1]] * 3 for i, n in enumerate([*rare, 0, 0])})
    assert low < high


def test_ordinal_alpha_is_the_published_one() -> None:
    """The same data, section E: 0.815."""
    units = [[int(value) for value in unit] for unit in PUBLISHED]
    assert ordinal_alpha(units) == pytest.approx(0.815, abs=5e-4)


@given(st.lists(st.lists(st.integers(0, 4), max_size=4), max_size=12), st.randoms())
def test_ordinal_alpha_knows_no_order_of_passes_or_subjects_and_is_at_most_one(units, random) -> None:
    alpha = ordinal_alpha(units)
    again = [random.sample(unit, len(unit)) for unit in random.sample(units, len(units))]
    if isinstance(alpha, Unscored):
        assert len({v for unit in units if len(unit) > 1 for v in unit}) < 2
    else:
        assert ordinal_alpha(again) == pytest.approx(alpha)
        assert alpha <= 1 + 1e-12
