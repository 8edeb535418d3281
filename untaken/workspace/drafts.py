"""What somebody is writing and has not saved: kept by itself, so that a closed browser loses nothing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, Row, func, select

from untaken import limits
from untaken.workspace.faults import of_row, row_reader
from untaken.workspace.tables import graph_drafts, review_log


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


@row_reader
def draft_of(row: Row[Any]) -> GraphDraft:
    """The draft in a row of its table."""
    return of_row(GraphDraft, row)


def key_of(graph_id: str, author: str) -> dict[str, str]:
    """The columns in which no two drafts are the same."""
    return {"graph_id": graph_id, "author": author[: limits.AUTHOR_CHARS]}


def activity(connection: Connection) -> str:
    """A digest that changes with every draft and every review; three look-ups, whatever the size."""
    drafts = select(func.count(), func.max(graph_drafts.c.updated_at)).select_from(graph_drafts)
    seen = (
        *connection.execute(drafts).one(),
        connection.execute(select(func.max(review_log.c.position))).scalar_one(),
    )
    return sha256(repr(seen).encode()).hexdigest()
