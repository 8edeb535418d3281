"""The figures of criteria, judges and reviewers say what was found, by mark as well as by colour."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import plotly.graph_objects as go
import pytest
from builders import a_run
from drawn import HOSTILE, markup, note

from components import figures
from untaken.errors import Unscored
from untaken.judging import labelled_rates, reviewer_pairs, reviewers_agreement, verdict_agreement
from untaken.judging.criteria import (
    Criterion,
    CriterionDifference,
    Quantified,
    QuantifierRun,
    UniqueCount,
    Value,
    before_after,
    outcome_means,
    pass_steps,
    verify_criteria,
)
from untaken.ledger import Run

SCALE = ["a", "b", "c", "d", "e"]


def a_pass(levels: dict[str, list[int]], *, successes: int = 0, seed: int = 0) -> QuantifierRun:
    n = max(map(len, levels.values()))
    items = tuple(
        Quantified(
            subject=f"s{i}",
            success=i < successes,
            values={name: Value(text=SCALE[found[i]], level=found[i]) for name, found in levels.items()},
        )
        for i in range(n)
    )
    criteria = tuple(Criterion(name=name, accepted_values=SCALE) for name in levels)
    return QuantifierRun(name=f"seed {seed}", by="model", criteria=criteria, items=items, seed=seed)


LEVELS = {"Care": [4] * 8 + [1] * 8, "Noise": [2, 3] * 8}
PASSES = [a_pass(LEVELS, successes=8, seed=seed) for seed in range(4)]
WORSE = {
    "drop_sentences": [a_pass({"Care": [0] * 16, "Noise": [2, 3] * 8}, successes=8)],
    "shuffle": [PASSES[0]],
}
DRAWN: dict[str, Any] = {
    "criteria_means": lambda passes, worse, dark: figures.criteria_means(outcome_means(passes), dark=dark),
    "criteria_distributions": lambda passes, worse, dark: figures.criteria_distributions(passes, dark=dark),
    "pass_change": lambda passes, worse, dark: figures.pass_change(pass_steps(passes), dark=dark),
    "original_vs_disturbed": lambda passes, worse, dark: figures.original_vs_disturbed(
        before_after(passes, worse.get("drop_sentences", ())), dark=dark
    ),
    "attack_matrix": lambda passes, worse, dark: figures.attack_matrix(
        verify_criteria(passes, disturbed=worse), dark=dark
    ),
}


def marks(figure: Any, symbol: str) -> list[float]:
    return [t.x[0] for t in figure.data if t.mode == "markers" and t.marker.symbol == symbol]


def test_successes_are_filled_circles_and_failures_open_diamonds_at_their_share_of_the_scale() -> None:
    figure = DRAWN["criteria_means"](PASSES, {}, False)
    assert marks(figure, "circle") == [1.0, 0.625]
    assert marks(figure, "diamond-open") == [0.25, 0.625]
    assert "● success" in note(figure)
    assert {t.line.dash for t in figure.data if t.mode == "lines"} == {"solid", "dot"}
    (hover, *_) = [t.hovertext[0] for t in figure.data if t.mode == "markers"]
    assert "level 4.00 of 0–4 (95% 2.52 to 4.00), n=8" in hover


def test_one_task_has_no_interval_and_says_so() -> None:
    figure = figures.criteria_means(outcome_means([a_pass({"Care": [3, 1]}, successes=1)]))
    assert not [t for t in figure.data if t.mode == "lines"]
    assert "one task has no spread" in figure.data[0].hovertext[0]


def test_runs_are_points_of_their_outcome_and_recorded_ones_stand_beside_disturbed_ones() -> None:
    boxes = DRAWN["criteria_distributions"](PASSES, {}, False).data
    assert [len(box.x) for box in boxes] == [16, 16]
    assert [box.marker.symbol for box in boxes] == ["circle", "diamond-open"]
    assert list(DRAWN["pass_change"](PASSES, {}, False).data[0].x) == [3, 4]  # it starts with the third pass
    figure = DRAWN["original_vs_disturbed"](PASSES, WORSE, False)
    assert marks(figure, "circle") == [0.625, 0.625]
    assert marks(figure, "diamond-open") == [0.0, 0.625]


def test_a_cell_says_by_sign_what_its_colour_says() -> None:
    figure = DRAWN["attack_matrix"](PASSES, WORSE, False)
    assert [a.text for a in figure.layout.annotations] == ["<b>✓ 100%</b>", "50%", "50%", "50%"]
    assert [shape.line.dash for shape in figure.layout.shapes] == ["solid", "dot", "dot", "dot"]
    assert "× sentences removed" in figure.data[0].hovertext[0]  # not the name that files use
    assert "lower: 16 worse, 0 equal, 0 better of 16 runs" in figure.data[0].hovertext[0]
    better = {"shuffle": [a_pass({"Care": [4] * 16}, successes=8)]}
    verified = verify_criteria([a_pass({"Care": [1] * 16, "New": [1] * 16})], disturbed=better)
    signs = [a.text for a in figures.attack_matrix(verified).layout.annotations]
    assert signs == ["<b>↑ 0%</b>", "–"]  # rewarded, unmeasured


@pytest.mark.parametrize("name", DRAWN)
def test_nothing_to_draw_is_said(name: str) -> None:
    figure = DRAWN[name]([], {}, False)
    assert len(figure.data) == 0
    assert figure.layout.annotations[0].text


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", DRAWN)
def test_hostile_names_are_words(name: str, dark: bool) -> None:
    levels = {HOSTILE: [4] * 8 + [1] * 8}
    passes = [a_pass(levels, successes=8, seed=seed) for seed in range(3)]
    worse = {"drop_sentences": [a_pass({HOSTILE: [0] * 16})], HOSTILE: [passes[0]]}
    assert markup(DRAWN[name](passes, worse, dark)) == []


def a_side(name: str = "Care", *, apart: bool = True, **changes: Any) -> CriterionDifference:
    fields: dict[str, Any] = {
        "name": name, "tasks": 7, "runs": 21, "top": 4,
        "first": 3.0, "first_low": 2.0, "first_high": 4.0,
        "second": 1.0, "second_low": 0.5, "second_high": 1.5,
        "difference": 2.0, "low": 1.0 if apart else -1.0, "high": 3.0,
    }  # fmt: skip
    return CriterionDifference(**(fields | changes))


def a_count(seeds: int, *, way: str = "task", tau: float = 0.5) -> UniqueCount:
    mean = 2.0 + seeds
    return UniqueCount(way=way, tau=tau, seeds=seeds, of=3, mean=mean, low=mean - 1, high=mean + 1, draws=200)


def points(figure: go.Figure) -> list[go.Scatter]:
    return [trace for trace in figure.data if "markers" in (trace.mode or "")]


def test_two_agents_are_drawn_as_shares_of_the_scale_with_n_clear_differences_and_other_marks() -> None:
    figure = figures.agents_by_criterion([a_side(), a_side("Tone", apart=False)], "a", "b")
    first, second = points(figure)
    assert (list(first.x), list(second.x)) == ([0.75, 0.75], [0.25, 0.25])
    assert (first.name, second.name) == ("a", "b")
    assert first.marker.symbol != second.marker.symbol
    assert "95% 50% to 100%" in first.hovertext[0]
    assert "7 common tasks, 21 runs" in first.hovertext[0]
    assert [note.text for note in figure.layout.annotations] == ["≠  n = 7", "≈  n = 7"]


def test_agents_compared_on_one_task_have_no_interval_and_it_is_said() -> None:
    none = Unscored("one common task has no spread")
    ends = dict.fromkeys(("first_low", "first_high", "second_low", "second_high", "low", "high"), none)
    figure = figures.agents_by_criterion([a_side(**ends)], "a", "b")
    assert "no interval" in points(figure)[0].hovertext[0]
    assert [list(trace.x) for trace in figure.data if trace.mode == "lines"] == [[], []]


def test_a_curve_for_each_way_and_threshold_with_the_spread_of_the_draws() -> None:
    counts = [a_count(n, way=w, tau=t) for w in ("task", "solution") for t in (0.5, 1.0) for n in (1, 2, 3)]
    figure = figures.unique_criteria(counts)
    assert len(figure.data) == 4
    assert len({(trace.line.dash, trace.marker.symbol) for trace in figure.data}) == 4
    assert list(figure.data[0].error_y.array) == [1.0] * 3
    assert "2 of 3 seeds: 4.0 criteria" in figure.data[0].hovertext[1]


def test_hostile_names_of_agents_and_proposals_are_words_and_nothing_to_draw_is_said() -> None:
    proposals = figures.unique_criteria([a_count(1, way=HOSTILE)])
    assert markup(figures.agents_by_criterion([a_side(HOSTILE)], HOSTILE, HOSTILE), proposals) == []
    assert "No task" in note(figures.agents_by_criterion([], "a", "b", dark=True))
    assert "Nothing was proposed" in note(figures.unique_criteria([], dark=True))


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
