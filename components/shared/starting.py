"""The start of the server: a thread opens the workspace, and who visits meanwhile sees how far it is."""

from __future__ import annotations

import gc
import json
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from threading import Event, Lock, Thread
from time import monotonic, sleep
from typing import Final

import streamlit as st

import components
from components.shared import navigation
from untaken.errors import UntakenError
from untaken.garbage import seldom_collected
from untaken.limits import MIB
from untaken.working import telling

LOG: Final = logging.getLogger("untaken.app")
TICK: Final = 0.1
"""Seconds between two looks at how far it is."""
HELD_BYTES: Final = 32 * MIB
"""Lines of runs that a server holds whole: searching the texts of thousands of runs reads nothing again."""
SWITCH_SECONDS: Final = 0.0005
"""After so long a thread lets another one go on. A page asks the database and waits for its turn after each
answer: while an upload is read, the usual 5 ms would add up to seconds."""
COLLECTED: Final = (50_000, 20, 20)
"""As of `gc.set_threshold`: a full pass over what a server holds takes longer than most pages."""
MOST_STEPS: Final = 6
"""What is done, at most: to load the app, what `state.open_ahead` names, and to load the page."""

_loading: Final = Lock()

_ready: Final = Event()
_ready.set()  # where nothing opens ahead, pages open the workspace
_steps: Final[list[str]] = []
_ending: Final = Event()
QUIET_SECONDS: Final = 3.0
"""Without another page, before decisions are evaluated that no page has asked for."""
_drawing: Final = set[object]()
"""Pages that are being drawn."""
_drawn: Final = [0.0]
"""When a page was drawn last."""


def begin() -> Thread:
    """Start loading what pages need, and opening the workspace."""
    _ready.clear()
    gc.set_threshold(*COLLECTED)
    sys.setswitchinterval(SWITCH_SECONDS)
    thread = Thread(target=_open_ahead, daemon=True)
    thread.start()
    return thread


@contextmanager
def given_up(ahead: Thread, seconds: float) -> Iterator[None]:
    """The server ends: inside, nothing is opened ahead, which could write into a demo that is removed."""
    _ending.set()
    with telling(_give_up):  # every step of long work is a place to stop at
        ahead.join(seconds)
        yield


def _give_up() -> None:
    """Ends a thread without a word.

    Raises:
        SystemExit: always.
    """
    raise SystemExit


def _goes_on(step: str) -> None:
    if _ending.is_set():
        _give_up()
    _steps.append(step)


def wait() -> None:
    """Show a progress bar until the workspace is open, then begin the page again without it."""
    if _ready.is_set():
        return
    st.navigation(navigation.offered(), expanded=True)
    bar = st.progress(0)
    while not _ready.wait(TICK):
        # Full only with the page: the bar is gone by then.
        bar.progress(len(_steps) / (MOST_STEPS + 1), f"{_steps[-1]} …" if _steps else "")
    st.rerun()


@contextmanager
def drawing() -> Iterator[None]:
    """Inside, a page is drawn: what can wait until nobody looks around waits."""
    page = object()
    _drawing.add(page)
    try:
        yield
    finally:
        _drawing.discard(page)
        _drawn[0] = monotonic()


def load_tables() -> None:
    """Load pandas, before anything draws a table or a figure: it is slow, the first numbers do without."""
    # Every thread waits here: plotly would use a pandas that another one has only half imported.
    with _loading:
        import_module("pandas")


def go_on() -> None:
    """What a page did without, once it is drawn: keep answers, evaluate runs for other pages."""
    from components.shared import evaluating, state  # noqa: PLC0415 (loaded by then)

    with suppress(UntakenError):  # the page says what is wrong
        evaluating.keep_contents(state.shared_workspace())
    evaluating.keep_made()
    if evaluating.REST_LEFT.is_set():
        evaluating.REST_LEFT.clear()

        def rest() -> None:
            for module in walk_packages(components.__path__, f"{components.__name__}."):
                import_module(module.name)  # other pages then open without loading it
            while _drawing or monotonic() - _drawn[0] < QUIET_SECONDS:  # who looks around needs the processor
                sleep(TICK)
            state.open_whole(evaluating.content(state.shared_workspace()))

        Thread(target=_open_whole, args=(rest,), daemon=True).start()


def _open_whole(open_whole: Callable[[], object]) -> None:
    try:
        open_whole()
    except Exception:  # the page says it
        LOG.debug("the runs could not be evaluated ahead", exc_info=True)


@seldom_collected()
def _open_ahead() -> None:
    try:
        _goes_on("Loading the app")
        from components.shared import evaluating, state  # noqa: PLC0415 (loads the engine)
        from untaken.facts import AT_HAND  # noqa: PLC0415 (as above)

        AT_HAND.allow(HELD_BYTES)
        state.open_ahead(_goes_on)
        _goes_on("Loading the page")
        from components.shared import frame  # noqa: F401, PLC0415 (slow)

        evaluating.REST_LEFT.set()
    except Exception:  # the page says it
        LOG.debug("the workspace could not be opened ahead", exc_info=True)
    finally:
        _ready.set()


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
