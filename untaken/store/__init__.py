"""The workspace: files of ledgers and plan graphs, and a database of their recorded heads."""

from untaken.store.content import LEDGERS, looks_like_ledger, peek, sniff
from untaken.store.model import Added, AuditEntry, FileKind, StoredFile
from untaken.store.workspace import Progress, Workspace, ledgers_and_graphs

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
