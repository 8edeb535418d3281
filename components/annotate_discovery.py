"""A graph suggested by runs that succeeded, with what each edge rests on; taken over only by a click."""

from __future__ import annotations

import msgspec
import streamlit as st

from components import annotate_desk, cards, figures, state, tables, text
from untaken.annotating import runs_of
from untaken.corpus import Corpus
from untaken.discovery import Draft, discover
from untaken.discovery.draft import MIN_RUNS, MIN_SHARE, THETA
from untaken.errors import UntakenError
from untaken.plans import PlanGraph, diff_graphs, graph_digest
from untaken.report import support_table

PERCENT = st.column_config.NumberColumn(format="percent")


def suggest(graph: PlanGraph | None) -> None:
    """Draw the choice of runs and thresholds, the draft, and how it differs from what is open."""
    corpus = state.corpus()
    known = [run for run in corpus.runs.values() if not run.integrity.broken]
    if graph is not None and corpus.graphs.get(graph.id) is not None:
        known = runs_of(known, corpus.graphs, graph.id)
    good = [run for run in known if run.success is True]
    if not good:
        st.info("A graph can be suggested by runs that succeeded; there is none here to learn from yet.")
        return
    st.caption(
        "From runs that succeeded: an edge says what came first in them, not what is needed. Where everybody "
        "keeps one order, habit and need look the same."
    )
    agents = sorted({run.agent for run in good})
    tasks = sorted({run.task_id for run in good})
    left, right = st.columns(2)
    chosen = left.multiselect("Agents", agents, key="suggest_agents", placeholder="all", format_func=_short)
    among = right.multiselect("Tasks", tasks, key="suggest_tasks", placeholder="all", format_func=_short)
    theta = left.slider("θ: share of runs that keep an order", 0.55, 1.0, THETA, 0.01, key="suggest_theta")
    share = right.slider("Least share of runs that hold it", 0.0, 1.0, MIN_SHARE, 0.05, key="suggest_share")
    fewest = left.number_input("Fewest runs that hold both ends", 1, 1_000, MIN_RUNS, key="suggest_runs")
    use_rules = graph is not None and right.checkbox(
        "Map actions by what is open", value=True, key="suggest_map",
        help="Its rules and checks say what serves what. Without, tags and tools are the sub-goals.",
    )  # fmt: skip
    try:
        base, limits = graph if use_rules else None, (theta, share, int(fewest))
        draft = _draft(base, (tuple(chosen), tuple(among)), limits)
    except UntakenError as error:
        st.warning(text.label(annotate_desk.words(error), 400))
        return
    if any(finding.code == "draft-one-order" for finding in draft.findings):
        left.caption("Every order was kept by all these runs: θ changes nothing here.")
    _show(draft, graph)


def _short(name: str) -> str:
    return text.one_line(name, 60)


def _show(draft: Draft, graph: PlanGraph | None) -> None:
    by = ", ".join(f"{text.label(agent, 40)} {runs:,}" for agent, runs in draft.agents.items())
    st.markdown(f"From **{cards.counted(draft.runs, 'successful run')}** ({by})")
    tables.figure(figures.draft_figure(draft, dark=state.is_dark()), key="draft", name="Suggested graph")
    for finding in draft.findings:
        st.caption(f"{finding.severity}: {text.label(finding.message, 400)}")
    with st.expander("Support of each edge"):
        columns = dict.fromkeys(("share", "low", "high"), PERCENT)
        tables.table(support_table(draft), key="support", name="Support of edges", columns=columns)
    if graph is not None:
        st.markdown("**Against what is open**")
        diff = diff_graphs(graph, msgspec.structs.replace(draft.graph, id=graph.id, version=graph.version))
        drawn = figures.plan_diff_figure(diff, dark=state.is_dark())
        tables.figure(drawn, key="draft-diff", name="Suggested against open")
    st.button(
        "Take it over", key="suggest_take", on_click=_take, args=(draft,),
        help="As a step that can be undone. Nothing is saved, and no run is scored by it until it is.",
    )  # fmt: skip


def _take(draft: Draft) -> None:
    """A person goes through it now: the mark that keeps a draft from scoring is not taken along."""
    metadata = {name: value for name, value in draft.graph.metadata.items() if name != "draft"}
    graph = msgspec.structs.replace(draft.graph, metadata=metadata)
    if annotate_desk.desk() is None:
        annotate_desk.begin(msgspec.structs.replace(graph, version=1), "suggested by runs")
    else:
        annotate_desk.take_content(graph, "suggested by runs")


def _draft(
    graph: PlanGraph | None, among: tuple[tuple[str, ...], tuple[str, ...]], limits: tuple[float, float, int]
) -> Draft:
    store = state.workspace()
    digest = graph_digest(graph) if graph is not None else ""
    return _discovered((str(store.path), state.content(store), digest), among, limits, state.corpus(), graph)


@st.cache_resource(ttl=3600, max_entries=16, show_spinner="Learning from runs …")
def _discovered(
    key: object,  # noqa: ARG001 (what the rest is told by)
    among: tuple[tuple[str, ...], tuple[str, ...]],
    limits: tuple[float, float, int],
    _corpus: Corpus,
    _graph: PlanGraph | None,
) -> Draft:
    agents, tasks = among
    runs = list(_corpus.runs.values())
    if _graph is not None and _corpus.graphs.get(_graph.id) is not None:
        runs = runs_of(runs, _corpus.graphs, _graph.id)
    runs = [r for r in runs if (not agents or r.agent in agents) and (not tasks or r.task_id in tasks)]
    theta, share, fewest = limits
    return discover(runs, _graph, theta=theta, min_share=share, min_runs=fewest, graph_id="suggested")
