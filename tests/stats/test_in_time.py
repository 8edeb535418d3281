"""A choice that goes with time, against every cut, every shuffle and a plain regression."""
# ruff: noqa: E501  (tables of cases)

from __future__ import annotations

from itertools import permutations, product
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtr

from untaken.stats.in_time import ChoiceSeries, TimeAdjustment, partition, serial, trend

LEVELS = st.sampled_from([0.0, 1.0, 1.0, 2.5])


def squared(values: np.ndarray, begins: tuple[int, ...]) -> float:
    """Squared errors of segments that begin where it says 1."""
    return sum(float(part.var()) * part.size for part in np.split(values, np.flatnonzero((0, *begins))))


@given(st.lists(LEVELS, max_size=9))
def test_segments_are_the_best_of_every_way_to_cut(drawn: list[float]) -> None:
    values, n = np.array(drawn), len(drawn)
    found = partition(values)
    if n < 4 or values.var() == 0:
        assert not found.any()
        return
    noise = min(values.var(), np.mean(np.diff(values) ** 2) / 2)
    penalty = 2 * noise * log(n)
    costs = {cuts: squared(values, cuts) + penalty * sum(cuts) for cuts in product((0, 1), repeat=n - 1)}
    assert found[0] == 0
    assert costs[tuple(np.diff(found).tolist())] == pytest.approx(min(costs.values()))


def test_four_runs_are_enough_for_a_step() -> None:
    assert partition(np.array([0.0, 0, 1, 1])).tolist() == [0, 0, 1, 1]


def test_a_long_series_is_cut_between_cells() -> None:
    values = np.repeat([0.0, 1.0, 0.0], [300, 399, 701])  # 512 cells: three runs each
    assert np.flatnonzero(np.diff(partition(values))).tolist() == [299, 698]


def test_a_trend_is_in_units_of_what_every_shuffle_gives() -> None:
    residual, rank = np.array([0.5, -0.5, 0.4, 0.3, -0.7]), np.array([0.0, 1.0, 2.0, 3.5, 3.5])
    stratum = np.array([0, 0, 1, 1, 1])
    sums = [
        residual[:2] @ rank[list(first)] + residual[2:] @ rank[[2 + place for place in second]]
        for first, second in product(permutations(range(2)), permutations(range(3)))
    ]
    assert trend(residual, rank, stratum) == pytest.approx(
        abs(residual @ rank) / sqrt(np.mean(np.square(sums)))
    )
    assert trend(np.zeros(5), rank, stratum) == 0


NEIGHBOURS = [
    ("the same eight times", [0.5] * 8 + [-0.5] * 8, [0] * 16, True),
    ("in turn", [0.5, -0.5] * 8, [0] * 16, False),
    ("the same inside of strata that have one value each", [0.5] * 8 + [-0.5] * 8, [0] * 8 + [1] * 8, False),
    ("too few", [0.5, 0.5, -0.5, -0.5], [0] * 4, False),
]


@pytest.mark.parametrize(("desc", "residual", "stratum", "want"), NEIGHBOURS)
def test_neighbours_that_choose_alike_are_serial(desc, residual, stratum, want) -> None:
    assert serial(np.array(residual), np.array(stratum)) is want, desc


def series_of(seed: int, n: int, identities: int) -> tuple[ChoiceSeries, np.ndarray]:
    """Of each identity a choice that steps up at a time of its own, and a success that follows the choice."""
    rng = np.random.default_rng(seed)
    identity = rng.integers(0, identities, n)
    stepped = np.arange(n) > (1 + identity) * n / (1 + identities)
    choice = (rng.random(n) < np.where(stepped, 0.8, 0.3)).astype(float)
    stratum = identity * 2 + rng.integers(0, 2, n)
    success = (rng.random(n) < 0.4 + 0.3 * choice).astype(float)
    return ChoiceSeries(choice=choice, stratum=stratum, identity=identity, rank=np.arange(n) + 0.0), success


def plain(series: ChoiceSeries, success: np.ndarray, length: int) -> tuple[float, np.ndarray]:
    """p by least squares with a column for every group, and what is left of the choice."""
    n, residual = series.choice.size, series.residual
    own = np.zeros(n, dtype=int)
    for one in set(series.identity.tolist()):
        own[series.identity == one] = 1000 * (1 + one) + partition(residual[series.identity == one])
    groups = (series.stratum, partition(residual), own, np.arange(n) // length)
    columns = np.stack([group == one for group in groups for one in np.unique(group)], axis=1).astype(float)
    choice, y = (v - columns @ np.linalg.lstsq(columns, v, rcond=None)[0] for v in (series.choice, success))
    at_most = 1 + sum(np.unique(group).size - 1 for group in groups)  # what is known of many runs
    rank = int(np.linalg.matrix_rank(columns)) if n <= 600 else at_most
    t = choice @ y / sqrt(np.sum((choice * y) ** 2) * n / (n - rank))
    return float(2 * stdtr(n - rank - 2, -abs(t))), choice


@pytest.mark.parametrize(
    ("seed", "n", "identities"), [(1, 60, 3), (2, 90, 3), (3, 40, 1), (4, 120, 4), (5, 80, 2), (6, 650, 3)]
)
def test_p_is_that_of_a_plain_regression(seed: int, n: int, identities: int) -> None:
    series, success = series_of(seed, n, identities)
    for length in (8, 4, 3):
        want, left = plain(series, success, length)
        if not serial(left, series.stratum):
            break
    assert TimeAdjustment(series).p_of(success) == pytest.approx(want, rel=1e-6)
    assert TimeAdjustment(series).p_of(np.ones_like(success)) == 1, "a success that never varies"


@pytest.mark.parametrize(("otherwise", "left"), [((), 0), ((1, 23), 0.87), ((1, 16), 1.75)])
def test_where_less_than_one_of_the_choice_is_left_there_is_no_p(
    otherwise: tuple[int, ...], left: float
) -> None:
    """A step, but for these runs: blocks of eight runs and the step explain the rest of it."""
    steps = np.repeat([0.0, 1.0], 12)
    steps[list(otherwise)] = 1 - steps[list(otherwise)]
    series = ChoiceSeries(
        choice=steps, stratum=np.zeros(24, int), identity=np.zeros(24, int), rank=np.arange(24.0)
    )
    assert TimeAdjustment(series).goes_with_time
    assert (TimeAdjustment(series).p_of(steps) is None) is (left < 1)


def of_three(*choices: str) -> ChoiceSeries:
    """Three identities in turn, and what each chose from its first run to its last."""
    made = [(int(one), who) for turn in zip(*choices, strict=True) for who, one in enumerate(turn)]
    choice, identity = np.array(made).T
    rank = np.arange(choice.size) + 0.0
    return ChoiceSeries(choice=choice + 0.0, stratum=identity, identity=identity, rank=rank)


IN_TIME = [
    ("as it comes", of_three("0110100110010110", "1001011001101001", "0101101001011010"), False),
    ("one identity takes to it early, one late", of_three("0" * 8 + "1" * 8, "1" * 8 + "0" * 8, "01" * 8), True),
    ("one identity drifts", of_three("0010010110110111", "1001011001101001", "0101101001011010"), True)
]  # fmt: skip


@pytest.mark.parametrize(("desc", "series", "want"), IN_TIME, ids=[case[0] for case in IN_TIME])
def test_a_choice_goes_with_time_where_any_identitys_does(desc, series, want) -> None:
    assert TimeAdjustment(series).goes_with_time is want
