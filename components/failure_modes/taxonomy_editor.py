"""The failure modes of the workspace: presets, wording, merging, splitting, retiring; nothing is lost."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd
import streamlit as st

from components.failure_modes import mode_writing
from components.review import writing
from components.shared import drafts, reviewer, state, tables, text
from components.shared.panels import panel
from untaken import limits
from untaken.analysis import (
    TITLES,
    FailureMode,
    Taxonomy,
    TaxonomyEdit,
    edit_mode,
    import_modes,
    kept_taxonomy,
    merge_modes,
    preset_modes,
    restore_mode,
    retire_mode,
    split_mode,
    taxonomy_yaml,
)
from untaken.views import modes_overview
from untaken.workspace import Workspace

CHOSEN: Final = "taxonomy_mode"
MOST_CHANGES: Final = 50


@panel
def draw() -> None:
    """The taxonomy as a table, presets, and the form of one mode."""
    taxonomy = kept_taxonomy(state.workspace().path)
    writing.show_messages()
    with st.container(width=320):
        reviewer.ask_reviewer()
    _presets(taxonomy)
    if not taxonomy.modes:
        st.info("No failure modes yet. Add a preset, or create one beside a note on the Run page.")
        return
    _table(taxonomy)
    known = taxonomy.by_id
    if st.session_state.get(CHOSEN) not in known:  # gone since: Streamlit refuses to show what is not offered
        st.session_state[CHOSEN] = None
    chosen = st.selectbox(
        "Edit",
        list(known),
        key=CHOSEN,
        index=None,
        format_func=lambda one: text.one_line(known[one].name, limits.MODE_NAME_CHARS),
        filter_mode="contains",
        placeholder="Choose a failure mode",
        disabled=reviewer.author() is None,
    )
    if chosen is not None and reviewer.author() is not None:
        with st.container(border=True):
            _form(taxonomy, known[chosen])


def _presets(taxonomy: Taxonomy) -> None:
    store = state.workspace()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for preset, title in TITLES.items():
            modes = preset_modes(preset)
            st.button(
                f"Add {title}",
                key=f"preset-{preset}",
                disabled=reviewer.author() is None or all(mode.id in taxonomy.by_id for mode in modes),
                on_click=_change,
                args=(
                    store,
                    # Bound now: the loop goes on.
                    lambda known, by, modes=modes: import_modes(known, modes, by=by),
                ),
            )


def _table(taxonomy: Taxonomy) -> None:
    found = modes_overview(state.listed().runs.values(), taxonomy)
    frame = pd.DataFrame(
        {
            "failure mode": [mode.name for mode in found.modes],
            "definition": [mode.definition for mode in found.modes],
            "runs": [mode.runs for mode in found.modes],
            "status": [mode.status for mode in found.modes],
            "became": [", ".join(taxonomy.name(one) for one in mode.into) for mode in found.modes],
            "id": [mode.id for mode in found.modes],
        }
    )
    tables.table(
        frame,
        key="taxonomy",
        name="Failure modes of this workspace",
        height=tables.height_of(len(frame)),
        columns={"definition": st.column_config.TextColumn(width="large")},
    )
    tables.download(
        lambda: taxonomy_yaml(taxonomy).encode(),
        label="Taxonomy (YAML)",
        file="failure_modes.yaml",
        key="taxonomy-yaml",
    )
    split = [mode.name for mode in found.modes if mode.status == "split" and mode.runs]
    if split:
        named = ", ".join(text.label(name, 60) for name in split[:3])
        st.warning(f"Split, with runs to assign again: {named}.", icon=":material/call_split:")


def _form(taxonomy: Taxonomy, mode: FailureMode) -> None:
    # Drafts are about one state of a mode, and are left behind with it.
    store, about = state.workspace(), (mode.id, str(len(mode.history)))
    fields = {
        "name": drafts.DraftField(name="mode-name", about=about, default=mode.name),
        "definition": drafts.DraftField(name="mode-definition", about=about, default=mode.definition),
        "examples": drafts.DraftField(name="mode-examples", about=about, default="\n".join(mode.examples)),
        "why": drafts.DraftField(name="mode-why", about=about),
        "parts": drafts.DraftField(name="mode-parts", about=about),
    }
    drafts.text_input("Name", fields["name"], max_chars=limits.MODE_NAME_CHARS)
    drafts.text_area("Definition", fields["definition"], max_chars=limits.MODE_WORDS, height=80)
    drafts.text_area("Examples, one per line", fields["examples"], height=80)
    colour = st.color_picker("Colour", value=mode.colour, key=f"colour-{fields['name'].key}")
    drafts.text_input(
        "Why", fields["why"], max_chars=limits.MODE_WORDS, placeholder="optional, kept in the history"
    )
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.button(
            "Save",
            key="mode-save",
            type="primary",
            on_click=_save,
            args=(store, mode, fields, colour.lower()),
        )
        if mode.active:
            st.button("Retire", key="mode-retire", on_click=_apply, args=(store, retire_mode, mode, fields))
        else:
            st.button(
                "Restore", key="mode-restore", on_click=_apply, args=(store, restore_mode, mode, fields)
            )
    if mode.active:
        _merge_and_split(taxonomy, mode, fields)
    _history(mode)


def _merge_and_split(taxonomy: Taxonomy, mode: FailureMode, fields: dict[str, drafts.DraftField]) -> None:
    store = state.workspace()
    others = {one.id: one.name for one in taxonomy.active if one.id != mode.id}
    left, right = st.columns(2, gap="medium")
    with left:
        into = st.selectbox(
            "Merge into",
            list(others),
            index=None,
            key=f"merge-{fields['name'].key}",
            format_func=lambda one: text.one_line(others[one], limits.MODE_NAME_CHARS),
            filter_mode="contains",
            placeholder="Its runs count as the other one",
        )
        st.button(
            "Merge",
            key="mode-merge",
            disabled=into is None,
            on_click=_change,
            args=(
                store,
                lambda known, by: merge_modes(known, [mode.id], into or "", by=by, why=_why(fields)),
            ),
        )
    with right:
        drafts.text_area("Split into, one name per line", fields["parts"], height=80)
        st.button(
            "Split",
            key="mode-split",
            on_click=_change,
            args=(
                store,
                lambda known, by: split_mode(
                    known, mode.id, _lines(fields["parts"]), by=by, why=_why(fields)
                ),
            ),
        )


def _save(store: Workspace, mode: FailureMode, fields: dict[str, drafts.DraftField], colour: str) -> None:
    _change(
        store,
        lambda known, by: edit_mode(
            known,
            mode.id,
            name=drafts.typed(fields["name"]),
            definition=drafts.typed(fields["definition"]),
            examples=_lines(fields["examples"]),
            colour=colour,
            by=by,
            why=_why(fields),
        ),
    )


def _apply(store: Workspace, edit: Any, mode: FailureMode, fields: dict[str, drafts.DraftField]) -> None:
    _change(store, lambda known, by: edit(known, mode.id, by=by, why=_why(fields)))


def _change(store: Workspace, make: Any) -> None:
    """Change the taxonomy, signed."""
    by = reviewer.author() or ""
    edit: TaxonomyEdit = lambda known: make(known, by)  # noqa: E731
    mode_writing.change(store, edit)


def _why(fields: dict[str, drafts.DraftField]) -> str:
    return drafts.typed(fields["why"])


def _lines(field: drafts.DraftField) -> list[str]:
    return [line.strip() for line in drafts.typed(field).splitlines() if line.strip()]


def _history(mode: FailureMode) -> None:
    with st.expander(f"History ({len(mode.history)})"):
        for change in reversed(mode.history[-MOST_CHANGES:]):
            why = f" · {text.one_line(change.why, 200)}" if change.why else ""
            named = "" if change.before is None else f" (was: {text.one_line(change.before.name, 80)})"
            st.text(
                f"version {change.version} · {change.at} · {text.one_line(change.author, 60)} · "
                f"{text.one_line(change.what, 120)}{named}{why}"
            )
