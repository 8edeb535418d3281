"""Which judges may speak: marks beside their verdicts, and what each is worth."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import streamlit as st

from components.shared import cards, state, text
from untaken.judging import FILE, JudgePassport, JudgeStanding, passports_beside, save_passports, uncalibrated
from untaken.numbers import counted, decimal, interval, percent
from untaken.views import judges_worth, measure_corpus

MOST_NAMED = 5
SAVED = "passports_saved"


def _file() -> Path:
    return state.workspace().path / FILE


def standings() -> tuple[JudgeStanding, ...]:
    """Of the judges of the runs compared, by the passports that the workspace keeps."""
    file = _file()
    # New passports change no run: the time of their file is part of the key.
    version = file.stat().st_mtime_ns if file.is_file() else 0
    return state.drawn(lambda: judges_worth(state.compared(), file), "judges", str(version))


def mark(by: str, graph: str, sub_goal: str) -> None:
    """A badge beside a judge's verdict that a gate would leave out."""
    for one in uncalibrated(standings()):
        if one.judge == by and (not one.sub_goal or (one.graph, one.sub_goal) == (graph, sub_goal)):
            st.badge(
                one.state,
                color="orange",
                help=f"{text.label(one.reason, 200)}. `untaken gate` leaves it out.",
            )
            return


def passports() -> None:
    """Judges that may not speak, and what each is worth."""
    doubtful = uncalibrated(standings())
    for one in doubtful[:MOST_NAMED]:
        where = f" on {text.label(one.sub_goal, 60)}" if one.sub_goal else ""
        st.warning(
            f"{text.label(one.judge, 60)}{where} is {one.state}: {text.label(one.reason, 200)}. "
            f"`untaken gate` leaves {counted(one.verdicts, 'verdict')} out."
        )
    if len(doubtful) > MOST_NAMED:
        st.caption(f"and {len(doubtful) - MOST_NAMED:,} more")
    for passport in passports_beside([state.workspace().path]):
        st.caption(_words(passport))


def offer_to_measure() -> None:
    """The button that measures judges on the labels of the runs compared."""
    st.button("Measure judges on these labels", key="measure_judges", on_click=_measure)
    cards.show_once(SAVED)


def _measure() -> None:
    with state.frame():
        measured = measure_corpus(state.compared(), datetime.now(UTC).date().isoformat())
        save_passports(measured, _file())
    st.session_state[SAVED] = (
        f"✓ Measured {counted(len(measured), 'judge')}; the workspace keeps the passports."
    )


def _words(one: JudgePassport) -> str:
    kappa = f"{decimal(one.kappa.value)} ({interval(one.kappa.low, one.kappa.high, decimal)})"
    ends = f"({interval(one.rate.low, one.rate.high, percent)})"
    draw = f" {text.label(one.draw, 200)}." if one.draw else ""
    return (
        f"**{text.label(one.judge, 60)}**, measured on {one.date}: {counted(one.labels, 'label')} of "
        f"{one.items:,}, κ {kappa}, sensitivity {percent(one.sensitivity.value)}, specificity "
        f"{percent(one.specificity.value)}; says met {percent(one.judge_rate)}, corrected "
        f"{percent(one.rate.value)} {ends}.{draw}"
    )
