"""Versions of plan graphs: nobody's save ever takes the place of another one unseen."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, Row, func, insert, select

from untaken import limits
from untaken.errors import UntakenError, Where
from untaken.plans import PlanGraph, export_graph, graph_digest, read_graph
from untaken.workspace.content import graph_suffix
from untaken.workspace.faults import of_row, row_reader
from untaken.workspace.records import now, removed_files
from untaken.workspace.tables import graph_versions

UPLOAD: Final = "upload"
"""Author of a version that came as a file."""
HIGHEST: Final = 2**53
"""Version numbers stay below it, so that every JSON reader gives them back."""

_YAML_VERSION: Final = re.compile(rb"^version:[ \t]*\d+(?=[ \t]*(?:\r?$|#))", re.MULTILINE)


class GraphVersion(msgspec.Struct, frozen=True, kw_only=True):
    """One version of a plan graph.

    Attributes:
        version: its number in the workspace; also that of the graph as it is read.
        file: digest of its bytes (`StoredFile.digest`).
        based_on: the version it was made from; ``None`` for a new graph or an upload.
        author: who saved it, ``upload`` for a file; `message`: the author's message (both untrusted).
        removed: its file was removed from the workspace.
    """

    graph_id: str
    version: int
    file: str
    based_on: int | None
    author: str
    message: str
    saved_at: datetime
    removed: bool = False


class Saved(msgspec.Struct, frozen=True, kw_only=True):
    """A graph was saved as `version`; `new` is false where the newest version says the same already."""

    version: GraphVersion
    new: bool


class SaveConflict(msgspec.Struct, frozen=True, kw_only=True):
    """Nothing was saved: somebody else saved in between.

    Attributes:
        based_on: the version that the refused graph was made from.
        newest: the version that is there now; ``None`` where all versions were removed meanwhile.
    """

    graph_id: str
    based_on: int | None
    newest: GraphVersion | None


def history(connection: Connection, graph_id: str) -> list[GraphVersion]:
    """Every version of a graph, lowest first."""
    chosen = (
        select(graph_versions, graph_versions.c.file.in_(removed_files()).label("removed"))
        .where(graph_versions.c.graph_id == graph_id)
        .order_by(graph_versions.c.version)
    )
    return [_version(row) for row in connection.execute(chosen)]


def newest(connection: Connection, graph_id: str) -> GraphVersion | None:
    """The highest version that was not removed."""
    here = [version for version in history(connection, graph_id) if not version.removed]
    return here[-1] if here else None


def free_number(connection: Connection, graph_id: str, stated: int) -> int:
    """The number a file gets: the one it states, or the next free one where that is another's.

    Raises:
        UntakenError: ``graph-versions-full``.
    """
    same_graph = graph_versions.c.graph_id == graph_id
    holder = select(graph_versions.c.position).where(same_graph & (graph_versions.c.version == stated))
    if 0 <= stated < HIGHEST and connection.execute(holder).first() is None:
        return stated
    return next_number(connection, graph_id)


def next_number(connection: Connection, graph_id: str) -> int:
    """One more than the highest there ever was, removed ones included.

    Raises:
        UntakenError: ``graph-versions-full``.
    """
    highest = select(func.max(graph_versions.c.version)).where(graph_versions.c.graph_id == graph_id)
    number = int(connection.execute(highest).scalar_one() or 0) + 1
    if number >= HIGHEST:
        raise UntakenError(
            "graph-versions-full",
            f"no version number is left above {number - 1}",
            where=Where(file=graph_id),
            hint="Remove the version with that number and give the graph another id.",
        )
    return number


def insert_version(
    connection: Connection,
    graph_id: str,
    version: int,
    file: str,
    *,
    author: str,
    message: str = "",
    based_on: int | None = None,
) -> GraphVersion:
    """Writes the row of a version."""
    made = GraphVersion(
        graph_id=graph_id,
        version=version,
        file=file,
        based_on=based_on,
        author=author[: limits.AUTHOR_CHARS],
        message=message[: limits.REMARK_CHARS],
        saved_at=datetime.fromisoformat(now()),
    )
    row = {name: getattr(made, name) for name in GraphVersion.__struct_fields__ if name != "removed"}
    row["saved_at"] = made.saved_at.isoformat(timespec="microseconds")
    connection.execute(insert(graph_versions).values(row))
    return made


def numbered(given: PlanGraph | bytes, version: int) -> tuple[bytes, PlanGraph]:
    """A graph as the bytes of a file that states `version`; a file keeps its wording where that can be.

    Raises:
        UntakenError: what is wrong with the graph.
    """
    if isinstance(given, bytes):
        graph = as_version(parsed(given), version)
        rewritten = _YAML_VERSION.sub(b"version: %d" % version, given, count=1)
        # First as it is: it may state the number already. The pattern may match another line: both are read.
        for data in (given, rewritten):
            if _reads_as(data, graph):
                return data, graph
    else:
        graph = as_version(given, version)
    as_json = isinstance(given, bytes) and graph_suffix(given) == ".plan.json"
    data = export_graph(graph, "json" if as_json else "yaml").encode()
    # Read back, because a file of text may not hold every value that Python code put into a graph.
    if graph_digest(parsed(data, graph.id)) != graph_digest(graph):
        raise UntakenError(
            "plan-not-writable",
            "the graph has values that its file cannot store",
            where=Where(file=graph.id),
            hint="Use text, numbers, true/false, lists and mappings only.",
        )
    return data, graph


def parsed(data: bytes, name: str = "plan") -> PlanGraph:
    """The valid graph in a file's bytes.

    Raises:
        UntakenError: what is wrong with it; ``graph-too-large``.
    """
    if len(data) > limits.GRAPH_FILE_BYTES:
        raise too_large(name, len(data))
    return read_graph(data, name=name + graph_suffix(data))[0]


def too_large(name: str, size: int) -> UntakenError:
    """The error for a graph file that is not read."""
    return UntakenError(
        "graph-too-large",
        f"{size} bytes; a plan graph file holds at most {limits.GRAPH_FILE_BYTES}",
        where=Where(file=name),
    )


def as_version(graph: PlanGraph, version: int) -> PlanGraph:
    """The graph under its number in the workspace."""
    return graph if graph.version == version else msgspec.structs.replace(graph, version=version)


def _reads_as(data: bytes, graph: PlanGraph) -> bool:
    try:
        return parsed(data, graph.id) == graph
    except UntakenError:
        return False


@row_reader
def _version(row: Row[Any]) -> GraphVersion:
    return of_row(GraphVersion, row, removed=bool(row.removed))
