"""Several reviewers: how far they agree, and where they part."""

from __future__ import annotations

import pytest
from builders import RunBuilder, a_run

from untaken.judging.reviewers import reviewers_agreement


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
    assert whole.alpha == pytest.approx(4 / 9)  # 2 differ, 3.6 expected by chance
    assert whole.alpha_unsure == pytest.approx(1 / 13)  # 6 differ, 6.5 expected
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
