"""Streamlit's start page, with the address of its server written into it, and what pages need loaded ahead.

Without the address a browser asks at `/run/_stcore/health` first and waits a tenth of a second after the
refusal, on every page but the one at the bare address.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Final

import streamlit as st

WHERE: Final = """<script>
window.__streamlit = { BACKEND_BASE_URL: new URL("./", document.baseURI).href };
</script>
"""
NEEDED: Final = ("Metric", "StreamlitMarkdown", "PlotlyChart", "DataFrame", "BidiComponent")
"""Parts of Streamlit's front end that most pages show. Each is a script, loaded when a page first has one."""
LOAD_AHEAD: Final = """<script>
addEventListener("load", () => setTimeout(() => {
  for (const script of %s) import(new URL(script, document.baseURI).href);
}, 600));
</script>
"""
"""A visitor waits for the server anyway, and the browser has nothing to do once the progress bar is there."""


@lru_cache(maxsize=2)
def start_page(*, waiting: bool = False) -> str:
    """The HTML that every page of the app begins with; `./` is where its scripts are loaded from, too.

    Args:
        waiting: the workspace is still being opened: load what pages need meanwhile.
    """
    static = Path(st.__file__).parent / "static"
    page = (static / "index.html").read_text("utf-8")
    scripts = [path for name in NEEDED for path in static.glob(f"static/js/{name}.*.js")]
    ahead = LOAD_AHEAD % json.dumps([f"./{path.relative_to(static).as_posix()}" for path in scripts])
    return page.replace("<head>", f"<head>\n{WHERE}{ahead if waiting else ''}", 1)
