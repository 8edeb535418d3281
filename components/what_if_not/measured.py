"""What was measured with the sample runs: ablations beside the published figures, and calibration."""

from __future__ import annotations

from functools import partial
from typing import Final

import streamlit as st

from components import figures
from components.figures.calibration import NAMES
from components.shared import tables, text
from components.shared.panels import panel
from components.what_if_not import planned
from untaken.answers import ablation_table
from untaken.crafter.ablation import Ablation, remarks
from untaken.crafter.calibration import Calibration, Estimator, Settings
from untaken.present.numbers import counted

POINTS = st.column_config.NumberColumn(format="%.1f")
ESTIMATORS: Final[tuple[Estimator, ...]] = ("pooled", "advantage", "delta")
PARTS: Final = {"supported": "supported", "weak": "weak", "all": "all pairs"}


@panel
def ablations(*, dark: bool) -> None:
    """What the ablations say, beside the published figures."""
    found = planned.ablations()
    if not found:
        return
    st.subheader("Ablation", anchor=False)
    name = st.segmented_control(
        "Measured in", list(found), default=next(iter(found)), required=True, key="ablation"
    )
    shown = found[str(name)]
    st.caption(
        "Measured on the sample runs: Algorithm 1 with parts removed, all arms in the same worlds. "
        + ("Runs with a task end when they reach it, so compare success rates." if shown.setup.task else "")
    )
    drawn = partial(figures.ablation_figure, shown, dark=dark)
    tables.figure(drawn, key="ablation-figure", name="Algorithm 1 with parts removed", of=(str(name),))
    _ablation_rows(shown)
    for remark in remarks(shown):
        st.caption(text.label(remark, 600))


def _ablation_rows(found: Ablation) -> None:
    shares = ("asked_again", "success_difference", "success_low", "success_high")
    numbers = ("score", "score_low", "score_high", "difference", "low", "high", "published", "published_sd")
    numbers += ("achievements", "more_achievements", "more_low", "more_high", "published_difference")
    tables.table(
        ablation_table(found),
        key="ablation-table",
        name="Ablation beside the published table",
        columns=dict.fromkeys(numbers, POINTS)
        | dict.fromkeys(shares, tables.PERCENT)
        | {"more_p_holm": tables.P_VALUE},
    )


@panel
def calibration(*, dark: bool) -> None:
    """Agreement of estimates from ledgers with the results in clones."""
    found = planned.calibration()
    if found is None:
        return
    st.subheader("How far can a delta from a ledger be trusted?", anchor=False)
    st.caption(_measured_how(found.settings))
    estimate, agreement = st.columns(2, gap="medium")
    with estimate:
        _curve(found, dark=dark)
    with agreement:
        _agreement(found, dark=dark)


def _curve(found: Calibration, *, dark: bool) -> None:
    chosen = st.segmented_control(
        "Estimate", ESTIMATORS, default=ESTIMATORS[0], format_func=NAMES.get, required=True, key="estimator"
    )
    drawn = partial(figures.calibration_figure, found, estimator=chosen or ESTIMATORS[0], dark=dark)
    tables.figure(drawn, key="calibration", name="Calibration of estimates from ledgers", of=(chosen,))


def _agreement(found: Calibration, *, dark: bool) -> None:
    part = st.segmented_control(
        "Support", list(PARTS), default="supported", format_func=PARTS.get, required=True, key="part"
    )
    drawn = partial(figures.calibration_agreement, found, part=part or "supported", dark=dark)
    tables.figure(drawn, key="agreement", name="Agreement of estimates from ledgers", of=(part,))


def _measured_how(settings: Settings) -> str:
    task = text.label(settings.task.replace("_", " ")) if settings.task else "open play"
    return (
        f"Other pages estimate from ledgers alone. Here the alternatives were actually tried: "
        f"{counted(settings.train, 'run')} of {text.label(settings.policy)} ({task}) as history, then "
        f"{counted(settings.decisions, 'decision')} on {settings.held_out:,} other maps, each path "
        f"{settings.draws:,} times in clones. Intervals: 95%, over maps. Measured for one policy, one task "
        "and one simulator. Agreement may differ elsewhere."
    )
