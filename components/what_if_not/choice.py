"""The run and the step that the What-If-Not page shows; both are part of the address."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import streamlit as st

from components.shared import cards, state, text
from untaken.ledger import Run
from untaken.simulator import PlannedStep, PlanningRecord, RecordIndex

PICKER: Final = "what_if_not_run"
SLIDER: Final = "what_if_not_step"


def planned_runs(index: RecordIndex) -> dict[str, Run]:
    """The runs of the workspace that have a record, by content digest; evaluated ones first."""
    found = [run for run in state.runs() if run.run_id in index.records and not run.integrity.broken]
    found.sort(key=lambda run: (run.run_id not in index.evaluated, run.agent, run.task_id, run.run_id))
    return {run.digest: run for run in found}


def choose_run(runs: dict[str, Run], evaluated: frozenset[str]) -> Run:
    """Draw the picker of runs that have a record.

    Returns:
        The run of the address, or else the first; an address that names an unknown run gets a message.
    """
    asked = state.selected("run")
    chosen = asked if asked in runs else next(iter(runs))
    if asked is not None and asked not in runs:
        st.caption("The selected run has no planning record. Showing the first run that has one.")
    words = {digest: _run_words(run, evaluated) for digest, run in runs.items()}
    cards.picker("Run", words, chosen, lambda run: state.select(run=run), key=PICKER, filter_mode="contains")
    return runs[chosen]


def _run_words(run: Run, evaluated: frozenset[str]) -> str:
    agent, task = text.one_line(text.agent(run.agent), 80), text.one_line(run.task_id, 60)
    asked = "" if run.run_id in evaluated else " · not evaluated by What-If-Not"
    return f"{text.outcome(run.success)} {agent} · {task}{asked}"


def choose_step(record: PlanningRecord, run: str) -> int:
    """Draw the slider and the buttons, each with its key.

    Returns:
        The step of the address, from 1; else the first decision point.
    """
    last = len(record.steps)
    asked = state.selected("step") or ""
    # An address may hold anything: digits only, and no more of them than the last step has.
    asked_step = (
        int(asked) if asked.isascii() and asked.isdecimal() and len(asked) < len(str(last)) + 1 else 0
    )
    chosen = min(asked_step, last) if asked_step else _among(record, range(1, last + 1), _decides) or 1
    st.session_state[SLIDER] = chosen  # before its widget, which shows it
    if last > 1:
        st.slider("Step", 1, last, key=SLIDER, on_change=lambda: pick(run, st.session_state[SLIDER]))
    with st.container(horizontal=True, gap="small"):
        back, on = range(chosen - 1, 0, -1), range(chosen + 1, last + 1)
        _button("‹ Step", "K", run, next(iter(back), None))
        _button("Step ›", "J", run, next(iter(on), None))
        _button("‹ ◆ Decision", "Shift+K", run, _among(record, back, _decides))
        _button("◆ Decision ›", "Shift+J", run, _among(record, on, _decides))
        _button("‹ ▼ Worse", "P", run, _among(record, back, _worse))
        _button("▼ Worse ›", "N", run, _among(record, on, _worse))
    return chosen


def pick(run: str, step: int | str) -> None:
    """Select a step of a run."""
    state.select(run=run, step=step)


def _button(words: str, key: str, run: str, step: int | None) -> None:
    st.button(
        words,
        key=f"what_if_not_{key}",
        shortcut=key,
        disabled=step is None,
        on_click=lambda: pick(run, step or 1),
    )


def _among(
    record: PlanningRecord, steps: Iterable[int], condition: Callable[[PlannedStep], bool]
) -> int | None:
    return next((step for step in steps if condition(record.steps[step - 1])), None)


def latest_causes(record: PlanningRecord, step: int) -> int | None:
    """The latest decision point with a causal representation, at a step or before it."""
    return _among(record, range(step, 0, -1), lambda one: one.causes is not None)


def _decides(step: PlannedStep) -> bool:
    return step.begun is not None


def _worse(step: PlannedStep) -> bool:
    return step.asked is not None and step.asked.verdict == "worse"
