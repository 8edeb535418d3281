"""The workspace: files of ledgers and plan graphs, and a database of their recorded heads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from untaken.store.content import LEDGERS, ledgers_and_graphs, looks_like_ledger, peek, sniff
from untaken.store.model import Added, AuditEntry, FileKind, StoredFile

if TYPE_CHECKING:
    from untaken.store.workspace import Progress, Workspace

__all__ = [
    "LEDGERS",
    "Added",
    "AuditEntry",
    "FileKind",
    "Progress",
    "StoredFile",
    "Workspace",
    "ledgers_and_graphs",
    "looks_like_ledger",
    "peek",
    "sniff",
]


def __getattr__(name: str) -> Any:
    """Loads the workspace, and the database library behind it, when it is first asked for."""
    if name not in ("Progress", "Workspace"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from untaken.store import workspace  # noqa: PLC0415 (slow)

    return getattr(workspace, name)
