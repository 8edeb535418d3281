"""A drawing as vis-network data, built with pyvis; the drawing itself is done by `canvas.js`.

pyvis' own template is not used: it runs markup found in titles and loads scripts from elsewhere.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

from pyvis.network import Network

from untaken.views import BORDER, CRITICAL_BORDER, LINE_HEIGHT, NIGHT, STAR, STATUS, Drawing

from ..shared.palette import DARK, FONT, LIGHT, Tokens

FONT_SIZE: Final = 15
PADDING: Final = 5


@cache
def canvas_source() -> str:
    """Our drawing code, shared by the app's component and the exported page."""
    return (Path(__file__).parent / "canvas.js").read_text("utf-8")


@cache
def canvas_style() -> str:
    """Its style sheet."""
    return (Path(__file__).parent / "canvas.css").read_text("utf-8")


def payload(drawing: Drawing, *, selected: str | None = None) -> dict[str, Any]:
    """What `canvas.js` needs, as plain JSON types."""
    network = _network(drawing)
    place = {goal: number for number, box in enumerate(drawing.boxes) for goal in box.sub_goals}
    return {
        "key": drawing.digest,
        "said": drawing.description,
        "nodes": network.nodes,
        "edges": [{"id": number, **edge} for number, edge in enumerate(network.edges)],
        "options": network.options,
        "leading": LINE_HEIGHT - FONT_SIZE,
        "boxes": [
            {
                "id": box.sub_goals[0],  # of a folded branch the first
                "said": box.description,
                "status": box.status,
                "collapsed": box.collapsed,
            }
            for box in drawing.boxes
        ],
        "layouts": [
            {"direction": lay.direction, "width": lay.width, "height": lay.height, "centres": lay.centres}
            for lay in drawing.layouts
        ],
        "selected": place.get(selected) if selected is not None else None,
        "legend": _legend(drawing),
        "themes": {"light": _theme(LIGHT, {}), "dark": _theme(DARK, NIGHT)},
    }


def _network(drawing: Drawing) -> Network:
    network = Network(directed=True)
    for number, box in enumerate(drawing.boxes):
        width, height = box.size
        network.add_node(
            number,  # a position: no name from a graph is an identifier
            label="\n".join(box.lines),  # painted on the canvas, as text
            shape="box",
            group=box.status,
            borderWidth=CRITICAL_BORDER if box.critical else BORDER,
            widthConstraint={"minimum": width - 2 * PADDING},
            heightConstraint={"minimum": height - 2 * PADDING},
        )
    for start, end, kind in drawing.lines:
        network.add_edge(start, end, kind=kind)
    network.set_options(json.dumps(_options()))
    return network


def _options() -> dict[str, Any]:
    return {
        # Graphviz has placed everything: nothing is to move.
        "physics": {"enabled": False},
        "layout": {"improvedLayout": False},
        "interaction": {
            "dragNodes": False,
            "zoomView": False,
            "hover": True,
            "selectConnectedEdges": False,
            "hoverConnectedEdges": False,
        },
        "nodes": {
            "chosen": False,
            "labelHighlightBold": False,
            "margin": PADDING,
            "shapeProperties": {"borderRadius": 8},
            "font": {"size": FONT_SIZE, "face": FONT},
        },
        "edges": {
            "chosen": False,
            "selectionWidth": 0,
            "hoverWidth": 0,
            "width": 1.5,
            "arrows": {"to": {"enabled": True, "scaleFactor": 0.6}},
        },
        "groups": {
            name: {
                "color": {"background": style.fill, "border": style.line},
                "font": {"color": style.ink, "size": FONT_SIZE, "face": FONT},
                "shapeProperties": {"borderRadius": 8, "borderDashes": list(style.dash) or False},
            }
            for name, style in STATUS.items()
        },
    }


def _legend(drawing: Drawing) -> list[dict[str, Any]]:
    present = [name for name in STATUS if any(box.status == name for box in drawing.boxes)]
    legend: list[dict[str, Any]] = [
        {
            "icon": STATUS[name].icon,
            "word": STATUS[name].word,
            "fill": STATUS[name].fill,
            "line": STATUS[name].line,
            # As style sheets call them.
            "dash": {"solid": "solid", "dash": "dashed", "dot": "dotted"}[STATUS[name].line_name],
        }
        for name in present
    ]
    if any(box.critical for box in drawing.boxes):
        legend.append(
            {"icon": STAR, "word": "critical", "fill": "transparent", "line": "currentColor", "thick": True}
        )
    if any(kind == "violated" for _, _, kind in drawing.lines):
        legend.append({"icon": "╌▸", "word": "went on without a critical step", "bad": True})
    if any(kind == "option" for _, _, kind in drawing.lines):
        legend.append({"icon": "┈▸", "word": "any one is enough"})
    return legend


def _theme(look: Tokens, shades: dict[str, str]) -> dict[str, Any]:
    return {"line": look.line, "bad": look.bad, "ring": look.text, "focus": look.good, "shades": shades}
