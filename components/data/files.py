"""The files of the workspace: a table from which one can be chosen; of very many, a part at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import streamlit as st

from components.data import removing
from components.shared import evaluating, tables
from components.shared.panels import panel
from untaken.ledger import Run
from untaken.numbers import counted
from untaken.views import files_table
from untaken.workspace import FileGroup, Workspace

if TYPE_CHECKING:
    import pandas as pd

ROWS: Final = 500
"""Files in one table: a table of tens of thousands takes seconds each time the page is drawn."""
GROUPS: Final[dict[FileGroup, str]] = {"ledger": "Ledgers", "graph": "Plan graphs", "other": "Other files"}
_GROUP: Final = "files_group"
_NAMED: Final = "files_named"
_PART: Final = "files_part"


@panel
def listed(store: Workspace, runs: Sequence[Run]) -> None:
    """Draw the files, and for the chosen one what can be done with it."""
    position, named, part = evaluating.position(store), "", 0
    group, count = _group(store, position)
    if count > ROWS:
        named, part, count = _part(store, position, group, count)
    shown = store.files(position, group=group, named=named, first=part * ROWS, most=ROWS)

    def every() -> pd.DataFrame:
        return files_table(store.files(position, group=group, named=named), runs)

    chosen = tables.table(
        files_table(shown, runs),
        key=removing.FILES,
        name="Files",
        columns={
            "origin": st.column_config.TextColumn(width=86),
            "loss": st.column_config.TextColumn(width=80),
            "findings": st.column_config.TextColumn(width=86),
            "bytes": st.column_config.NumberColumn("size", format="bytes", width=66),
            "added_at": st.column_config.DatetimeColumn("added", format="YYYY-MM-DD HH:mm", width=122),
            "digest": None,
        },
        selectable=True,
        whole=every if count > len(shown) else None,
    )
    if chosen is None:
        st.caption("Choose a row to remove its file.")
    else:
        removing.offer(store, shown[chosen])


def _group(store: Workspace, position: int | None) -> tuple[FileGroup, int]:
    """Which files are shown, and how many they are: the ledgers first, however many plan graphs there are."""
    counts = {group: store.count_files(position, group=group) for group in GROUPS}
    here = [group for group in GROUPS if counts[group]]
    if st.session_state.get(_GROUP) not in here:
        st.session_state[_GROUP] = here[0]
    if len(here) < 2:
        return here[0], counts[here[0]]
    chosen = st.segmented_control(
        "Files",
        here,
        format_func=lambda one: f"{GROUPS[one]} {counts[one]:,}",
        required=True,
        key=_GROUP,
        on_change=_other_rows,
        label_visibility="collapsed",
    )
    group = chosen or here[0]
    return group, counts[group]


def _part(store: Workspace, position: int | None, group: FileGroup, count: int) -> tuple[str, int, int]:
    """What of very many files is shown: those whose names contain a text, a part of them at a time."""
    with st.container(horizontal=True):
        named = st.text_input("Find files by name", key=_NAMED, on_change=_other_rows, max_chars=200).strip()
        count = store.count_files(position, group=group, named=named) if named else count
        parts = max(1, -(-count // ROWS))  # one, too, where no name fits
        at = min(st.session_state.get(_PART, 1), parts)
        st.session_state[_PART] = at  # fewer files may be left than there were
        st.number_input(f"Part, of {parts:,}", 1, parts, key=_PART, on_change=_other_rows)
    first, last = min((at - 1) * ROWS + 1, count), min(at * ROWS, count)
    st.caption(f"Files {first:,} to {last:,} of {counted(count, 'file')}; download the table to see all.")
    return named, at - 1, count


def _other_rows() -> None:
    """The selected row is now another file."""
    st.session_state.pop(removing.FILES, None)
