"""Uploads on disk: what a browser sends goes to a file as it comes, and never into memory as a whole.

Where the disk refuses it, the answer and the page say so.
"""

from __future__ import annotations

import re
from errno import EDQUOT, EFBIG, ENOSPC
from typing import BinaryIO, Final, cast

from starlette.datastructures import Headers, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config
from streamlit.runtime import Runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile, UploadedFileRec

from untaken.errors import UntakenError, disk_trouble

_PLACE: Final = re.compile(r"/_stcore/upload_file/(?P<session>[^/]+)/(?P<file>[^/]+)\Z")
_NAME: Final = re.compile(rb'filename="([^"\r\n]*)"')
_FRAMING_BYTES: Final = 1 << 20
_MOST_REFUSED: Final = 100
"""Files whose refusal waits for a page; a session that went away never asks."""
_refused: Final[list[tuple[str, str, UntakenError]]] = []
"""Session, file and what the disk refused."""
_BOUNDARY: Final = b"untaken"
_EMPTY: Final = (
    b'--%b\r\nContent-Disposition: form-data; name="file"; filename="upload"\r\n\r\n\r\n--%b--\r\n'
    % (_BOUNDARY, _BOUNDARY)
)


class SpooledBytes(bytes):
    """The content of an upload that is on disk: no bytes, but a file, closed with the last reference.

    Streamlit keeps it as the content of the upload, and drops it with the upload or its session.
    """

    file: BinaryIO

    @classmethod
    def of(cls, file: BinaryIO) -> SpooledBytes:
        """Reads from an open temporary file."""
        made = cls()
        made.file = file
        return made

    def rewound(self) -> BinaryIO:
        """The file, from its beginning."""
        self.file.seek(0)
        return self.file


def opened(file: UploadedFile) -> BinaryIO:
    """The content of an upload, from its beginning: what Streamlit itself has of it is empty."""
    context = get_script_run_ctx()
    records = context.uploaded_file_mgr.get_files(context.session_id, [file.file_id]) if context else []
    # An upload that was taken out, or whose session has ended.
    content = next((record.data for record in records), b"")
    if isinstance(content, SpooledBytes):
        return content.rewound()
    file.seek(0)
    return file


def take_refused(session: str) -> list[tuple[str, UntakenError]]:
    """The files of a session that the disk refused since it was last asked."""
    found = [(name, error) for of, name, error in _refused if of == session]
    _refused[:] = [each for each in _refused if each[0] != session]
    return found


class SpooledUploads:
    """ASGI middleware that takes the content out of an upload before Streamlit reads it into memory."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
        place = _PLACE.search(scope["path"]) if scope["type"] == "http" else None
        if place is None or scope["method"] != "PUT" or not _is_welcome(scope, place["session"]):
            await self._app(scope, receive, send)
            return
        try:
            upload = await _spooled(scope, receive)
        except (HTTPException, ClientDisconnect) as error:
            status = error.status_code if isinstance(error, HTTPException) else 400
            await PlainTextResponse("The upload was not read.", status)(scope, receive, send)
            return
        except _Refused as refused:
            _refused.append((place["session"], refused.name, disk_trouble(refused.error)))
            del _refused[:-_MOST_REFUSED]  # a session that never asks must not fill the memory
            _draw_again(place["session"])
            full = refused.error.errno in (ENOSPC, EDQUOT, EFBIG)
            answer = PlainTextResponse(f"Not received: {disk_trouble(refused.error)}", 507 if full else 500)
            await answer(scope, receive, send)
            return
        record = UploadedFileRec(
            file_id=place["file"],
            name=upload.filename or "",
            type=upload.content_type or "application/octet-stream",
            data=SpooledBytes.of(upload.file),
        )

        async def send_and_keep(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 204:
                manager = cast(MemoryUploadedFileManager, Runtime.instance().uploaded_file_mgr)
                # Before the answer: with it, the browser has the page run, which reads this record.
                manager.add_file(place["session"], record)
            await send(message)

        sent = False

        async def receive_empty() -> Message:
            nonlocal sent
            if sent:
                return await receive()
            sent = True
            return {"type": "http.request", "body": _EMPTY, "more_body": False}

        # Streamlit checks the same request with an empty file; its record then gets the file on disk.
        await self._app(_with_empty_body(scope), receive_empty, send_and_keep)


def _most_bytes() -> int:
    return int(config.get_option("server.maxUploadSize")) << 20


def _is_welcome(scope: Scope, session: str) -> bool:
    """False for what Streamlit refuses before it reads the content; nothing is put on disk then."""
    # Without a length it is stopped where it grows too long.
    length = Headers(scope=scope).get("content-length", "0")
    fits = length.isdecimal() and int(length) <= _most_bytes()
    return fits and Runtime.exists() and Runtime.instance().is_active_session(session)


def _draw_again(session: str) -> None:
    """Runs the page of a session again: a browser asks for it only after an upload that arrived."""
    # Streamlit has no public way; it does the same where a script has changed.
    if (held := Runtime.instance()._session_mgr.get_active_session_info(session)) is not None:
        held.session.request_rerun(held.session._client_state)


class _Refused(Exception):
    """The disk does not take an upload; all of it was read."""

    def __init__(self, name: str, error: OSError) -> None:
        super().__init__(name)
        self.name = name
        self.error = error


async def _spooled(scope: Scope, receive: Receive) -> UploadFile:
    """The one file of a request, on disk unless it is small.

    Raises:
        HTTPException: it is too large, or not one file.
        _Refused: the disk does not take it.
    """
    most, read, head, ended = _most_bytes(), 0, b"", False

    async def bounded() -> Message:
        nonlocal read, head, ended
        message = await receive()
        read += len(message.get("body", b""))
        head = head or message.get("body", b"")  # the first part names the file, should the disk refuse it
        ended = not message.get("more_body")
        if read > most + _FRAMING_BYTES:
            raise HTTPException(413)
        return message

    try:
        form = await Request(scope, bounded).form(max_files=1, max_fields=10)
    except OSError as error:
        while not ended:  # a browser hears no answer before it has sent all
            await bounded()
        found = _NAME.search(head)
        raise _Refused(found[1].decode("utf-8", "replace") if found else "", error) from None
    files = [value for value in form.values() if isinstance(value, UploadFile)]
    if len(files) != 1 or (files[0].size or 0) > most:
        await form.close()
        raise HTTPException(413 if files else 400)
    return files[0]


def _with_empty_body(scope: Scope) -> Scope:
    replaced = (b"content-type", b"content-length", b"transfer-encoding")
    kept = [(name, value) for name, value in scope["headers"] if name not in replaced]
    own = [
        (b"content-type", b"multipart/form-data; boundary=" + _BOUNDARY),
        (b"content-length", str(len(_EMPTY)).encode()),
    ]
    return {**scope, "headers": [*kept, *own]}
