"""Current files: a folder's ledgers during an append, the workspace's own copies."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec

from untaken.errors import Finding, UntakenError, Where
from untaken.ledger import heads_path, journal_path, open_view
from untaken.plans import PlanGraph, read_graph
from untaken.workspace.stored_file import StoredFile
from untaken.workspace.versions import as_version

_GRAPHS_HELD: Final = 2_000
"""Plan graphs that are parsed once: every page and every verdict asks for all that are in force."""


def current_content(path: Path) -> tuple[bytes | Path, bytes | Path | None]:
    """A file of a folder, and its recorded heads, if any.

    Of a ledger caught in the middle of an append: the events that are whole, and the heads they lead to.

    Raises:
        UntakenError: ``ledger-heads``, ``ledger-journal`` where a writer's journal is there.
    """
    sidecar = heads_path(path)
    if journal_path(path).exists():  # an append is under way: what it writes is not read yet
        view = open_view(path, heads=None, name=None)
        with path.open("rb") as stream:
            return stream.read(view.size), msgspec.json.encode(view.heads)
    return path, sidecar if sidecar.is_file() else None


def is_whole(file: StoredFile) -> bool:
    """Whether a stored file exists, and a graph is unchanged; a ledger's chain is checked separately."""
    if file.path is None or not file.path.is_file():
        return False
    return file.kind != "graph" or sha256(file.path.read_bytes()).hexdigest() == file.digest


def stored_graph(file: StoredFile) -> tuple[PlanGraph, tuple[Finding, ...]]:
    """The graph of a stored file: as long as its bytes are the same, the same object.

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
    return _parsed(file.path, file.digest, file.name, file.graph_version)


@lru_cache(maxsize=_GRAPHS_HELD)
def _parsed(
    path: Path,
    digest: str,  # noqa: ARG001 (with the path, what is in the file)
    name: str,
    version: int | None,
) -> tuple[PlanGraph, tuple[Finding, ...]]:
    graph, findings = read_graph(path.read_bytes(), name=name)
    return as_version(graph, graph.version if version is None else version), tuple(findings)
