"""The whole graph as a table that can be edited by keyboard alone; every change becomes commands."""

from __future__ import annotations

from typing import Any, Final, cast

import pandas as pd
import streamlit as st
from msgspec import Struct
from msgspec.structs import replace

from components.annotate import session
from components.shared.panels import panel
from untaken.errors import UntakenError
from untaken.plans import Delete, PlanGraph, Rename, SubGoalRow, edits_of_rows, rows_of

SHEET: Final = "annotate_sheet"
COLUMNS: Final = tuple(name for name in SubGoalRow.__struct_fields__ if name != "was")
LISTS: Final = ("deps", "any_of")


class TableEdit(Struct, frozen=True, kw_only=True):
    """What the table was drawn from, and the graph that its edits made of it."""

    begun: PlanGraph
    rows: tuple[SubGoalRow, ...]
    made: PlanGraph
    number: int

    @property
    def key(self) -> str:
        """The widget's key."""
        return f"annotate_rows_{self.number}"


@panel
def table(graph: PlanGraph) -> None:
    """Draw the table."""
    sheet = _sheet(graph)
    st.caption(
        "Press Enter or any key to edit a cell, and the arrow keys or Tab to move. The last row adds a "
        "sub-goal. Select rows at the left and press Delete to remove them. Rules and checks are JSON, as "
        "in a file."
    )
    ids = [node.id for node in graph.sub_goals]
    names = list(dict.fromkeys([*ids, *(row.id for row in sheet.rows)]))
    columns = st.column_config
    others = {"options": names, "accept_new_options": True}
    st.data_editor(
        _frame(sheet.rows),
        key=sheet.key,
        num_rows="dynamic",
        hide_index=True,
        on_change=_take,
        column_config={
            "id": columns.TextColumn("id", required=True, max_chars=512),
            "title": columns.TextColumn("title", width="medium"),
            "critical": columns.CheckboxColumn("critical ★", default=False),
            "deps": columns.MultiselectColumn("needs", **others),
            "any_of": columns.MultiselectColumn("any one of", **others),
            "check": columns.TextColumn("check (JSON)", width="medium"),
            "rules": columns.TextColumn("rules (JSON)", width="medium"),
            "kind": columns.SelectboxColumn("kind", options=["subgoal", "action"], default="subgoal"),
        },
    )


def _sheet(graph: PlanGraph) -> TableEdit:
    known = cast("TableEdit | None", st.session_state.get(SHEET))
    # Made by the table itself, which keeps the rows it began with: it must not move while somebody types.
    if known is not None and known.made == graph:
        return known
    number = known.number + 1 if known is not None else 0
    sheet = TableEdit(begun=graph, rows=tuple(rows_of(graph)), made=graph, number=number)
    st.session_state[SHEET] = sheet
    return sheet


def _frame(rows: tuple[SubGoalRow, ...]) -> pd.DataFrame:
    records = [
        {name: list(getattr(row, name)) if name in LISTS else getattr(row, name) for name in COLUMNS}
        for row in rows
    ]
    return pd.DataFrame(records, columns=list(COLUMNS))


def _take() -> None:
    """What was typed since the table was drawn, as commands."""
    sheet = cast("TableEdit", st.session_state[SHEET])
    here = session.current()
    if here is None:
        return
    try:
        edits = edits_of_rows(sheet.begun, _typed(sheet, st.session_state[sheet.key]), now=here.graph)
    except UntakenError as error:
        session.refuse(error)
        return
    # Where an id changed or went, the table is drawn again: other rows name it.
    same_ids = not any(isinstance(edit, Rename | Delete) for edit in edits)
    if session.edit(edits) and same_ids:
        now = session.current()
        st.session_state[SHEET] = replace(sheet, made=now.graph if now else sheet.made)


def _typed(sheet: TableEdit, changes: dict[str, Any]) -> list[SubGoalRow]:
    """The rows as edited in the table."""
    gone = set(changes["deleted_rows"])
    rows = [
        _written(row, changes["edited_rows"].get(place, {}))
        for place, row in enumerate(sheet.rows)
        if place not in gone
    ]
    return [*rows, *(_written(SubGoalRow(was=None, id=""), added) for added in changes["added_rows"])]


def _written(row: SubGoalRow, cells: dict[str, Any]) -> SubGoalRow:
    values = {name: value for name, value in cells.items() if name in COLUMNS}
    for name, value in values.items():
        if name in LISTS:
            values[name] = tuple(str(one) for one in value or ())  # an emptied list comes as nothing
        elif name == "critical":
            values[name] = bool(value)
        else:
            values[name] = "" if value is None else str(value)
    return replace(row, **values)
