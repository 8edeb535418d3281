"""Run every notebook and store what it prints and draws, figures as pictures: ``make notebooks``.

A code host shows stored outputs but runs no scripts, so each plotly figure is stored as a PNG. In Jupyter,
run the notebook to get the interactive figures.
"""

from __future__ import annotations

import base64
import io
import os
import sys
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from nbclient import NotebookClient
from PIL import Image
from playwright.sync_api import Page, sync_playwright
from plotly.offline import get_plotlyjs

from scripts.get_browser import find
from scripts.screenshots import FLAGS

ROOT = Path(__file__).parents[1]
FIGURE = "application/vnd.plotly.v1+json"
WIDTH = 960
COLOURS = 128
"""Of a stored picture: enough for flat colours and smooth letters, at a third of the size."""


def main(names: list[str]) -> None:
    """Run the notebooks whose names start with one of `names`, or all of them."""
    with sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=find(), args=FLAGS).new_page(
            device_scale_factor=1.5
        )
        page.set_content("<div id=figure></div>")
        page.add_script_tag(content=get_plotlyjs())
        for source in sorted((ROOT / "notebooks").glob("*.py")):
            if not names or source.stem.startswith(tuple(names)):
                nbformat.write(_run(source, page), source.with_suffix(".ipynb"))
                print(source.stem)


def _run(source: Path, page: Page) -> nbformat.NotebookNode:
    notebook = jupytext.read(source)
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    folder = {"path": str(source.parent)}
    client = NotebookClient(notebook, timeout=600, coalesce_streams=True, resources={"metadata": folder})
    client.execute(env=os.environ | {"PYTHONPATH": path})
    notebook.metadata.pop("language_info", None)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", ()):
            if FIGURE in output.get("data", {}):
                output.data = {"image/png": _picture(output.data[FIGURE], page), "text/plain": "Figure"}
                output.metadata = {}
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
    return notebook


def _picture(figure: dict[str, Any], page: Page) -> str:
    width = figure["layout"].get("width", WIDTH)
    height = figure["layout"].get("height", 450)
    figure = {key: figure[key] for key in ("data", "layout")}
    address = page.evaluate(
        "([figure, size]) => Plotly.toImage(figure, {format: 'png', ...size})",
        [figure, {"width": width, "height": height, "scale": 1.5}],
    )
    picture = Image.open(io.BytesIO(base64.b64decode(address.split(",", 1)[1])))
    small = io.BytesIO()
    picture.convert("RGB").quantize(COLOURS).save(small, "png", optimize=True)
    return base64.b64encode(small.getvalue()).decode()


if __name__ == "__main__":
    main(sys.argv[1:])
