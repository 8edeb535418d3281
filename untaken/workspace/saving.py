"""Saving a plan graph that somebody edited: look and write under one lock."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import msgspec
from sqlalchemy import Connection, Engine

from untaken.errors import UntakenError
from untaken.plans import PlanGraph, graph_digest
from untaken.workspace import records, versions
from untaken.workspace.adding import placing
from untaken.workspace.content import graph_suffix, staged
from untaken.workspace.database import writing
from untaken.workspace.ledger_snapshots import stored_graph
from untaken.workspace.stored_file import StoredFile
from untaken.workspace.versions import GraphVersion, SaveConflict, Saved


def save_version(
    engine: Engine,
    folder: Path,
    given: PlanGraph | bytes,
    *,
    author: str,
    message: str,
    based_on: int | None,
) -> Saved | SaveConflict:
    """What `Workspace.save_graph` does."""
    graph = versions.parsed(given) if isinstance(given, bytes) else given
    with placing(engine, folder), writing(engine) as connection:
        newest = versions.newest(connection, graph.id)
        if newest is not None and _is_same(connection, newest, graph, folder):
            return Saved(version=newest, new=False)
        if (newest.version if newest else None) != based_on:
            return SaveConflict(graph_id=graph.id, based_on=based_on, newest=newest)
        number = versions.next_number(connection, graph.id)
        digest = _keep(connection, folder, given, graph.id, number)
        version = versions.insert_version(
            connection, graph.id, number, digest, author=author, message=message, based_on=based_on
        )
        return Saved(version=version, new=True)


def _is_same(connection: Connection, newest: GraphVersion, graph: PlanGraph, folder: Path) -> bool:
    """Whether the newest version is the same graph; one that was damaged is not."""
    file = records.find_file(connection, newest.file, folder)
    if file is None:
        return False
    try:
        kept = stored_graph(file)[0]
    except UntakenError:
        return False
    # But for the number, which the workspace gives.
    return graph_digest(msgspec.structs.replace(kept, version=0)) == graph_digest(
        msgspec.structs.replace(graph, version=0)
    )


def _keep(connection: Connection, folder: Path, given: PlanGraph | bytes, graph_id: str, number: int) -> str:
    """Puts the file of a version on disk, whole, then its row; gives its digest."""
    data, _ = versions.numbered(given, number)
    name = f"{graph_id}{graph_suffix(data)}"
    with staged(data, folder) as copy:
        path = folder / "graphs" / f"{copy.digest}{graph_suffix(data)}"
        copy.keep(path)
        file = StoredFile(
            digest=copy.digest,
            name=name,
            kind="graph",
            added_at=datetime.now(UTC),
            bytes=copy.bytes,
            path=path,
            graph_id=graph_id,
            graph_version=number,
        )
        records.insert_file(connection, file, folder)
        return copy.digest
