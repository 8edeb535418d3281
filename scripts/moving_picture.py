"""Make the moving picture of the README: a run that succeeded by luck, from Overview to the skipped sub-goal.

Run from the top of the checkout: ``python -m scripts.moving_picture [OUT]``; by default `docs/img/run.webp`.
"""

from __future__ import annotations

import argparse
import io
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from scripts.get_browser import find
from scripts.screenshots import FLAGS, serve, settle
from untaken import read_ledger

RUN, REFERENCE = "eager-closer.refund-04.3", "careful-planner.refund-04.3"
SIZE = (1280, 800)
WIDTH = 960
LIMIT = 2_000_000
"""Bytes; more is slow on a package index."""


def scrolled(page: Page, pixels: int) -> None:
    """Scroll the main part of the page."""
    page.get_by_test_id("stMain").evaluate("(main, y) => main.scrollTo(0, y)", pixels)
    page.wait_for_timeout(600)


def digest_of(run_id: str) -> str:
    """The digest of a sample run, by which links name it."""
    ledger = f"sample_runs/ledgers/{run_id.partition('.')[0]}.jsonl"
    return next(run.digest for run in read_ledger(ledger) if run.run_id == run_id)


def frames(page: Page, address: str) -> list[tuple[bytes, int]]:
    """Screenshots, each with the milliseconds it is shown."""
    digest, reference = digest_of(RUN), digest_of(REFERENCE)
    shown: list[tuple[bytes, int]] = []
    for path, steps in (
        ("/", ((0, 2200),)),
        (f"/run?run={digest}", ((0, 2600), (330, 2600))),
        (f"/run?run={digest}&sub_goal=policy", ((330, 3200), (1560, 2600))),
        (f"/compare?task=refund-04&runs={reference},{digest}", ((0, 2600), (380, 2600))),
    ):
        page.goto(address + path)
        settle(page)
        for pixels, milliseconds in steps:
            scrolled(page, pixels)
            shown.append((page.screenshot(), milliseconds))
    return shown


def save(shown: list[tuple[bytes, int]], target: Path) -> None:
    """One animated WebP file, smaller in quality until it fits the limit."""
    size = (WIDTH, WIDTH * SIZE[1] // SIZE[0])
    pictures = [Image.open(io.BytesIO(data)).convert("RGB") for data, _ in shown]
    first, *others = [picture.resize(size, Image.Resampling.LANCZOS) for picture in pictures]
    moving = {"save_all": True, "append_images": others, "duration": [ms for _, ms in shown], "loop": 0}
    for quality in (90, 80, 70, 60):
        first.save(target, **moving, quality=quality, method=6)
        if target.stat().st_size <= LIMIT:
            break


def main() -> None:
    """Start app and browser, take the frames, write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", nargs="?", type=Path, default=Path("docs/img/run.webp"))
    chosen = parser.parse_args()
    server, address = serve(None)
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=find(), args=FLAGS)
            page = browser.new_page(viewport={"width": SIZE[0], "height": SIZE[1]}, color_scheme="light")
            save(frames(page, address), chosen.out)
            browser.close()
    finally:
        server.terminate()
    print(f"{chosen.out}: {chosen.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
