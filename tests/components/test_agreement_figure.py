"""What judges and people say, drawn: agreement, rates from labels, reviewers two by two."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from builders import a_run
from drawn import HOSTILE, markup, note

from components import figures
from untaken.judging import labelled_rates, reviewer_pairs, reviewers_agreement, verdict_agreement
from untaken.ledger import Run


def judged(name: str, i: int, **verdicts: bool | None) -> Run:
    """A run with what each says of one sub-goal: ``human:ann``, ``judge:m``."""
    run = a_run(f"{name}/{i}", agent=name, task=f"t{i}").finish()
    for by, met in verdicts.items():
        if met is not None:
            run.verdict("s", met, by if ":" in by else f"human:{by}")
    return run.run()


EMPTY: dict[str, tuple[Callable[..., Any], object, str]] = {
    "agreement": (figures.agreement_figure, verdict_agreement([]), "judged by both"),
    "rates": (figures.labelled_rates_figure, labelled_rates([]), "has a label"),
    "reliability": (
        figures.reliability_figure,
        reviewers_agreement([a_run().finish().run()]),
        "two reviewers",
    ),
    "pairs": (
        figures.reviewer_pairs_figure,
        reviewer_pairs(reviewers_agreement([judged("a", 0, ann=True)])),
        "No two reviewers",
    ),
}


@pytest.mark.parametrize("name", EMPTY)
@pytest.mark.parametrize("dark", [False, True])
def test_without_what_it_needs_a_figure_says_so(name: str, dark: bool) -> None:
    draw, found, words = EMPTY[name]
    assert words in note(draw(found, dark=dark))


def test_share_and_kappa_are_drawn_for_all_and_for_each_agent() -> None:
    runs = [
        judged(agent, i, ann=i % 2 == 0, **{"judge:m": i % 3 == 0})
        for agent in ("one", HOSTILE)
        for i in range(8)
    ]
    found = verdict_agreement(runs)
    figure = figures.agreement_figure(found)
    share, kappa = figure.data
    assert list(share.x) == [found.overall.agreement, *(one.agreement for one in found.agents)]
    assert list(kappa.x) == [found.overall.kappa, *(one.kappa for one in found.agents)]
    assert share.marker.symbol != kappa.marker.symbol
    assert all(end > 0 for end in share.error_x.array)
    assert figure.layout.yaxis.ticktext[0].endswith("n=16")
    assert markup(figure) == []


def test_both_the_labels_alone_and_the_judge_are_drawn_for_all_and_for_each_agent() -> None:
    found = labelled_rates(
        judged(agent, i, **{"judge:m": i % 3 == 0}, ann=i % 2 == 0 if i < 12 else None)
        for agent in ("one", HOSTILE)
        for i in range(16)
    )
    figure = figures.labelled_rates_figure(found)
    both, people, judge = figure.data
    parts = [one for one in found.rates if one.part in ("all", "agent")]
    for drawn, name in ((both, "value"), (people, "people"), (judge, "judge")):
        assert list(drawn.x) == [getattr(one, name) for one in parts]
    assert all(end > 0 for end in both.error_x.array)
    assert not any(judge.error_x.array)
    assert figure.layout.yaxis.ticktext[0].endswith("24 of 32")
    assert markup(figure) == []


def test_alpha_is_shown_with_its_n_or_the_reason_why_there_is_none() -> None:
    runs = []
    for i in range(12):
        run = a_run(f"r{i}", task=f"t{i}").finish()
        run.verdict("s", i % 2 == 0, "human:ann").verdict("s", i < 6, "human:bob")
        runs.append(run.verdict(HOSTILE, True, "human:ann").verdict(HOSTILE, True, "human:bob").run())
    found = reviewers_agreement(runs)
    drawn = figures.reliability_figure(found)
    marks = drawn.data[0]
    assert list(marks.x) == [found.overall.alpha, found.sub_goals[0].alpha]
    assert marks.error_x.array[0] == found.overall.high - found.overall.alpha
    assert list(drawn.layout.yaxis.ticktext)[:2] == ["all  n=24", "s  n=12"]
    assert "all answers are the same" in note(drawn)
    assert markup(drawn) == []


def test_every_two_reviewers_stand_with_n_and_interval_and_what_has_none_says_so() -> None:
    pairs = reviewer_pairs(
        reviewers_agreement(
            judged("r", i, ann=i % 2 == 0, bob=i < 6, **{f"human:{HOSTILE}": True}, zoe=True,
                   kim=i % 3 == 0 if i < 3 else None)
            for i in range(12)
        )
    )  # fmt: skip
    drawn = figures.reviewer_pairs_figure(pairs)
    shares, kappas, bare = drawn.data
    known = [one for one in pairs if isinstance(one.kappa, float)]
    (pair,) = [one for one in known if (one.a, one.b) == ("human:ann", "human:bob")]
    assert (len(pairs), len(known)) == (10, 9)
    assert list(shares.x) == [one.agreement for one in pairs]
    sure = [one for one in known if isinstance(one.kappa_low, float)]
    at = sure.index(pair)
    assert (list(kappas.x), kappas.marker.symbol) == ([one.kappa for one in sure], "diamond")
    assert kappas.error_x.array[at] == pair.kappa_high - pair.kappa
    assert kappas.error_x.arrayminus[at] == pair.kappa - pair.kappa_low
    assert bare.marker.symbol == "diamond-open"
    assert len(bare.x) == len(known) - len(sure) > 0
    assert bare.error_x.array is None
    assert "the rarer answer on 3 items" in bare.customdata[0]
    assert drawn.layout.yaxis.ticktext[pairs.index(pair)] == "ann · bob<br>n=12"
    assert [told.text.replace("<br>", " ") for told in drawn.layout.annotations] == [
        "no κ: both always give the same answer, so chance explains the agreement"
    ]
    assert markup(drawn) == []
