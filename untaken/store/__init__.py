"""The workspace: files of ledgers and plan graphs, and a database of their recorded heads."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from untaken.store.content import (
    LEDGERS as LEDGERS,
    ledgers_and_graphs as ledgers_and_graphs,
    peek as peek,
    sniff as sniff,
)
from untaken.store.model import Added as Added, AuditEntry as AuditEntry, StoredFile as StoredFile

if TYPE_CHECKING:
    from untaken.store.adding_many import Incoming as Incoming, KeptTrace as KeptTrace
    from untaken.store.workspace import Workspace as Workspace

_SLOW: Final = {"Incoming": "adding_many", "KeptTrace": "adding_many", "Workspace": "workspace"}
"""Names that need the database library, and where they are."""


def __getattr__(name: str) -> Any:
    """Loads the workspace, and the database library behind it, when it is first asked for."""
    if name not in _SLOW:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_SLOW[name]}"), name)
