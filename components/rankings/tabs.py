"""What else the Rankings page knows, one question a tab: the ranking and who is ahead come before."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from components import figures
from components.overview import view as overview
from components.rankings import pair_view, view
from components.rankings.words import metric_words
from components.shared import cards, options, state, tables, text
from components.shared.panels import panel
from untaken.analysis import OUTCOME, Corpus, RankReport
from untaken.errors import Unscored
from untaken.numbers import counted, decimal
from untaken.views import (
    agents_table,
    agreement_table,
    contradictory,
    corpus_usage,
    discordant_table,
    first_numbers,
    graphs_by_misses,
    labelled_rates_table,
    missing_rule,
    pass_k_table,
    ranking_remarks,
    rankings_table,
    rates_with_labels,
    review_items,
    review_order,
    sub_goal_failures,
)


def several_agents(report: RankReport) -> bool:
    """Whether there is anybody to compare."""
    return len({agent for agent, _ in report.cells}) > 1


@panel
def flow(report: RankReport) -> None:
    """Ranks by each metric; what they cannot say, and without two rankings that alone."""
    cards.remarks(state.derived(ranking_remarks))
    if not several_agents(report):
        return
    ranked = report.ranked_metrics()
    if len(ranked) < 2:
        st.caption("Ranked by the outcome alone: no sub-goal of these runs is scored for two agents.")
        return
    _answer()
    unranked = [metric_words(name) for name in report.metrics if name not in ranked]
    left_out = f" Not shown (no evidence): {', '.join(unranked)}." if unranked else ""
    tables.figure(
        partial(figures.rank_flow, report, dark=state.is_dark()),
        key="flow",
        name="Ranks by outcome and by sub-goals",
        of=(),
        about=f"Vertical lines: 95% interval of the rank. Orange: two agents change places.{left_out}",
        table=lambda: rankings_table(state.compared()),
    )


def _answer() -> None:
    """Whether outcome and sub-goals rank alike, in a sentence."""
    seen = state.derived(first_numbers)
    if not seen.pairs or seen.agreement is None or isinstance(seen.agreement.tau_b, Unscored):
        return
    opposite = f"{len(seen.discordant):,} of {counted(seen.pairs, 'pair')} of agents in opposite order"
    st.markdown(
        f"Success and {metric_words(seen.metric)} put **{opposite}**. {overview.agreement_words(seen)}"
    )


@panel
def draw(corpus: Corpus) -> None:
    """One question per tab; only the open tab is drawn, and tabs with nothing to show are left out."""
    options.tabs(pair_view.TABS, _views(corpus))


def _views(corpus: Corpus) -> dict[str, Callable[[], None]]:
    report = corpus.ranking
    several = several_agents(report)
    rankings = several and len(report.ranked_metrics()) > 1  # ranks by the outcome alone cross nothing
    offered: dict[str, tuple[bool, Callable[[], None]]] = {
        pair_view.TAB: (several, lambda: _better(corpus)),
        "Where the outcome misleads": (rankings, lambda: _misleading(corpus)),
        "Sub-goals": (bool(state.derived(graphs_by_misses)), _sub_goals),
        "Workflow or agent?": (bool(report.workflows), lambda: view.workflows(report)),
        "Labels and judge": (state.derived(rates_with_labels).overall.items > 0, labels),
        "Agreement": (rankings, lambda: _agreement(corpus)),
        "Reliability": (any(one.k > 1 for one in report.pass_k), lambda: _repeated(corpus)),
        "Missing verdicts": (True, lambda: view.rule(state.derived(missing_rule))),
        "Cost, tokens, steps": (True, lambda: overview.usage(state.derived(corpus_usage))),
        "Standings": (True, lambda: _standings(corpus)),
    }
    return {name: show for name, (there, show) in offered.items() if there}


@panel
def _better(corpus: Corpus) -> None:
    report = corpus.ranking
    compared = report.comparisons[pair_view.pick_metric(report)]
    # The pair is chosen first, because the matrix above it marks it.
    every, picked = st.container(key="pair-matrix"), st.container()
    with picked:
        chosen = pair_view.pair(compared)
        if chosen:
            pair_view.detail(chosen, report, corpus.runs)
    with every:
        pair_view.matrix(compared, chosen)


@panel
def _misleading(corpus: Corpus) -> None:
    report, dark, metric = corpus.ranking, state.is_dark(), pair_view.metric(corpus.ranking)
    scatter, pairs = st.columns([6, 5], gap="large")
    with scatter:
        against = metric if metric != OUTCOME else "completion"
        by_outcome, by_metric = report.metrics[OUTCOME], report.metrics[against]
        drawn = partial(figures.outcome_scatter, report.placed(against), by_outcome, by_metric, dark=dark)
        tables.figure(drawn, key="scatter", name=f"Outcome against {metric_words(against)}", of=())
    with pairs:
        view.discordant(report, corpus.runs, metric)
        tables.folded_table(
            "As a table", lambda: discordant_table(corpus), key="pairs", name="Discordant pairs", height=180
        )
    found = contradictory(state.derived(review_order))
    st.caption(f"{counted(len(found), 'run')} whose outcome and sub-goals disagree; largest effect first.")
    for place, kind in zip(st.columns(2, gap="large"), ("lucky", "unlucky"), strict=True):
        with place:
            some = [run for run in found if run.kind == kind][:3]  # largest effect first: the ones to read
            cards.run_links(review_items(corpus, some), empty=f"No {kind} run.")


@panel
def _agreement(corpus: Corpus) -> None:
    st.caption("Kendall τ-b: 1 is the same order, 0 none, −1 the reverse; 95% interval, permutation p.")
    found = agreement_table(corpus)
    tables.table(
        found.assign(b=found["b"].map(metric_words)),
        key="agreement",
        name="Agreement of rankings",
        columns={"a": None, "tau_b_reason": None},  # the reasons follow below, in full
        whole=lambda: found,
    )
    for other in corpus.ranking.agreement:
        if isinstance(other.tau_b, Unscored):
            st.caption(f"{metric_words(other.b)}: {text.label(other.tau_b.reason, 200)}")


@panel
def _repeated(corpus: Corpus) -> None:
    drawn = partial(figures.pass_k_lines, corpus.ranking.pass_k, dark=state.is_dark())
    tables.figure(drawn, key="pass-k", name="pass^k by agent", of=())
    tables.folded_table("As a table", lambda: state.derived(pass_k_table), key="curves", name="pass-k")


@panel
def _standings(corpus: Corpus) -> None:
    st.caption("Value: mean over tasks. 95% interval by the effective number of tasks.")
    found = rankings_table(corpus)
    tables.table(
        found.assign(metric=found["metric"].map(metric_words)),
        key="standings",
        name="Standings",
        height=320,
        whole=lambda: found,
    )
    st.caption(
        "Counts over all runs. Rates from them (success_rate, too) are pooled over runs; those named "
        "_macro are means over runs."
    )
    tables.table(agents_table(corpus), key="agents", name="Agents")


@panel
def labels() -> None:
    """A hint where people labelled nothing, or everything, that a judge decided."""
    found = state.derived(rates_with_labels)
    whole = found.overall
    if not found.adds:
        st.info(
            f"A judge decided {counted(whole.items, 'sub-goal')}, and people labelled {whole.labels:,} of "
            "them. Rates need labels on some: a random draw of at least 10, from 5 tasks; the judge counts "
            "from 30 on."
        )
        return
    share = f"{whole.labels:,} of the {whole.items:,} sub-goals that a judge decided"
    st.session_state["labels_on"] = options.one("labels", [options.ON]) is not None
    if not st.toggle(
        "Correct the judge by people's labels",
        key="labels_on",
        on_change=options.changed,
        args=("labels", "labels_on"),
        help=f"People labelled {share}.",
    ):
        st.caption(f"People labelled {share}. Off: rankings take each recorded verdict as it is.")
        return
    for finding in found.findings:
        st.warning(f"{text.label(finding.message, 300)}. {finding.hint}")
    worth = "" if isinstance(whole.worth, Unscored) else f", worth {decimal(whole.worth, 1)} times the labels"
    st.caption(
        f"Share of sub-goals met, from {share}{worth}. With fewer than 30 labels the judge does not count. "
        f"95% intervals, for tasks like these; {found.cluster}s are independent. Labels must be a random "
        "draw. The rankings stay as they are."
    )
    drawn = partial(figures.labelled_rates_figure, found, dark=state.is_dark())
    tables.figure(drawn, key="labelled", name="Rates from labels and judge")
    tables.folded_table(
        "As a table, with differences of agents and sub-goals",
        lambda: labelled_rates_table(found),
        key="labelled-rates",
        name="Rates from labels and judge",
        height=320,
    )
    if found.outside:
        st.caption(f"{counted(found.outside, 'label')} on sub-goals without a judge's verdict, not used.")


@panel
def _sub_goals() -> None:
    """The share of each agent's runs in which each sub-goal of the chosen graph was completed."""
    failures, graphs = state.derived(sub_goal_failures), state.derived(graphs_by_misses)
    graph = options.one("missed", graphs) or graphs[0]
    if len(graphs) > 1:
        words = {name: text.one_line(name, 80) for name in graphs}
        options.pick("Plan graph, most missed first", "missed", words, graph, key="missed_graph")
    tables.figure(
        lambda: figures.sub_goal_bars(failures[failures["graph"] == graph], dark=state.is_dark()),
        key="missed",
        name="Sub-goals by agent",
        of=(graph,),
        about="Share of each agent's runs in which the sub-goal was completed. ★ critical.",
        table=lambda: failures[failures["graph"] == graph],
    )
