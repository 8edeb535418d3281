"""Uploads under load: many valid and hostile files in a row, with clicks in between.

Serves the app, uploads files in one browser that clicks around while they are read, and measures in a
second one how long another person waits for a page. Prints uploads, results, exceptions and waits.

    python benchmarks/uploads.py --uploads 200

Or uploads one archive of tiny traces (four messages, 0.9 KB each): by itself, then to another server while
another person visits four pages in turn and goes on for twenty visits afterwards. Prints the wait for the
result, the CPU seconds of the server and its processes by then (Linux), and the visits.

    python benchmarks/uploads.py --traces 20000

Or three uploads that must not make others wait, each to a server of its own, with the same visits: 200
ledgers, one of 20 MB with 40 screenshots in base64, and one of 42 MB of words.

    python benchmarks/uploads.py --heavy
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import re
import sys
import tempfile
import time
import zipfile
from base64 import b64encode
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from statistics import median

from browsing import APP, ROOT, STILL, browser, served
from playwright.sync_api import Browser, Page, expect

FAILED = "encountered an error|Traceback|Error:"
OTHERS = ("Overview", "Memory", "Rankings")
VISITED = ("Overview", "Memory", "Data", "Rankings")
PAUSE = 500
"""Milliseconds between two visits."""
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
    page.get_by_test_id("stFileUploader").first.locator("input[type=file]").set_input_files(
        {"name": name, "mimeType": "application/octet-stream", "buffer": data}
    )
    page.get_by_role("button", name="Add 1 file").click()


def answered(page: Page) -> None:
    expect(page.get_by_text(re.compile(r"\d+ of [\d,]+ files? added"))).to_be_visible(timeout=120_000)


def go_to(page: Page, name: str) -> float:
    begun = time.monotonic()
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=name, exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name, timeout=60_000)
    return time.monotonic() - begun


def tiny_trace(number: int) -> str:
    """A conversation of four messages, some 0.9 KB long."""
    chance = random.Random(number)
    words = ["please", "ignore", "the", "order", "and", "check", "what", "refund", "says", "about", "it"]
    said = iter(lambda: " ".join(chance.choices(words, k=28)), None)
    function = {
        "name": chance.choice(["find_order", "refund", "check_status"]),
        "arguments": json.dumps({"order": number}),
    }
    call = {"id": f"call_{number}", "type": "function", "function": function}
    messages = [
        {"role": "system", "content": f"You are a helpful agent of a shop. {next(said)}"},
        {"role": "user", "content": f"Order {number}: {next(said)}"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call_{number}", "content": next(said)},
    ]
    return json.dumps({"model": "gpt-4o", "messages": messages})


def archive_of_traces(traces: int, path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(traces):
            archive.writestr(f"traces/run-{number:05}.json", tiny_trace(number))


def cpu_seconds() -> dict[str, float]:
    """Of the server, and of the processes that it started, those that have ended included."""
    stats = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            stats[int(stat.parent.name)] = stat.read_text().rpartition(")")[2].split()
    tick = os.sysconf("SC_CLK_TCK")
    spent = {"server": 0.0, "its processes": 0.0}
    for process, fields in stats.items():
        own, waited = (sum(map(int, fields[at : at + 2])) / tick for at in (11, 13))
        above = int(fields[1])
        if above == os.getpid() and _is_server(process):
            spent["server"] += own
            spent["its processes"] += waited
        elif above in stats and int(stats[above][1]) == os.getpid() and _is_server(above):
            spent["its processes"] += own + waited
    return spent


def _is_server(process: int) -> bool:
    return b"server.py" in Path(f"/proc/{process}/cmdline").read_bytes()


def heavy_uploads() -> dict[str, list[tuple[str, bytes]]]:
    """By what they are, files of uploads that take long to look through."""
    chance = random.Random(37)

    def ledger(run: str, texts: list[str]) -> tuple[str, bytes]:
        built = desk.a_run(run, agent="heavy", task=run)
        for text in texts:
            built.say(text)
        return f"{run}.jsonl", built.finish(True).ledger()

    screenshots = [b64encode(chance.randbytes(375_000)).decode() for _ in range(40)]
    words = [
        "please",
        "ignore",
        "the",
        "order",
        "and",
        "check",
        "what",
        "the",
        "refund",
        "says",
        "about",
        "it",
    ]
    return {
        "200 ledgers": [(f"{n}.jsonl", desk.careful(n).ledger()) for n in range(200)],
        "20 MB of screenshots": [ledger("screenshots", screenshots)],
        "42 MB of words": [ledger("words", [" ".join(chance.choices(words, k=70_000)) for _ in range(105)])],
    }


def upload_heavy() -> None:
    """Each of the heavy uploads, and how another person fares meanwhile and afterwards."""
    with tempfile.TemporaryDirectory() as folder, browser() as chromium:
        for what, files in heavy_uploads().items():
            place = Path(folder, what)
            place.mkdir()
            for name, data in files:
                (place / name).write_bytes(data)
            with served(*APP, f"{folder}/to {what}") as address:
                _upload_beside_visits(what, sorted(place.iterdir()), address, chromium, visited=True)


def upload_traces(traces: int) -> None:
    """One archive of tiny traces: by itself; then again, and how others fare meanwhile and afterwards.

    Nothing is deleted between the two: a file system may take long to create files after that.
    """
    with tempfile.TemporaryDirectory() as folder, browser() as chromium:
        archive_of_traces(traces, archive := Path(folder, "traces.zip"))
        for visited in (False, True):
            with served(*APP, f"{folder}/visited-{visited}") as address:
                _upload_beside_visits(f"{traces:,} traces", [archive], address, chromium, visited=visited)


def _upload_beside_visits(
    what: str, files: list[Path], address: str, chromium: Browser, *, visited: bool
) -> None:
    mine, other = (chromium.new_context().new_page() for _ in range(2))
    mine.goto(f"{address}/data")
    mine.get_by_test_id("stFileUploader").first.locator("input[type=file]").set_input_files(files)
    if visited:
        other.goto(f"{address}/memory")
        expect(other.get_by_role("heading", level=1)).to_have_text("Memory", timeout=60_000)
    _measure(what, mine, other if visited else None)


def _measure(what: str, mine: Page, other: Page | None) -> None:
    button = mine.get_by_role("button", name=re.compile(r"Add \d+ files?$"))
    expect(button).to_be_enabled(timeout=60_000)
    done = mine.get_by_text(re.compile(r"\d+ of [\d,]+ files? added"))
    before, begun = cpu_seconds(), time.monotonic()
    button.click()
    if other is None:
        done.wait_for(timeout=600_000)
    else:
        report("visits meanwhile", _visits(other, done.is_visible))
    after = cpu_seconds()
    spent = ", ".join(f"{name} {after[name] - before[name]:.1f}" for name in after)
    print(f"{what}: {time.monotonic() - begun:.1f} s; CPU seconds: {spent}", flush=True)
    if other is not None:
        left = iter(range(20))
        report("visits afterwards", _visits(other, lambda: next(left, None) is None))


def _visits(page: Page, ended: Callable[[], bool]) -> list[tuple[str, float]]:
    """Visits of pages in turn until something has ended, each with the seconds until its page was at rest."""
    visits: list[tuple[str, float]] = []
    while not ended():
        name = VISITED[len(visits) % len(VISITED)]
        begun = time.monotonic()
        go_to(page, name)
        page.locator(STILL).wait_for(timeout=60_000)
        visits.append((name, time.monotonic() - begun))
        page.wait_for_timeout(PAUSE)
    return visits


def report(what: str, visits: list[tuple[str, float]]) -> None:
    print(f"{what}: {len(visits)}; median, longest:", end=" ")
    for name in VISITED:
        waits = sorted(seconds for page, seconds in visits if page == name)
        print(f"{name} {median(waits):.2f}, {waits[-1]:.2f}" if waits else name, end="; ")
    print(flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--uploads", type=int, default=200)
    parser.add_argument("--traces", type=int, default=0, help="tiny traces in one archive, instead")
    parser.add_argument("--heavy", action="store_true", help="uploads that take long to read, instead")
    given = parser.parse_args()
    if given.heavy:
        upload_heavy()
        return 0
    if given.traces:
        upload_traces(given.traces)
        return 0
    uploads = given.uploads
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
