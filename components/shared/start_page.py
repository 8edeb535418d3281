"""Streamlit's start page, with a progress bar, the address of its server, and first parts loaded ahead."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Final

import streamlit as st

HERE: Final = Path(__file__).parent
# Else a browser asks `/run/_stcore/health` first, and waits a tenth of a second after the refusal.
WHERE: Final = """<script>
window.__streamlit = { BACKEND_BASE_URL: new URL("./", document.baseURI).href };
</script>
"""
NEEDED: Final = ("Metric", "StreamlitMarkdown")
"""Parts of Streamlit's front end that show the first numbers. Each is a script, loaded when a page first has
one; those of tables and figures are long, and would keep the browser from showing these numbers."""

LOAD_AHEAD: Final = """<script>
addEventListener("load", () => {
  for (const script of %s) import(new URL(script, document.baseURI).href);
});
</script>
"""


@lru_cache(maxsize=1)
def start_page() -> str:
    """The HTML that every page of the app begins with; `./` is where its scripts are loaded from, too."""
    static = Path(st.__file__).parent / "static"
    page = (static / "index.html").read_text("utf-8")
    scripts = [path for name in NEEDED for path in static.glob(f"static/js/{name}.*.js")]
    ahead = LOAD_AHEAD % json.dumps([f"./{path.relative_to(static).as_posix()}" for path in scripts])
    back = f"<script>\n{(HERE / 'one_step_back.js').read_text('utf-8')}</script>\n"
    # Without any of Streamlit's scripts: the first thing that a browser draws.
    cover = (HERE / "start_cover.html").read_text("utf-8")
    return page.replace("<head>", f"<head>\n{WHERE}{back}{ahead}", 1).replace("<body>", f"<body>\n{cover}", 1)
