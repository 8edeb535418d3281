"""Take the screenshots in docs/img/: every page on the sample runs, wide and narrow, light and dark.

The top of the HTML report is taken with them.

Run from the top of the checkout: ``python -m scripts.screenshots [OUT] [--workspace FOLDER]``.
"""

from __future__ import annotations

import argparse
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from scripts.get_browser import find

PAGES = {
    "overview": "/",
    "run": "/run",
    "review": "/review",
    "compare": "/compare",
    "failure_modes": "/failure_modes",
    "decisions": "/decisions",
    "rankings": "/rankings",
    "versions": "/versions",
    "annotate": "/annotate",
    "audit": "/audit",
    "memory": "/memory",
    "criteria": "/criteria",
    "what_if_not": "/what_if_not",
    "data": "/data",
}
SIZES = {"wide": (1440, 900), "narrow": (390, 844)}
IDLE = """() => {
    const running = document.querySelector('[data-testid=stApp]')
        ?.getAttribute('data-test-script-state') !== 'notRunning';
    const drawing = document.querySelector('[data-testid=stSkeleton]');
    if (running || drawing) window.idleSince = undefined;
    else window.idleSince ??= performance.now();
    return performance.now() - (window.idleSince ?? Infinity) > 3000;
}"""
"""Nothing has run and nothing was left to draw for 3 seconds: a slow machine pauses between its runs."""
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


def serve(workspace: str | None) -> tuple[subprocess.Popen[bytes], str]:
    """Start the app; gives the process and its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    what = [workspace] if workspace else ["--demo"]
    server = subprocess.Popen([sys.executable, "-m", "untaken", "app", *what, "--port", str(port)])
    address = f"http://127.0.0.1:{port}"
    for _ in range(300):
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=2):
                return server, address
        except OSError:
            time.sleep(0.2)
    raise SystemExit("the app did not start")


def settle(page: Page) -> None:
    """Wait until the script has run and nothing is left to draw."""
    page.get_by_test_id("stApp").wait_for()
    page.wait_for_timeout(1500)
    page.wait_for_function(IDLE, timeout=180_000)


def shoot(browser: Browser, url: str, target: Path, size: tuple[int, int], *, dark: bool, full: bool) -> None:
    """One screenshot, once the page is idle."""
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]}, color_scheme="dark" if dark else "light"
    )
    page: Page = context.new_page()
    page.goto(url)
    settle(page)
    if full:
        inner = "() => document.querySelector('[data-testid=stMain]').scrollHeight"
        page.set_viewport_size({"width": size[0], "height": int(page.evaluate(inner))})
        page.wait_for_timeout(1500)
    page.screenshot(path=target)
    context.close()


def shoot_report(browser: Browser, target: Path) -> None:
    """The top of the HTML report on the sample runs."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        made = ["report", "sample_runs/ledgers", "--graphs", "sample_runs/graphs", "--html", str(page)]
        subprocess.run([sys.executable, "-m", "untaken", *made], check=True)
        opened = browser.new_page(viewport={"width": 1440, "height": 900})
        opened.goto(page.as_uri())
        opened.screenshot(path=target)
        opened.close()


def main() -> None:
    """Parse the command line, start app and browser, take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", nargs="?", type=Path, default=Path("docs/img"))
    parser.add_argument("--workspace")
    parser.add_argument("--full", action="store_true", help="whole pages, however long")
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    server, address = serve(chosen.workspace)
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=find(), args=FLAGS)
            for name, path in PAGES.items():
                for size, pixels in SIZES.items():
                    for dark in (False, True):
                        target = chosen.out / f"{name}-{size}-{'dark' if dark else 'light'}.png"
                        shoot(browser, address + path, target, pixels, dark=dark, full=chosen.full)
                        print(target)
            shoot_report(browser, chosen.out / "report-wide-light.png")
            browser.close()
    finally:
        server.terminate()


if __name__ == "__main__":
    main()
