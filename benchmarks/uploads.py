"""Uploads under load: many valid and hostile files in a row, with clicks in between.

Serves the app, uploads files in one browser that clicks around while they are read, and measures in a
second one how long another person waits for a page. Prints uploads, results, exceptions and waits.

    python benchmarks/uploads.py --uploads 200
"""

from __future__ import annotations

import argparse
import io
import re
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from browsing import APP, ROOT, browser, served
from playwright.sync_api import Page, expect

FAILED = "encountered an error|Traceback|Error:"
OTHERS = ("Overview", "Memory", "Rankings")
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import desk  # noqa: E402


def hostile_zip() -> bytes:
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(200):
            archive.writestr(f"{number}.txt", "\n" * 2048)
        archive.writestr("arrows.mmd", "flowchart TD\na -" + "." * 1_000_000)
        archive.writestr("junk.jsonl", "\n" * 1_000_000)
    return kept.getvalue()


def file(number: int) -> tuple[str, bytes]:
    """A sound ledger, a graph, junk, a flowchart that never ends, an archive of traps: in turn."""
    return [
        (f"{number}.jsonl", desk.careful(number).ledger()),
        (f"{number}.plan.yaml", desk.GRAPH + f"# {number}\n".encode()),
        (f"{number}.jsonl", b"[" * 65 + b'"\\"' * 50_000 + str(number).encode()),
        (f"{number}.mmd", b"flowchart TD\na -" + b"." * 1_000_000 + str(number).encode()),
        (f"{number}.zip", hostile_zip()),
    ][number % 5]


def upload(page: Page, number: int) -> None:
    name, data = file(number)
    page.get_by_test_id("stFileUploader").locator("input[type=file]").set_input_files(
        {"name": name, "mimeType": "application/octet-stream", "buffer": data}
    )
    page.get_by_role("button", name="Add 1 file").click()


def answered(page: Page) -> None:
    expect(page.get_by_text(re.compile(r"\d+ of \d+ files added"))).to_be_visible(timeout=120_000)


def go_to(page: Page, name: str) -> float:
    begun = time.monotonic()
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=name, exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name, timeout=60_000)
    return time.monotonic() - begun


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--uploads", type=int, default=200)
    uploads = parser.parse_args().uploads
    waits: list[float] = []
    exceptions = answers = left = 0
    with (
        tempfile.TemporaryDirectory() as folder,
        served(*APP, f"{folder}/workspace", log=(log := Path(folder, "log.txt"))) as address,
        browser() as chromium,
    ):
        mine, other = (chromium.new_context().new_page() for _ in range(2))
        mine.goto(f"{address}/data")
        other.goto(f"{address}/memory")
        for number in range(uploads):
            upload(mine, number)
            waits.append(go_to(other, OTHERS[number % 3]))
            if number % 4 == 3:  # leave in the middle: that cancels what is left
                go_to(mine, "Memory")
                left += 1
            else:
                answered(mine)
                answers += 1
                go_to(mine, "Overview")
            go_to(mine, "Data")
            exceptions += sum(page.get_by_text(re.compile(FAILED)).count() for page in (mine, other))
            if number % 20 == 19:
                print(f"{number + 1} uploads, {exceptions} exceptions", flush=True)
        exceptions += log.read_text("utf-8", "replace").count("Traceback")
    waits.sort()
    print(f"uploads {uploads}: answered {answers}, left in the middle {left}, exceptions {exceptions}")
    print(f"another person's page: median {waits[len(waits) // 2]:.2f} s, longest {waits[-1]:.2f} s")
    return int(exceptions > 0)


if __name__ == "__main__":
    sys.exit(main())
