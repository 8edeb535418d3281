"""What does past experience show?"""

from __future__ import annotations

import streamlit as st

from components import figures
from components.memory import view
from components.shared import cards, state, tables, text
from untaken.answers import applied_table, context_names, estimates_table, records_table, signal_review

PERCENT = st.column_config.NumberColumn(format="percent")
FIGURE = st.column_config.NumberColumn(format="%.4g")
WIDE = st.column_config.TextColumn(width=290)
PERCENTS = ("success_rate", "success_low", "success_high")
AMOUNTS = ("n_effective", "avg_cost", "cost_low", "cost_high", "avg_steps", "steps_low", "steps_high")


corpus = state.compared()
cards.headline("Memory", "What does past experience show?")
if not corpus.runs:
    cards.nothing_here()
    st.stop()
if not len(corpus.memory):
    st.info("No history yet: it needs finished runs with a known outcome and a choice of skill.")
    st.stop()
names = state.derived(context_names)
review = state.derived(signal_review)
snapshot = corpus.memory.snapshot(view.as_of(corpus.memory))
records = records_table(snapshot, names)
cards.number_cards(
    ("Observations", f"{snapshot.observations:,}", "one per decision point, plus applied weak signals"),
    ("Runs", f"{snapshot.runs:,}", "finished, unbroken, with a known success"),
    ("Records", f"{len(records):,}", "a skill in a context, with an outcome"),
    ("Signals waiting", f"{len(review.effects):,}", f"{len(review.advised):,} of them advised"),
    ("Digest", snapshot.digest[:8], "of this snapshot; the same runs give the same digest"),
)

cards.copies(corpus.memory)

st.subheader("Success rate by skill in one context", anchor=False)
st.caption(
    "Success rate with its 95% interval, from Beta(½ + s, ½ + f) over effective runs (repeats within a "
    "run, and its copies, count once). Association, not causation."
)
view.complete_link(records)
context = view.choose_context(records, names)
here = records[records["context_hash"] == context]
tables.figure(
    lambda: figures.skill_rates(here, dark=state.is_dark()),
    key="rates",
    name="Success rates in this context",
    of=(snapshot.digest, context),
)

if len(here):
    st.subheader("How an estimate developed", anchor=False)
    skill = view.choose("skill", "Skill", here["skill"].tolist(), shown=lambda name: text.one_line(name, 80))
    course = estimates_table(snapshot, skill, context)
    tables.figure(
        lambda: figures.estimates_over_time(course, dark=state.is_dark()),
        key="course",
        name="Estimate over time",
        of=(snapshot.digest, context, skill),
    )
    tables.folded(
        "As a table",
        lambda: tables.table(
            course,
            key="course-table",
            name="Estimates over time",
            height=260,
            columns=dict.fromkeys(PERCENTS, PERCENT),
        ),
        key="course",
    )

st.subheader("Every record", anchor=False)
unit = f"Costs in {text.label(snapshot.cost_unit, 40)}. " if snapshot.cost_unit else ""
st.caption(f"{unit}Intervals are 95%: Student's t over effective runs for means; at least two runs needed.")
tables.table(
    view.in_words(records),
    key="records",
    name="Records of policy memory",
    height=360,
    most=5_000,
    columns=dict.fromkeys(PERCENTS, PERCENT)
    | dict.fromkeys(AMOUNTS, FIGURE)
    | {"context": WIDE, "context_hash": None, "n_runs": "runs"},
)

st.subheader("Pending weak signals", anchor=False)
cards.show_once(view.DONE)
if review.effects:
    view.signals(review)
else:
    st.info("No pending signals: no alternative scores higher, or all signals are applied.")
applied = applied_table(corpus.memory, names)
if len(applied):
    st.subheader("Applied weak signals", anchor=False)
    st.caption(f"{len(applied):,}, each applied once. Each weighs 0.25, up to half of the outcomes in total.")
    tables.table(
        view.in_words(applied),
        key="applied",
        name="Applied weak signals",
        height=260,
        most=2_000,
        columns={"context": WIDE, "context_hash": None},
    )
