"""Do judges agree with people? Share, κ, the sub-goals on which they part, and the runs."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components import figures
from components.shared import judges, state, tables, text
from components.shared.panels import panel
from untaken.errors import first_few
from untaken.judging import LEAST_KAPPA, unreliable_judges
from untaken.numbers import counted, decimal, interval, percent
from untaken.views import (
    concord_table,
    disagreements_table,
    imported_in_words,
    people_and_judges,
    rates_with_labels,
    trusted_judges,
)

MOST_NAMED: Final = 5


def there() -> bool:
    """Whether any sub-goal of the runs compared has verdicts of both, or of a judge whose word counts."""
    return bool(state.derived(people_and_judges).overall.n or judges.standings())


@panel
def agreement() -> None:
    """The section, over the runs compared; without verdicts of people, only what the judges are worth."""
    found = state.derived(people_and_judges)
    if not found.overall.n:
        if judges.standings():
            st.caption("No sub-goal of these runs has verdicts of both a person and a judge.")
            judges.passports()
        return
    whole = found.overall
    kappa = decimal(whole.kappa)
    st.caption(
        f"Of {whole.n:,} sub-goals that both judged, {whole.both_met + whole.both_not:,} have the same "
        f"verdict ({percent(whole.agreement)}, {interval(whole.low, whole.high, percent)}). Cohen's κ "
        f"{kappa} ({interval(whole.kappa_low, whole.kappa_high, decimal)}), Gwet's AC1 "
        f"{decimal(whole.ac1)}; {percent(whole.prevalence)} of all answers say met, and where nearly all do, "
        f"κ is near 0 for any judge. 95% intervals treat {found.cluster}s as independent ("
        f"{whole.clusters:,} of them). {found.left_out:,} sub-goals have a verdict from only one of them."
    )
    _draw()
    _unreliable()
    judges.passports()
    judges.offer_to_measure()
    st.caption(imported_in_words(state.compared()))
    tables.figure(
        figures.agreement_figure(found, dark=state.is_dark()),
        key="agreement",
        name="Do judges agree with people?",
    )
    tables.table(
        concord_table(found),
        key="concord",
        name="Agreement by agent and sub-goal",
        height=240,
        columns={"kappa_reason": None, "low_reason": None, "clusters": None},
    )
    split = disagreements_table(found)
    if split.empty:
        return
    st.caption(f"The {counted(len(split), 'sub-goal')} where they disagree. Choose one to open its run.")
    row = tables.table(
        split,
        key="disagreements",
        name="Where judges and people disagree",
        selectable=True,
        height=240,
        columns={"a": "people", "b": "judge", "digest": None},
    )
    if row is not None and st.session_state.get("disagreement_seen") != row:
        st.session_state["disagreement_seen"] = row  # the table keeps its selection on the page it opens
        state.open_run(str(split["digest"].iloc[row]), sub_goal=str(split["sub_goal"].iloc[row]))
    st.session_state["disagreement_seen"] = row


def _draw() -> None:
    """A warning where labels are no random draw of what the judges decided, or where that is unknown."""
    for finding in state.derived(rates_with_labels).findings:
        st.warning(f"{text.label(finding.message, 300)}. {finding.hint}")


def _unreliable() -> None:
    """The judges, and the sub-goals of a judge, whose verdicts agree too little with people, or unclear."""
    judged = state.derived(trusted_judges)
    unclear = [one for one in judged if one.trust == "cannot_tell" and one.part == "all"]
    for one in unclear[:MOST_NAMED]:
        st.info(
            f"These labels cannot show whether {text.label(one.judge, 60)} is reliable: "
            f"κ {decimal(one.kappa)} ({interval(one.kappa_low, one.kappa_high, decimal)}), "
            f"agreement {percent(one.agreement)} ({interval(one.low, one.high, percent)}), n = {one.n:,}."
        )
    shown = unreliable_judges(judged)
    if not shown:
        return
    named = [
        f"{text.label(one.judge, 60)}{f' on {text.label(one.name, 60)}' if one.name else ''} "
        f"(κ {decimal(one.kappa)}, n = {one.n})"
        for one in shown
    ]
    st.warning(
        f"Unreliable, κ's 95% interval is below {LEAST_KAPPA:g}: {first_few(named, MOST_NAMED)}. "
        f"To leave these verdicts out of rates, set the least κ in the sidebar to {LEAST_KAPPA:g}."
    )
