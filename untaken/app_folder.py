"""Where the app is, inside the package or beside it in a checkout, and what ``untaken app`` tells it."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path
from typing import Final

PRIVATE: Final = "_app"
SIGN_IN: Final = "UNTAKEN_SIGN_IN"
REQUIRED: Final = "required"
"""Value of `SIGN_IN` where nothing is shown to those who did not sign in."""
TEMPORARY: Final = "UNTAKEN_TEMPORARY"
"""Names the folder that the server removes when it ends."""


def app_folder() -> Path:
    """The folder of app.py, pages, components and sample_runs."""
    package = Path(__file__).resolve().parent
    inside = package / PRIVATE
    return inside if (inside / "app.py").is_file() else package.parent


def is_loopback(address: str) -> bool:
    """Whether only this machine can reach it."""
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"
