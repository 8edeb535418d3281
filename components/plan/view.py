"""The coloured plan graph in the app: click or arrow keys and Enter select a sub-goal.

Two components: one makes the browser load the vis-network bundle, the other draws and stays small.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import streamlit as st

from components.plan.bundle import SERVED, address, bundle
from components.plan.markup import markup, plan_html
from components.plan.network import canvas_source, canvas_style, payload
from untaken.plans import PlanGraph
from untaken.views import Drawing

__all__ = ["plan_html", "plan_view"]

FETCHER: Final = """
export default function () {
  import(new URL("%s", document.baseURI)).then((vis) => vis.default());
}
"""
DRAWER: Final = """
%s
const entries = new WeakMap();
const loaded = () => new Promise((go) =>
  window.untakenVis ? go(window.untakenVis)
    : window.addEventListener("untaken-vis", () => go(window.untakenVis), { once: true }));

export default function ({ data, parentElement, setTriggerValue }) {
  const entry = entries.get(parentElement) || {};
  entries.set(parentElement, entry);
  const asked = !entry.data;
  entry.data = data;
  entry.send = setTriggerValue;
  if (entry.canvas) entry.canvas.update(data);
  else if (asked) loaded().then((vis) => {
    if (entries.get(parentElement) !== entry) return;
    const root = parentElement.querySelector(".plan");
%s
    entry.canvas.update(entry.data);
  });
  return () => {
    // Also called where a newer call has taken the place of this one: then the canvas is still in use.
    if (parentElement.isConnected) return;
    entry.canvas?.destroy();
    entries.delete(parentElement);
  };
}
"""

_START: Final = """
    entry.canvas = makePlanCanvas(vis, root, {
      select: (id) => entry.send("selected", id),
      expand: (id) => entry.send("expanded", id),
    });
"""


def drawer(source: str, start: str) -> str:
    """The script of a component that draws once the bundle is there, and keeps its canvas over reruns.

    Args:
        source: what draws.
        start: makes `entry.canvas` with `update` and `destroy`, from `vis` and `root`; `entry.send` triggers
            an event.
    """
    return DRAWER % (source, start)


SOURCE: Final = drawer(canvas_source(), _START)

_load = st.components.v2.component("untaken_vis", js=bundle())
_fetch = st.components.v2.component("untaken_vis_address", js=FETCHER % address())
_draw = st.components.v2.component("untaken_plan", html=markup(), css=canvas_style(), js=SOURCE)


def load_vis(key: str) -> None:
    """Makes the browser load the vis-network bundle, by its address where this server answers that."""
    (_fetch if SERVED.is_set() else _load)(key=key)


def plan_view(
    graph: PlanGraph,
    drawing: Drawing,
    *,
    key: str,
    selected: str | None,
    on_select: Callable[[str], None],
    on_expand: Callable[[str], None],
    tallest: int,
) -> None:
    """Show the drawing of a plan graph, coloured by what a run made of it.

    Args:
        graph: the plan graph.
        drawing: of it.
        key: unique on the page; viewport and focus survive reruns under the same key.
        selected: id of the selected sub-goal.
        on_select: called with the id of a sub-goal when it is clicked or Enter is pressed on it.
        on_expand: called with the id of a sub-goal of a collapsed branch that is to be opened.
        tallest: pixels that the frame is at most high; a larger drawing is moved in it.
    """

    def answer(event: str, act: Callable[[str], None]) -> Callable[[], None]:
        def read() -> None:
            value = getattr(st.session_state.get(key), event, None)
            # Whatever a browser sends.
            if any(goal.id == value for goal in graph.sub_goals):
                act(str(value))

        return read

    load_vis(f"{key}-vis")
    _draw(
        key=key,
        data=payload(drawing, selected=selected) | {"tallest": tallest},
        on_selected_change=answer("selected", on_select),
        on_expanded_change=answer("expanded", on_expand),
    )
