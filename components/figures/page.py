"""Figures as pages of HTML that need no network: one that carries plotly.js, or many beside one copy of it.

It is the plotly.js of the installed Python package. A page that carries it holds it compressed.
"""

from __future__ import annotations

import base64
import gzip
import io
import json
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import plotly.graph_objects as go
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from ..plan.markup import inert, script_digest
from ..shared import text
from .theme import titled

HERE: Final = Path(__file__).parent
DRAW: Final = """
async function draw() {
  const { data, layout, config } = JSON.parse(document.getElementById("data").textContent);
  await Plotly.newPlot("figure", data, layout, config);
}
"""
STARTER: Final = (
    DRAW
    + """
(async () => {
  const packed = document.getElementById("plotly").textContent.trim();
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const script = document.createElement("script");
  script.textContent = await new Response(unpacked).text();
  document.head.append(script);
  await draw();
})();
"""
)
BESIDE: Final = DRAW + "draw();"
PLOTLY: Final = "plotly.min.js"
# The first date that an archive can hold: the same figures give the same bytes.
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)


@cache
def bundle() -> tuple[str, str]:
    """The installed plotly.js, packed, and the digest of what it unpacks to."""
    script = get_plotlyjs()
    packed = gzip.compress(script.encode(), 9, mtime=0)  # without a time: the same script gives the same page
    return base64.b64encode(packed).decode(), script_digest(script)


def figure_page(
    figure: go.Figure, title: str, *, config: Mapping[str, Any] | None = None, beside: bool = False
) -> str:
    """One page with a figure; the page allows no connection.

    Args:
        figure: of this package.
        title: of the page, and written above the figure, so that a picture saved from it has it, too.
        config: of plotly's toolbar.
        beside: load plotly.js from the file `PLOTLY` beside the page, instead of carrying it.
    """
    packed, unpacked_digest = ("", "") if beside else bundle()
    starter = BESIDE if beside else STARTER
    # Of a copy: the figure that the page shows gets no title.
    shown = json.loads(titled(go.Figure(figure), title).to_json())
    shown["config"] = {"displaylogo": False, "responsive": True, **(config or {})}
    environment = Environment(loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined)
    return environment.get_template("page.html").render(
        title=text.one_line(title, 200),
        background=figure.layout.paper_bgcolor or "#ffffff",
        least=int((figure.layout.meta or {}).get("least_width") or 0),
        digests=[script_digest(starter), *([] if beside else [unpacked_digest])],
        beside=PLOTLY if beside else None,
        data=Markup(inert(shown)),  # noqa: S704 (escaped for a data block just there)
        bundle=Markup(packed),  # noqa: S704 (base64)
        starter=Markup(starter),  # noqa: S704 (ours)
    )


def figures_zip(
    figures: Iterable[tuple[str, go.Figure]], *, config: Mapping[str, Any] | None = None
) -> bytes:
    """An archive with a small page for each figure, beside one copy of plotly.js that all of them load."""
    kept = io.BytesIO()
    names: Counter[str] = Counter()
    with zipfile.ZipFile(kept, "w", zipfile.ZIP_DEFLATED) as archive:

        def add(name: str, content: str) -> None:
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), content, zipfile.ZIP_DEFLATED)

        add(PLOTLY, get_plotlyjs())
        for title, figure in figures:
            stem = text.file_name(title)
            names[stem] += 1
            number = f"-{names[stem]}" if names[stem] > 1 else ""
            add(f"{stem}{number}.html", figure_page(figure, title, config=config, beside=True))
    return kept.getvalue()
