"""A format of your own: a mapping file drafted from a sample, corrected beside its first run, and kept."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Final

import streamlit as st

from components.shared import roles, tables, text
from components.shared.panels import panel
from components.shared.spooling import opened
from untaken import limits
from untaken.errors import UntakenError
from untaken.numbers import counted
from untaken.traces import MappingCheck, drafted_from, preview_mapping
from untaken.views import mapping_tables
from untaken.workspace import Workspace, own_mappings, remove_mapping, save_mapping

MOST: Final = limits.MIB
"""Bytes of a sample: it is converted again with each change."""
HEIGHT: Final = 420


@panel
def own_format(workspace: Workspace) -> None:
    """Draw the mapping files of the workspace, and where one is made."""
    kept = own_mappings(workspace.path)
    label = "Read a format of your own" + (f" · {counted(len(kept), 'mapping file')}" if kept else "")
    with st.expander(label, icon=":material/rule:"):
        for name, found in kept.items():
            _listed(workspace, name, found.message if isinstance(found, UntakenError) else "")
        st.caption(
            "Add a sample of your logs. Untaken drafts a mapping file: some 20 lines of YAML that say "
            "where the agent, the task, the outcome and the steps are. Correct it until the first run looks "
            "right, then save it: uploads of that format are read from then on."
        )
        sample = st.file_uploader(
            "Sample (JSON, JSON Lines or CSV, at most 1 MB)",
            type=["json", "jsonl", "ndjson", "csv", "parquet"],
            key="mapping-sample",
        )
        if sample is None:
            return
        data = opened(sample).read(MOST + 1)  # one more than it may have: then there is more
        if len(data) > MOST:
            st.error("This sample has more than 1 MB. Use a few runs of it.")
            return
        _edited(workspace, sample.name, data)


def _listed(workspace: Workspace, name: str, fault: str) -> None:
    words, button = st.columns([6, 1], vertical_alignment="center")
    words.text(f"{name} · {fault}" if fault else name)
    button.button(
        "Remove",
        key=f"mapping-remove-{name}",
        on_click=_remove,
        args=(workspace.path, name),
        help="Runs that were read with it stay.",
        disabled=workspace.read_only,
    )


def _remove(folder: Path, name: str) -> None:
    roles.need("owner")
    remove_mapping(folder, name)


def _edited(workspace: Workspace, name: str, data: bytes) -> None:
    digest = sha256(data).hexdigest()
    left, right = st.columns(2)
    with left:
        # Keyed by the sample: another one begins with a draft of its own.
        written = st.text_area(
            "Mapping file", value=_draft(name, data, digest), height=HEIGHT, key=f"mapping-{digest[:16]}"
        )
        st.caption("A draft is a proposal. A mistake here is a mistake in every run: check the first run.")
    with right:
        try:
            found = _preview(written, name, data, digest)
        except UntakenError as error:
            line = f" (line {error.where.line})" if error.where.line else ""
            st.error(text.label(f"{error.message}{line}. {error.hint}", 400), icon=":material/error:")
            return
        _shown(found)
    if st.button(
        "Save and use for uploads", key="mapping-save", disabled=workspace.read_only or not found.runs
    ):
        roles.need("owner")
        path = save_mapping(workspace.path, written)
        st.success(f"Saved as {path.name}. Upload files of this format above.")


@st.cache_data(max_entries=8, show_spinner="Drafting a mapping …")
def _draft(_name: str, _data: bytes, digest: str) -> str:
    return drafted_from(_name, _data, f"mine-{digest[:4]}")


@st.cache_data(max_entries=16, show_spinner="Trying the mapping …")
def _preview(written: str, _name: str, _data: bytes, digest: str) -> MappingCheck:  # noqa: ARG001 - the key
    return preview_mapping(written, _name, _data)


def _shown(found: MappingCheck) -> None:
    many = counted(found.runs, "run")
    st.markdown(f"**{counted(found.records, 'record')} in the file, {many} made of it**")
    having = {
        "agent": found.with_agent,
        "task": found.with_task,
        "outcome": found.with_outcome,
        "tokens": found.with_tokens,
        "cost": found.with_cost,
    }
    st.caption(" · ".join(f"{name} in {count:,}" for name, count in having.items()))
    events = " · ".join(f"{kind} {count:,}" for kind, count in sorted(found.events.items()))
    st.caption(events.replace("_", " ").lower() or "no events")
    troubles = {
        "calls without a tool's name": found.unnamed_calls,
        "answers that match no call": found.stray_answers,
        "calls without an answer": found.unanswered_calls,
    }
    if doubts := [f"{count:,} {what}" for what, count in troubles.items() if count]:
        st.warning(" · ".join(doubts))
    made = mapping_tables(found)
    for tab, (name, table) in zip(st.tabs([*made]), made.items(), strict=True):
        with tab:
            tables.table(table, key=f"mapping-{name}", name=name, height=260)
