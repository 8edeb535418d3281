"""Krippendorff's α drawn with interval and n; hostile names stay words."""

from __future__ import annotations

from builders import a_run

from components import figures
from untaken.judging import reviewers_agreement

HOSTILE = "<b>x</b><script>alert(1)</script>"


def test_alpha_stands_with_its_n_and_where_there_is_none_the_reason_does() -> None:
    runs = []
    for i in range(6):
        run = a_run(f"r{i}").finish().verdict("s", i % 2 == 0, "human:ann").verdict("s", i < 3, "human:bob")
        runs.append(run.verdict(HOSTILE, True, "human:ann").verdict(HOSTILE, True, "human:bob").run())
    found = reviewers_agreement(runs)
    drawn = figures.reliability_figure(found)
    marks = drawn.data[0]
    assert list(marks.x) == [found.overall.alpha, found.sub_goals[0].alpha]
    assert marks.error_x.array[0] == found.overall.high - found.overall.alpha
    assert list(drawn.layout.yaxis.ticktext)[:2] == ["all  n=12", "s  n=6"]
    assert "all answers are the same" in drawn.layout.annotations[0].text
    assert "<script>" not in drawn.to_json()
    assert "\\u003cscript" not in drawn.to_json()


def test_without_two_reviewers_it_says_so() -> None:
    drawn = figures.reliability_figure(reviewers_agreement([a_run().finish().run()]), dark=True)
    assert "two reviewers" in drawn.layout.annotations[0].text
