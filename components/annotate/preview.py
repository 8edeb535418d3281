"""What saving changes: which runs, on which sub-goals, from what to what."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components import figures
from components.annotate import first_graph
from components.shared import state, tables, text
from components.shared.panels import panel
from untaken.analysis import AgentEffect, Corpus, Preview, corpus_doubts, preview
from untaken.numbers import counted, percent
from untaken.plans import PlanGraph, graph_digest
from untaken.scoring import MissingRule
from untaken.views import changes_table, effects_table

WHOLE: Final = "annotate_whole"


@panel
def headline(graph: PlanGraph, *, changed: bool) -> Preview | None:
    """One line on what saving would change; nothing where nothing was changed."""
    if not changed:
        # nothing has changed: no run is scored again for them
        known = state.derived(corpus_doubts, of_all=True)
        first_graph.doubts([doubt for doubt in known if doubt.graph_id == graph.id])
        return None
    seen = _seen(graph)
    first_graph.doubts(seen.doubts)
    if not seen.runs:
        words = "No run in this workspace is scored with this graph, before or after saving."
        st.caption(f"{words} {first_graph.unreached(graph)}")
        return seen
    flips = len({change.digest for change in seen.changes})
    summary = f"**{flips:,} of {counted(seen.runs, 'run')}** would change a sub-goal's status"
    others = len(seen.moved) - flips
    if others > 0:
        summary += f", {others:,} more would be mapped or counted differently"
    st.markdown(f"If you save: {summary}. {_edges(seen)}")
    if seen.left:
        st.warning(f"{counted(seen.left, 'more run', 'are')} not included yet. That takes longer.")
        if st.button("Include all runs", key="annotate_all"):
            st.session_state[WHOLE] = graph_digest(graph)
            st.rerun()
    return seen


@panel
def details(seen: Preview | None) -> None:
    """The matrix of changes, agents before and after, and each run with its link."""
    if seen is None:
        st.info("Edit the graph to see here what would change, before you save.")
        return
    if not seen.runs:
        st.info("Add runs of its tasks to see here what saving would change for them.")
        return
    st.caption(f"{text.label(state.rules().in_words(), 300)}. n = {counted(seen.runs, 'run')}.")
    drawn = figures.status_changes(seen, dark=state.is_dark())
    tables.figure(drawn, key="status-changes", name="What saving changes")
    _agents(seen)
    if not seen.changes:
        return
    st.markdown("**Runs that would change**")
    shown = changes_table(seen)
    row = tables.table(
        shown, key="changes", name="Runs that would change", selectable=True, height=260, most=2_000
    )
    if row is not None:
        change = seen.changes[row]
        state.run_link(f"Open {text.label(change.run_id, 60)} as scored now", change.digest)


def _edges(seen: Preview) -> str:
    parts = []
    if seen.joining:
        parts.append(f"{counted(len(seen.joining), 'run')} would be scored with it for the first time")
    if seen.leaving:
        parts.append(f"{counted(len(seen.leaving), 'run')} would no longer be scored with it")
    if seen.unmapped_before != seen.unmapped_after:
        parts.append(f"actions without a sub-goal: {seen.unmapped_before:,} → {seen.unmapped_after:,}")
    return text.label(" · ".join(parts), 300)


def _agents(seen: Preview) -> None:
    moved = [_moved(one) for one in seen.agents if one.moved]
    if moved:
        st.markdown("  \n".join(moved[:12]))  # the table has all of them
    with st.expander("Agents before and after"):
        tables.table(effects_table(seen), key="effects", name="Agents before and after")


def _moved(one: AgentEffect) -> str:
    before, after = ("–" if s is None else percent(s.completion) for s in (one.before, one.after))
    return f"**{text.label(one.agent, 40)}** completion {before} → {after} ({counted(one.runs, 'run')})"


def _seen(graph: PlanGraph) -> Preview:
    store, now = state.workspace(), state.rules()
    digest = graph_digest(graph)
    whole = st.session_state.get(WHOLE) == digest
    key = (str(store.path), state.content(store), now.missing, now.globs, digest, whole)
    return _previewed(key, state.corpus(), graph, now.missing, now.globs, whole)


@st.cache_resource(ttl=3600, max_entries=16, show_spinner="Scoring the runs again …")
def _previewed(
    key: object,  # noqa: ARG001 (identifies the other arguments)
    _corpus: Corpus,
    _graph: PlanGraph,
    _missing: MissingRule,
    _verdicts: tuple[str, ...],
    _whole: bool,
) -> Preview:
    return preview(
        _corpus.runs.values(),
        _corpus.graphs,
        _graph,
        known=_corpus.scores,
        missing=_missing,
        verdicts=_verdicts,
        **({"seconds": None} if _whole else {}),  # without the limit of time that the first preview has
    )
