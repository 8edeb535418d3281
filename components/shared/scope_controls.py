"""The controls of the scope and the rules in force, in the sidebar."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.shared import state, text
from untaken.judging import has_people
from untaken.numbers import counted

MOST_SETS: Final = 12
"""Other sets of agents that have a button in the list under the heading of a page."""


def draw() -> None:
    """Draw the controls; their choice holds on every page."""
    authors = state.authors()
    now = state.rules()  # written back, because Streamlit forgets a widget that a page did not draw
    st.session_state["rules_missing"] = now.missing
    st.session_state["rules_min_kappa"] = now.least_kappa
    st.session_state["rules_verdicts"] = [author for author in now.verdicts if author in authors]
    names = state.group_labels()
    st.session_state["group"] = state.group_name()
    state.write_scope()
    _warn_of_unknown()  # above the page: on a small screen the sidebar is closed
    with st.sidebar:
        if len(names) > 1:
            st.selectbox(
                "Agents compared",
                options=tuple(names),
                format_func=lambda name: names[name],
                key="group",
                on_change=_other_agents,
                help="Agents that ran the same tasks. Pages and exports are about their runs. Queue, Run, "
                "Compare and Failure modes can list the runs of all agents, too.",
            )
        st.radio(
            "Sub-goals without a verdict",
            options=tuple(state.MISSING_WORDS),
            format_func=lambda rule: state.MISSING_WORDS[rule],
            key="rules_missing",
            on_change=state.forget_scope,
            help="This rule can change the ranking, so it is shown with every rate.",
        )
        if authors:
            st.multiselect(
                "Whose verdicts count",
                options=authors,
                format_func=lambda author: text.one_line(author, 60),
                key="rules_verdicts",
                on_change=state.forget_scope,
                placeholder="Everybody's",
                help="Leave empty to count every recorded verdict.",
            )
        kinds = {author.partition(":")[0] for author in authors}
        if kinds >= {"human", "judge"} or has_people(state.workspace().path):
            st.number_input(
                "Minimum κ of a judge",
                min_value=-1.0,
                max_value=1.0,
                step=0.1,
                key="rules_min_kappa",
                on_change=state.forget_scope,
                placeholder="any",
                help="Leaves out judges, and sub-goals of judges, with a Cohen's κ with people below this: "
                "their sub-goals are unscored. Needs 10 common labels. Usual: 0.4. "
                "The Criteria page marks criteria below it.",
            )


def other_sets() -> None:
    """Every other set of agents, one click away: no run leaves the pages unseen."""
    groups = state.groups()
    others = [group for group in groups if len(groups) > 1 and group.name != state.group_name()]
    names = (agent for group in groups if group not in others for agent in group.agents)
    # The short names of the simulator's agents.
    if meant := [f"{name}: {words}" for name in names if (words := text.agent(name)) != name]:
        st.caption(text.label(" · ".join(meant), 400))
    if not others:
        return
    here = next(group for group in groups if group not in others)
    every = sum(group.runs for group in groups)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="other-sets"):
        st.caption(
            f"{here.runs:,} of {counted(every, 'run')}: only agents with common tasks are compared.",
            width="content",
        )
        with st.popover(counted(len(others), "other set"), type="tertiary"):
            for place, group in enumerate(others[:MOST_SETS]):
                key, words = f"other-set-{place}", text.label(state.group_words(group), 160)
                st.button(words, key=key, on_click=_show_set, args=(group.name,), type="tertiary")
            if len(others) > MOST_SETS:
                st.caption(f"{len(others) - MOST_SETS:,} more under “Agents compared” in the sidebar.")


def _show_set(name: str) -> None:
    st.session_state["group"] = name
    _other_agents()


def _other_agents() -> None:
    """Runs and tasks that were chosen are those of the agents before."""
    state.forget_scope()
    state.select(**{name: state.selected(name) for name in state.OF_ANY_AGENTS})
    for name in [name for name in st.session_state if str(name).startswith("compare_")]:
        del st.session_state[name]
    for name in ("task", "runs", "reference"):
        st.query_params.pop(name, None)


def _warn_of_unknown() -> None:
    """Say that an address meant other numbers than these, until somebody chooses something here."""
    unknown = st.session_state.get(state.UNKNOWN, ())
    if "agents" in unknown:
        st.warning(
            "The link names a set of agents that is not in this workspace. These numbers are of another set.",
            icon=":material/link_off:",
        )
    if "verdicts" in unknown:
        st.warning(
            "The link counts verdicts of a person who gave none here. These numbers count others.",
            icon=":material/link_off:",
        )
