"""Streamlit's start page, with the address of its server written into it.

Without that a browser asks at `/run/_stcore/health` first and waits a tenth of a second after the refusal, on
every page but the one at the bare address.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

import streamlit as st

WHERE: Final = """<script>
window.__streamlit = { BACKEND_BASE_URL: new URL("./", document.baseURI).href };
</script>
"""


@cache
def start_page() -> str:
    """The HTML that every page of the app begins with; `./` is where its scripts are loaded from, too."""
    page = (Path(st.__file__).parent / "static" / "index.html").read_text("utf-8")
    return page.replace("<head>", f"<head>\n{WHERE}", 1)
