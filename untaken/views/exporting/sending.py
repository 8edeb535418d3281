"""Sends lines to the tool that takes them: a request each, with a key that only the environment holds."""

from __future__ import annotations

import base64
import json
import os
import time
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from http.client import HTTPException
from typing import Final
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from untaken.errors import UntakenError, Where

KEY: Final = "UNTAKEN_EXPORT_KEY"
"""Where the key is: of Langfuse ``PUBLIC:SECRET``. It is sent to the address named, and nowhere else."""
PATHS: Final[Mapping[str, str]] = {
    "langfuse": "/api/public/ingestion",
    "phoenix": "/v1/trace_annotations",
    "otel": "/v1/traces",
}
ONE_SCORE: Final = "/api/public/scores"
"""Takes one score of Langfuse, where the address for many, which its SDK uses, is gone (it is deprecated)."""
_GONE: Final = (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.GONE)
_INVALID: Final = (HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY)
SECONDS: Final = 30
TRIES: Final = 5
MOST_BYTES: Final = 1 << 20
DIGITS: Final = 10
"""Of a number of seconds: Python refuses to read one of thousands of digits."""
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class _NoRedirects(HTTPRedirectHandler):
    """A key is for one address: another one that it names would get it, too."""

    def redirect_request(self, *_: object, **__: object) -> None:
        """Follows nothing."""


def send_lines(lines: Iterable[str], url: str, to: str) -> tuple[int, int]:
    """Posts each line; gives how many requests were sent, and how many results in them were refused.

    Raises:
        UntakenError: ``export-address`` for one that is not https or this machine's; ``export-not-sent``,
            which never tells the key.
    """
    parts = urlsplit(url)
    # A password in the address would be printed with it, in errors.
    if parts.username or not (
        parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
    ):
        hint = f"Use https://…, or http://127.0.0.1:PORT; the key belongs in {KEY}."
        where = Where(file=url)
        raise UntakenError("export-address", "results are not sent to this address", where=where, hint=hint)
    sender = _Sender(url, to)
    for line in lines:
        sender.send(line)
    return sender.sent, sender.refused


class _Sender:
    """Posts to one address, and counts.

    Attributes:
        sent: requests that were taken; `refused`: results that were not.
    """

    def __init__(self, url: str, to: str) -> None:
        self.sent = self.refused = 0
        self._url, self._to, self._many = url, to, True
        self._headers = {"Content-Type": "application/json", **_authorization(to)}
        self._opener = build_opener(_NoRedirects)

    def send(self, line: str) -> None:
        """Sends the results of a line, one by one where they are no longer taken together.

        Raises:
            UntakenError: ``export-not-sent``.
        """
        if self._many:
            code = self._post(PATHS[self._to], line)
            if code is None:
                return
            if self._to != "langfuse" or code not in _GONE:  # the others have no second address
                raise self._failed(f"the server answers {code}")
            self._many = False
        for event in json.loads(line)["batch"]:
            code = self._post(ONE_SCORE, json.dumps(event["body"], ensure_ascii=False))
            if code in _INVALID:
                self.refused += 1
            elif code is not None:
                raise self._failed(f"the server answers {code}")

    def _post(self, path: str, body: str) -> int | None:
        """Sends one request, again where the server asks to wait; gives its code where it was not taken."""
        address = self._url.rstrip("/") + path
        for last in (*[False] * (TRIES - 1), True):
            request = Request(address, data=body.encode(), headers=self._headers)  # noqa: S310 - as checked
            try:
                with self._opener.open(request, timeout=SECONDS) as answer:
                    self.refused += _refused(answer.read(MOST_BYTES))
                self.sent += 1
                return None
            except HTTPError as error:
                if error.code != HTTPStatus.TOO_MANY_REQUESTS or last:
                    return error.code
                time.sleep(_wait(error.headers.get("Retry-After")))
            except (URLError, HTTPException, OSError) as error:
                # Only the kind of error is shown: its text may repeat what was sent.
                reason = error.reason if isinstance(error, URLError) else error
                raise self._failed(f"the server cannot be reached: {type(reason).__name__}") from None
        return None

    def _failed(self, message: str) -> UntakenError:
        """That not all was sent."""
        hint = f"{self.sent:,} requests were sent. Check the address and {KEY}; sending again replaces them."
        return UntakenError("export-not-sent", message, where=Where(file=self._url), hint=hint)


def _wait(asked: str | None) -> float:
    """Seconds until the next try: what the server asks for, within bounds."""
    most = SECONDS * 2
    if asked is None or not asked.isdecimal():
        return 1.0
    return min(int(asked), most) if len(asked) < DIGITS else most


def _authorization(to: str) -> dict[str, str]:
    key = os.environ.get(KEY, "")
    if not key:
        return {}
    if not (key.isascii() and key.isprintable()):
        message = f"the key in {KEY} has characters that no key has"
        raise UntakenError("export-key", message, hint="Perhaps a line break was copied with it.")
    if to == "langfuse":
        return {"Authorization": f"Basic {base64.b64encode(key.encode()).decode()}"}
    return {"Authorization": f"Bearer {key}"}


def _refused(body: bytes) -> int:
    """How many results Langfuse lists as errors in its answer."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return 0
    errors = found.get("errors") if isinstance(found, dict) else None
    return len(errors) if isinstance(errors, list) else 0
