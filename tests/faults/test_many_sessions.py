"""Many people on one server: they browse, upload and interrupt each other's runs, and nobody meets a fault.

`--slow` has twenty sessions for a minute, and two hundred uploads.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path
from statistics import quantiles
from threading import Event

import pytest
from builders import a_run
from served_page import ServedPage, served_app

from untaken.workspace import Workspace

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
PAGES = ("overview", "run", "review", "compare", "rankings", "decisions", "data", "criteria", "annotate")
SAMPLES = Path(__file__).parents[2] / "sample_runs"
ADDED = "1 of 1 file added."
STOPPED = "0 of 1 file added; 1 not added. The reasons are below."
LOOKED_AT = (0.2, 0.8)
"""Seconds a page is looked at: who clicks without any pause takes the processor from the uploads."""
GROWTH_MIB = 200
"""Most that the server may hold more after all visits than after as many visits as there are pages."""


@dataclass
class Server:
    process: subprocess.Popen[bytes]
    address: str
    folder: Path
    log: Path

    def held_mib(self) -> int:
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) >> 10 for line in lines if line.startswith("VmRSS"))

    def faults(self) -> list[str]:
        return [line for line in self.log.read_text("utf-8", "replace").splitlines() if "Traceback" in line]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder, log = tmp_path_factory.mktemp("workspace"), tmp_path_factory.mktemp("log") / "log.txt"
    with served_app(folder, port=8973, log=log) as (process, address):
        opened = Server(process, address, folder, log)
        page = ServedPage(address, "data")
        files = [SAMPLES / "ledgers" / "eager-closer.jsonl", SAMPLES / "graphs" / "refund-desk.plan.yaml"]
        page.upload([(file.name, file.read_bytes()) for file in files])
        page.close()
        yield opened


@dataclass
class Visits:
    """What one session met."""

    seconds: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def look(self, page: ServedPage, began: float) -> None:
        self.seconds.append(time.monotonic() - began)
        self.faults += [element.message for kind, element in page.elements if kind == "exception"]
        self.faults += [text for text in page.words("alert") if "[panel-failed]" in text]


@pytest.mark.slow
def test_sessions_that_browse_at_once_meet_no_fault_and_leave_no_memory_behind(
    server: Server, request: pytest.FixtureRequest, record_property: pytest.RecordProperty
) -> None:
    slow = request.config.getoption("--slow")
    sessions, least, goes_on = (20, 4, 60.0) if slow else (2, 4, 0.0)

    def browse(number: int, until: float = 0.0) -> Visits:
        visits, chosen = Visits(), random.Random(number)
        while len(visits.seconds) < least or time.monotonic() < until:
            began = time.monotonic()
            page = ServedPage(server.address, chosen.choice(PAGES))
            visits.look(page, began)
            for name in chosen.sample(PAGES, 3):
                began = time.monotonic()
                page.go_to(name)
                visits.look(page, began)
            page.close()
        return visits

    browse(0)
    before = server.held_mib()
    with ThreadPoolExecutor(sessions) as people:
        until = time.monotonic() + goes_on
        met = list(people.map(browse, range(1, sessions + 1), repeat(until)))
    seconds = [one for visits in met for one in visits.seconds]
    record_property("visits", len(seconds))
    record_property("p95", quantiles(seconds, n=20)[-1])
    assert [fault for visits in met for fault in visits.faults] == []
    assert server.faults() == []
    assert server.held_mib() - before < GROWTH_MIB


@pytest.mark.slow
def test_every_upload_among_interruptions_and_page_switches_is_answered(server, request) -> None:
    uploads = 200 if request.config.getoption("--slow") else 2
    done = Event()

    def switch(number: int) -> Visits:
        visits, chosen = Visits(), random.Random(number)
        page = ServedPage(server.address, "data")
        while not done.wait(chosen.uniform(*LOOKED_AT)):
            began = time.monotonic()
            page.go_to(chosen.choice(PAGES))
            visits.look(page, began)
        page.close()
        return visits

    def interrupt(page: ServedPage, pause: float) -> None:
        for _ in range(3):
            time.sleep(pause)
            page.interrupt()

    with ThreadPoolExecutor(4) as others:
        switching = [others.submit(switch, number) for number in range(2)]
        try:
            page, visits = ServedPage(server.address, "data"), Visits()
            answered = 0
            chosen = random.Random(7)
            for number in range(uploads):
                name = f"r{number}.jsonl"
                impatient = others.submit(interrupt, page, chosen.uniform(0, 0.5)) if number % 2 else None
                page.upload([(name, a_run(f"r{number}").call("search").finish().ledger())])
                if impatient is not None:
                    impatient.result()
                    page.settle()
                visits.look(page, time.monotonic())
                while page.waits_for_add():  # an interruption stopped it, and the page says so
                    assert set(page.words("alert")) <= {STOPPED}
                    page.add()
                answered += page.words("alert").count(ADDED)
                if number % 10 == 9:  # left in the middle of everything, and opened again
                    page.interrupt()
                    page.close()
                    page = ServedPage(server.address, "data")
            page.close()
        finally:
            done.set()
        faults = [fault for one in switching for fault in one.result().faults] + visits.faults
    assert faults == []
    assert server.faults() == []
    assert answered == uploads
    with Workspace(server.folder) as workspace:
        kept = {run.run_id for run in workspace.read_runs()[0]}
    assert {f"r{number}" for number in range(uploads)} <= kept
