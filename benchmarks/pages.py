"""Seconds until each page of the app is drawn, over a trivial Streamlit page measured in the same minutes.

Serves the sample runs and a page that says one word, and visits both by turns with one warm browser: the
median of the visits, and what a page takes more than the trivial one. Then a click in the plan graph, the
next run, and a click on a run in the table of all runs. And before all that, the start of the demonstration
and of the trivial page by turns, each with a new server and a browser that has kept nothing. Nothing is
asserted; another machine, or a busy one, gives other seconds.

    python benchmarks/pages.py [visits [starts]]
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

from browsing import APP, ROOT, STILL, browser, served
from playwright.sync_api import Browser, Page, expect

PAGES = [path.stem for path in sorted((ROOT / "pages").glob("*.py"))]
TRIVIAL = "import streamlit as st\nst.title('Trivial')\n"
QUIET = (
    *("--server.headless", "true", "--browser.gatherUsageStats", "false"),
    *("--server.fileWatcherType", "none"),
)

FIRST_SEEN = {
    "progress bar": "[role=progressbar], h1:has-text('Overview')",  # none, where the server was faster
    "heading": "h1:has-text('Overview')",
    "first numbers": "[data-testid=stMetricValue]",
}


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
    """Print what it takes to open a sub-goal, the next run, and a run in the table of all runs."""
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
    rows = []
    for _ in range(times):
        timed(lambda: page.goto(f"{address}/overview"), page)
        table = page.locator(".st-key-every [data-testid=stDataFrameResizable]")
        table.scroll_into_view_if_needed()
        start = time.perf_counter()
        table.click(position={"x": 18, "y": 90})
        expect(page.get_by_role("heading", level=1)).to_have_text("Run")
        page.locator(STILL).wait_for()
        rows.append(time.perf_counter() - start)
    print(f"a row of the table of all runs: {median(rows):.2f} s")


def cold(chromium: Browser, command: tuple[str, ...], marks: dict[str, str]) -> dict[str, float]:
    """Seconds from the start of a server until a visitor who comes at once sees each of `marks`."""
    context = chromium.new_context()
    page = context.new_page()
    page.set_default_timeout(600_000)
    start, seen = time.perf_counter(), dict[str, float]()
    with served(*command) as address:
        page.goto(address, wait_until="commit")
        for name, selector in marks.items():
            page.locator(selector).first.wait_for()
            seen[name] = time.perf_counter() - start
        page.locator(STILL).wait_for()
        context.close()
    return seen


def starts(chromium: Browser, script: Path, times: int) -> None:
    """Print the medians of cold starts, by turns with the trivial page."""
    trivial = ("streamlit", "run", str(script), *QUIET)
    rounds = [
        {**cold(chromium, trivial, {"trivial page": "h1"}), **cold(chromium, (*APP, "--demo"), FIRST_SEEN)}
        for _ in range(times)
    ]
    for name in rounds[0] if rounds else ():
        print(f"cold start, {name}: {median(one[name] for one in rounds):.2f} s", flush=True)


def main() -> None:
    """Serve both, visit by turns, print."""
    times, of_starts = (int(word) for word in (*sys.argv[1:3], "5", "5")[:2])
    with tempfile.TemporaryDirectory(prefix="untaken-") as folder:
        script = Path(folder) / "trivial.py"
        script.write_text(TRIVIAL)
        with browser() as chromium:
            starts(chromium, script, of_starts)
        with (
            served(*APP, "--demo") as address,
            served("streamlit", "run", str(script), *QUIET) as trivial,
            browser() as chromium,
        ):
            page = chromium.new_page()
            page.set_default_timeout(600_000)
            visits(page, address, trivial, times)
            clicks(page, address, times)
    print(f"load of this machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")


if __name__ == "__main__":
    main()
