"""Statements about plan decisions: option against option in the same task, and how good forecasts were."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pandas as pd
import streamlit as st

from components import figures
from components.shared import cards, state, tables, text
from components.shared.panels import panel
from untaken.analysis import Corpus, statement_parts
from untaken.counterfactual import CalibrationCard, PlanEvaluation, Statement, calibration_card, time_words
from untaken.errors import Unscored, number
from untaken.numbers import counted, decimal, interval, percent, points, signed
from untaken.views import (
    FORMATS,
    RESTATES,
    data_needed,
    distinct,
    option_words,
    runs_against,
    situation_words,
    statement_in_units,
    statements_table,
)

LINKS: Final = 6
COLUMNS: Final = 3
WIDTHS: Final = {
    "support": st.column_config.TextColumn(width=125),
    "situation": st.column_config.TextColumn(width=120),
    "option": st.column_config.TextColumn(width=120),
    "succeeded": st.column_config.TextColumn(width=80),
    "against": st.column_config.TextColumn(width=120),
    "difference": st.column_config.NumberColumn("points", width=65, help="Difference in success"),
    "theirs": st.column_config.TextColumn("succeeded", width=80),
    "95%": st.column_config.TextColumn(width=100),
    "q": st.column_config.NumberColumn(width=60),
}
"""Pixels; they fit a screen 1,280 wide. Each option has its own successes beside it."""
ROW: Final = 72
"""Pixels of a row: three lines. Streamlit wraps text in rows of more than 64."""


@panel
def draw(corpus: Corpus) -> None:
    """The statement table with its placebo, the runs behind one, and the calibration card."""
    found = corpus.plans
    st.caption(
        "What runs of one task did in the same state of the plan, by the same agent where it ran the task "
        "more than once. An association, not a cause."
    )
    if not found.runs:
        _nothing(found)
        return
    _counts(found)
    if not found.supported:
        st.info(text.label(f"Nothing is supported. {data_needed(found)}", 600))
    _statements(corpus, distinct(found.statements))
    _silent(found)
    _card(state.derived(_made_card))


def _made_card(corpus: Corpus) -> CalibrationCard | Unscored:
    return calibration_card(corpus.plans)


def _nothing(found: PlanEvaluation) -> None:
    reasons = sorted({why.reason for why in found.silent.values()})
    st.info(text.label("No run has plan decisions: " + "; ".join(reasons) + ".", 500))
    st.page_link("pages/annotate.py", label="Declare the tools that change something (Annotate)")


def _counts(found: PlanEvaluation) -> None:
    more = f"; {len(found.silent):,} more have none" if found.silent else ""
    restating = found.groups["explains_the_verdict"]
    by_chance = percent(number(found.shuffled_supported_share), 1)
    shown = (
        (
            "Findings",
            f"{found.groups['found']:,}",
            "supported at p ≤ 0.05, q ≤ 0.10"
            + (f"; not counted: {restating:,} restating the plan's check" if restating else ""),
        ),
        (
            "Alternatives supported",
            f"{found.supported:,} of {found.alternatives:,}",
            f"{percent(found.supported_share)} of what other runs of the task did in the same state; "
            f"by chance alone {by_chance} (mean of {found.shuffles} shuffles within task and agent; does not "
            "rule out confounding)",
        ),
        ("Plan decisions", f"{found.decisions:,}", f"in {counted(len(found.runs), 'run')}{more}"),
    )
    cards.number_cards(*shown)


def _statements(corpus: Corpus, listed: Sequence[Statement]) -> None:
    st.subheader("Options compared", anchor=False)
    if not listed:
        st.info(
            "No two options can be compared: no agent took both in one task, and agents differ too little."
        )
        return
    st.caption(
        "Runs that took the option on the left succeeded more often. Select a row to read it as a sentence, "
        "with the failed runs that took the other option. Repeats of a more specific one are left out."
    )
    row = tables.table(
        _shown(listed),
        key="statements",
        name="Statements",
        selectable=True,
        height=min(38 + ROW * len(listed), 470),
        row_height=ROW,
        most=500,
        columns=WIDTHS,
        whole=lambda: statements_table(corpus.plans),
    )
    supported = [at for at, statement in enumerate(listed) if statement.supported]
    # Without a choice the first one that is supported.
    at = row if row is not None else (supported[0] if supported else None)
    if at is not None:
        _chosen(corpus, listed[at])


def _shown(listed: Sequence[Statement]) -> pd.DataFrame:
    """What is read first, first: the download beside it has every figure."""
    made = pd.DataFrame(
        {
            "support": [_support(s) for s in listed],
            "situation": [situation_words(s.situation) for s in listed],
            "option": [option_words(s.option) for s in listed],
            "succeeded": [f"{s.k1} of {s.n1}" for s in listed],
            "against": [option_words(s.against) for s in listed],
            "theirs": [f"{s.k0} of {s.n0}" for s in listed],
            "difference": [s.difference for s in listed],
            "95%": [interval(s.low, s.high, points, 0) for s in listed],
            "q": pd.array([number(s.q) for s in listed], dtype="Float64"),
        }
    )
    made.attrs[FORMATS] = {"difference": "points", "q": "p"}
    return made


def _support(statement: Statement) -> str:
    words = "✓ supported" if statement.supported else f"– {statement.reason}"
    return words if statement.label == "found" else f"{words}; {RESTATES}"


def _chosen(corpus: Corpus, statement: Statement) -> None:
    runs = runs_against(corpus.plans, statement)
    with st.container(border=True):
        st.text(text.one_line(statement_in_units(statement, statement_parts(corpus, statement)), 900))
        st.caption(f"{counted(len(runs), 'failed run')} took the other option here.")
        for start in range(0, min(LINKS, len(runs)), COLUMNS):
            for place, (digest, seq) in zip(
                st.columns(COLUMNS), runs[start : min(start + COLUMNS, LINKS)], strict=False
            ):
                run = corpus.runs[digest]
                where = f"{text.label(run.task_id, 40)}{text.repeat(run.started.task_repeat)}"
                with place:
                    state.run_link(f"✗ {text.label(run.agent, 30)} on {where}", digest, change=str(seq))


def _silent(found: PlanEvaluation) -> None:
    if not found.silent_alternatives and not found.silent:
        return
    with st.expander("Why other alternatives have no support"):
        # Once for all of them.
        if price := next(filter(None, (time_words(one.reason) for one in found.statements)), ""):
            st.caption(f"*Could be time*: {price}")
        for reason, count in found.silent_alternatives:
            st.caption(text.label(f"{counted(count, 'alternative')}: {reason}", 300))
        for reason, count in found.silent_runs.items():
            st.caption(text.label(f"{counted(count, 'run')} without plan decisions: {reason}", 300))
        st.caption(text.label(data_needed(found), 600))


def _card(card: CalibrationCard | Unscored) -> None:
    if isinstance(card, Unscored):
        st.caption(text.label(f"No check of the forecasts: {card.reason}.", 300))
        return
    tables.folded("How good the forecasts are", lambda: _forecasts(card), key="forecasts")


def _forecasts(card: CalibrationCard) -> None:
    drawn, side = st.columns([3, 2], gap="large")
    with drawn:
        tables.figure(
            figures.plan_calibration(card, dark=state.is_dark()),
            key="plan-calibration",
            name="How good the forecasts are",
            about="The forecast chance of success after each plan change, learned from other tasks, against "
            "the actual outcome. Intervals count tasks, not runs.",
        )
    with side:
        over = f"{counted(card.n, 'forecast')} of {card.runs:,} runs, {card.tasks:,} tasks"
        cards.number_card("Gain over the mean of all runs", signed(card.skill), over)
        cards.number_card(
            "Gain over the mean of the same task",
            signed(card.skill_over_task),
            f"The task's mean uses its outcomes; the forecast does not. Brier score {decimal(card.brier, 3)}",
        )
        if card.hindsight is not None:
            st.caption(
                f"At the end of runs: gain {signed(card.hindsight.skill)}, "
                f"n {card.hindsight.n:,}, Brier {decimal(card.hindsight.brier, 3)}"
            )
        for part in card.by_support:
            st.caption(
                f"{part.support}: gain {signed(part.skill)}, n {part.n:,}, Brier {decimal(part.brier, 3)}"
            )
