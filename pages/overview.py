"""Where does the outcome metric mislead us, and what should we fix first?"""

from __future__ import annotations

import streamlit as st

from components import cards, figures, state, tables, text
from components.figures.agents import metric_words
from untaken.errors import Unscored, number
from untaken.report import Overview, overview, review_queue, review_table, sub_goal_failures

SHOWN = 6
METRICS = ("success_rate", "completion", "critical_completion")


def numbers(seen: Overview) -> None:
    succeeded, lucky, agreement = st.columns(3)
    with succeeded:
        left = f" {seen.succeeded.left_out} more record no outcome." if seen.succeeded.left_out else ""
        cards.number_card(
            "Runs that succeeded",
            cards.percent(seen.succeeded.rate),
            f"{seen.succeeded.count} of {seen.succeeded.n} runs with a recorded outcome.{left}",
        )
    with lucky:
        left = f" {seen.lucky.left_out} more cannot be told." if seen.lucky.left_out else ""
        cards.number_card(
            "Successes that left a critical sub-goal undone",
            cards.percent(seen.lucky.rate),
            f"{seen.lucky.count} of {seen.lucky.n} successful runs with a critical sub-goal.{left}",
        )
    with agreement:
        tau = seen.agreement.tau_b if seen.agreement else Unscored("there is no ranking by this metric")
        cards.number_card(
            "Agreement of outcome and sub-goals (τ-b)",
            "unscored" if isinstance(tau, Unscored) else f"{tau:+.2f}",
            f"{text.label(tau.reason, 160)}." if isinstance(tau, Unscored) else agreement_words(seen),
        )


def agreement_words(seen: Overview) -> str:
    low, high = (
        (number(end) for end in (seen.agreement.low, seen.agreement.high)) if seen.agreement else (None, None)
    )
    span = f"95 % interval {low:+.2f} to {high:+.2f}; " if low is not None and high is not None else ""
    return (
        f"{span}{len(seen.discordant)} of {seen.pairs} pairs of agents change places between "
        f"outcome success and {metric_words(seen.metric)}."
    )


corpus = state.compared()
cards.headline("Overview", "Where does the outcome metric mislead us, and what should we fix first?")
if not corpus.runs:
    cards.nothing_here()
    st.stop()

metric = "critical_completion"
seen = overview(corpus, metric=metric)
if isinstance(seen.lucky.rate, Unscored):
    metric = "completion"
    seen = overview(corpus, metric=metric)
broken = f" · {seen.broken} broken ledgers, in no rate" if seen.broken else ""
st.caption(
    f"{seen.runs:,} runs · {seen.agents} agents · {seen.tasks} tasks · {seen.graphs} plan graphs{broken}  \n"
    f"{text.label(state.rules().in_words(), 200)}"
)
numbers(seen)

queue = review_queue(corpus)
flow, contradictory = st.columns([3, 2], gap="large")
with flow:
    st.subheader("From outcome rank to sub-goal rank", anchor=False)
    st.caption(
        f"Over the {len(corpus.ranking.shared_tasks)} tasks that every agent ran. "
        "Agents whose lines cross change places."
    )
    drawn = figures.rank_flow(corpus.ranking, metrics=METRICS, dark=state.is_dark())
    tables.figure(drawn, key="flow", name="Rank flow")
with contradictory:
    st.subheader("Runs that contradict themselves", anchor=False)
    found = [item for item in queue if item.kind in ("lucky", "unlucky")]
    st.caption(f"{len(found)} runs whose outcome and sub-goals disagree; the weightiest first.")
    cards.run_links(found[:3], empty="No outcome contradicts its sub-goals here.")

failing, missed = st.columns([2, 3], gap="large")
with failing:
    st.subheader("Failing runs worth a look", anchor=False)
    worst = [item for item in queue if item.kind == "failed"]
    st.caption(f"{len(worst)} failed runs; most critical sub-goals undone and policy violations first.")
    cards.run_links(worst[:SHOWN], empty="No run failed.")
with missed:
    st.subheader("Which sub-goals are missed", anchor=False)
    st.caption("★ critical. Each mark is an agent: share of its runs in which the sub-goal was completed.")
    failures = sub_goal_failures(corpus)
    graphs = sorted(failures["graph"].unique())
    graph = graphs[0] if graphs else None
    if len(graphs) > 1:
        graph = st.selectbox("Plan graph", graphs, format_func=text.label, key="overview_graph")
    drawn = figures.sub_goal_bars(failures[failures["graph"] == graph], dark=state.is_dark())
    tables.figure(drawn, key="missed", name="Sub-goals by agent")

st.subheader("Every run, in the order of review", anchor=False)
every = review_table(corpus)
row = tables.table(
    every,
    key="every",
    name="Runs in the order of review",
    selectable=True,
    height=320,
    columns={
        "completion": st.column_config.ProgressColumn(
            "completion", format="percent", min_value=0.0, max_value=1.0
        ),
        "digest": None,
        "weight": None,
    },
)
if row is not None:
    state.open_run(str(every["digest"].iloc[row]))
