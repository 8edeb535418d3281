"""Do outcome and sub-goal rankings agree?"""

from __future__ import annotations

import streamlit as st

from components import cards, figures, state, tables, text
from components.figures.agents import metric_words
from untaken.errors import Unscored
from untaken.report import (
    agents_table,
    agreement_table,
    contradictory,
    discordant_table,
    rankings_table,
    review_queue,
)

OUTCOME = "success_rate"
PERCENT = st.column_config.NumberColumn(format="percent")
TWO_PLACES = st.column_config.NumberColumn(format="%+.2f")


def value_of(agent: str, metric: str) -> str:
    return cards.percent(next(s.value for s in corpus.ranking.metrics[metric] if s.agent == agent))


def pair_in_words(first: str, second: str, metrics: list[str]) -> None:
    with st.container(border=True, gap="xsmall"):
        st.markdown(
            f"**{text.label(first, 40)}** is above **{text.label(second, 40)}** by outcome success "
            f"({value_of(first, OUTCOME)} against {value_of(second, OUTCOME)}), and below by"
        )
        below = (f"{metric_words(m)} ({value_of(first, m)} against {value_of(second, m)})" for m in metrics)
        st.caption(" · ".join(below))


corpus = state.compared()
cards.headline("Rankings", "Do outcome and sub-goal rankings agree?")
if not corpus.runs:
    cards.nothing_here()
    st.stop()
report = corpus.ranking
unmatched = (
    f" · {len(report.unmatched_tasks)} tasks that not every agent ran are left out"
    if report.unmatched_tasks
    else ""
)
st.caption(
    f"Over the {len(report.shared_tasks)} tasks that every agent ran{unmatched} · "
    "repeats averaged inside a task first  \n"
    f"{text.label(state.rules().in_words(), 200)}"
)
if report.unmatched_tasks:
    with st.expander(f"The {len(report.unmatched_tasks)} unmatched tasks"):
        st.code("\n".join(text.one_line(task) for task in report.unmatched_tasks), language=None)

st.subheader("Rank flow", anchor=False)
unranked = [metric_words(name) for name, found in report.metrics.items() if not any(s.rank for s in found)]
if unranked:
    st.caption(f"Unscored for want of evidence, so not drawn: {', '.join(unranked)}.")
tables.figure(figures.rank_flow(report, dark=state.is_dark()), key="flow", name="Rank flow by metric")

pairs, agreement = st.columns(2, gap="large")
with pairs:
    st.subheader("Where the outcome misleads", anchor=False)
    told: dict[tuple[str, str], list[str]] = {}
    for pair in report.discordant:
        if pair.a_metric == OUTCOME:
            told.setdefault((pair.first, pair.second), []).append(pair.b_metric)
    if not told:
        st.info("No pair of agents changes places between the outcome and a sub-goal metric.")
    for (first, second), metrics in told.items():
        pair_in_words(first, second, metrics)
    with st.expander("As a table"):
        tables.table(discordant_table(corpus), key="pairs", name="Discordant pairs", height=180)
with agreement:
    st.subheader("How far they agree", anchor=False)
    st.caption("Kendall τ-b: 1 is the same order, 0 none, −1 the reverse; 95 % interval, permutation p.")
    numbers = dict.fromkeys(("tau_b", "low", "high", "spearman"), TWO_PLACES)
    tables.table(
        agreement_table(corpus),
        key="agreement",
        name="Agreement of rankings",
        columns=numbers | {"a": None, "b": "outcome against", "tau_b_reason": None},
    )
    for one in report.agreement:
        if isinstance(one.tau_b, Unscored):
            st.caption(f"{metric_words(one.b)}: {text.label(one.tau_b.reason, 200)}")

st.subheader("Runs that cause it", anchor=False)
found = contradictory(state.derived(review_queue))
st.caption(f"{len(found)} runs whose outcome and sub-goals disagree; the weightiest first.")
left, right = st.columns(2, gap="large")
for place, kind in ((left, "lucky"), (right, "unlucky")):
    with place:
        chosen = [item for item in found if item.kind == kind]
        cards.run_links(chosen[:4], empty=f"No {kind} run.")

st.subheader("Standings", anchor=False)
st.caption(
    "Value: mean over tasks. 95 % interval: Wilson for single trials, otherwise "
    "a bootstrap over tasks (10,000 resamples)."
)
tables.table(
    rankings_table(corpus),
    key="standings",
    name="Standings",
    columns=dict.fromkeys(("value", "low", "high"), PERCENT),
)
st.subheader("Agents, runs pooled", anchor=False)
st.caption("Counts over all runs, and rates from them (micro) beside the mean over runs (macro).")
rates = [c for c in agents_table(corpus).columns if c.endswith(("_rate", "coverage", "completion", "_macro"))]
tables.table(agents_table(corpus), key="agents", name="Agents", columns=dict.fromkeys(rates, PERCENT))
