"""A page of the served app, used over its own protocol: quick, and without a browser."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from io import BytesIO
from typing import Any, BinaryIO
from uuid import uuid4

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.sync.client import connect

PATIENCE = 300.0
_BOUNDARY = "served-page"


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
        self.elements: list[tuple[str, Any]] = []
        asked = BackMsg()
        asked.rerun_script.page_name = name
        self._run(asked)

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
        button = next(
            e for kind, e in self.elements if kind == "button" and re.match(r"Add \d+ file", e.label)
        )
        self._rerun(state, WidgetState(id=button.id, trigger_value=True))

    def put(self, name: str, content: BinaryIO, size: int) -> str:
        """Sends the content of a file, as a browser does before anything is pressed; gives its id."""
        quoted = name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
        disposition = f'Content-Disposition: form-data; name="file"; filename="{quoted}"'
        head = f"--{_BOUNDARY}\r\n{disposition}\r\n\r\n".encode()
        tail = f"\r\n--{_BOUNDARY}--\r\n".encode()
        file_id = str(uuid4())
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
            assert connection.getresponse().status == 204
        return file_id

    def _rerun(self, *states: WidgetState) -> None:
        asked = BackMsg()
        asked.rerun_script.page_script_hash = self._script
        asked.rerun_script.widget_states.widgets.extend(states)
        self._run(asked)

    def _run(self, asked: BackMsg) -> None:
        """Asks for a run, and reads until the page is drawn; a run that asks for another one goes on."""
        self._socket.send(asked.SerializeToString())
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
                return
