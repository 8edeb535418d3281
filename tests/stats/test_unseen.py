"""The share of occurrences of kinds that nobody has seen yet."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.saturation import WORLDS as OF_TASKS
from benchmarks.saturation import World, covered
from untaken.errors import Unscored
from untaken.stats.unseen import AIM, unseen_share

CASES = [
    # desc, runs in which each kind was seen, runs read, once / occurrences
    ("every kind was seen once", [1, 1, 1], 3, 1.0),
    ("one of ten occurrences is of a kind seen once", [5, 4, 1], 12, 0.1),
    ("every kind was seen twice or more", [2, 3], 6, 0.0),
    ("runs without any mode change the interval alone", [1, 3], 40, 0.25),
]


@pytest.mark.parametrize(("desc", "counts", "runs", "want"), CASES)
def test_the_share_is_once_over_all_occurrences(desc: str, counts: list[int], runs: int, want: float) -> None:
    found = unseen_share(counts, runs)
    assert found.share == pytest.approx(want), desc
    assert found.low <= found.share <= found.high


def test_without_any_occurrence_the_share_is_unscored() -> None:
    found = unseen_share([], 5)
    assert isinstance(found.share, Unscored)
    assert found.more is None


WORLDS = [
    ("many equal kinds", np.full(30, 1 / 30)),
    ("few equal kinds", np.full(8, 1 / 8)),
    ("Zipf", 1 / np.arange(1, 16) / (1 / np.arange(1, 16)).sum()),
    ("halving", 0.7 ** np.arange(15) / (0.7 ** np.arange(15)).sum()),
]


@pytest.mark.parametrize("runs", [5, 20, 60])
@pytest.mark.parametrize(("desc", "kinds"), WORLDS, ids=[desc for desc, _ in WORLDS])
def test_the_interval_holds_the_unseen_share_in_at_least_92_of_100_worlds(desc, kinds, runs) -> None:
    rng = np.random.default_rng(11)
    held = 0
    worlds = rng.binomial(runs, kinds, size=(800, len(kinds)))
    worlds = worlds[worlds.sum(axis=1) > 0]
    for world in worlds:
        found = unseen_share([int(count) for count in world if count], runs)
        held += found.low <= kinds[world == 0].sum() + 1e-12 and kinds[world == 0].sum() <= found.high + 1e-12
    assert held / len(worlds) >= 0.92, desc


@given(st.lists(st.integers(1, 30), min_size=1, max_size=40), st.integers(0, 100))
def test_shares_and_their_ends_are_shares(counts: list[int], without: int) -> None:
    found = unseen_share(counts, max(counts) + 1 + without)
    assert 0 <= found.low <= found.share <= found.high <= 1
    assert found.more is not None
    assert (found.more == 0) == (found.share <= AIM)


@pytest.mark.parametrize("world", [one for one in OF_TASKS if one.repeats == 4 and one.modes == 30], ids=str)
def test_the_interval_holds_where_runs_of_a_task_share_its_modes(world: World) -> None:
    found = covered(world, worlds=120)
    assert found.by_tasks >= 0.9
    assert found.true_when_said >= 0.9
    assert found.by_runs < found.by_tasks
