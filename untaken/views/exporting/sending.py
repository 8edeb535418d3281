"""Sends lines to the tool that takes them: a request each, with a key that only the environment holds."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterable, Mapping
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
SECONDS: Final = 30
MOST_BYTES: Final = 1 << 20
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class _NoRedirects(HTTPRedirectHandler):
    """A key is for one address: another one that it names would get it, too."""

    def redirect_request(self, *_: object, **__: object) -> None:
        """Follows nothing."""


def send_lines(lines: Iterable[str], url: str, to: str) -> tuple[int, int]:
    """Posts each line; gives how many were sent, and how many results in them were refused.

    Raises:
        UntakenError: ``export-address`` for one that is not https or this machine's; ``export-not-sent``,
            which never tells the key.
    """
    opener, where = build_opener(_NoRedirects), Where(file=url)
    parts = urlsplit(url)
    if parts.username or not (
        parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
    ):
        hint = f"Use https://…, or http://127.0.0.1:PORT; the key belongs in {KEY}."
        raise UntakenError("export-address", "results are not sent to this address", where=where, hint=hint)
    headers = {"Content-Type": "application/json", **_authorization(to)}
    sent = refused = 0
    for line in lines:
        address = url.rstrip("/") + PATHS[to]
        request = Request(address, data=line.encode(), headers=headers)  # noqa: S310 - https or this machine
        try:
            with opener.open(request, timeout=SECONDS) as answer:
                refused += _refused(answer.read(MOST_BYTES))
        except HTTPError as error:
            raise _not_sent(f"the server answers {error.code}", where, sent) from None
        except (URLError, HTTPException, OSError) as error:
            reason = error.reason if isinstance(error, URLError) else error
            raise _not_sent(f"the server cannot be reached: {type(reason).__name__}", where, sent) from None
        sent += 1
    return sent, refused


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
    except ValueError:
        return 0
    errors = found.get("errors") if isinstance(found, dict) else None
    return len(errors) if isinstance(errors, list) else 0


def _not_sent(message: str, where: Where, sent: int) -> UntakenError:
    hint = f"{sent:,} requests were sent. Check the address and {KEY}; sending again replaces what is there."
    return UntakenError("export-not-sent", message, where=where, hint=hint)
