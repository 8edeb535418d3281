"""A model's address may be anybody's: what it sends has a length, and an answer has a deadline."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from time import sleep
from typing import Annotated

import msgspec
import pytest

from untaken import limits
from untaken.errors import Unscored
from untaken.judging.asking import ModelAccess, Question, ReplyStore, Template

pytest.importorskip("pydantic_ai", reason="the extra untaken[judge] is not installed")

PIECE = b" " * 64 * limits.KIB


class Colour(msgspec.Struct, frozen=True):
    colour: Annotated[str, msgspec.Meta(max_length=10)]


QUESTION = Question(
    template=Template(name="colour", version=1, text="Answer."), prompt="Which?", output=Colour
)


class Endpoint(BaseHTTPRequestHandler):
    """Answers every request with the pieces of `body`, for as long as anybody listens."""

    body: Iterator[bytes]
    pause = 0.0
    encoding = "identity"
    sent = 0

    def do_POST(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Encoding", self.encoding)
        self.end_headers()
        try:
            for piece in self.pieces():
                self.wfile.write(piece)
                type(self).sent += len(piece)
                sleep(self.pause)
        except OSError:
            self.close_connection = True

    @staticmethod
    def pieces() -> Iterator[bytes]:
        while True:
            yield PIECE

    def log_message(self, format: str, *args: object) -> None:
        pass


def drip() -> Iterator[bytes]:
    while True:
        yield b" "


def bomb() -> Iterator[bytes]:
    yield gzip.compress(b" " * 8 * limits.MIB)


@pytest.fixture
def ask(tmp_path: Path) -> Iterator[Callable[[type[Endpoint]], Unscored]]:
    """Asks an endpoint, which is served meanwhile, and gives why there is no answer."""
    servers: list[ThreadingHTTPServer] = []

    def asked(kind: type[Endpoint]) -> Unscored:
        server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
        servers.append(server)
        Thread(target=server.serve_forever, daemon=True).start()
        with ModelAccess(f"http://127.0.0.1:{server.server_port}/v1#m", ReplyStore(tmp_path)) as model:
            answer = model.ask(QUESTION)
        assert isinstance(answer, Unscored)
        return answer

    yield asked
    for server in servers:
        server.shutdown()
        server.server_close()


def test_of_an_endless_reply_no_more_than_the_limit_is_read(ask, monkeypatch) -> None:
    monkeypatch.setattr(limits, "MODEL_REPLY_BYTES", limits.MIB)
    endless = type("Endless", (Endpoint,), {})
    assert "longer than 1 MiB" in ask(endless).reason
    assert endless.sent < 64 * limits.MIB  # the limit, a few attempts, and what sockets hold


def test_a_compressed_reply_is_not_unpacked(ask: Callable[[type[Endpoint]], Unscored]) -> None:
    packed = type("Packed", (Endpoint,), {"encoding": "gzip", "pieces": staticmethod(bomb)})
    assert "compressed" in ask(packed).reason


def test_a_reply_that_drips_has_a_deadline(ask, monkeypatch) -> None:
    monkeypatch.setattr(limits, "MODEL_ANSWER_SECONDS", 2.0)
    dripping = type("Dripping", (Endpoint,), {"pause": 0.05, "pieces": staticmethod(drip)})
    assert "within 2 seconds" in ask(dripping).reason
