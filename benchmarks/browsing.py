"""What the benchmarks in a real browser share: a server that answers, a browser, and a page at rest."""

from __future__ import annotations

import os
import runpy
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).parents[1]
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
STILL = "[data-testid=stApp][data-test-script-state=notRunning]"
APP = ("untaken", "app")
SECONDS_TO_START = 120


@contextmanager
def served(*command: str, log: Path | None = None) -> Iterator[str]:
    """The address of a server that answers: `python -m` of these words, and a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    option = "--port" if command[:2] == APP else "--server.port"
    words = [sys.executable, "-m", *command, option, port]
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    out: Any = subprocess.DEVNULL if log is None else log.open("wb")
    server = subprocess.Popen(words, cwd=ROOT, stdout=out, stderr=out, env=os.environ | {"PYTHONPATH": path})
    try:
        yield _answering(f"http://127.0.0.1:{port}", server)
    finally:
        server.terminate()
        server.wait(20)


def _answering(address: str, server: subprocess.Popen[bytes]) -> str:
    deadline = time.monotonic() + SECONDS_TO_START
    while server.poll() is None and time.monotonic() < deadline:
        try:
            urllib.request.urlopen(f"{address}/_stcore/health", timeout=2).close()
        except OSError:
            time.sleep(0.2)
        else:
            return address
    sys.exit(f"no server at {address} after {SECONDS_TO_START} s (exit status {server.poll()})")


@contextmanager
def browser() -> Iterator[Browser]:
    """A Chromium; the program ends where there is none."""
    chromium = runpy.run_path(str(ROOT / "scripts/get_browser.py"))["find"]()
    if chromium is None:
        sys.exit("no Chromium or Chrome here: nothing measured")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield opened
        opened.close()
