"""A visitor who comes while the server opens its workspace."""

from __future__ import annotations

import json
import re
from http.client import HTTPConnection
from pathlib import Path

import pytest
import streamlit as st
from served_page import served_app
from sessions import session
from streamlit.testing.v1 import AppTest
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from components.shared import starting
from components.shared.starting import NEEDED, start_page

WAITING = """
from components.shared import starting
starting.wait()
"""


@pytest.fixture
def opened_ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("UNTAKEN_WORKSPACE", str(tmp_path))
    starting.begin().join()
    return tmp_path


def test_the_workspace_is_open_once_the_thread_has_ended(opened_ahead: Path) -> None:
    assert (opened_ahead / "untaken.sqlite3").exists()


def test_nobody_waits_for_a_workspace_that_is_open(
    opened_ahead: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert session(opened_ahead, monkeypatch).title[0].value == "Overview"


def test_a_page_without_a_server_that_opens_ahead_does_not_wait() -> None:
    assert not AppTest.from_string(WAITING).run().exception


def test_the_start_page_loads_ahead_what_shows_the_first_numbers_and_nothing_long() -> None:
    page = start_page()
    scripts = json.loads(re.findall(r"script of (\[.*?\])", page)[0])
    assert [script.split("/")[-1].split(".")[0] for script in scripts] == list(NEEDED)
    files = [Path(st.__file__).parent / "static" / script for script in scripts]
    assert all(file.stat().st_size < 500_000 for file in files)
    assert "BACKEND_BASE_URL" in page


def opens(address: str, origin: str | None) -> bool:
    try:
        with connect(
            f"ws://{address}/_stcore/stream",
            subprotocols=["streamlit"],  # type: ignore[list-item]
            origin=origin,  # type: ignore[arg-type]
        ):
            return True
    except (WebSocketException, OSError):
        return False


def test_a_socket_is_for_pages_of_this_address_alone_and_metrics_are_for_nobody(tmp_path: Path) -> None:
    with served_app(tmp_path / "w", port=8961, log=tmp_path / "log.txt") as (_, address):
        port = address.rpartition(":")[2]
        origins = {
            f"http://{address}": True,
            "http://127.0.0.1:1": False,
            "http://127.0.0.1": False,
            "http://127.0.0.1.example.org": False,
            f"http://example.org:{port}": False,
            "null": False,
            None: False,
        }
        assert {origin: opens(address, origin) for origin in origins} == origins
        asked = HTTPConnection(address, timeout=20)
        for path in ("/_stcore/metrics", "/_stcore/health"):
            asked.request("GET", path)
            answer = asked.getresponse()
            answer.read()
            assert (answer.status == 200) is path.endswith("health")
        asked.close()
