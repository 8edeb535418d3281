"""People sign in with an identity provider, in a real browser: who may do what, and how a session ends."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import environ
from pathlib import Path
from typing import Any, Final
from urllib.request import urlopen

import pytest
from builders import a_run
from conftest import free_port, settle, wait_until_served

from untaken.app_folder import REQUIRED, SIGN_IN
from untaken.workspace import Workspace

sync_api = pytest.importorskip("playwright.sync_api")
expect = sync_api.expect
pytestmark = pytest.mark.slow

ROLES: Final = """roles:
  owner: [ann@example.org]
  others: viewer
"""
SECRETS: Final = """[auth]
redirect_uri = "{app}/oauth2callback"
cookie_secret = "a long random text that nobody knows"
client_id = "{client}"
client_secret = "{secret}"
server_metadata_url = "{provider}/.well-known/openid-configuration"
"""


def account(name: str, address: str, *, verified: bool = True) -> dict[str, Any]:
    return {"sub": name, "name": name, "email": address, "email_verified": verified}


ANN: Final = account("Ann", "ann@example.org")
EVE: Final = account("Eve", "ANN@example.org", verified=False)


@pytest.fixture(scope="module")
def provider() -> Iterator[Any]:
    """A provider that knows two people, and its address."""
    missing = "Authlib is not installed: make test installs it"
    module = pytest.importorskip("identity_provider", reason=missing)
    with module.identity_provider(ANN, EVE) as at:
        yield {"client": module.CLIENT, "secret": module.SECRET, "provider": at}


@contextmanager
def served(home: Path, provider: dict[str, str], public: str = "") -> Iterator[str]:
    """The app as others reach it, at a `public` address where it is not its own; gives its own address."""
    address, log = f"http://127.0.0.1:{(port := free_port())}", home / "log.txt"
    with Workspace(home / "w") as workspace:
        workspace.add("a.jsonl", a_run("a").call("pay", ok=False).finish(False).ledger())
    (home / "w" / "untaken.yaml").write_text(ROLES, "utf-8")
    (home / ".streamlit").mkdir()
    secrets = SECRETS.format(app=public or address, **provider)
    (home / ".streamlit" / "secrets.toml").write_text(secrets, "utf-8")
    command = [sys.executable, "-m", "untaken", "app", str(home / "w"), "--port", str(port)]
    around = {**environ, "HOME": str(home), SIGN_IN: REQUIRED}
    with log.open("wb") as out, subprocess.Popen(command, stdout=out, stderr=out, env=around) as server:
        wait_until_served(address, server, log)
        yield address
        server.terminate()


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory, provider: dict[str, str]) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("home"), provider) as address:
        yield address


def sign_in(page: Any, who: dict[str, Any]) -> None:
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name=who["email"], exact=True).click()
    page.get_by_test_id("stSidebar").get_by_text(f"Signed in as {who['name']}").wait_for()
    settle(page)


@pytest.mark.parametrize(("who", "owns"), [(ANN, True), (EVE, False)], ids=["verified", "unverified"])
def test_nothing_is_shown_before_sign_in_and_then_what_the_role_allows_until_the_way_out(
    app: str, open_page: Callable[..., Any], who: dict[str, Any], owns: bool
) -> None:
    page = open_page(f"{app}/data", elsewhere=True)
    files, uploader = page.get_by_test_id("glide-cell-0-0"), page.get_by_test_id("stFileUploader")
    expect(uploader).to_have_count(0)
    sign_in(page, who)
    page.get_by_test_id("stSidebarNav").get_by_role("link", name="Data", exact=True).click()
    files.filter(has_text="a.jsonl").wait_for(state="attached")
    settle(page)
    expect(page.get_by_text("Only owners of this workspace can add files")).to_have_count(0 if owns else 1)
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("button", name="Sign in").wait_for()
    page.goto(f"{app}/data")
    page.get_by_role("button", name="Sign in").wait_for()
    expect(uploader).to_have_count(0)


def test_a_cookie_that_this_server_did_not_sign_is_nobody(app: str, open_page: Callable[..., Any]) -> None:
    page = open_page(app, elsewhere=True)
    sign_in(page, ANN)
    kept = [one for one in page.context.cookies() if one["name"].startswith("_streamlit_user")]
    assert kept
    assert all(one["httpOnly"] for one in kept)
    page.context.add_cookies([{**one, "value": one["value"][:-4] + "AAAA"} for one in kept])
    page.goto(f"{app}/data")
    page.get_by_role("button", name="Sign in").wait_for()
    expect(page.get_by_test_id("stFileUploader")).to_have_count(0)


@pytest.mark.parametrize(("public", "kept"), [("", False), ("https://untaken.example.org", True)])
def test_where_people_sign_in_over_tls_cookies_are_sent_over_tls_alone(
    tmp_path: Path, provider: dict[str, str], public: str, kept: bool
) -> None:
    with served(tmp_path, provider, public) as address, urlopen(f"{address}/_stcore/health") as answer:
        given = answer.headers.get_all("Set-Cookie")
    assert given
    assert all(("; Secure" in cookie) is kept for cookie in given)
