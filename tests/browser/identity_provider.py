"""A small OpenID Connect provider: who visits it chooses an account, without a password."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Final
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT: Final = "untaken"
SECRET: Final = "known to both"
KEY: Final = RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"})


@contextmanager
def identity_provider(*accounts: dict[str, Any]) -> Iterator[str]:
    """Serves these accounts, each with at least ``sub`` and ``email``; gives the provider's address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Provider)
    server.accounts = {account["email"]: account for account in accounts}  # type: ignore[attr-defined]
    server.address = f"http://127.0.0.1:{server.server_port}"  # type: ignore[attr-defined]
    server.asked = {}  # type: ignore[attr-defined]
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.address  # type: ignore[attr-defined]
    finally:
        server.shutdown()
        server.server_close()


class _Provider(BaseHTTPRequestHandler):
    server: Any

    def do_GET(self) -> None:
        asked = urlsplit(self.path)
        given = {name: values[0] for name, values in parse_qs(asked.query).items()}
        match asked.path:
            case "/.well-known/openid-configuration":
                self._say(self._metadata())
            case "/keys":
                self._say({"keys": [KEY.as_dict(private=False)]})
            case "/authorize" if "account" in given:
                self._send_back(given)
            case "/authorize":
                links = "".join(map(self._link, self.server.accounts))
                self._answer(200, f"<h1>Who are you?</h1>{links}".encode(), "text/html")
            case _:
                self._answer(404, b"", "text/plain")

    def do_POST(self) -> None:
        sent = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        account, nonce = self.server.asked.pop(sent["code"][0])
        now = int(time.time())
        claims = account | {"iss": self.server.address, "aud": CLIENT, "iat": now, "exp": now + 60}
        token = jwt.encode({"alg": "RS256", "kid": "one"}, claims | ({"nonce": nonce} if nonce else {}), KEY)
        self._say({"access_token": "a", "token_type": "Bearer", "expires_in": 60, "id_token": token})

    def _link(self, email: str) -> str:
        address = f"{self.path}&{urlencode({'account': email})}"
        return f'<p><a href="{escape(address)}">{email}</a></p>'

    def _metadata(self) -> dict[str, Any]:
        at = self.server.address
        return {
            "issuer": at,
            "authorization_endpoint": f"{at}/authorize",
            "token_endpoint": f"{at}/token",
            "jwks_uri": f"{at}/keys",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
        }

    def _send_back(self, given: dict[str, str]) -> None:
        code = f"{len(self.server.asked)}-{time.monotonic_ns()}"
        self.server.asked[code] = self.server.accounts[given["account"]], given.get("nonce")
        self.send_response(302)
        answer = urlencode({"code": code, "state": given["state"]})
        self.send_header("Location", f"{given['redirect_uri']}?{answer}")
        self.end_headers()

    def _say(self, what: object) -> None:
        self._answer(200, json.dumps(what).encode(), "application/json")

    def _answer(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing: the test says what went wrong."""
