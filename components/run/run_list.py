"""Which run to look at: the failing ones first, and a step to the next one by key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from components.shared import listed_runs, state, text
from components.shared.cards import KIND_ICONS, KIND_WORDS, picker
from components.shared.panels import panel
from untaken.analysis import Corpus
from untaken.numbers import counted
from untaken.views import OrderedRun, review_order

MANY: Final = 1_000
"""Above this many runs the list is searched first: sending all of it with every click would be slow."""
MOST_OFFERED: Final = 300


@panel
def choose_run(corpus: Corpus) -> str | None:
    """Draw the picker and the buttons to the previous and the next failing run.

    Returns:
        Content digest of the run to show: the selected one, else the first in the order of review; ``None``
        where an address names a run that is not here (which is said).
    """
    queue = state.derived(review_order, of_all=state.lists_all())
    asked = state.selected("run")
    if asked is not None and asked not in corpus.runs:  # an address may name a run by its id
        named = [run.digest for run in corpus.runs.values() if run.run_id == asked]
        if len(named) == 1:  # several may have one id
            state.select(run=(asked := named[0]))
    chosen = asked if asked in corpus.runs else None
    if asked is None and queue:
        chosen = queue[0].digest
        state.select(run=chosen)
    elif chosen is None:
        st.warning(
            "The link names a run that is not in this workspace: its file was removed, or has changed since. "
            "Look for it in the list.",
            icon=":material/link_off:",
        )
    failing = [item.digest for item in queue if item.failing]
    words = _offered(queue, chosen)
    if chosen is not None and chosen not in words:  # of an agent whose runs are not listed
        others = state.derived(review_order, of_all=True)
        words = {chosen: next(run_words(item) for item in others if item.digest == chosen)} | words
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="run-choice"):
        picker(
            "Run",
            words,
            chosen,
            lambda run: state.select(run=run),
            key="run_picker",
            placeholder="Choose a run",
            filter_mode="contains",
            label_visibility="collapsed",
        )
        listed_runs.switch()
        st.markdown(_position(queue, failing, chosen), width="content")
        step("Previous", ":material/chevron_left:", "K", neighbour(failing, chosen, -1))
        step("Next", ":material/chevron_right:", "J", neighbour(failing, chosen, +1))
    return chosen


def _offered(queue: Sequence[OrderedRun], chosen: str | None) -> dict[str, str]:
    """Words by digest of the runs to choose from; among very many, those that match what is looked for."""
    words = state.drawn(lambda: {item.digest: run_words(item) for item in queue}, "words of runs")
    if len(words) <= MANY:
        return words
    asked = st.text_input("Find a run", placeholder="task, agent or run id", key="run_find").casefold()
    found = [digest for digest, line in words.items() if asked in line.casefold()]
    offered = min(len(found), MOST_OFFERED)
    st.caption(f"{counted(len(found), 'run', 'match')}; the list below offers {offered:,} of them.")
    # The chosen one, whatever is looked for.
    kept = dict.fromkeys([*([chosen] if chosen in words else []), *found[:MOST_OFFERED]])
    return {digest: words[digest] for digest in kept}


def run_words(item: OrderedRun) -> str:
    """One run on one line: what is wrong, then what tells it from others."""
    repeat = "" if item.task_repeat is None else f" #{item.task_repeat}"
    task, agent, name = (text.one_line(part, 60) for part in (item.task_id, item.agent, item.run_id))
    return (
        f"{KIND_ICONS[item.kind]} {KIND_WORDS.get(item.kind, item.kind)} · {task}{repeat} · {agent} · {name}"
    )


def _position(queue: Sequence[OrderedRun], failing: list[str], chosen: str | None) -> str:
    if chosen in failing:
        return f"**{failing.index(chosen) + 1:,} of {len(failing):,}** to review"
    return f"**{len(failing):,} to review** of {counted(len(queue), 'run')}"


def step(words: str, icon: str, key: str, run: str | None) -> None:
    """A button, and its key, that selects another run."""
    st.button(
        words,
        icon=icon,
        key=f"step_{key}",
        shortcut=key,
        disabled=run is None,
        on_click=lambda: state.select(run=run),
        help=f"{words} run to review",
    )


def neighbour(failing: Sequence[str], chosen: str | None, by: int) -> str | None:
    """The run `by` places after the chosen one; the first or last if the chosen one is not listed."""
    if not failing:
        return None
    if chosen not in failing:
        return failing[0] if by > 0 else failing[-1]
    at = failing.index(chosen) + by
    return failing[at] if 0 <= at < len(failing) else None
