"""The vis-network bundle: half a megabyte that a browser is to load once, not with every page."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from importlib.metadata import distribution
from pathlib import Path
from threading import Event
from typing import Final

SERVED: Final = Event()
"""Set by a server that answers `address()`; another one sends the bundle with each page."""
# With `module` and `exports` the library defines itself in here, and not on the page.
_MODULE: Final = """
const module = {}, define = undefined, exports = {};
%s
export default function () {
  if (window.untakenVis) return;
  window.untakenVis = exports;
  window.dispatchEvent(new Event("untaken-vis"));
}
"""


@cache
def vis_source() -> str:
    """The vis-network bundle that comes with the installed pyvis, which is slow to import."""
    library = Path(str(distribution("pyvis").locate_file("pyvis/lib")))
    newest = max(library.glob("vis-*/vis-network.min.js"))
    # Else a browser's tools ask for a map that nobody serves.
    return newest.read_text("utf-8").partition("//# sourceMappingURL")[0]


@cache
def bundle() -> str:
    """A module whose function hands vis-network to the components that wait for it."""
    return _MODULE % vis_source()


@cache
def address() -> str:
    """Where it is served, relative to the pages; another bundle has another address, so it can be kept."""
    return f"untaken/vis/{sha256(bundle().encode()).hexdigest()[:16]}.js"
