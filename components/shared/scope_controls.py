"""The controls of the scope and the rules in force, in the sidebar."""

from __future__ import annotations

import streamlit as st

from components.shared import state, text
from untaken.criteria import has_people


def draw() -> None:
    """Draw the controls; their choice holds on every page."""
    authors = state.authors()
    now = state.rules()  # written back, because Streamlit forgets a widget that a page did not draw
    st.session_state["rules_missing"] = now.missing
    st.session_state["rules_min_kappa"] = now.least_kappa
    st.session_state["rules_verdicts"] = [author for author in now.verdicts if author in authors]
    names = {group.name: state.group_words(group) for group in state.groups()}
    st.session_state["group"] = state.group_name()
    state.write_scope()
    with st.sidebar:
        if len(names) > 1:
            st.selectbox(
                "Agents compared",
                options=tuple(names),
                format_func=lambda name: names[name],
                key="group",
                on_change=_forget_scope,
                help="Agents that ran the same tasks. Used by Overview, Decisions, Memory, Rankings, and by "
                "every export of the Data page. Review and Run list the runs of all agents.",
            )
        st.radio(
            "Sub-goals without a verdict",
            options=tuple(state.MISSING_WORDS),
            format_func=lambda rule: state.MISSING_WORDS[rule],
            key="rules_missing",
            on_change=_forget_scope,
            help="This rule can change the ranking, so it is shown with every rate.",
        )
        if authors:
            st.multiselect(
                "Whose verdicts count",
                options=authors,
                format_func=lambda author: text.one_line(author, 60),
                key="rules_verdicts",
                on_change=_forget_scope,
                placeholder="Everybody's",
                help="Leave empty to count every recorded verdict.",
            )
        kinds = {author.partition(":")[0] for author in authors}
        if kinds >= {"human", "judge"} or has_people(state.workspace().path):
            st.number_input(
                "Least κ of a judge",
                min_value=-1.0,
                max_value=1.0,
                step=0.1,
                key="rules_min_kappa",
                on_change=_forget_scope,
                placeholder="any",
                help="Verdicts of judges, or on sub-goals, whose Cohen's κ with people is below this count "
                "nowhere: their sub-goals are unscored. Needs 10 common labels. Usual: 0.4. "
                "The Criteria page marks criteria below it.",
            )


def _forget_scope() -> None:
    """The choice that was just made holds, not the one of the address."""
    for name in state.SCOPE:
        st.query_params.pop(name, None)
