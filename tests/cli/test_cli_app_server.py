"""The server of `untaken app`: what it refuses, its headers, and how it shuts down."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from components.plan import bundle
from untaken.cli.app import free_port

pytest.importorskip("streamlit", reason="the extra untaken[app] is not installed")
connect = pytest.importorskip("websockets.sync.client").connect

ROOT = Path(__file__).parents[2]
STARTS_WITHIN = 60.0
ENDS_WITHIN = 5.0
"""The promise: seconds from SIGTERM to the end of the process."""

BASE = "STREAMLIT_SERVER_BASE_URL_PATH"

Served = tuple[subprocess.Popen[bytes], str]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Served]]:
    running: list[subprocess.Popen[bytes]] = []

    def start(**settings: str) -> Served:
        folder, port = tmp_path_factory.mktemp("workspace"), free_port(8901)
        command = [sys.executable, "-m", "untaken", "app", str(folder), "--port", str(port)]
        environment = os.environ | {"PYTHONPATH": str(ROOT)} | settings
        server = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
        running.append(server)
        address = f"127.0.0.1:{port}"
        end = time.monotonic() + STARTS_WITHIN
        base = f"/{settings[BASE]}" if BASE in settings else ""
        while status(f"http://{address}{base}/_stcore/health") != 200:
            assert time.monotonic() < end, "the app did not start"
            assert server.poll() is None, "the app ended"
            time.sleep(0.2)
        return server, address

    yield start
    for server in running:
        server.kill()
        server.wait()


@pytest.fixture(scope="module")
def address(served: Callable[..., Served]) -> str:
    return served()[1]


def status(url: str, host: str | None = None) -> int | None:
    request = urllib.request.Request(url, headers={"Host": host} if host else {})
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return None


PATHS = ("/", "/_stcore/health", "/data", "/no-such-file.js")


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_tells_browsers_neither_to_guess_types_nor_to_show_it_in_foreign_frames(
    address: str, path: str
) -> None:
    with urllib.request.urlopen(f"http://{address}{path}", timeout=5) as answer:
        headers = answer.headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "frame-ancestors 'self'" in headers["Content-Security-Policy"]
    assert headers["X-Frame-Options"] == "SAMEORIGIN"
    assert headers["Referrer-Policy"] == "same-origin"


def test_the_script_of_plan_graphs_has_an_address_of_its_own_that_browsers_keep(address: str) -> None:
    with urllib.request.urlopen(f"http://{address}/{bundle.address()}", timeout=5) as answer:
        assert answer.read().decode() == bundle.bundle()
        assert "immutable" in answer.headers["Cache-Control"]
        assert answer.headers["Content-Type"].startswith("text/javascript")


@pytest.mark.parametrize("path", ["/", "/run", "/run?run=1"])
def test_a_page_names_its_server_so_that_browsers_need_not_look_for_it(address: str, path: str) -> None:
    with urllib.request.urlopen(f"http://{address}{path}", timeout=5) as answer:
        page = answer.read().decode()
        assert answer.headers["Cache-Control"] == "no-cache"
    assert page.index("BACKEND_BASE_URL") < page.index("static/js/")


def test_pages_behind_a_path_of_a_proxy_name_it_too(served: Callable[..., Served]) -> None:
    _, address = served(**{BASE: "desk"})
    with urllib.request.urlopen(f"http://{address}/desk/run", timeout=5) as answer:
        assert "BACKEND_BASE_URL" in answer.read().decode()


HOSTS = [
    ("localhost:80", 200),
    ("127.0.0.1", 200),
    ("evil.example", 400),
    ("localhost.evil.example", 400),
    ("127.0.0.1.evil.example:8501", 400),
]


@pytest.mark.parametrize("path", ["/", "/_stcore/health"])
@pytest.mark.parametrize(("host", "want"), HOSTS, ids=[host for host, _ in HOSTS])
def test_only_hosts_that_the_app_is_meant_for_are_answered(address, path, host, want) -> None:
    assert status(f"http://{address}{path}", host) == want


def test_more_hosts_can_be_allowed_by_the_servers_own_setting(served: Callable[..., Served]) -> None:
    _, address = served(STREAMLIT_SERVER_ALLOWED_HOSTS="127.0.0.1 review.example")
    assert status(f"http://{address}/", "review.example") == 200
    assert status(f"http://{address}/", "evil.example") == 400


def test_the_workspace_is_opened_before_anybody_visits(served: Callable[..., Served]) -> None:
    server, _ = served()
    folder = Path(list(server.args)[4])
    end = time.monotonic() + STARTS_WITHIN
    while not (folder / "untaken.sqlite3").exists():
        assert time.monotonic() < end, "no workspace"
        time.sleep(0.2)


@pytest.mark.skipif(os.name != "posix", reason="SIGTERM is of POSIX")
def test_the_app_ends_in_time_while_a_page_is_open(served: Callable[..., Served]) -> None:
    from streamlit.proto.BackMsg_pb2 import BackMsg

    server, address = served()
    asked = BackMsg()
    asked.rerun_script.query_string = ""
    with connect(
        f"ws://{address}/_stcore/stream",
        subprotocols=["streamlit"],
        origin=f"http://{address}",
        max_size=None,
    ) as page:
        page.send(asked.SerializeToString())
        page.recv(timeout=STARTS_WITHIN)
        server.send_signal(signal.SIGTERM)
        server.wait(ENDS_WITHIN)


STUCK = """
import asyncio, signal, time
signal.signal(signal.SIGTERM, lambda *_: None)
from server import app, ending_in_time
async def serve():
    async with ending_in_time(app):
        print("up", flush=True)
        while True:
            time.sleep(1)
asyncio.run(serve())
"""


@pytest.mark.skipif(os.name != "posix", reason="SIGTERM is of POSIX")
def test_no_temporary_file_is_left_when_the_app_ends_or_starts_again(served, tmp_path) -> None:
    server, _ = served(TMPDIR=str(tmp_path))
    assert len(list(tmp_path.glob("untaken-*"))) == 1
    server.kill()
    server.wait()
    again, _ = served(TMPDIR=str(tmp_path))
    assert len(list(tmp_path.glob("untaken-*"))) == 1
    again.terminate()
    again.wait(ENDS_WITHIN)
    assert list(tmp_path.glob("untaken-*")) == []


@pytest.mark.skipif(os.name != "posix", reason="SIGTERM is of POSIX")
def test_work_that_does_not_let_go_is_left_behind() -> None:
    with subprocess.Popen([sys.executable, "-c", STUCK], cwd=ROOT, stdout=subprocess.PIPE) as stuck:
        assert stuck.stdout.readline() == b"up\n"
        stuck.send_signal(signal.SIGTERM)
        assert stuck.wait(ENDS_WITHIN) == 128 + signal.SIGTERM
