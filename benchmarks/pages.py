"""Seconds until each page of the app is drawn, over a trivial Streamlit page measured in the same minutes.

Serves the sample runs and a page that says one word, and visits both by turns with one warm browser: the
median of the visits, and what a page takes more than the trivial one. Then a click in the plan graph and the
next run. Nothing is asserted; another machine, or a busy one, gives other seconds.

    python benchmarks/pages.py [visits]
"""

from __future__ import annotations

import runpy
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[1]
PAGES = [path.stem for path in sorted((ROOT / "pages").glob("*.py"))]
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
STILL = "[data-testid=stApp][data-test-script-state=notRunning]"
TRIVIAL = "import streamlit as st\nst.title('Trivial')\n"
NO_WATCHER = ["--server.fileWatcherType", "none"]
QUIET = ["--server.headless", "true", "--browser.gatherUsageStats", "false", *NO_WATCHER]


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def served(*command: str, port: int) -> Iterator[str]:
    """The address of a server that answers."""
    address = f"http://127.0.0.1:{port}"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    server = subprocess.Popen([sys.executable, "-m", *command], cwd=ROOT, **quiet)
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"{address}/_stcore/health", timeout=2).close()
                break
            except OSError:
                time.sleep(0.2)
        yield address
    finally:
        server.terminate()
        server.wait(20)


def drawn(page: Page) -> None:
    """Wait for the heading, and until the script has run to its end."""
    page.get_by_role("heading", level=1).first.wait_for()
    page.locator(STILL).wait_for()


def timed(act: Callable[[], object], page: Page) -> float:
    """Seconds until the page is drawn again."""
    start = time.perf_counter()
    act()
    drawn(page)
    return time.perf_counter() - start


def visits(page: Page, address: str, trivial: str, times: int) -> None:
    """Print each page's median beside the trivial one's."""
    print(f"{'page':<16}{'seconds':>9}{'trivial':>9}{'more':>9}")
    for name in PAGES:
        own_page = partial(page.goto, f"{address}/{name}")
        timed(own_page, page)  # whatever is worked out once
        pairs = [(timed(own_page, page), timed(partial(page.goto, trivial), page)) for _ in range(times)]
        own, floor = (median(side) for side in zip(*pairs, strict=True))
        print(f"{name:<16}{own:>9.2f}{floor:>9.2f}{own - floor:>+9.2f}", flush=True)


def clicks(page: Page, address: str, times: int) -> None:
    """Print what it takes to open a sub-goal and the next run."""
    timed(lambda: page.goto(f"{address}/run"), page)
    page.locator(".plan-stage[data-boxes]").wait_for()
    nodes = []
    for _ in range(times):
        frame = page.locator(".plan-frame")
        frame.focus()
        frame.press("ArrowDown")
        frame.press("ArrowDown")
        before = page.url
        start = time.perf_counter()
        frame.press("Enter")
        page.wait_for_url(lambda url, before=before: url != before)
        page.locator(STILL).wait_for()
        nodes.append(time.perf_counter() - start)
        timed(lambda: page.keyboard.press("j"), page)
    print(f"a sub-goal of the plan graph: {median(nodes):.2f} s")
    runs = [timed(lambda: (page.keyboard.press("j"), page.wait_for_timeout(50)), page) for _ in range(times)]
    print(f"the next run: {median(runs):.2f} s")


def main() -> None:
    """Serve both, visit by turns, print."""
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    chromium = runpy.run_path(str(ROOT / "scripts/get_browser.py"))["find"]()
    if chromium is None:
        print("no Chromium or Chrome here: nothing measured")
        return
    app, other = free_port(), free_port()
    with tempfile.TemporaryDirectory(prefix="untaken-") as folder, sync_playwright() as playwright:
        script = Path(folder) / "trivial.py"
        script.write_text(TRIVIAL)
        trivial_page = ("streamlit", "run", str(script), "--server.port", str(other), *QUIET)
        with (
            served("untaken", "app", "--demo", "--port", str(app), port=app) as address,
            served(*trivial_page, port=other) as trivial,
        ):
            page = playwright.chromium.launch(executable_path=chromium, args=FLAGS).new_page()
            page.set_default_timeout(600_000)
            visits(page, address, trivial, times)
            clicks(page, address, times)


if __name__ == "__main__":
    main()
