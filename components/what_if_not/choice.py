"""Records of planning, read once and kept; the run and step that are shown, both part of the address."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

import streamlit as st

from components.shared import cards, state, text
from untaken.errors import UntakenError
from untaken.ledger import Run
from untaken.simulator import (
    Ablation,
    PlannedStep,
    PlanningRecord,
    RecordIndex,
    index_records,
    read_planning,
    records_under,
)
from untaken.views import PlanningSummary, planning_summary, read_ablation
from untaken.workspace import PLANNING, Workspace

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


ABLATIONS = {
    "Open play": "ablation.json",
    "Towards iron": "ablation-collect_iron.json",
    "Open play, fewer slips": "ablation-below.json",
}


def records() -> RecordIndex:
    """The available records: those in the workspace, those in its original folder, the samples."""
    store = state.workspace()
    # The content is part of the key: an uploaded record changes it.
    return _records(str(store.path), state.content(store), os.environ.get(state.DEMO, "") == "1", store)


@st.cache_resource(ttl=3600, max_entries=2, show_spinner=False)
def _records(folder: str, digest: str, demo: bool, _store: Workspace) -> RecordIndex:  # noqa: ARG001 (cache key)
    files = records_under(state.PLANNED) if demo else []
    # A folder that was opened keeps its workspace inside: its records are beside the ledgers.
    parent = Path(folder).parent if Path(folder).name == ".untaken" else None
    files += records_under(parent) if parent else []
    files += [file.path for file in _store.sources(PLANNING) if file.path]
    return index_records(files)


def record(file: Path) -> tuple[PlanningRecord, PlanningSummary, str]:
    """A record, what it says as a whole, and a text that changes with the file.

    Raises:
        UntakenError: as `read_planning`.
    """
    changed = file.stat().st_mtime_ns if file.is_file() else 0
    return *_record(str(file), changed), f"{file}:{changed}"


@st.cache_resource(ttl=3600, max_entries=8, show_spinner="Reading the record …")
def _record(file: str, changed: int) -> tuple[PlanningRecord, PlanningSummary]:  # noqa: ARG001 (cache key)
    found = read_planning(file)
    return found, planning_summary(found)


@st.cache_resource(ttl=3600, show_spinner=False)
def measured() -> dict[str, Ablation]:
    """The ablations that were measured with the sample runs, by name; those that are there."""
    found = {}
    for name, file in ABLATIONS.items():
        try:
            found[name] = read_ablation(state.PLANNED / file)
        except UntakenError as error:
            if error.code != "ablation-missing":  # a missing one is left out, a damaged one is not
                raise
    return found
