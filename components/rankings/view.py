"""Sections of the Rankings page: pairs that change places, workflow against agent, the rule in force."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Final

import streamlit as st

from components.rankings import pair_view
from components.rankings.words import contribution_words, metric_words, turn_words
from components.shared import state, tables, text
from components.shared.panels import panel
from untaken.analysis import OUTCOME, DiscordantPair, RankReport, RuleEffect, WorkflowVerdict
from untaken.ledger import Run
from untaken.numbers import counted, decimal, interval, percent, points
from untaken.views import rule_table

RULE_COLUMNS: Final = {
    "fail_value_reason": None,
    "drop_value_reason": st.column_config.TextColumn("why there is no value"),
}
MOST_RUNS: Final = 3
MOST_GAPS: Final = 3
MOST_CARDS: Final = 4
MOST_LISTED: Final = 12
MOST_TURNS: Final = 6
WINS: Final = {
    "workflow": "The workflow wins until the gap is explained",
    "agent": "The agent completes more critical sub-goals",
    "level": "Level",
    "unscored": "Unscored",
}


@panel
def discordant(report: RankReport, runs: Mapping[str, Run], metric: str) -> None:
    """Each pair that the outcome puts in another order than sub-goals do, with the runs that cause it."""
    widest = report.order_changes()
    if not widest:
        st.info("No pair of agents changes order between outcome and a sub-goal metric.")
    for pairs in widest[:MOST_TURNS]:
        _discordant(report, pairs, runs, metric)
    if len(widest) > MOST_TURNS:
        st.caption(f"The {MOST_TURNS} largest order changes, of {len(widest)}; the table shows all.")


def _discordant(
    report: RankReport, pairs: Sequence[DiscordantPair], runs: Mapping[str, Run], metric: str
) -> None:
    first, second = pairs[0].first, pairs[0].second  # the same two agents in all of them
    with st.container(border=True, gap="xsmall"):
        st.markdown(
            f"**{text.label(first, 40)}** is above **{text.label(second, 40)}** by outcome success "
            f"({_values(report, OUTCOME, first, second)}), and below by"
        )
        below = (f"{metric_words(p.b_metric)} ({_values(report, p.b_metric, first, second)})" for p in pairs)
        st.caption(" · ".join(below))
        # The metric chosen, where it is one of those that differ.
        shown = next((p for p in pairs if p.b_metric == metric), pairs[-1])
        both = (report.comparisons[m].pair(first, second) for m in (OUTCOME, shown.b_metric))
        st.caption(turn_words(*both))
        if any(pair.clear for pair in pairs):
            st.badge("clear reversal", color="orange", icon=":material/swap_vert:")
        made = report.contributions(shown)
        with st.expander(f"{counted(len(made), 'run')} behind the change, largest effect first"):
            st.caption(f"Outcome against {metric_words(shown.b_metric)}. Each run's share of the change.")
            # Of each agent: else the runs of one might leave no room for the other's.
            halves = ([p for p in made if p.agent == agent][:MOST_RUNS] for agent in (first, second))
            for one in chain.from_iterable(halves):
                words = f" · {text.label(one.task_id, 40)}: {contribution_words(one, shown.b_metric)}"
                pair_view.run_link(runs[one.digest], words)


def _values(report: RankReport, metric: str, first: str, second: str) -> str:
    values = {ranked.agent: ranked.value for ranked in report.metrics[metric]}
    return f"{percent(values[first])} against {percent(values[second])}"


@panel
def workflows(report: RankReport) -> None:
    """Workflow against agent, by critical completion: who wins, how sure, and what would explain it."""
    st.caption(
        "By critical completion over common tasks. The workflow wins while its share is higher and the gap "
        "is unexplained. Possible explanations are below each verdict."
    )
    numbered = list(enumerate(report.workflows[:MOST_LISTED]))  # the number is in the key of a button
    _workflow_cards(report, numbered[:MOST_CARDS])
    if more := numbered[MOST_CARDS:]:
        with st.expander(f"{counted(len(more), 'more pair')} of workflow and agent"):
            _workflow_cards(report, more)
    if left := len(report.workflows) - len(numbered):
        st.caption(f"{counted(left, 'more pair')} above.")


def _workflow_cards(report: RankReport, numbered: Sequence[tuple[int, WorkflowVerdict]]) -> None:
    for start in range(0, len(numbered), 2):
        for column, (place, one) in zip(
            st.columns(2, gap="large"), numbered[start : start + 2], strict=False
        ):
            with column:
                _workflow(report, one, place)


def _workflow(report: RankReport, one: WorkflowVerdict, place: int) -> None:
    gap = one.gap
    between = (gap.metric, one.workflow, one.agent)
    with st.container(border=True, gap="xsmall", height="stretch"):
        st.markdown(
            f"**{text.label(one.workflow, 40)}** (workflow) against **{text.label(one.agent, 40)}** (agent): "
            f"{WINS[one.wins]}"
        )
        sure = "" if gap.clear_difference else " · no clear difference from 0"
        st.caption(
            f"Gap {points(gap.difference)} points, 95% {interval(gap.low, gap.high, points)}{sure} · "
            f"{gap.n_tasks} tasks, {gap.n_runs} runs"
        )
        goals = (
            f"{text.label(g.title or g.sub_goal, 40)} {points(g.contribution)}"
            for g in report.sub_goal_gaps(*between)[:MOST_GAPS]
        )
        tasks = (
            f"{text.label(t.task_id, 30)} {points(t.contribution)}"
            for t in report.task_gaps(*between)[:MOST_GAPS]
        )
        replans = f"{_replans(one.workflow_replans)} against {_replans(one.agent_replans)}"
        st.caption(
            f"Sub-goals: {' · '.join(goals) or 'none'}  \nTasks: {' · '.join(tasks) or 'none'}  \n"
            f"Replans per run: {replans}"
        )
        st.button(
            "Compare this pair",
            key=f"workflow-{place}",
            on_click=lambda: pair_view.open_pair(gap.metric, gap.digest),
            type="tertiary",
        )


def _replans(value: object) -> str:
    return decimal(value) if isinstance(value, float) else "no plan recorded"


@panel
def rule(effect: RuleEffect) -> None:
    """The rule for missing verdicts, as a switch, with what it decides."""
    st.session_state["rule_switch"] = state.rules().missing == "drop"  # the sidebar may have changed it
    st.toggle(
        "Leave out sub-goals without a verdict instead of counting them as not completed",
        key="rule_switch",
        on_change=_switched,
        help="Same rule as in the sidebar. It applies to every page.",
    )
    agents = {change.agent for change in effect.changes}
    if not effect.changes:
        st.caption("This rule changes no value and no rank here.")
        return
    flips = {(flip.first, flip.second) for flip in effect.flips}  # a pair may change order by several metrics
    st.caption(
        f"It changes the values or ranks of {counted(len(agents), 'agent')}; "
        f"{counted(len(flips), 'pair', 'change')} order with it."
    )
    for flip in effect.flips:
        st.markdown(
            f"By {metric_words(flip.metric)}, **{text.label(flip.first, 40)}** ranks above "
            f"**{text.label(flip.second, 40)}** if they count as not completed, and below if they are left "
            "out."
        )
    found = rule_table(effect)
    tables.table(
        found.assign(metric=found["metric"].map(metric_words)),
        key="rule",
        name="What this rule changes",
        columns=RULE_COLUMNS,
        whole=lambda: found,
    )


def _switched() -> None:
    state.forget_scope()
    st.session_state["rules_missing"] = "drop" if st.session_state["rule_switch"] else "fail"
