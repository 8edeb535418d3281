"""Which agents do not differ clearly, in a sentence."""

from __future__ import annotations

import pytest

from untaken.analysis.ranking import ties_in_words
from untaken.analysis.ranking.comparisons import MOST_GROUPS, MOST_TIED, Comparison, PairedDifference
from untaken.errors import Score, Unscored

NONE = Unscored("one task")
GROUPS = tuple((f"a{n}", f"b{n}") for n in range(MOST_GROUPS + 2))


def a_pair(low: Score, high: Score = 0.5) -> PairedDifference:
    middle = low if isinstance(low, Unscored) or isinstance(high, Unscored) else (low + high) / 2
    known = {"metric": "success", "first": "a", "second": "b", "difference": middle, "low": low, "high": high}
    tested = {"interval": "student_t", "test": "sign_flip", "p": NONE, "p_holm": NONE, "family": 1}
    rest = {"first_only": NONE, "second_only": NONE, "mde": NONE, "p_above": NONE, "n_tasks": 1, "n_runs": 2}
    return PairedDifference(**known, **tested, **rest)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ties", "pairs", "want"),
    [
        pytest.param((("a",), ("b",)), [0.1], "every pair differs clearly", id="all clear"),
        pytest.param((("a", "b"),), [-0.1], "no clear difference: a ≈ b", id="a tie"),
        pytest.param(
            (("a", "b"), ("c",)), [-0.1, 0.1, 0.1], "no clear difference: a ≈ b", id="a tie among clear ones"
        ),
        pytest.param((("a",), ("b",)), [NONE], "1 pair without an interval", id="none with an interval"),
        pytest.param(
            (("a",), ("b",)),
            [NONE, NONE, 0.1],
            "2 pairs without an interval; every other pair differs clearly",
            id="some without",
        ),
        pytest.param(
            (("a", "b"),),
            [NONE, -0.1],
            "1 pair without an interval; no clear difference: a ≈ b",
            id="some without, and a tie",
        ),
        pytest.param(
            GROUPS[:MOST_GROUPS],
            [-0.1],
            "no clear difference: a0 ≈ b0; a1 ≈ b1; a2 ≈ b2; a3 ≈ b3",
            id="as many groups as are named",
        ),
        pytest.param(
            GROUPS,
            [-0.1],
            "no clear difference: a0 ≈ b0; a1 ≈ b1; a2 ≈ b2; a3 ≈ b3; and 2 more",
            id="more groups",
        ),
        pytest.param(
            (tuple(f"a{n}" for n in range(MOST_TIED + 3)),),
            [-0.1],
            f"no clear difference: {' ≈ '.join(f'a{n}' for n in range(MOST_TIED))} ≈ and 3 more",
            id="a large group",
        ),
        pytest.param((), [], "", id="no pair"),
    ],
)
def test_a_sentence_names_the_ties_and_counts_the_pairs_without_an_interval(ties, pairs, want) -> None:
    compared = Comparison(metric="success", agents=("a", "b"), pairs=tuple(map(a_pair, pairs)), ties=ties)
    assert ties_in_words(compared, str) == want


@pytest.mark.parametrize(
    ("low", "high", "direction", "tied"),
    [
        (0.0, 0.5, "level", True),
        (0.1, 0.5, "above", False),
        (-0.5, 0.0, "level", True),
        (-0.5, -0.1, "below", False),
        (NONE, NONE, "unknown", False),
    ],
)
def test_a_difference_is_clear_where_its_interval_leaves_out_zero(low, high, direction, tied) -> None:
    pair = a_pair(low, high)
    assert (pair.direction, pair.tie) == (direction, tied)
    assert pair.clear_difference == (direction in ("above", "below"))
