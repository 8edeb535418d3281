"""Which skill choices cost us, over all runs?"""

from __future__ import annotations

import streamlit as st

from components import cards, figures, filters, state, tables
from untaken.errors import number
from untaken.report import count_paths, decisions_table

FILTERS = {
    "verdict": "Verdict",
    "support": "Support",
    "agent": "Agent",
    "selected": "Selected",
    "alternative": "Alternative",
    "task_id": "Task",
}
COLUMNS = [
    *("selected", "alternative", "delta", "verdict", "support", "n", "n_selected", "success_rate"),
    *("advantage", "low", "high", "context", "agent", "task_id", "decision_point"),
    *("avg_cost", "avg_steps", "support_reason", "run_id", "digest"),
]
SIGNED = st.column_config.NumberColumn(format="%+.3f")


corpus = state.compared()
cards.headline("Decisions", "Which skill choices cost us, over all runs?")
if not corpus.runs:
    cards.nothing_here()
    st.stop()
everything = state.derived(decisions_table)
evaluations = list(corpus.evaluations.values())
skipped = [e for e in evaluations if e.status != "evaluated"]
st.caption(
    f"{len(evaluations) - len(skipped):,} runs evaluated, {len(skipped):,} not · each against what was known "
    "when it started, its own outcome left out · a ledger shows association, not what an alternative causes"
)
if skipped:
    with st.expander(f"Why {len(skipped):,} runs were not evaluated"):
        reasons = {e.code or e.reason: sum(o.code == e.code for o in skipped) for e in skipped}
        st.code("\n".join(f"{n:>6}  {code}" for code, n in reasons.items()), language=None)
if everything.empty:
    st.info("No run has two or more decision points with alternatives: there are no paths to compare.")
    st.stop()

shown = filters.by_value(everything, FILTERS, key="decisions")
seen = count_paths(shown)
for place, (title, value, words) in zip(
    st.columns(4),
    (
        ("Paths not taken", seen.paths, f"at {cards.counted(seen.points, 'decision point')}"),
        ("May be better", seen.may_be_better, "delta above +0.1"),
        ("Supported", seen.supported, "advantage interval excludes 0, enough runs"),
        ("Unknown", seen.unknown, "no history of the alternative in that context"),
    ),
    strict=True,
):
    with place:
        cards.number_card(title, f"{value:,}", words)

st.subheader("How the deltas are spread", anchor=False)
st.caption(
    "Delta compares an alternative's history with this run's own outcome. Two identical alternatives cross "
    "±0.1 in 56 % of cases at 5 runs each: look at the support before you believe one."
)
drawn = figures.delta_distribution(shown, dark=state.is_dark())
tables.figure(drawn, key="spread", name="Delta distribution")
mean, largest = number(seen.mean_delta), number(seen.max_delta)
if mean is not None and largest is not None:
    st.caption(f"Over the paths chosen above: mean delta {mean:+.3f}, largest {largest:+.3f}.")

st.subheader("Every path not taken", anchor=False)
st.caption("Choose a row to open its run at that decision.")
ordered = shown[COLUMNS].sort_values("delta", ascending=False, na_position="last", kind="stable")
row = tables.table(
    ordered,
    key="paths",
    name="Paths not taken",
    selectable=True,
    height=460,
    most=5_000,
    columns=dict.fromkeys(("delta", "advantage", "low", "high"), SIGNED)
    | {"success_rate": st.column_config.NumberColumn(format="percent"), "digest": None},
)
if row is not None:
    state.open_run(str(ordered["digest"].iloc[row]), decision=int(ordered["decision_point"].iloc[row]))
