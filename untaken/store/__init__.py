"""The workspace: files of ledgers and plan graphs, and a database of their recorded heads."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from untaken.store.content import LEDGERS, ledgers_and_graphs, peek, sniff
from untaken.store.model import Added, AuditEntry, FileKind, StoredFile

if TYPE_CHECKING:
    from untaken.store.adding_many import Incoming, KeptTrace
    from untaken.store.backing_up import Backup
    from untaken.store.diagnosing import Diagnosis, HealthCheck
    from untaken.store.drafts import GraphDraft
    from untaken.store.restoring import Restored, restore_workspace
    from untaken.store.versions import GraphVersion, SaveConflict, Saved
    from untaken.store.workspace import Progress, Workspace

_SLOW: Final = {
    "Backup": "backing_up",
    "SaveConflict": "versions",
    "Diagnosis": "diagnosing",
    "GraphDraft": "drafts",
    "GraphVersion": "versions",
    "HealthCheck": "diagnosing",
    "Incoming": "adding_many",
    "Progress": "workspace",
    "Restored": "restoring",
    "Saved": "versions",
    "KeptTrace": "adding_many",
    "Workspace": "workspace",
    "restore_workspace": "restoring",
}
"""Names that need the database library, and where they are."""

__all__ = [
    "LEDGERS",
    "Added",
    "AuditEntry",
    "Backup",
    "Diagnosis",
    "FileKind",
    "GraphDraft",
    "GraphVersion",
    "HealthCheck",
    "Incoming",
    "KeptTrace",
    "Progress",
    "Restored",
    "SaveConflict",
    "Saved",
    "StoredFile",
    "Workspace",
    "ledgers_and_graphs",
    "peek",
    "restore_workspace",
    "sniff",
]


def __getattr__(name: str) -> Any:
    """Loads the workspace, and the database library behind it, when it is first asked for."""
    if name not in _SLOW:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_SLOW[name]}"), name)
