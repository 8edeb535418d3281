"""A page of the served app, used over its own protocol: quick, and without a browser."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from http.client import HTTPConnection
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO
from uuid import uuid4

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.sync.client import connect

from untaken.cli.app import free_port

PATIENCE = 300.0
ROOT = Path(__file__).parents[1]
_BOUNDARY = "served-page"


@contextmanager
def served_app(folder: Path, *, port: int, log: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """The app on a folder, as `untaken app` serves it: its process and its address."""
    port = free_port(port)
    command = [sys.executable, "-m", "untaken", "app", str(folder), "--port", str(port)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with log.open("wb") as out, subprocess.Popen(command, env=environment, stdout=out, stderr=out) as started:
        end = time.monotonic() + PATIENCE
        while not _answers(f"http://127.0.0.1:{port}/_stcore/health"):
            assert started.poll() is None, "the app ended"
            assert time.monotonic() < end, "the app did not start"
        yield started, f"127.0.0.1:{port}"
        started.terminate()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        time.sleep(0.2)
        return False


class ServedPage:
    """An open page: the elements that its last run drew, by kind."""

    def __init__(self, address: str, name: str) -> None:
        self._address = address
        with closing(HTTPConnection(address, timeout=PATIENCE)) as connection:
            connection.request("GET", "/_stcore/health")
            given = connection.getresponse().headers.get_all("Set-Cookie") or []
        self._cookie = "; ".join(cookie.split(";")[0] for cookie in given)
        found = re.search(r"xsrf=([^;]+)", self._cookie)
        self._token = found[1] if found else ""
        self._opened = ExitStack()
        self._socket = self._opened.enter_context(
            connect(
                f"ws://{address}/_stcore/stream",
                subprotocols=["streamlit"],  # type: ignore[list-item]
                max_size=None,
                additional_headers={"Cookie": self._cookie, "Origin": f"http://{address}"},
            )
        )
        self._script = self._session = ""
        self._asking = Lock()
        self._chosen: list[WidgetState] = []
        self.elements: list[tuple[str, Any]] = []
        asked = BackMsg()
        asked.rerun_script.page_name = name
        self._socket.send(asked.SerializeToString())
        self.drawn()

    def close(self) -> None:
        self._opened.close()

    def words(self, kind: str) -> list[str]:
        """The words of each element of a kind, such as ``text`` or ``alert``."""
        return [element.body for found, element in self.elements if found == kind]

    def upload(self, files: Sequence[tuple[str, bytes]]) -> None:
        """Chooses files in the page's uploader and presses its button."""
        uploader = next(element for kind, element in self.elements if kind == "file_uploader")
        state = WidgetState(id=uploader.id)
        for name, content in files:
            chosen = state.file_uploader_state_value.uploaded_file_info.add()
            chosen.file_id = chosen.file_urls.file_id = self.put(name, BytesIO(content), len(content))
            chosen.name, chosen.size = name, len(content)
        self._rerun(state)
        self.add()

    def add(self) -> None:
        """Presses the uploader's button, with the files that are chosen."""
        button = self._add_button()
        assert button is not None, "no file is chosen"
        self._rerun(*self._chosen, WidgetState(id=button.id, trigger_value=True))

    def waits_for_add(self) -> bool:
        """Whether files are chosen and not added."""
        return self._add_button() is not None

    def _add_button(self) -> Any:
        buttons = (element for kind, element in self.elements if kind == "button")
        return next((one for one in buttons if re.match(r"Add \d+ file", one.label)), None)

    def put(self, name: str, content: BinaryIO, size: int) -> str:
        """Sends the content of a file, as a browser does before anything is pressed; gives its id."""
        file_id = str(uuid4())
        assert self.answer_to(name, content, size, file_id)[0] == 204
        return file_id

    def answer_to(self, name: str, content: BinaryIO, size: int, file_id: str = "x") -> tuple[int, str]:
        """Status and words that the server answers with to the content of a file."""
        quoted = name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
        disposition = f'Content-Disposition: form-data; name="file"; filename="{quoted}"'
        head = f"--{_BOUNDARY}\r\n{disposition}\r\n\r\n".encode()
        tail = f"\r\n--{_BOUNDARY}--\r\n".encode()
        headers = {
            "Content-Type": f"multipart/form-data; boundary={_BOUNDARY}",
            "Content-Length": str(len(head) + size + len(tail)),
            "Cookie": self._cookie,
            "X-Xsrftoken": self._token,
        }
        with closing(HTTPConnection(self._address, timeout=PATIENCE)) as connection:
            connection.putrequest("PUT", f"/_stcore/upload_file/{self._session}/{file_id}")
            for header, value in headers.items():
                connection.putheader(header, value)
            connection.endheaders()
            connection.send(head)
            while piece := content.read(1 << 20):
                connection.send(piece)
            connection.send(tail)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

    def go_to(self, name: str) -> None:
        """Opens another page of the app in this session."""
        asked = BackMsg()
        asked.rerun_script.page_name = name
        self._socket.send(asked.SerializeToString())
        self.drawn()

    def interrupt(self) -> None:
        """Asks for another run with what is chosen and does not wait for it, as an impatient person does."""
        with self._asking:
            self._socket.send(self._asked(self._chosen).SerializeToString())

    def settle(self) -> None:
        """Reads what interruptions still bring, then runs the page once more."""
        with suppress(TimeoutError):
            while True:
                self._socket.recv(timeout=1)
        self._rerun(*self._chosen)

    def _rerun(self, *states: WidgetState) -> None:
        with self._asking:  # an interruption never sends what was chosen before
            self._chosen = [state for state in states if state.WhichOneof("value") != "trigger_value"]
            self._socket.send(self._asked(states).SerializeToString())
        self.drawn()

    def _asked(self, states: Sequence[WidgetState]) -> BackMsg:
        asked = BackMsg()
        asked.rerun_script.page_script_hash = self._script
        asked.rerun_script.widget_states.widgets.extend(states)
        return asked

    def drawn(self) -> None:
        """Reads until the page is drawn; a run that asks for another one goes on."""
        while True:
            message = ForwardMsg()
            message.ParseFromString(self._socket.recv(timeout=PATIENCE))  # type: ignore[arg-type]
            kind = message.WhichOneof("type")
            if kind == "new_session":
                self._session = message.new_session.initialize.session_id or self._session
                self.elements = []
            elif kind == "navigation":
                self._script = message.navigation.page_script_hash
            elif kind == "delta" and message.delta.HasField("new_element"):
                element = message.delta.new_element
                self.elements.append((str(found := element.WhichOneof("type")), getattr(element, str(found))))
            elif kind == "script_finished" and message.script_finished == 0:
                drawn = {getattr(element, "id", "") for _, element in self.elements}
                self._chosen = [state for state in self._chosen if state.id in drawn]  # as a browser does
                return
