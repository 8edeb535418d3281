"""Several reviewers: α against published data and an independent formula, and where they part."""

from __future__ import annotations

from itertools import permutations

import pytest
from builders import RunBuilder, a_run
from hypothesis import given
from hypothesis import strategies as st

from untaken.errors import Unscored
from untaken.judging.krippendorff import alpha_interval, nominal_alpha
from untaken.judging.reviewers import reviewers_agreement

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
        low, high = alpha_interval({str(i): [unit] for i, unit in enumerate(units)}, resamples=200)
        assert isinstance(low, Unscored) or low <= high <= 1


def test_the_interval_of_alpha_draws_runs_not_items() -> None:
    units = [[True, True]] * 12 + [[False, False]] * 12 + [[True, False]] * 6
    alone = alpha_interval({str(i): [unit] for i, unit in enumerate(units)})
    together = alpha_interval({str(i): [unit] * 5 for i, unit in enumerate(units)})
    assert together[1] - together[0] == pytest.approx(alone[1] - alone[0], rel=0.15)
    assert alone[0] < nominal_alpha(units) < alone[1]
    assert alpha_interval({str(i): [unit] for i, unit in enumerate(units)}) == alone


def test_full_agreement_is_no_certainty_and_one_run_has_no_interval() -> None:
    full = {str(i): [[i % 2, i % 2]] for i in range(8)}
    low, high = alpha_interval(full)
    assert isinstance(low, float)
    assert 0 < low < high == 1
    assert isinstance(alpha_interval({"one": [[1, 2], [1, 1]]})[0], Unscored)


def judged(run_id: str, sub_goal: str, **said: bool | None) -> RunBuilder:
    run = a_run(run_id, task=run_id).finish()
    for name, passed in said.items():
        run.verdict(sub_goal, passed, f"human:{name}", reason=f"says {name}")
    return run


def test_each_reviewer_has_one_voice_the_latest_and_unsure_is_no_opinion() -> None:
    run = judged("r1", "s", ann=True, bob=None, cy=False).verdict(
        "s", False, "human:ann", reason="on second thought"
    )
    (one,) = reviewers_agreement([run.run()]).judged
    assert (one.met, one.not_met, one.unsure) == ((), ("human:ann", "human:cy"), ("human:bob",))
    assert dict(one.reasons)["human:ann"] == "on second thought"
    assert (one.contradicts, one.differs) == (False, True)


def test_counts_say_what_alpha_rests_on() -> None:
    runs = [
        judged("r1", "s", ann=True, bob=True),
        judged("r2", "s", ann=True, bob=False),
        judged("r3", "s", ann=False, bob=False, cy=None),
        judged("r4", "t", ann=True),
        judged("r5", "s", ann=True, bob=None),
    ]
    found = reviewers_agreement(
        [*(run.run() for run in runs), judged("r6", "s", ann=True, bob=True).run("ALTERED")]
    )
    whole = found.overall
    assert (whole.items, whole.agreed, whole.alone, whole.unsure, whole.runs) == (3, 2, 2, 2, 3)
    assert whole.reviewers == ("human:ann", "human:bob", "human:cy")
    assert whole.alpha == pytest.approx(by_coincidences([[1, 1], [1, 0], [0, 0]]))
    three = [[1, 1], [1, 0], [0, 0, None], [1, None]]
    assert whole.alpha_unsure == pytest.approx(by_coincidences(three))
    assert [(one.name, one.items) for one in found.sub_goals] == [("s", 3), ("t", 0)]


def test_contradictions_come_before_doubts_and_many_voices_before_few() -> None:
    runs = [
        judged("doubt", "s", ann=True, bob=None, cy=None, dee=None),
        judged("two", "s", ann=True, bob=False),
        judged("three", "s", ann=True, bob=False, cy=False),
        judged("one mind", "s", ann=True, bob=True),
    ]
    found = reviewers_agreement([run.run() for run in runs]).disagreements
    assert [one.run_id for one in found] == ["three", "two", "doubt"]


def test_judges_and_checks_are_no_reviewers_unless_asked_for() -> None:
    run = judged("r1", "s", ann=True).verdict("s", False, "judge:m").verdict("s", False, "test")
    assert reviewers_agreement([run.run()]).overall.items == 0
    assert reviewers_agreement([run.run()], ["human:*", "judge:*"]).overall.items == 1
