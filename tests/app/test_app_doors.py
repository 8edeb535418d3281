"""Who may open a socket to the app, and what it does not tell."""

from __future__ import annotations

from http.client import HTTPConnection
from pathlib import Path

from served_page import served_app
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect


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
