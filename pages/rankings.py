"""Do outcome and sub-goal rankings agree?"""

from __future__ import annotations

import streamlit as st

from components import cards, figures, state, tables, text
from components.figures.agents import metric_words
from untaken.errors import Unscored
from untaken.report import agents_table, agreement_table, discordant_table, rankings_table, review_queue

PERCENT = st.column_config.NumberColumn(format="percent")
TWO_PLACES = st.column_config.NumberColumn(format="%+.2f")


def rank_words(agent: str, metric: str) -> str:
    standing = next(s for s in corpus.ranking.metrics[metric] if s.agent == agent)
    return f"{cards.percent(standing.value)}, rank {standing.rank}"


def in_words(first: str, second: str, a: str, b: str) -> str:
    return (
        f"**{text.label(first, 40)}** is above **{text.label(second, 40)}** by {metric_words(a)} "
        f"({rank_words(first, a)} against {rank_words(second, a)}), and below by {metric_words(b)} "
        f"({rank_words(first, b)} against {rank_words(second, b)})."
    )


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
tables.figure(figures.rank_flow(report, dark=state.is_dark()), key="flow", name="Rank flow by metric")

pairs, agreement = st.columns([3, 2], gap="large")
with pairs:
    st.subheader("Where the outcome misleads", anchor=False)
    told = [p for p in report.discordant if "success_rate" in (p.a_metric, p.b_metric)]
    if not told:
        st.info("No pair of agents changes places between the outcome and a sub-goal metric.")
    for metric in dict.fromkeys(p.b_metric for p in told):
        with st.container(border=True):
            st.markdown(f"**Outcome success against {metric_words(metric)}**")
            for pair in (p for p in told if p.b_metric == metric):
                st.markdown("- " + in_words(pair.first, pair.second, pair.a_metric, pair.b_metric))
    tables.table(discordant_table(corpus), key="pairs", name="Discordant pairs", height=180)
with agreement:
    st.subheader("How far they agree", anchor=False)
    st.caption(
        "Kendall τ-b: 1 is the same order, 0 none, −1 the reverse; with its 95 % interval and permutation p."
    )
    numbers = dict.fromkeys(("tau_b", "low", "high", "spearman"), TWO_PLACES)
    tables.table(agreement_table(corpus), key="agreement", name="Agreement of rankings", columns=numbers)
    for one in report.agreement:
        if isinstance(one.tau_b, Unscored):
            st.caption(f"{metric_words(one.b)}: {text.label(one.tau_b.reason, 200)}")

st.subheader("Runs that cause it", anchor=False)
found = [item for item in review_queue(corpus) if item.kind in ("lucky", "unlucky")]
st.caption(f"{len(found)} runs whose outcome and sub-goals disagree.")
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
