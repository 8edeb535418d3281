"""The commands that edit a plan graph: one language for the canvas, the table and the forms (§4).

As JSON a command is an object whose key ``edit`` says which one it is; `read_edit` takes what a browser
sends.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, get_args

import msgspec
from msgspec import Struct

from untaken.errors import UntakenError
from untaken.plans.plan_graph import Id, SubGoal
from untaken.plans.strict_document import decode, read_json

Field = Literal[
    "title",
    "description",
    "deps",
    "critical",
    "weight",
    "kind",
    "any_of",
    "check",
    "when",
    "when_at",
    "needs_action",
    "times",
    "evidence",
    "rules",
    "metadata",
]
"""What `Set` can set of a sub-goal."""
GraphField = Literal["title", "tasks", "mutates", "hand_over", "metadata"]
"""What `SetGraph` can set of the graph itself."""
FIELDS: Final[tuple[Field, ...]] = get_args(Field)
GRAPH_FIELDS: Final[tuple[GraphField, ...]] = get_args(GraphField)


class _Command(Struct, frozen=True, forbid_unknown_fields=True, tag_field="edit", tag=str.lower):
    """What all commands share: the key ``edit`` holds the command's name in lower case."""


class Add(_Command, frozen=True, kw_only=True):
    """Adds a sub-goal, as the last one or before the one at the place `at` (0 is the first)."""

    sub_goal: SubGoal
    at: int | None = None


class Rename(_Command, frozen=True, kw_only=True):
    """Gives a sub-goal another id; dependencies and options follow, tags and verdicts in ledgers do not."""

    sub_goal: Id
    id: Id


class Delete(_Command, frozen=True, kw_only=True):
    """Takes a sub-goal away, with every dependency on it and wherever it is an option."""

    sub_goal: Id


class Connect(_Command, frozen=True, kw_only=True):
    """Makes `sub_goal` depend on `dependency`."""

    dependency: Id
    sub_goal: Id


class Disconnect(_Command, frozen=True, kw_only=True):
    """Removes the dependency of `sub_goal` on `dependency`."""

    dependency: Id
    sub_goal: Id


class Move(_Command, frozen=True, kw_only=True):
    """Puts a sub-goal at another place: of two rules that claim one action the first is used."""

    sub_goal: Id
    at: int


class Set(_Command, frozen=True, kw_only=True):
    """Another value for one field of a sub-goal, in its file form; ``None`` removes it."""

    sub_goal: Id
    field: Field
    value: Any


class SetGraph(_Command, frozen=True, kw_only=True, tag="graph"):
    """Another value for one field of the graph itself; ``None`` takes it away."""

    field: GraphField
    value: Any


Edit = Add | Rename | Delete | Connect | Disconnect | Move | Set | SetGraph


def read_edit(data: str | bytes | Mapping[str, Any]) -> Edit:
    """The command in a JSON text, or in what was parsed from one; strictly, for it comes from a browser.

    Raises:
        UntakenError: ``edit-invalid``, ``plan-json``, ``plan-too-large``, ``plan-not-utf8``.
    """
    text = data if isinstance(data, str | bytes) else msgspec.json.encode(data)
    value = read_json(decode(text, "edit"), "edit").value
    try:
        edit: Edit = msgspec.convert(value, Edit)
    except msgspec.ValidationError as error:
        hint = "See docs/interface.md for the commands."
        message = f"not a command that edits a plan graph: {error}"
        raise UntakenError("edit-invalid", message, hint=hint) from None
    return edit


def in_words(edit: Edit) -> str:
    """What the command does, for the list of what can be undone."""
    match edit:
        case Add():
            return f"add {edit.sub_goal.id!r}"
        case Rename():
            return f"rename {edit.sub_goal!r} to {edit.id!r}"
        case Delete():
            return f"delete {edit.sub_goal!r}"
        case Connect():
            return f"{edit.sub_goal!r} needs {edit.dependency!r}"
        case Disconnect():
            return f"{edit.sub_goal!r} no longer needs {edit.dependency!r}"
        case Move():
            return f"move {edit.sub_goal!r}"
        case SetGraph():
            return f"{edit.field} of the graph"
        case Set(field="needs_action"):
            return f"{edit.sub_goal!r} {'needs an action' if edit.value is not False else 'needs no action'}"
        case Set(field="critical"):
            return f"{edit.sub_goal!r} is {'critical' if edit.value else 'no longer critical'}"
    return f"{edit.field.replace('_', ' ')} of {edit.sub_goal!r}"
