"""The workspace: files of ledgers and plan graphs, and a database of their recorded heads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from untaken.lazy_imports import imported_on_first_use
from untaken.workspace.content import (
    LEDGERS as LEDGERS,
    ledgers_and_graphs as ledgers_and_graphs,
    peek as peek,
    sniff as sniff,
)
from untaken.workspace.stored_file import Added as Added, AuditEntry as AuditEntry, StoredFile as StoredFile

if TYPE_CHECKING:
    from untaken.workspace.adding_many import Incoming as Incoming, KeptTrace as KeptTrace
    from untaken.workspace.examining import examine as examine
    from untaken.workspace.rebuilding import rebuild_workspace as rebuild_workspace
    from untaken.workspace.restoring import restore_workspace as restore_workspace
    from untaken.workspace.schema import is_workspace as is_workspace
    from untaken.workspace.workspace import Workspace as Workspace

# They need the database library.
__getattr__, __dir__ = imported_on_first_use(__name__)
