"""What else the Rankings page knows, one question a tab: the ranking and who is better come before."""

from __future__ import annotations

from functools import partial
from typing import Final

import streamlit as st

from components import figures
from components.rankings import labels, view
from components.rankings.words import metric_words
from components.shared import cards, state, tables, text
from components.shared.panels import panel
from untaken.answers import (
    agents_table,
    agreement_table,
    contradictory,
    discordant_table,
    missing_rule,
    pass_k_table,
    rankings_table,
    review_queue,
)
from untaken.corpus import Corpus
from untaken.errors import Unscored

PERCENT: Final = st.column_config.NumberColumn(format="percent")
TWO_PLACES: Final = st.column_config.NumberColumn(format="%+.2f")
SHARES: Final = ("value", "low", "high")
RATES: Final = ("_rate", "coverage", "completion", "_macro")


@panel
def draw(corpus: Corpus, metric: str) -> None:
    """A tab a question.

    Args:
        corpus: the runs compared.
        metric: what the agents are compared by, above.
    """
    views = {
        "Where the outcome misleads": lambda: _misleading(corpus, metric),
        "Workflow or agent?": lambda: view.workflows(corpus.ranking),
        "Missing verdicts": lambda: view.rule(state.derived(missing_rule)),
        "Labels and judge": labels.section,
        "Agreement": lambda: _agreement(corpus),
        "Reliability (pass^k)": lambda: _repeated(corpus),
        "Standings": lambda: _standings(corpus),
    }
    for place, show in zip(st.tabs(list(views), key="rankings_tabs"), views.values(), strict=True):
        with place:
            show()


@panel
def _misleading(corpus: Corpus, metric: str) -> None:
    report, dark = corpus.ranking, state.is_dark()
    scatter, pairs = st.columns([6, 5], gap="large")
    with scatter:
        against = metric if metric != view.OUTCOME else "completion"
        by_outcome, by_metric = report.metrics[view.OUTCOME], report.metrics[against]
        drawn = partial(figures.outcome_scatter, report.placed(against), by_outcome, by_metric, dark=dark)
        tables.figure(drawn, key="scatter", name=f"Outcome against {metric_words(against)}")
    with pairs:
        view.discordant(report, corpus.runs, metric)
        with st.expander("As a table"):
            tables.table(discordant_table(corpus), key="pairs", name="Discordant pairs", height=180)
    found = contradictory(state.derived(review_queue))
    st.caption(f"{len(found)} runs whose outcome and sub-goals disagree; largest effect first.")
    for place, kind in zip(st.columns(2, gap="large"), ("lucky", "unlucky"), strict=True):
        with place:
            cards.run_links([item for item in found if item.kind == kind][:3], empty=f"No {kind} run.")


@panel
def _agreement(corpus: Corpus) -> None:
    st.caption("Kendall τ-b: 1 is the same order, 0 none, −1 the reverse; 95 % interval, permutation p.")
    hidden = {"a": None, "b": "outcome against", "tau_b_reason": None}
    numbers = dict.fromkeys(("tau_b", "low", "high", "spearman"), TWO_PLACES)
    tables.table(
        agreement_table(corpus), key="agreement", name="Agreement of rankings", columns=numbers | hidden
    )
    for other in corpus.ranking.agreement:
        if isinstance(other.tau_b, Unscored):
            st.caption(f"{metric_words(other.b)}: {text.label(other.tau_b.reason, 200)}")


@panel
def _repeated(corpus: Corpus) -> None:
    drawn = partial(figures.pass_k_lines, corpus.ranking.pass_k, dark=state.is_dark())
    tables.figure(drawn, key="pass-k", name="pass^k by agent")
    with st.expander("As a table"):
        columns = dict.fromkeys(SHARES, PERCENT)
        tables.table(state.derived(pass_k_table), key="curves", name="pass-k", columns=columns)


@panel
def _standings(corpus: Corpus) -> None:
    st.caption("Value: mean over tasks. 95 % interval: exact, by the effective number of tasks.")
    columns = dict.fromkeys(SHARES, PERCENT)
    tables.table(rankings_table(corpus), key="standings", name="Standings", columns=columns, height=320)
    st.caption("Counts over all runs, and rates from them (micro) and means over runs (macro).")
    pooled = agents_table(corpus)
    rates = [column for column in pooled.columns if column.endswith(RATES)]
    tables.table(pooled, key="agents", name="Agents", columns=dict.fromkeys(rates, PERCENT))
