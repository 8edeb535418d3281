"""Two agents on the Rankings page: chosen in a matrix, compared in a sentence, and what drives it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import streamlit as st

from components import figures
from components.rankings import words as ranking_words
from components.rankings.words import metric_words
from components.shared import cards, listeners, state, tables, text
from components.shared.panels import panel
from untaken.analysis import Comparison, PairedDifference, RankReport, SubGoalGap, TaskGap, ties_in_words
from untaken.ledger import Run
from untaken.numbers import counted, points
from untaken.views import pairs_table

MOST_TASKS: Final = 4
TABS: Final = "rankings_tabs"
TAB: Final = "Who is ahead?"
"""The tab that compares a pair, and the key of the tabs."""


def metric(report: RankReport) -> str:
    """The metric compared by: as the address asks, else the usual one."""
    return _metrics(report)[1]


def pick_metric(report: RankReport) -> str:
    """The same metric, to be chosen."""
    offered, now = _metrics(report)
    words = {name: metric_words(name) for name in offered}
    chosen = cards.picker(
        "Compared by", words, now, lambda name: _select(metric=name), key="metric_picker",
        draw=st.segmented_control, required=True,
    )  # fmt: skip
    return str(chosen or now)


def _metrics(report: RankReport) -> tuple[list[str], str]:
    """Those to choose from, and the one in force."""
    offered, asked = report.comparable_metrics, state.selected("metric")
    return offered, asked if asked in offered else report.usual_metric


def open_pair(metric: str, digest: str) -> None:
    """Compare this pair of agents by this metric, from whatever tab is open."""
    state.select(metric=metric, pair=digest)
    st.session_state[TABS] = TAB


def pick(digest: str) -> None:
    """Select a pair by its digest, and leave the metric."""
    _select(pair=digest)


def _select(**chosen: str) -> None:
    kept = {name: state.selected(name) for name in ("run", "metric", "pair")}
    state.select(**{**kept, **chosen})


@panel
def pair(compared: Comparison) -> PairedDifference | None:
    """The pair to look at: as the address asks, else the top two."""
    offered = {one.digest: one for one in compared.pairs}
    if not offered:
        return None
    found = offered.get(state.selected("pair") or "", compared.pairs[0])
    words = {digest: _name(one) for digest, one in offered.items()}
    cards.picker("Pair", words, found.digest, pick, key="pair_picker", help="Or click a cell of the matrix.")
    return found


def _name(one: PairedDifference) -> str:
    sign = ranking_words.SIGNS[one.direction]
    names = f"{text.one_line(one.first, 40)} − {text.one_line(one.second, 40)}"
    return f"{sign} {names} · {points(one.difference)} points"


@panel
def matrix(compared: Comparison, marked: PairedDifference | None) -> None:
    """Every pair, and the groups without a clear difference."""
    digest = marked.digest if marked else None
    drawn = partial(figures.pair_matrix, compared, marked=digest, dark=state.is_dark())
    name = f"Pairs of agents by {metric_words(compared.metric)}"
    tables.figure(
        drawn,
        key=f"pairs-{compared.metric}",
        name=name,
        on_pick=pick,
        of=(digest,),
        table=lambda: state.derived(pairs_table),
    )
    family = compared.pairs[0].family if compared.pairs else 0
    st.caption(
        "Above the diagonal: row minus column in percentage points, with the 95% interval. ▲ row ahead, ▼ "
        "row behind, ≈ no clear difference (the interval includes 0), ? no interval. Below the diagonal: "
        "probability that the higher-ranked agent stays ahead, over task resamples, and Holm's p over "
        f"{counted(family, 'pair')}."
    )
    words = ties_in_words(compared, lambda name: text.label(name, 40))
    st.caption(f"{words[:1].upper()}{words[1:]}.")


@panel
def detail(one: PairedDifference, report: RankReport, runs: Mapping[str, Run]) -> None:
    """Is the one ahead of the other? The sentence, its numbers, and what drives it."""
    first, second = text.label(one.first, 60), text.label(one.second, 60)
    with st.container(border=True, key="pair"):
        st.markdown(f"**Is {first} ahead of {second}? {ranking_words.verdict(one)}.**")
        verdict, driven = st.columns(2, gap="large")
        with verdict:
            st.markdown(ranking_words.sentences(one, f"**{first}**", f"**{second}**"))
            tables.folded("The difference as a figure", lambda: _difference(one), key="pair-figure")
        with driven:
            _sub_goals(report.sub_goal_gaps(one.metric, one.first, one.second))
        _tasks(one, report.task_gaps(one.metric, one.first, one.second), runs)
    picked = state.selected("pair") == one.digest  # not where other agents are compared
    listeners.into_view("pair", f"{one.metric} {one.digest}" if picked else None)


def _difference(one: PairedDifference) -> None:
    drawn = partial(figures.difference_bar, one, dark=state.is_dark())
    of = (one.metric, one.digest)
    tables.figure(drawn, key="difference", name="Difference of two agents", of=of)
    if one.direction != "unknown":
        st.caption(f"{ranking_words.band_words(one)} · {ranking_words.method(one)}")


def _sub_goals(gaps: Sequence[SubGoalGap]) -> None:
    if not gaps:
        st.caption("Only critical completion and completion can be split by sub-goal.")
        return
    tables.figure(
        figures.gap_bars(gaps, dark=state.is_dark()),
        key="gaps",
        name="Sub-goals behind the difference",
        about="Below each title: its share of the difference in points (all shares sum to it), and the tasks "
        "that both agents ran.",
    )


def _tasks(one: PairedDifference, gaps: Sequence[TaskGap], runs: Mapping[str, Run]) -> None:
    def draw() -> None:
        sides = st.columns(2, gap="large")
        for place, name, sign in zip(sides, (one.first, one.second), (1, -1), strict=True):
            side = [gap for gap in gaps if gap.difference * sign > 0]
            with place:
                st.caption(f"{text.label(name, 40)} ahead on {counted(len(side), 'task')} of {one.n_tasks}")
                for gap in side[:MOST_TASKS]:
                    _task(gap, runs)

    tables.folded("By task, with the clearest run of each agent", draw, key="by-task")


def _task(gap: TaskGap, runs: Mapping[str, Run]) -> None:
    with st.container(border=True, gap=None):
        st.caption(f"**{text.label(gap.task_id, 50)}** · {points(gap.difference)} points on this task")
        # The runs of each agent are sorted: the first one shows the difference best.
        with st.container(horizontal=True, gap="small"):
            run_link(runs[gap.first_runs[0]])
            run_link(runs[gap.second_runs[0]])


def run_link(run: Run, words: str = "") -> None:
    """A link to the Run page by agent and repeat."""
    repeat = text.repeat(run.started.task_repeat)
    state.run_link(f"{text.label(run.agent, 30)}{repeat}{words}", run.digest)
