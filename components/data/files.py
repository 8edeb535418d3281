"""The files of the workspace: a table from which one can be removed, what was removed, what is to confirm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import streamlit as st

from components.shared import evaluating, private_session, roles, tables, text
from components.shared.panels import panel
from untaken.errors import first_few
from untaken.ledger import Run
from untaken.numbers import counted
from untaken.views import files_table
from untaken.workspace import Extension, FileGroup, StoredFile, Workspace

if TYPE_CHECKING:
    import pandas as pd

ROWS: Final = 500
"""Files in one table: a table of tens of thousands takes seconds each time the page is drawn."""
GROUPS: Final[dict[FileGroup, str]] = {"ledger": "Ledgers", "graph": "Plan graphs", "other": "Other files"}
REPEATED: Final[dict[FileGroup, tuple[str, ...]]] = {
    "ledger": ("kind",),
    "graph": ("kind", "runs"),
    "other": (),
}
"""Columns that say what the group does."""
FILES: Final = "files"
"""Key of the table that a file is chosen in."""
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
        key=FILES,
        name="Files",
        columns={
            "name": st.column_config.TextColumn(width=300),
            "origin": st.column_config.TextColumn(width=86),
            "loss": st.column_config.TextColumn(width=80),
            "findings": st.column_config.TextColumn(width=86),
            "bytes": st.column_config.NumberColumn("size", format="bytes", width=66),
            "added_at": st.column_config.DatetimeColumn("added", format="YYYY-MM-DD HH:mm", width=122),
            **dict.fromkeys(("digest", *REPEATED[group])),
        },
        selectable=True,
        whole=every if count > len(shown) else None,
    )
    if chosen is None:
        st.caption("Choose a row to remove its file.")
    else:
        _offer_removal(store, shown[chosen])


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
    st.session_state.pop(FILES, None)


@panel
def _offer_removal(workspace: Workspace, file: StoredFile) -> None:
    """Draw the button that removes the selected file, with a note on the consequences."""
    if private_session.area() is not None:  # what is shared is what was uploaded
        st.caption("To leave a file out, discard the private area and add the other files again.")
        return
    if not roles.offered("owner", "remove files"):
        return
    with st.popover("Remove from this workspace …", icon=":material/delete:"):
        st.text(text.one_line(file.name, 120))
        st.caption(
            "Its runs or plan graph disappear from all figures. You can restore it here for 30 days. Then "
            "it is deleted, and you can add it again. The audit log records the removal."
        )
        going = workspace.goes_with(file.digest)
        if going:
            named = first_few([text.one_line(one.name, 60) for one in going], 3)
            st.text(f"Also removed, converted from it: {named}")
        st.button("Remove it", key="remove", type="primary", on_click=_remove, args=(workspace, file.digest))


@panel
def restore(workspace: Workspace) -> None:
    """Draw the removed files, if any, each with a button to restore it."""
    gone = workspace.removed()
    if not gone or not roles.may("owner"):
        return
    with st.expander(f"Removed: {len(gone):,}", icon=":material/delete:"), st.container(horizontal=True):
        file = st.selectbox(
            "Removed files",
            options=gone,
            # two may have one name
            format_func=lambda one: f"{text.one_line(one.name, 80)} · {one.digest[:8]}",
            label_visibility="collapsed",
        )
        st.button("Restore", key="restore", on_click=_restore, args=(workspace, file.digest))


def _remove(workspace: Workspace, digest: str) -> None:
    roles.need("owner")
    workspace.remove(digest)
    st.session_state.pop(FILES, None)  # the selected row is now another file


def _restore(workspace: Workspace, digest: str) -> None:
    roles.need("owner")
    workspace.restore(digest)
    st.session_state.pop(FILES, None)


@panel
def confirm(workspace: Workspace) -> None:
    """Draw the extensions that wait, where there are any, each with the button that confirms it."""
    waiting = workspace.extensions()
    if not waiting:
        return
    with st.container(border=True):
        st.markdown("**Imported events to confirm**")
        st.caption(
            "These files add events after the recorded end of a run, or replace it with another conversion. "
            "Anyone can write such a file under any name. Confirm only if you trust the source. The audit "
            "log records that you confirmed it. Verdicts given here on a replaced run no longer count."
        )
        if not roles.offered("owner", "confirm them"):
            return
        author = st.text_input("Your name", key="confirm_author", max_chars=100)
        for extension in waiting[:20]:
            key = f"confirm-{extension.file.digest[:16]}-{extension.run_id}"
            st.text(f"{extension.run_id}: {text.one_line(extension.words, 200)}, from {extension.file.name}")
            st.button(
                "Confirm",
                key=key,
                disabled=not author.strip(),
                on_click=_confirmed,
                args=(workspace, extension, author.strip()),
            )


def _confirmed(workspace: Workspace, extension: Extension, author: str) -> None:
    roles.need("owner")  # a browser can ask for it without the button
    if not workspace.confirm(extension, author=author):
        st.warning("The run has changed since. Nothing was confirmed.")
