"""The server is killed while files are added: what is there is sound, and adding them again completes it."""

from __future__ import annotations

import io
import sys
import time
import zipfile
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Final

import pytest
from builders import a_run
from served_page import ServedPage, served_app
from websockets.exceptions import ConnectionClosed

from untaken.workspace import Workspace
from untaken.workspace.intake import take_in

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc"),
    pytest.mark.database("sqlite"),
]
KILLS: Final = 12
LEDGERS: Final = 200
RUNS: Final = {f"r{number}" for number in range(LEDGERS)}
CHAT: Final = b'[{"role": "user", "content": "hello"}, {"role": "assistant", "content": "done"}]'


@pytest.fixture(scope="module")
def archive() -> bytes:
    """Ledgers of one run each, a plan graph, and traces that are converted."""
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w") as opened:
        for run in sorted(RUNS):
            opened.writestr(f"{run}.jsonl", a_run(run).call("search").finish().ledger())
            opened.writestr(f"traces/{run}.json", CHAT)
    return kept.getvalue()


def upload(folder: Path, archive: bytes, *, killed_after: float | None = None) -> float:
    """Uploads an archive through the page; gives the seconds from the first byte until it is added."""

    def add() -> None:
        with suppress(ConnectionClosed, OSError):  # the server is gone
            page.upload([("all.zip", archive)])

    with served_app(folder, port=8760, log=folder.with_suffix(".log")) as (server, address):
        page, uploading = ServedPage(address, "data"), Thread(target=add)
        began = time.monotonic()
        uploading.start()
        uploading.join(killed_after)
        if killed_after is not None:
            server.kill()
            server.wait()
            uploading.join()
        return time.monotonic() - began


def wait_for_its_processes(folder: Path) -> None:
    """What the server started ends by itself once nobody is there to ask for it."""
    end = time.monotonic() + 60
    while any(str(folder).encode() in words for words in _open_files()):
        assert time.monotonic() < end, "a process of the killed server goes on"
        time.sleep(0.1)


def _open_files() -> list[bytes]:
    found = []
    for opened in Path("/proc").glob("[0-9]*/fd/*"):
        with suppress(OSError):  # it has ended
            found.append(str(opened.readlink()).encode())
    return found


def run_ids(folder: Path) -> list[str]:
    """Of all runs; each ledger is intact."""
    with Workspace(folder) as store:
        assert store.diagnose().healthy
        runs, findings = store.read_runs()
    assert [finding for finding in findings if finding.severity == "error"] == []
    assert {run.integrity.verdict for run in runs} <= {"INTACT"}
    return [run.run_id for run in runs]


def test_wherever_the_server_is_killed_while_files_are_added_each_is_there_whole_or_not_at_all(
    tmp_path: Path, archive: bytes
) -> None:
    takes = upload(tmp_path / "whole", archive)
    everything = sorted(run_ids(tmp_path / "whole"))
    assert set(everything) >= RUNS
    for number in range(KILLS):
        folder = tmp_path / f"killed-{number}"
        upload(folder, archive, killed_after=takes * (number + 1) / (KILLS + 1))
        wait_for_its_processes(folder)
        found = run_ids(folder)
        assert len(found) == len(set(found))
        assert set(found) <= set(everything)
        with Workspace(folder) as store:
            take_in(store, [("all.zip", archive)])
        assert sorted(run_ids(folder)) == everything
