"""Do outcome and sub-goal rankings agree, and who is really better?"""

from __future__ import annotations

import streamlit as st

from components import cards, figures, pair_view, ranking_view, state, tables, text
from components.ranking_words import metric_words
from untaken.errors import Unscored
from untaken.report import (
    agents_table,
    agreement_table,
    contradictory,
    discordant_table,
    missing_rule,
    pairs_table,
    pass_k_table,
    rankings_table,
    review_queue,
)

PERCENT = st.column_config.NumberColumn(format="percent")
TWO_PLACES = st.column_config.NumberColumn(format="%+.2f")
THREE_PLACES = st.column_config.NumberColumn(format="%.3f")
SHARES = ("value", "low", "high")

corpus = state.compared()
cards.headline("Rankings", "Do outcome and sub-goal rankings agree?")
if not corpus.runs:
    cards.nothing_here()
    st.stop()
report, dark = corpus.ranking, state.is_dark()
unmatched = (
    f" · {cards.counted(len(report.unmatched_tasks), 'task')} that not every agent ran, left out"
    if report.unmatched_tasks
    else ""
)
st.caption(
    f"Over {cards.counted(len(report.shared_tasks), 'task')} that every agent ran{unmatched} · repeats "
    "averaged per task first"
    "  \n"
    f"{text.label(state.rules().in_words(), 200)}"
)
if report.unmatched_tasks:
    with st.expander(cards.counted(len(report.unmatched_tasks), "unmatched task")):
        st.code("\n".join(text.one_line(task) for task in report.unmatched_tasks), language=None)

st.subheader("Rank flow", anchor=False)
unranked = [metric_words(name) for name, found in report.metrics.items() if not any(s.rank for s in found)]
if unranked:
    st.caption(f"Not shown (no evidence): {', '.join(unranked)}.")
tables.figure(lambda: figures.rank_flow(report, dark=dark), key="flow", name="Rank flow by metric")
st.caption("Vertical lines: 95 % interval of the rank. Orange: two agents change order.")

st.subheader("Who is really better?", anchor=False)
metric = pair_view.metric(report)
compared = report.comparisons[metric]
every, picked = st.container(), st.container()
with picked:
    chosen = pair_view.pair(compared)
    if chosen:
        pair_view.detail(chosen, report, corpus.runs)
with every:
    pair_view.matrix(compared, chosen)
with st.expander("Every pair under every metric, as a table"):
    columns = dict.fromkeys(("difference", "low", "high", "p_above", "mde"), PERCENT)
    columns |= dict.fromkeys(("p", "p_holm"), THREE_PLACES)
    tables.table(state.derived(pairs_table), key="every", name="Pairs of agents", columns=columns, height=320)

st.subheader("Where the outcome misleads", anchor=False)
scatter, pairs = st.columns([6, 5], gap="large")
with scatter:
    against = metric if metric != ranking_view.OUTCOME else "completion"
    by_outcome, by_metric = report.metrics[ranking_view.OUTCOME], report.metrics[against]
    drawn = report.placed(against), by_outcome, by_metric
    title = f"Outcome against {metric_words(against)}"
    tables.figure(lambda: figures.outcome_scatter(*drawn, dark=dark), key="scatter", name=title)
with pairs:
    ranking_view.discordant(report, corpus.runs, metric)
    with st.expander("As a table"):
        tables.table(discordant_table(corpus), key="pairs", name="Discordant pairs", height=180)
found = contradictory(state.derived(review_queue))
st.caption(f"{len(found)} runs whose outcome and sub-goals disagree; largest effect first.")
for place, kind in zip(st.columns(2, gap="large"), ("lucky", "unlucky"), strict=True):
    with place:
        cards.run_links([item for item in found if item.kind == kind][:3], empty=f"No {kind} run.")

st.subheader("Workflow or agent?", anchor=False)
ranking_view.workflows(report)
st.subheader("Effect of the rule for missing verdicts", anchor=False)
ranking_view.rule(state.derived(missing_rule))

agreement, repeated = st.columns(2, gap="large")
with agreement:
    st.subheader("Agreement of rankings", anchor=False)
    st.caption("Kendall τ-b: 1 is the same order, 0 none, −1 the reverse; 95 % interval, permutation p.")
    hidden = {"a": None, "b": "outcome against", "tau_b_reason": None}
    numbers = dict.fromkeys(("tau_b", "low", "high", "spearman"), TWO_PLACES)
    tables.table(
        agreement_table(corpus), key="agreement", name="Agreement of rankings", columns=numbers | hidden
    )
    for other in report.agreement:
        if isinstance(other.tau_b, Unscored):
            st.caption(f"{metric_words(other.b)}: {text.label(other.tau_b.reason, 200)}")
with repeated:
    st.subheader("How reliable: pass^k", anchor=False)
    curves = report.pass_k
    tables.figure(lambda: figures.pass_k_lines(curves, dark=dark), key="pass-k", name="pass^k by agent")
    with st.expander("As a table"):
        columns = dict.fromkeys(SHARES, PERCENT)
        tables.table(state.derived(pass_k_table), key="curves", name="pass-k", columns=columns)
st.subheader("Standings", anchor=False)
st.caption("Value: mean over tasks. 95 % interval: exact, by the effective number of tasks.")
columns = dict.fromkeys(SHARES, PERCENT)
tables.table(rankings_table(corpus), key="standings", name="Standings", columns=columns)
st.subheader("Agents, runs pooled", anchor=False)
st.caption("Counts over all runs, and rates from them (micro) and means over runs (macro).")
rates = [c for c in agents_table(corpus).columns if c.endswith(("_rate", "coverage", "completion", "_macro"))]
tables.table(agents_table(corpus), key="agents", name="Agents", columns=dict.fromkeys(rates, PERCENT))
