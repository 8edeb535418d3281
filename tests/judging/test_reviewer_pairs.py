"""Every pair of reviewers: the same figures as comparing these two alone, and unscored without evidence."""

from __future__ import annotations

import pytest
from builders import RunBuilder, a_run

from untaken.errors import Unscored
from untaken.judging import reviewer_pairs, reviewers_agreement, verdict_agreement

SAID = {"ann": (1, 1, 0, 0, 1, 0, 1, 0), "bob": (1, 1, 0, 1, 1, 0, 0, 0), "cy": (0, 1, None, 0, 0, 0, 1, 1)}


def judged(run_id: str, sub_goal: str = "s", task: str = "", **said: int | None) -> RunBuilder:
    run = a_run(run_id, task=task or run_id).finish()
    for name, passed in said.items():
        run.verdict(sub_goal, None if passed is None else bool(passed), f"human:{name}")
    return run


def runs(**said: tuple[int | None, ...]) -> list[RunBuilder]:
    """A run, and a task, for each opinion."""
    count = len(next(iter(said.values())))
    return [judged(f"r{i}", **{name: told[i] for name, told in said.items()}) for i in range(count)]


@pytest.mark.parametrize(("a", "b"), [("ann", "bob"), ("ann", "cy"), ("bob", "cy")])
def test_a_pair_has_the_figures_of_comparing_these_two_alone(a: str, b: str) -> None:
    read = [run.run() for run in runs(**SAID)]
    alone = verdict_agreement(read, [f"human:{a}"], [f"human:{b}"]).overall
    pairs = reviewer_pairs(reviewers_agreement(read))
    (pair,) = [one for one in pairs if (one.a, one.b) == (f"human:{a}", f"human:{b}")]
    fields = ("n", "both_met", "only_a", "only_b", "both_not", "agreement", "low", "high", "clusters")
    for field in (*fields, "kappa", "kappa_low", "kappa_high"):
        assert getattr(pair, field) == getattr(alone, field), field
    assert pair.n == (8 if "cy" not in (a, b) else 7)
    assert pair.agreed == pair.both_met + pair.both_not


def test_the_least_agreement_comes_first_and_what_is_unscored_last() -> None:
    builders = [*runs(**SAID), judged("apart", dee=1)]
    pairs = reviewer_pairs(reviewers_agreement([run.run() for run in builders]))
    assert len(pairs) == 6
    known = [one.kappa for one in pairs if isinstance(one.kappa, float)]
    assert known == sorted(known)
    assert [isinstance(one.kappa, Unscored) for one in pairs] == [False] * 3 + [True] * 3
    for one in pairs[3:]:
        assert (one.n, one.b) == (0, "human:dee")
        assert isinstance(one.agreement, Unscored)
        assert "no sub-goal" in one.agreement.reason


def test_where_chance_alone_explains_it_kappa_is_unscored_and_never_0() -> None:
    (pair,) = reviewer_pairs(reviewers_agreement([run.run() for run in runs(ann=(1, 1, 1), bob=(1, 1, 1))]))
    assert (pair.n, pair.agreement) == (3, 1.0)
    assert isinstance(pair.kappa, Unscored)
    assert "chance" in pair.kappa.reason


def test_a_name_that_looks_like_a_pattern_is_one_reviewer() -> None:
    pairs = reviewer_pairs(reviewers_agreement([judged("r", **{"*": 1, "ann": 0}).run()]))
    assert [(one.a, one.b, one.n) for one in pairs] == [("human:*", "human:ann", 1)]
