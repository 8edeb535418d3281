"""What was typed into a field and refused: it stays there with the reason, and blocks saving."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import streamlit as st
from msgspec import Struct
from msgspec.structs import replace

from components.annotate import session
from components.shared import text
from components.shared.panels import panel
from untaken.errors import UntakenError
from untaken.plans import Edit, PlanGraph

WAITING: Final = "annotate_typed"


class Waiting(Struct, frozen=True, kw_only=True):
    """What a field of a sub-goal of a graph holds that the graph does not."""

    graph: str
    sub_goal: str
    value: Any  # as typed
    why: str = ""  # it was refused; empty where more has to be typed first


def _waiting() -> dict[str, Waiting]:
    found: dict[str, Waiting] = st.session_state.setdefault(WAITING, {})
    return found


def value(key: str, saved: Any) -> Any:
    """What the field shows: what waits there, or else what the graph says."""
    found = _waiting().get(key)
    return saved if found is None else found.value


def hold(key: str, entry: Waiting) -> None:
    """Keep what the field holds."""
    _waiting()[key] = entry


def release(key: str) -> None:
    """The field shows what the graph says again."""
    _waiting().pop(key, None)


def renamed(graph: str, before: str, after: str, new_key: Callable[[str], str]) -> None:
    """A sub-goal has another id, and its fields other keys."""
    for key, entry in list(_waiting().items()):
        if (entry.graph, entry.sub_goal) == (graph, before):
            _waiting().pop(key)
            hold(new_key(key), replace(entry, sub_goal=after))


def refused(graph: PlanGraph) -> list[str]:
    """The sub-goals of this graph with a field whose words were refused."""
    known = {node.id for node in graph.sub_goals}
    there = (one.sub_goal for one in _waiting().values() if one.why and one.graph == graph.id)
    return list(dict.fromkeys(name for name in there if name in known))


def apply(key: str, entry: Waiting, make: Callable[[], Edit]) -> bool:
    """Apply the command of a field, and whether it was done; else keep its words and the reason."""
    # The field has its words back only if they are refused again.
    release(key)
    try:
        edit = make()
    except UntakenError as error:
        why = session.words(error)
    else:
        if session.edit(edit):
            return True
        why = session.take_refusal()
    hold(key, replace(entry, why=why))
    return False


@panel
def show(key: str) -> None:
    """Say below a field why its words were refused."""
    found = _waiting().get(key)
    if found is None or not found.why:
        return
    st.error(f"Refused: {text.label(found.why, 600)}")
    st.button("Discard", key=f"discard_{key}", type="tertiary", on_click=release, args=(key,))
