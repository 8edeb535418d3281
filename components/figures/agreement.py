"""How far authors agree: reviewers with each other, two authors of verdicts, a few labels and a judge."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from typing import Any, Final

import plotly.graph_objects as go

from untaken.errors import Score, Unscored, number
from untaken.judging import (
    AgreementEstimate,
    LabelledRate,
    LabelledRates,
    Reliability,
    ReviewerPair,
    Reviewers,
    VerdictAgreement,
)
from untaken.numbers import decimal, interval

from ..shared import text
from ..shared.palette import tokens
from .parts import estimates, least_end, legend_above, part_name, row_names, words_at
from .theme import message, themed

MOST_GOALS: Final = 24
MOST_PAIRS: Final = 24
SHIFT: Final = 0.17
WORDS_WIDE: Final = 30
"""Characters of a reason on one line, so that it fits a small screen."""


def reliability_figure(found: Reviewers, *, dark: bool = False) -> go.Figure:
    """α (diamonds) with 95% intervals: all sub-goals first, then each, the least agreement first.

    A sub-goal whose α is unscored has a line of its own that says why.
    """
    parts = [one for one in (found.overall, *found.sub_goals) if one.items][: MOST_GOALS + 1]  # and the whole
    if not parts:
        return message("No sub-goal was judged by two reviewers", dark=dark)
    look, figure = tokens(dark), go.Figure()
    rows = [(at, one.alpha, one.low, one.high, _words(one)) for at, one in enumerate(parts)]
    hover = "α %{x:.3f}<br>%{customdata}"
    figure.add_trace(estimates(rows, "Krippendorff's α", "diamond", look.text, hover=hover))
    for at, one in enumerate(parts):
        if isinstance(one.alpha, Unscored):
            words_at(figure, text.figure(one.alpha.reason, 60), 0.0, at, look.text, xanchor="left")
    themed(figure, dark=dark, height=110 + 34 * len(parts), margin=(8, 8, 30, 8))
    row_names(figure, [f"{part_name(one.part, one.name)}  n={one.items:,}" for one in parts])
    least = least_end(end for one in parts for end in (one.alpha, one.low))
    figure.update_xaxes(title="1 is full agreement, 0 chance", range=[least, 1.03])
    return figure


def _words(one: Reliability) -> str:
    return f"{one.agreed:,} of {one.items:,} agreed, {one.runs:,} runs, {len(one.reviewers)} reviewers"


def reviewer_pairs_figure(pairs: Sequence[ReviewerPair], *, dark: bool = False) -> go.Figure:
    """Share of one opinion (circles) and κ (diamonds) of every two reviewers, with 95% intervals.

    A mark without an interval is open. Where κ is unscored, the reason replaces it.
    """
    shown = [one for one in pairs if one.n][:MOST_PAIRS]
    if not shown:
        return message("No two reviewers could tell on the same sub-goal of a run", dark=dark)
    look, figure = tokens(dark), go.Figure()
    for place, (name, symbol, values) in enumerate(MARKS):
        colour, shift = (look.muted, look.text)[place], SHIFT * (2 * place - 1)
        rows = [(at + shift, *values(one), _pair_words(one, values(one))) for at, one in enumerate(shown)]
        known = [row for row in rows if not isinstance(row[1], Unscored)]
        bare = [row for row in known if isinstance(row[2], Unscored) or isinstance(row[3], Unscored)]
        if sure := [row for row in known if row not in bare]:
            figure.add_trace(estimates(sure, name, symbol, colour))
        if bare:  # apart: plotly would draw bars of no length
            figure.add_trace(estimates(bare, name, f"{symbol}-open", colour, bars=False))
            figure.data[-1].showlegend = not sure  # both are one entry of the legend
    for at, one in enumerate(shown):
        if isinstance(one.kappa, Unscored):
            lines = textwrap.wrap(f"no κ: {one.kappa.reason}", WORDS_WIDE)[:3]
            words = "<br>".join(map(text.figure, lines))
            words_at(figure, words, 0.0, at, look.muted, size=11, xanchor="left", align="left")
    themed(figure, dark=dark, height=130 + 48 * len(shown), margin=(8, 8, 30, 8))
    row_names(figure, [f"{_person(one.a)} · {_person(one.b)}<br>n={one.n:,}" for one in shown])
    least = least_end(end for one in shown for end in (one.kappa, one.kappa_low, one.low))
    figure.update_xaxes(title="1 is full agreement; 0 of κ is chance", range=[least, 1.03])
    return legend_above(figure)


def _person(name: str) -> str:
    return text.figure(name.removeprefix("human:"), 20)


def _pair_words(one: ReviewerPair, values: tuple[Score, Score, Score]) -> str:
    a, b = _person(one.a), _person(one.b)
    _, low, high = values
    if isinstance(low, Unscored) or isinstance(high, Unscored):
        reason = low.reason if isinstance(low, Unscored) else "one of its ends is unscored"
        span = f"no interval: {text.figure(reason, 90)}"
    else:
        span = f"95%: {interval(low, high, digits=3)}"
    return (
        f"{span}<br>{one.n:,} sub-goals of runs ({one.clusters:,} {one.cluster}s): "
        f"both met {one.both_met:,}, both not {one.both_not:,},<br>only {a} {one.only_a:,}, "
        f"only {b} {one.only_b:,}"
    )


MOST_AGENTS: Final = 20
MARKS: Final[tuple[tuple[str, str, Callable[[Any], tuple[Score, Score, Score]]], ...]] = (
    ("share that agree", "circle", lambda one: (one.agreement, one.low, one.high)),
    ("Cohen's κ: beyond chance", "diamond", lambda one: (one.kappa, one.kappa_low, one.kappa_high)),
)
"""Marks of a row with an agreement and a κ: name, shape, and the figures shown."""


def agreement_figure(agreement: VerdictAgreement, *, dark: bool = False) -> go.Figure:
    """Share (circles) and κ (diamonds) with 95% intervals: all runs first, then each agent."""
    parts = [one for one in (agreement.overall, *agreement.agents) if one.n][: MOST_AGENTS + 1]
    if not parts:
        return message("No sub-goal was judged by both", dark=dark)
    look = tokens(dark)
    figure = go.Figure()
    for place, (name, symbol, values) in enumerate(MARKS):
        shift, colour = SHIFT * (2 * place - 1), (look.text, look.muted)[place]
        rows = [(at + shift, *values(one), _opinion_words(one)) for at, one in enumerate(parts)]
        figure.add_trace(estimates(rows, name, symbol, colour))
    themed(figure, dark=dark, height=110 + 46 * len(parts), margin=(8, 8, 30, 8))
    row_names(figure, [f"{part_name(one.part, one.name)}  n={one.n:,}" for one in parts])
    least = least_end(end for one in parts for end in (one.low, one.kappa, one.kappa_low))
    figure.update_xaxes(title="1 is full agreement; 0 of κ is chance", range=[least, 1.03])
    return legend_above(figure)


def _opinion_words(one: AgreementEstimate) -> str:
    return (
        f"{one.n:,} pairs: both met {one.both_met}, both not {one.both_not}, "
        f"only the first {one.only_a}, only the second {one.only_b}"
    )


MOST_RATED: Final = 20
RATE_SHIFT: Final = 0.22
JUDGE: Final = "judge alone"
Values = Callable[[LabelledRate], tuple[Score, Score, Score]]
RATE_MARKS: Final[tuple[tuple[str, str, Values], ...]] = (
    ("rate", "circle", lambda one: (one.value, one.low, one.high)),
    ("labels alone", "circle-open", lambda one: (one.people, one.people_low, one.people_high)),
    (JUDGE, "x-thin-open", lambda one: (one.judge, one.judge, one.judge)),
)


def labelled_rates_figure(found: LabelledRates, *, dark: bool = False) -> go.Figure:
    """Share of sub-goals met with 95% intervals: all runs first, then each agent with a label."""
    parts = [one for one in found.rates if one.part in ("all", "agent")][: MOST_RATED + 1]
    if not found.overall.labels:
        return message("No sub-goal that a judge decided has a label", dark=dark)
    look, figure = tokens(dark), go.Figure()
    for place, (name, symbol, values) in enumerate(RATE_MARKS):
        colour = (look.good, look.muted, look.bad)[place]
        rows = [
            (at + RATE_SHIFT * (place - 1), *values(one), _rate_words(one)) for at, one in enumerate(parts)
        ]
        hover = f"{name} %{{x:.1%}}<br>%{{customdata}}"
        trace = estimates(rows, name, symbol, colour, hover=hover)
        # A judge alone has no interval.
        trace.error_x.visible, trace.marker.line = name != JUDGE, {"width": 2, "color": colour}
        figure.add_trace(trace)
    themed(figure, dark=dark, height=120 + 58 * len(parts), margin=(8, 8, 30, 8))
    row_names(figure, [f"{part_name(one.part, one.name)}  {one.labels:,} of {one.items:,}" for one in parts])
    figure.update_xaxes(title="share of sub-goals met", range=[-0.02, 1.02], tickformat=".0%")
    return legend_above(figure)


def _rate_words(one: LabelledRate) -> str:
    worth = number(one.worth)
    used = {"labels_and_judge": "from labels and judge", "labels": "from labels alone", "none": "no rate"}
    words = f"{one.labels:,} labels in {one.clusters:,} tasks or runs, of {one.items:,} sub-goals judged"
    words = f"{used[one.basis]}; {words}"
    return words if worth is None else f"{words}; worth {decimal(worth, 1)}× the labels"
