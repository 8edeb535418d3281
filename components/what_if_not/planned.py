"""Records of planning and what was measured with them, read once and kept."""

from __future__ import annotations

import os
from pathlib import Path

import streamlit as st

from components.shared import state
from untaken.errors import UntakenError
from untaken.simulator import (
    Ablation,
    PlanningRecord,
    RecordIndex,
    index_records,
    read_planning,
    records_under,
)
from untaken.views import PlanningSummary, planning_summary, read_ablation
from untaken.workspace import PLANNING, Workspace

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
def ablations() -> dict[str, Ablation]:
    """The ablations that were measured with the sample runs, by name; those that are there."""
    found = {}
    for name, file in ABLATIONS.items():
        try:
            found[name] = read_ablation(state.PLANNED / file)
        except UntakenError as error:
            if error.code != "ablation-missing":  # a missing one is left out, a damaged one is not
                raise
    return found
