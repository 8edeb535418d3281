"""Find a Chromium for the browser tests; if there is none, try to get one.

In this order: an installed Chromium or Chrome, the system's package, Playwright's own download. Where all
of that fails the browser tests skip, and say so: this script never fails the build.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)


def find() -> str | None:
    """Path of a Chromium that can be started, or None."""
    named = os.environ.get("UNTAKEN_BROWSER")
    if named:
        return named
    found = next(filter(None, map(shutil.which, NAMES)), None)
    found = found or next((place for place in PLACES if Path(place).exists()), None)
    return found or _of_playwright()


def _of_playwright() -> str | None:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  only where nothing is installed

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def _run(command: list[str], seconds: int) -> bool:
    print("getting a browser:", " ".join(command), flush=True)
    try:
        return (
            subprocess.run(command, timeout=seconds, check=False, stdout=subprocess.DEVNULL).returncode == 0
        )
    except (OSError, subprocess.TimeoutExpired) as fault:
        print(f"  that did not work: {fault}")
        return False


def _from_system() -> bool:
    if not shutil.which("apt-get") or os.geteuid() != 0:
        return False
    return _run(["apt-get", "update", "-qq"], 300) and _run(
        ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"], 600
    )


def _from_playwright() -> bool:
    return _run([sys.executable, "-m", "playwright", "install", "chromium"], 600)


def main() -> int:
    """Print which browser the tests will use, or how to get one."""
    browser = find()
    for get in (_from_system, _from_playwright):
        if browser:
            break
        browser = find() if get() else None
    if browser:
        print(f"browser tests use {browser}")
    else:
        print("No Chromium or Chrome was found, so the browser tests will skip. Install one (Debian, Ubuntu:")
        print("apt-get install chromium; elsewhere: python -m playwright install chromium), then run again.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
