"""Several reviewers: how far they agree, where they part, and every pair of them."""

from __future__ import annotations

import pytest
from builders import RunBuilder, a_run

from untaken.errors import Unscored
from untaken.judging import reviewer_pairs, reviewers_agreement, verdict_agreement

SAID = {"ann": (1, 1, 0, 0, 1, 0, 1, 0), "bob": (1, 1, 0, 1, 1, 0, 0, 0), "cy": (0, 1, None, 0, 0, 0, 1, 1)}


def judged(run_id: str, sub_goal: str = "s", **said: int | None) -> RunBuilder:
    run = a_run(run_id, task=run_id).finish()
    for name, passed in said.items():
        word = None if passed is None else bool(passed)
        run.verdict(sub_goal, word, f"human:{name}", reason=f"says {name}")
    return run


def runs(**said: tuple[int | None, ...]) -> list[RunBuilder]:
    """A run, and a task, for each opinion."""
    count = len(next(iter(said.values())))
    return [judged(f"r{i}", **{name: told[i] for name, told in said.items()}) for i in range(count)]


def test_each_reviewer_has_one_voice_the_latest_and_unsure_is_no_opinion() -> None:
    run = judged("r1", ann=True, bob=None, cy=False)
    run.verdict("s", False, "human:ann", reason="on second thought")
    (one,) = reviewers_agreement([run.run()]).judged
    assert (one.met, one.not_met, one.unsure) == ((), ("human:ann", "human:cy"), ("human:bob",))
    assert dict(one.reasons)["human:ann"] == "on second thought"
    assert (one.contradicts, one.differs) == (False, True)


def test_counts_say_what_alpha_rests_on() -> None:
    runs = [
        judged("r1", ann=True, bob=True),
        judged("r2", ann=True, bob=False),
        judged("r3", ann=False, bob=False, cy=None),
        judged("r4", "t", ann=True),
        judged("r5", ann=True, bob=None),
    ]
    altered = judged("r6", ann=True, bob=True).run("ALTERED")
    found = reviewers_agreement([*(run.run() for run in runs), altered])
    whole = found.overall
    assert (whole.items, whole.agreed, whole.alone, whole.unsure, whole.runs) == (3, 2, 2, 2, 3)
    assert whole.reviewers == ("human:ann", "human:bob", "human:cy")
    assert whole.alpha == pytest.approx(4 / 9)  # 2 differ, 3.6 expected by chance
    assert whole.alpha_unsure == pytest.approx(1 / 13)  # 6 differ, 6.5 expected
    assert [(one.name, one.items) for one in found.sub_goals] == [("s", 3), ("t", 0)]


def test_contradictions_come_before_doubts_and_many_voices_before_few() -> None:
    runs = [
        judged("doubt", ann=True, bob=None, cy=None, dee=None),
        judged("two", ann=True, bob=False),
        judged("three", ann=True, bob=False, cy=False),
        judged("one mind", ann=True, bob=True),
    ]
    found = reviewers_agreement([run.run() for run in runs]).disagreements
    assert [one.run_id for one in found] == ["three", "two", "doubt"]


def test_judges_and_checks_are_no_reviewers_unless_asked_for() -> None:
    run = judged("r1", ann=True).verdict("s", False, "judge:m").verdict("s", False, "test")
    assert reviewers_agreement([run.run()]).overall.items == 0
    assert reviewers_agreement([run.run()], ["human:*", "judge:*"]).overall.items == 1


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
