"""One choice on the page of decisions: both histories side by side, what they are worth, the runs behind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import streamlit as st

from components.shared import cards, state, tables, text
from components.shared.choice_words import SIDES
from untaken.analysis import Corpus, SkillTakers
from untaken.counterfactual import (
    FROM_ODDS,
    THRESHOLD,
    Choice,
    OffPolicyContrast,
    Point,
    Record,
    context_words,
    level_words,
    time_words,
)
from untaken.errors import Score, number, reason
from untaken.ledger import Run
from untaken.numbers import counted, decimal, interval, money, p_value, percent, signed, significant
from untaken.views import FEW, ChoiceReview, choice_odds, corpus_logged, placebo_of

MOST_LINKS: Final = 5


def pick(digest: str | None) -> None:
    """Select a choice, and leave the selected run selected."""
    state.select(run=state.selected("run"), choice=digest, view=state.selected("view"))


def evaluated_or_not(review: ChoiceReview) -> None:
    """How many runs were evaluated, and against what."""
    skipped = sum(review.refused.values())
    st.caption(
        f"{counted(len(review.digests) - skipped, 'run')} evaluated, {skipped:,} not"
        " · each delta uses what was known when the run started, without its own outcome"
        " · association in past runs, not causation"
    )


def why_not(review: ChoiceReview) -> None:
    """Why runs could not be evaluated, where there are some."""
    if skipped := sum(review.refused.values()):
        reasons = Counter(review.refused)
        tables.folded(
            f"Why {counted(skipped, 'run')} could not be evaluated",
            lambda: st.code("\n".join(f"{n:>6}  {code}" for code, n in reasons.items()), language=None),
            key="not-evaluated",
        )


def placebo_on_request() -> None:
    """One line on what the comparisons say where there is nothing to find; it takes its time."""
    if not st.toggle("Placebo test: shuffle the skills among the runs and compare again", key="placebo"):
        return
    with st.spinner("Shuffling skills and evaluating every run again …"):
        found = state.derived(placebo_of)
    share = number(found.supported)
    called = reason(found.supported) if share is None else f"{percent(share, 1)} supported by chance alone"
    st.caption(
        f"{found.rounds} shuffles, {found.comparisons:,} comparisons: mean advantage "
        f"{_estimate(found.advantage, found.advantage_low, found.advantage_high)}, mean delta "
        f"{_estimate(found.delta, found.delta_low, found.delta_high)}; {called}."
    )


def picker(shown: Sequence[Choice], chosen: Choice | None) -> None:
    """The choices shown, by name, for people who do not click in figures."""
    # Every option is sent to the browser again with each click.
    options = {choice.digest: choice for choice in (*shown[:FEW], *([chosen] if chosen else []))}
    cards.picker(
        "Choice",
        {digest: _name(choice) for digest, choice in options.items()},
        chosen.digest if chosen else None,
        pick,
        key="choice_picker",
        index=None,
        placeholder="Choose one, or click its mark in the chart",
        filter_mode="contains",
    )


def _name(choice: Choice) -> str:
    context = context_words(choice.context, choice.context_hash)
    skills = f"{text.one_line(choice.selected, 40)} → {text.one_line(choice.alternative, 40)}"
    return f"{SIDES[choice.side].icon} {skills} · {text.one_line(context, 80)}"


def detail(choice: Choice, review: ChoiceReview, corpus: Corpus) -> None:
    """What is known of one choice."""
    style, runs = SIDES[choice.side], corpus.runs
    with st.container(border=True, key="choice"):
        chosen, other = text.one_line(choice.selected, 80), text.one_line(choice.alternative, 80)
        st.text(f"{chosen} chosen, {other} alternative")
        st.caption(text.label(context_words(choice.context, choice.context_hash), 300))
        with st.container(horizontal=True, gap="xsmall"):
            called = style.words if choice.support == "none" else choice.called
            st.badge(f"{style.icon} {called}", color=style.badge)
            if level := level_words(choice.level, choice.levels):
                st.badge(level, color="gray")
            if (q := number(choice.q)) is not None:
                st.badge(f"{p_value(q, 'q')} among {_pairs(choice)}", color="gray")
        # No recommendation may cost a critical sub-goal: what it costs is said first.
        if costs := SkillTakers(corpus).costs(choice):
            st.warning(text.label("; ".join(cost.words for cost in costs), 400), icon=":material/star:")
        st.text(text.one_line(choice.parts.words, 300))
        st.text(text.one_line(choice.support_reason, 300))
        if price := time_words(choice.support_reason):
            st.caption(price)
        _cards(choice, review.cost_unit)
        places = st.columns(3)
        # Not strict: the third column is for the odds.
        # Failures of what was taken and successes of the other come first: they speak for the change.
        for place, skill, success in zip(
            places, (choice.selected, choice.alternative), (False, True), strict=False
        ):
            with place:
                _links(review.points(skill, choice.context_hash), skill, runs, first=success)
        with places[2]:
            _from_odds(choice_odds(state.derived(corpus_logged), choice))
            st.caption(_fine_print(choice))


def _from_odds(found: OffPolicyContrast) -> None:
    """Estimates where the odds of the choices were logged; otherwise that there are none."""
    if not found.offered:
        st.caption("No action probabilities were logged for these choices, so this is an association.")
        return
    rests = (
        f"of {found.offered:,} decisions that offered both, {found.n_selected:,} took the selected skill and "
        f"{found.n_alternative:,} the alternative; {found.left_out:,} without logged probabilities left out"
    )
    share, effective = number(found.largest_share), number(found.effective)
    if share is None or effective is None:
        st.caption(f"{FROM_ODDS.capitalize()}: none ({reason(found.effective)}); {rests}.")
        return
    st.markdown(f"**{FROM_ODDS.capitalize()}**")
    st.text(f"SNIPS {_estimate(found.snips, found.snips_low, found.snips_high)}")
    st.text(f"doubly robust {_estimate(found.dr, found.dr_low, found.dr_high)}")
    st.caption(
        f"Of the advantage. Effective number of runs {decimal(effective, 1)}; the largest weight of one "
        f"run is {percent(share)} of all. {rests.capitalize()}."
    )
    if found.caution:
        st.caption(found.caution.capitalize() + ".")


def _estimate(value: Score, low: Score, high: Score) -> str:
    middle, ends = number(value), (number(low), number(high))
    if middle is None:
        return f"unscored: {reason(value)}"
    if ends[0] is None or ends[1] is None:
        return f"{signed(middle)}, no interval: {reason(low)}"
    return f"{signed(middle)} (95% interval {interval(*ends, signed)})"


def _fine_print(choice: Choice) -> str:
    words = (
        "Uses all history in memory, in this context only. Association: these runs may also differ in "
        "other ways."
    )
    if number(choice.q) is None:
        return words
    return (
        f"{words} q is the two-sided p-value for no advantage, adjusted by Benjamini–Hochberg over "
        f"{_pairs(choice)} of skills with enough runs for a test, among all runs compared here."
    )


def _pairs(choice: Choice) -> str:
    return counted(choice.q_family, "pair")


def _cards(choice: Choice, unit: str | None) -> None:
    chosen, other, between = st.columns(3)
    with chosen:
        _history("Taken", choice.selected, choice.taken, unit)
    with other:
        _history("Not taken", choice.alternative, choice.other, unit)
    with between:
        _advantage(choice)


def _history(side: str, skill: str, record: Record | None, unit: str | None) -> None:
    title = f"{side}: {text.label(skill, 40)}"
    if record is None:
        cards.number_card(title, "unknown", "no run chose it in this context")
        return
    cost, steps = number(record.avg_cost), number(record.avg_steps)
    words = [
        f"success rate over {counted(record.n, 'outcome')} of {counted(record.n_runs, 'run')}",
        "no cost recorded" if cost is None else f"mean cost {money(cost, text.label(unit or '', 12))}",
        "no steps recorded" if steps is None else f"{decimal(steps, 1)} steps on average",
    ]
    if record.weak_weight:
        words.append(f"weak signals count as {significant(record.weak_weight, 2)} outcomes in the rate")
    cards.number_card(title, percent(record.success_rate), " · ".join(words))


def _advantage(choice: Choice) -> None:
    title = "Advantage of the alternative"
    advantage, low, high = number(choice.advantage), number(choice.low), number(choice.high)
    if advantage is None:
        cards.number_card(title, "unknown", text.label(choice.support_reason, 200))
        return
    span = "no interval"
    if low is not None and high is not None:
        span = f"95% interval {interval(low, high, signed)}"
    better = number(choice.p_better)
    words = span if better is None else f"{span} · above +{THRESHOLD:g} with probability {percent(better)}"
    mean = number(choice.mean_delta)
    if mean is not None:
        words += f" · mean delta {signed(mean)} over {counted(len(choice.deltas), 'point')}"
    cards.number_card(title, signed(advantage), words)


def _links(points: Sequence[Point], skill: str, runs: Mapping[str, Run], *, first: bool) -> None:
    """Links to the runs at that decision; those with the outcome `first` come first."""
    known = [(runs[point.run], point) for point in points if point.run in runs]
    ordered = sorted(known, key=lambda pair: pair[0].success is not first)
    st.caption(f"{counted(len(known), 'decision point')} took {text.label(skill, 40)}")
    for run, point in ordered[:MOST_LINKS]:
        where = f"{text.label(run.task_id, 40)}{text.repeat(run.started.task_repeat)}"
        words = f"{text.outcome(run.success)} {text.label(run.agent, 30)} on {where}"
        state.run_link(words, point.run, decision=str(point.decision_point))
    if len(ordered) > MOST_LINKS:
        st.caption(f"and {len(ordered) - MOST_LINKS:,} more")
