"""Which skill choices cost us, over all runs?"""

from __future__ import annotations

import streamlit as st

from components import cards, choice_view, figures, filters, into_view, state, tables
from untaken.counterfactual import SMALL_Q, THRESHOLD
from untaken.report import choice_review, choices_table, count_choices

FILTERS = {
    "agent": "Agent",
    "task_id": "Task",
    "selected": "Skill taken",
    "alternative": "Skill not taken",
    "choice_support": "Support",
    "verdict": "Verdict of the delta",
}
COLUMNS = [
    *("selected", "alternative", "delta", "verdict", "support", "n", "n_selected", "success_rate"),
    *("advantage", "low", "high", "context", "agent", "task_id", "decision_point"),
    *("avg_cost", "avg_steps", "support_reason", "choice", "run_id", "digest"),
]
SIGNED = st.column_config.NumberColumn(format="%+.3f")
PERCENT = st.column_config.NumberColumn(format="percent")
MORE = 20


corpus = state.compared()
cards.headline("Decisions", "Which skill choices cost us, over all runs?")
if not corpus.runs:
    cards.nothing_here()
    st.stop()
review = state.derived(choice_review)
choice_view.evaluated_or_not(corpus)
if review.paths.empty:
    st.info("No run has two or more decision points with alternatives: there are no paths to compare.")
    st.stop()

paths = filters.by_value(review.paths, FILTERS, key="decisions")
choices = review.among(paths)
seen = count_choices(choices)
for place, (title, value, words) in zip(
    st.columns(4),
    (
        (
            "Choices",
            seen.choices,
            f"skill taken, skill not taken, context · {choice_view.points_in(paths)}",
        ),
        (
            "Alternative ahead",
            seen.ahead,
            f"supported, of {seen.compared:,} with an interval · {seen.ahead_small_q:,} with q ≤ {SMALL_Q}",
        ),
        ("Selected ahead", seen.behind, f"supported, of {seen.compared:,} with an interval"),
        ("Not settled", seen.weak + seen.unknown, f"{seen.weak:,} weak, {seen.unknown:,} without history"),
    ),
    strict=True,
):
    with place:
        cards.number_card(title, f"{value:,}", words)

st.subheader("What history says of the path not taken", anchor=False)
chosen = review.find(state.selected("choice"))
measure = st.segmented_control(
    "Measure", ("Advantage", "Delta"), default="Advantage", required=True, key="measure"
)
st.caption(
    "The advantage sets the histories of both skills against each other: of every run that the memory knows, "
    "whatever is filtered here. The delta sets the alternative's history against each run's own outcome, its "
    f"luck included: two identical skills cross ±{THRESHOLD:g} in 56 % of cases at 5 runs each."
)
most = st.session_state.setdefault("decisions_rows", MORE)
shown = {"most": most, "marked": chosen.digest if chosen else None, "dark": state.is_dark()}
if measure == "Delta":
    drawn, name = figures.choice_deltas(choices, paths, **shown), "Deltas by choice"
else:
    drawn, name = figures.choice_figure(choices, **shown), "Advantages by choice"
tables.figure(drawn, key=f"choices-{measure}", name=name, on_pick=choice_view.pick)
if len(choices) > most:
    choice_view.more_rows(most, len(choices), step=MORE)
if measure == "Delta":
    drawn = figures.delta_distribution(paths, dark=state.is_dark())
    tables.figure(drawn, key="spread", name="Delta distribution")
choice_view.placebo_on_request()
choice_view.picker(choices, chosen)
if chosen:
    choice_view.detail(chosen, review, corpus.runs)
into_view.into_view("choice", chosen.digest if chosen else None)

st.subheader("Every choice", anchor=False)
every = state.derived(choices_table)
tables.table(
    every[every["choice"].isin(paths["choice"])],
    key="every",
    name="Choices",
    height=320,
    columns=dict.fromkeys(("advantage", "low", "high", "mean_delta", "max_delta"), SIGNED)
    | dict.fromkeys(("success_rate_selected", "success_rate_alternative", "p_better"), PERCENT),
)

st.subheader("Every path not taken", anchor=False)
if chosen and st.toggle("Only those of the choice above", value=True, key="only_chosen"):
    paths = paths[paths["choice"] == chosen.digest]
st.caption("Support here is as of each run's start. Choose a row to open its run at that decision.")
ordered = paths[COLUMNS].sort_values("delta", ascending=False, na_position="last", kind="stable")
row = tables.table(
    ordered,
    key="paths",
    name="Paths not taken",
    selectable=True,
    height=460,
    most=5_000,
    columns=dict.fromkeys(("delta", "advantage", "low", "high"), SIGNED)
    | {"success_rate": PERCENT, "digest": None, "choice": None},
)
if row is not None:
    state.open_run(str(ordered["digest"].iloc[row]), decision=int(ordered["decision_point"].iloc[row]))
