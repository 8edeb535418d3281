"""A figure as one page of HTML that needs nothing else: for sending, and for a browser without a network.

The page carries the plotly.js of the installed Python package, compressed: the page unpacks it.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import plotly.graph_objects as go
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from ..plan.markup import inert, script_digest
from ..shared import text

HERE: Final = Path(__file__).parent
TITLE_ROOM: Final = 44
"""Pixels."""
STARTER: Final = """
(async () => {
  const read = (id) => document.getElementById(id).textContent;
  const packed = await unpack(read("plotly").trim());
  const script = document.createElement("script");
  script.textContent = packed;
  document.head.append(script);
  const { data, layout, config } = JSON.parse(read("data"));
  await Plotly.newPlot("figure", data, layout, config);
})();
async function unpack(base64) {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(unpacked).text();
}
"""


@cache
def bundle() -> tuple[str, str]:
    """The installed plotly.js, packed, and the digest of what it unpacks to."""
    script = get_plotlyjs()
    packed = gzip.compress(script.encode(), 9, mtime=0)
    return base64.b64encode(packed).decode(), script_digest(script)


def figure_page(figure: go.Figure, title: str, *, config: Mapping[str, Any] | None = None) -> str:
    """One self-contained page with a figure; the page allows no connection.

    Args:
        figure: of this package.
        title: of the page, and written above the figure, so that a picture saved from it has it, too.
        config: of plotly's toolbar.
    """
    packed, unpacked_digest = bundle()
    shown = json.loads(_titled(figure, title).to_json())
    shown["config"] = {"displaylogo": False, "responsive": True, **(config or {})}
    environment = Environment(loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined)
    return environment.get_template("page.html").render(
        title=text.one_line(title, 200),
        background=figure.layout.paper_bgcolor or "#ffffff",
        least=int((figure.layout.meta or {}).get("least_width") or 0),
        digests=[script_digest(STARTER), unpacked_digest],
        data=Markup(inert(shown)),  # noqa: S704 (escaped for a data block just there)
        bundle=Markup(packed),  # noqa: S704 (base64)
        starter=Markup(STARTER),  # noqa: S704 (ours)
    )


def _titled(figure: go.Figure, title: str) -> go.Figure:
    """A copy with its title above it."""
    shown = go.Figure(figure)
    words = {"text": text.figure(title, 120), "font": {"size": 17}}
    place = {
        "x": 0,
        "xanchor": "left",
        "yref": "container",
        "y": 1,
        "yanchor": "top",
        "pad": {"t": 14, "l": 8},
    }
    shown.layout.title = words | place
    shown.layout.margin.t = (shown.layout.margin.t or 0) + TITLE_ROOM
    shown.layout.height = (shown.layout.height or 400) + TITLE_ROOM
    return shown
