"""The head of a run: who ran what and how it ended, then what was asked, expected and got."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.shared import text
from components.shared.panels import panel
from untaken.errors import Score, Unscored, number
from untaken.numbers import counted, money, percent
from untaken.scoring import RunScore
from untaken.views import STAR, RunReport, run_brief

FOLDED_CHARS: Final = 260
"""Longer answers are cut to three lines, with a way to the whole of them."""
MOST_CHARS: Final = 10_000
OUTCOMES: Final = {True: "✓ succeeded", False: "✗ failed"}


@panel
def draw(report: RunReport) -> None:
    """Draw the card."""
    found = run_brief(report.run, report.graph)
    # Without a graph, nothing is said.
    plan = f"Plan: {found.plan}" if found.plan else "The plan graph has no sub-goals." * bool(report.graph)
    expected = [found.target and f"Recorded answer: {found.target}", plan]
    got = "\n".join(filter(None, [found.got, found.ended]))
    with st.container(border=True, gap="xxsmall", key="brief"):
        with st.container(horizontal=True, gap="medium", key="facts"):
            for words in _facts(report):
                st.text(words, width="content")
        _answer("Asked", found.asked or "The record holds no task text.")
        _answer("Expected", "\n".join(filter(None, expected)) or "No plan graph, and no recorded answer.")
        _answer("Got", got or "The record holds no message and no call of the agent.")


def _facts(report: RunReport) -> list[str]:
    run, score, end = report.run, report.score, report.run.finished
    repeat = run.started.task_repeat
    where = text.one_line(run.task_id, 60) + ("" if repeat is None else f" (repeat {repeat})")
    outcome = "? no outcome" if isinstance(run.success, Unscored) else OUTCOMES[run.success]
    found = [f"{text.one_line(text.agent(run.agent), 60)} on {where}", outcome]
    if isinstance(score, RunScore):
        found.append(_share(score.completed, score.required, score.completion, "completed"))
        if score.critical:
            critical = score.critical_completed, score.critical, score.critical_completion
            found.append(f"{STAR} {_share(*critical, 'critical')}")
        if score.plans and score.replans:
            found.append(counted(score.replans, "replan"))
    if end is not None and end.steps is not None:
        found.append(counted(end.steps, "step"))
    if end is not None and end.cost is not None:
        found.append(money(end.cost, text.one_line(end.cost_unit, 12)))
    return [*found, f"integrity: {report.integrity.verdict}"]


def _share(count: int, total: int, rate: Score, what: str) -> str:
    value = number(rate)
    return f"{what}: unscored" if value is None else f"{count} of {total} ({percent(value)}) {what}"


def _answer(name: str, words: str) -> None:
    shown = "\n".join(
        text.one_line(line, MOST_CHARS) for line in words[:MOST_CHARS].splitlines() if line.strip()
    )
    key = name.lower()
    with st.container(horizontal=True, gap="small", key=f"answer-{key}"):
        st.text(name, width=76)
        with st.container(key=f"words-{key}", width="stretch"):
            st.text(shown[: 2 * FOLDED_CHARS])  # the style sheet cuts it after three lines
        if len(shown) > FOLDED_CHARS or shown.count("\n") > 2:
            with st.popover("More", key=f"more-{key}", type="tertiary"):
                st.text(shown)
