"""The plan graph as a drawing that can be edited: every gesture is a command, and the server applies it.

The drawing is that of `canvas.js`; `editor.js` adds the gestures. What comes back from a browser is
checked like any other input: it is read by `read_edit` and applied by the engine, or refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

import streamlit as st

from components.plan.markup import markup
from components.plan.network import canvas_source, canvas_style, payload
from components.plan.view import drawer, load_vis
from components.shared import text
from untaken.errors import UntakenError
from untaken.numbers import counted
from untaken.plans import Edit, PlanGraph, SubGoal, read_edit
from untaken.views import BORDER, CRITICAL_BORDER, INK, Drawing, draw

StepBack = Literal["undo", "redo"]
Command = Edit | StepBack
STEPS: Final[dict[Any, StepBack]] = {"undo": "undo", "redo": "redo"}
MOST_AT_ONCE: Final = 200
"""Commands taken from one message of a browser."""
ALL: Final = 10**9
HERE: Final = Path(__file__).parent
_START: Final = """
    entry.canvas = makePlanEditor(vis, root, {
      select: (id) => entry.send("selected", id),
      edits: (waiting) => entry.send("edits", JSON.stringify(waiting)),
    });
"""


@cache
def _source() -> str:
    return canvas_source() + (HERE / "editor.js").read_text("utf-8")


@cache
def _markup() -> str:
    tools = (HERE / "editor.html").read_text("utf-8")
    return markup().replace('<div class="plan">', f'<div class="plan">{tools}', 1)


_edit = st.components.v2.component(
    "untaken_plan_editor",
    html=_markup(),
    css=canvas_style() + (HERE / "editor.css").read_text("utf-8"),
    js=drawer(_source(), _START),
)


def plan_editor(
    graph: PlanGraph,
    *,
    key: str,
    on_command: Callable[[Command], None],
    on_refused: Callable[[UntakenError], None],
    selected: str | None = None,
    on_select: Callable[[str], None] | None = None,
    can_undo: bool = False,
    can_redo: bool = False,
    refused: str = "",
) -> None:
    """Draw a plan graph that can be edited by mouse, by touch, or by keyboard alone.

    Args:
        graph: the current graph.
        key: unique on the page; viewport and focus survive reruns under the same key.
        on_command: called with each command, in the order of the gestures, once.
        on_refused: called where a browser sent what is no command.
        selected: id of the selected sub-goal.
        on_select: called with the id of a sub-goal when it is chosen.
        can_undo: whether there is anything to undo.
        can_redo: whether there is anything to do again.
        refused: why the last command was refused; read out and shown below the drawing.
    """
    counter = f"{key}-taken"
    st.session_state.setdefault(counter, 0)

    def take_edits() -> None:
        try:
            for number, command in _commands(getattr(st.session_state.get(key), "edits", None)):
                # A browser sends what waits until it hears that it was taken.
                if number > st.session_state[counter]:
                    st.session_state[counter] = number
                    on_command(command)
        except UntakenError as error:
            on_refused(error)

    def take_selection() -> None:
        value = getattr(st.session_state.get(key), "selected", None)
        # Whatever a browser sends.
        if on_select is not None and any(goal.id == value for goal in graph.sub_goals):
            on_select(str(value))

    load_vis(f"{key}-vis")
    _edit(
        key=key,
        data=editor_payload(graph, selected=selected)
        | {"taken": st.session_state[counter], "undo": can_undo, "redo": can_redo, "refused": refused},
        on_edits_change=take_edits,
        on_selected_change=take_selection,
    )


def _commands(sent: object) -> list[tuple[int, Command]]:
    """The numbered commands of a message, as far as they can be read."""
    try:
        items = json.loads(str(sent or "[]"))
        numbered = [(int(item["number"]), item["edit"]) for item in items[:MOST_AT_ONCE]]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise UntakenError(
            "edit-invalid", "the plan editor sent an invalid list of commands", hint="Reload the page."
        ) from None
    return [(number, _command(edit)) for number, edit in numbered]


def _command(edit: Any) -> Command:
    asked = edit.get("edit") if isinstance(edit, Mapping) else None
    if asked in STEPS:
        return STEPS[asked]
    return read_edit(edit if isinstance(edit, Mapping) else {})


def editor_payload(graph: PlanGraph, *, selected: str | None = None) -> dict[str, Any]:
    """What the editor draws: every sub-goal and every line, and of each what its gestures need."""
    drawing = draw(graph, readable=ALL, every_line=True, icons=False)
    page = payload(drawing, selected=selected)
    goals = {goal.id: goal for goal in graph.sub_goals}
    shown = [goals[box.sub_goals[0]] for box in drawing.boxes]
    for node, goal in zip(page["nodes"], shown, strict=True):
        node["group"] = "plan"
        node["borderWidth"] = CRITICAL_BORDER if goal.critical else BORDER
    # What a reader's drawing shows; the others, implied by these, are bent around the boxes.
    straight = set(draw(graph, readable=ALL).lines)
    for edge, line in zip(page["edges"], drawing.lines, strict=True):
        edge["bent"] = line not in straight  # it would run behind the boxes on the longer way
    page["options"]["groups"]["plan"] = {
        "color": {"background": "#F3F7FB", "border": "#4A5968"},
        "font": page["options"]["groups"]["completed"]["font"] | {"color": INK},
        "shapeProperties": {"borderRadius": 8, "borderDashes": False},
    }
    page["boxes"] = [_box(goal) for goal in shown]
    page["legend"] = [entry for entry in page["legend"] if entry["word"] != "unscored"]
    page["ids"] = list(goals)
    page["graph"] = graph.id
    page["said"] = _description(drawing, graph)
    return page


def _box(goal: SubGoal) -> dict[str, Any]:
    name = text.one_line(goal.title or goal.id)
    needs = f", needs {len(goal.deps)}" if goal.deps else ""
    options = f", any one of {len(goal.any_of)} is enough" if goal.any_of else ""
    return {
        "id": goal.id,
        "title": name,
        "said": f"{name}{', critical' if goal.critical else ''}{needs}{options}",
        "status": "plan",
        "collapsed": False,
        "critical": goal.critical,
        "deps": list(goal.deps),
        "any_of": list(goal.any_of),
    }


def _description(drawing: Drawing, graph: PlanGraph) -> str:
    critical = sum(goal.critical for goal in graph.sub_goals)
    goals, lines = counted(len(graph.sub_goals), "sub-goal"), counted(len(drawing.lines), "line")
    counts = f"{goals}, {critical} critical, {lines}"
    return (
        f"Plan graph to edit: {counts}. "
        "A adds, R renames, C connects, O makes an option, X critical, Delete deletes, Control Z undoes"
    )
