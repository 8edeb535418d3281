"""The coloured plan graph as one page of HTML that needs nothing else: for notebooks, for sending."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from untaken.plans import PlanGraph
from untaken.scoring import RunScore
from untaken.views import draw

from ..shared import text
from .bundle import vis_source

HERE = Path(__file__).parent
STARTER = """
const data = JSON.parse(document.getElementById("plan-data").textContent);
makePlanCanvas(window.vis, document.querySelector(".plan"), {}).update(data);
"""


@cache
def markup() -> str:
    """The elements that `canvas.js` fills."""
    return (HERE / "canvas.html").read_text("utf-8")


def plan_html(graph: PlanGraph, score: RunScore | None = None, *, title: str = "") -> str:
    """One self-contained page with the coloured graph; hostile names stay names.

    The page allows no connection and runs exactly the scripts it was written with (by their digests).
    Content from the graph and the run is in a data block and is drawn as text.
    """
    from .network import canvas_source, canvas_style, payload  # noqa: PLC0415 (slow)

    drawing = draw(graph, score)
    scripts = [vis_source(), canvas_source() + STARTER]
    environment = Environment(loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined)
    return environment.get_template("page.html").render(
        title=text.one_line(title or graph.title or graph.id, 200),
        description=drawing.description,
        boxes=[box.description for box in drawing.boxes],
        digests=[script_digest(script) for script in scripts],
        scripts=[Markup(script) for script in scripts],  # noqa: S704 (our own and vis' source, nothing from outside)
        style=Markup(canvas_style()),  # noqa: S704
        markup=Markup(markup()),  # noqa: S704
        data=Markup(inert(payload(drawing))),  # noqa: S704 (escaped for a data block just there)
    )


def script_digest(script: str) -> str:
    """The digest by which a content security policy allows an inline script."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def inert(data: dict[str, Any]) -> str:
    """JSON that cannot close its script element."""
    written = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return written.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
