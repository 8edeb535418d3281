"""What somebody is writing and has not saved: kept by itself, so that a closed browser loses nothing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select, update

from untaken import limits
from untaken.store.faults import of_row, row_reader
from untaken.store.records import now
from untaken.store.tables import graph_drafts, review_log
from untaken.store.versions import too_large


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphDraft:
    """The unsaved work of one author on one plan graph.

    Attributes:
        content: as it was typed; it need not be a graph yet (untrusted).
        based_on: the version it started from; ``None`` for a new graph.
    """

    graph_id: str
    author: str
    content: str
    based_on: int | None
    updated_at: datetime


def keep(
    connection: Connection, graph_id: str, author: str, content: str, based_on: int | None
) -> GraphDraft:
    """Writes a draft in the place of the author's earlier one.

    Raises:
        UntakenError: ``graph-too-large``.
    """
    size = len(content.encode(errors="surrogatepass"))
    if size > limits.GRAPH_FILE_BYTES:
        raise too_large(graph_id, size)
    moment = now()
    work = {"content": content, "based_on": based_on, "updated_at": moment}
    whose = {"graph_id": graph_id, "author": author[: limits.AUTHOR_CHARS]}
    if not connection.execute(update(graph_drafts).where(_of(**whose)).values(work)).rowcount:
        connection.execute(insert(graph_drafts).values({**whose, **work}))
    return GraphDraft(**whose, content=content, based_on=based_on, updated_at=datetime.fromisoformat(moment))


def find(connection: Connection, graph_id: str, author: str) -> GraphDraft | None:
    """The draft of one author."""
    row = connection.execute(select(graph_drafts).where(_of(graph_id, author))).one_or_none()
    return None if row is None else _draft(row)


def discard(connection: Connection, graph_id: str, author: str) -> bool:
    """Deletes a draft; false if there is none."""
    return bool(connection.execute(delete(graph_drafts).where(_of(graph_id, author))).rowcount)


def every(connection: Connection) -> list[GraphDraft]:
    """All drafts, the one written last first."""
    latest = select(graph_drafts).order_by(graph_drafts.c.updated_at.desc(), graph_drafts.c.position)
    return [_draft(row) for row in connection.execute(latest)]


def activity(connection: Connection) -> str:
    """A digest that changes with every draft and every review; three look-ups, whatever the size."""
    drafts = select(func.count(), func.max(graph_drafts.c.updated_at)).select_from(graph_drafts)
    seen = (
        *connection.execute(drafts).one(),
        connection.execute(select(func.max(review_log.c.position))).scalar_one(),
    )
    return sha256(repr(seen).encode()).hexdigest()


def _of(graph_id: str, author: str) -> Any:
    return (graph_drafts.c.graph_id == graph_id) & (graph_drafts.c.author == author[: limits.AUTHOR_CHARS])


@row_reader
def _draft(row: Row[Any]) -> GraphDraft:
    return of_row(GraphDraft, row)
