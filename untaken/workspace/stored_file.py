"""What the workspace keeps, and what it says when something is added."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Literal

from msgspec import Struct

from untaken.errors import Finding
from untaken.ledger import Integrity

FileKind = Literal["ledger", "graph", "heads"]


class StoredFile(Struct, frozen=True, kw_only=True):
    """One file of the workspace.

    Attributes:
        digest: lowercase hex SHA-256 of the bytes as added; the file's identity.
        name: the name it was added under. Untrusted text: shown, never used as a path.
        kind: ``ledger``, ``graph`` or ``heads``; for a converted trace, the name of its foreign format.
        path: where the bytes are kept; ``None`` for a heads sidecar.
        runs: number of runs (ledgers), otherwise 0.
        origin: the foreign format it was converted from; of a foreign trace, the name given to its agent.
        graph_id, graph_version: of a plan graph.
        findings: what was noticed when it was added.
        loss: for a converted trace, what the conversion could not carry over, in words.
    """

    digest: str
    name: str
    kind: str
    added_at: datetime
    bytes: int
    path: Path | None
    runs: int = 0
    origin: str | None = None
    graph_id: str | None = None
    graph_version: int | None = None
    findings: tuple[Finding, ...] = ()
    loss: tuple[str, ...] = ()


class Added(Struct, frozen=True, kw_only=True):
    """The answer to one `Workspace.add`.

    Attributes:
        new: false where the same bytes were already there.
        kind: ``None`` where the file is nothing the workspace knows; then a finding says so.
        integrity: verdict of each run of a ledger, against the heads the workspace holds.
        graph_id: of a plan graph that was accepted.
    """

    name: str
    digest: str
    kind: str | None
    new: bool
    integrity: tuple[Integrity, ...] = ()
    graph_id: str | None = None
    findings: tuple[Finding, ...] = ()


class AuditEntry(Struct, frozen=True, kw_only=True):
    """One line of the workspace's audit log, which is kept outside the ledgers."""

    ts: datetime
    code: str
    message: str
    run: str | None
