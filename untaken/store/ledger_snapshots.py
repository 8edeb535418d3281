"""Current files: a folder's ledgers during an append, the workspace's own copies."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import msgspec

from untaken.errors import Finding, UntakenError, Where
from untaken.ledger import heads_path
from untaken.ledger.journal import journal_path
from untaken.ledger.source import open_view
from untaken.plans import PlanGraph, read_graph
from untaken.store.stored_file import StoredFile
from untaken.store.versions import as_version


def current_content(path: Path) -> tuple[bytes | Path, bytes | Path | None]:
    """A file of a folder, and its recorded heads, if any.

    Of a ledger caught in the middle of an append: the events that are whole, and the heads they lead to.

    Raises:
        UntakenError: ``ledger-heads``, ``ledger-journal`` where a writer's journal is there.
    """
    sidecar = heads_path(path)
    if journal_path(path).exists():
        view = open_view(path, heads=None, name=None)
        with path.open("rb") as stream:
            return stream.read(view.size), msgspec.json.encode(view.heads)
    return path, sidecar if sidecar.is_file() else None


def is_whole(file: StoredFile) -> bool:
    """Whether a stored file exists, and a graph is unchanged; a ledger's chain is checked separately."""
    if file.path is None or not file.path.is_file():
        return False
    return file.kind != "graph" or sha256(file.path.read_bytes()).hexdigest() == file.digest


def stored_graph(file: StoredFile) -> tuple[PlanGraph, list[Finding]]:
    """The graph of a stored file.

    Raises:
        UntakenError: ``stored-graph-damaged``, or what is wrong with the graph.
    """
    if file.path is None or not is_whole(file):
        raise UntakenError(
            "stored-graph-damaged",
            "the workspace's copy of this plan graph is gone, or differs from the added file; it is not used",
            where=Where(file=file.name),
            hint="Add the file again.",
        )
    graph, findings = read_graph(file.path.read_bytes(), name=file.name)
    return as_version(graph, graph.version if file.graph_version is None else file.graph_version), findings
