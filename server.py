"""What `untaken app` serves: the app, for the hosts it is meant for, with headers that browsers obey."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from posixpath import join
from threading import Thread, Timer
from types import FrameType
from typing import Final
from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose
from streamlit import config
from streamlit.runtime.pages_manager import PagesManager
from streamlit.starlette import App

from components.plan.bundle import SERVED, bundle
from components.shared import starting
from components.shared.navigation import FIRST, PAGES
from components.shared.spooling import SpooledUploads
from components.shared.starting import start_page
from untaken.app_folder import TEMPORARY
from untaken.workspace.scratch_folder import ScratchFolder

SECONDS_TO_END: Final = 4.0
"""After SIGTERM; a page that still computes is then left behind. What is written is safe at any moment."""
SECONDS_TO_REMOVE: Final = 0.5
"""For temporary files after that; what is left is removed by the next server."""
SCRATCH: Final = "untaken-app-"
"""How the name of a server's folder for temporary files begins."""

HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
    "Content-Security-Policy": "frame-ancestors 'self'; object-src 'none'; base-uri 'self'",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
"""Streamlit's own pages need inline scripts and styles, so that a policy cannot forbid these."""


class SecurityHeaders:
    """ASGI middleware: every answer has `HEADERS`; behind TLS, browsers send its cookies over TLS alone."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                if behind_tls() and "set-cookie" in headers:
                    message["headers"] = [_kept_to_tls(*header) for header in headers.raw]
            await send(message)

        await self._app(scope, receive, send_with_headers if scope["type"] == "http" else send)


@cache
def behind_tls() -> bool:
    """Whether people sign in at an https address: this server speaks no TLS, but a proxy before it does."""
    auth = st.secrets.get("auth", {}) if st.secrets.load_if_toml_exists() else {}
    return str(auth.get("redirect_uri", "")).startswith("https:")


def _kept_to_tls(name: bytes, value: bytes) -> tuple[bytes, bytes]:
    if name != b"set-cookie" or b"; secure" in value.lower():
        return name, value
    return name, value + b"; Secure"


class OwnPagesOnly:
    """ASGI middleware: a socket is for pages of this very address, port included; metrics are for nobody."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
        if scope["type"] == "websocket" and not _is_own(Headers(scope=scope)):
            await WebSocketClose(code=1008, reason="not a page of this server")(scope, receive, send)
        elif scope["type"] == "http" and scope["path"].endswith("/_stcore/metrics"):
            await Response(status_code=404)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _is_own(headers: Headers) -> bool:
    """Whether the origin is the host that was asked for; a proxy may leave the port out of that."""
    origin = urlsplit(headers.get("origin", ""))
    # A proxy may serve the app under another address; then Streamlit's own setting names its origin.
    if f"{origin.scheme}://{origin.netloc}" in config.get_option("server.corsAllowedOrigins"):
        return True
    asked = {headers.get("host", ""), headers.get("x-forwarded-host", "")} - {""}
    return bool(origin.netloc) and not asked.isdisjoint({origin.netloc, origin.hostname})


@asynccontextmanager
async def ending_in_time(_: App) -> AsyncIterator[None]:
    """The workspace is opened ahead; SIGTERM starts a clock: the process ends, whatever a page still does.

    A demo, all private areas and all temporary files are removed.
    """
    stop = signal.getsignal(signal.SIGTERM)
    scratch, before = ScratchFolder(SCRATCH), tempfile.tempdir
    # Libraries make temporary files where they like: all of them go with the server.
    tempfile.tempdir = str(scratch.path)

    def leave(code: int) -> None:
        # In a thread: the server ends in time, even if there are many files to remove.
        removing = Thread(target=scratch.remove, daemon=True)
        removing.start()
        removing.join(SECONDS_TO_REMOVE)
        # Not `sys.exit`: the interpreter would wait for pages that still compute.
        os._exit(code)

    def end(number: int, frame: FrameType | None) -> None:
        clock = Timer(SECONDS_TO_END, leave, [128 + number])
        clock.daemon = True  # a server that ends by itself does not wait for the clock
        clock.start()
        if callable(stop):  # the web server's own, which closes its connections
            stop(number, frame)

    signal.signal(signal.SIGTERM, end)
    ahead = starting.begin()
    yield
    with starting.given_up(ahead, SECONDS_TO_END / 2):
        from components.shared.private_session import close_all  # noqa: PLC0415 (loaded by then, slow before)

        close_all()
        if temporary := os.environ.get(TEMPORARY):
            shutil.rmtree(temporary, ignore_errors=True)
        tempfile.tempdir = before
        scratch.remove()


def vis(_: Request) -> Response:
    """The script that draws plan graphs."""
    # A browser may keep it for ever: another script has another address.
    keep = {"Cache-Control": "public, max-age=31536000, immutable"}
    return Response(bundle(), media_type="text/javascript", headers=keep)


def page(_: Request) -> Response:
    """What a page begins with."""
    # To be asked for each time: it changes with Streamlit, and its address does not.
    return HTMLResponse(start_page(), headers={"Cache-Control": "no-cache"})


def first_page(asked: Request) -> Response:
    """The first page is at the bare address: a link to it by its name leads there, with its selection."""
    return RedirectResponse(f"./?{asked.url.query}" if asked.url.query else "./")


SERVED.set()
PagesManager.uses_pages_directory = False  # else a first visitor of `/run` gets `pages/run.py` without app.py
BASE: Final = join("/", config.get_option("server.baseUrlPath"))
OTHERS = [name for name, _ in PAGES if name != FIRST]
app = App(
    "app.py",
    lifespan=ending_in_time,
    routes=[
        Route(join(BASE, "untaken/vis/{digest}.js"), vis),
        Route(join(BASE, FIRST), first_page),
        *(Route(join(BASE, name), page) for name in ("", *OTHERS)),
    ],
    middleware=[
        # The first is the outermost: refusals of the others have the headers, too.
        Middleware(SecurityHeaders),
        Middleware(OwnPagesOnly),
        Middleware(
            TrustedHostMiddleware,
            allowed_hosts=config.get_option("server.allowedHosts") or ["*"],
            www_redirect=False,  # a host that is not allowed is refused, and hears of none that is
        ),
        Middleware(SpooledUploads),
    ],
)
