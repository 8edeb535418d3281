"""The plan graphs of a workspace: the ones in force, their versions, and what is being written."""

from __future__ import annotations

from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, Engine, Row, delete, func, select

from untaken import limits
from untaken.errors import Finding, UntakenError, Where
from untaken.plans import GraphSet, PlanGraph
from untaken.workspace import records, versions
from untaken.workspace.database import reading, writing
from untaken.workspace.faults import of_row, row_reader
from untaken.workspace.ledger_snapshots import stored_graph
from untaken.workspace.saving import save_version
from untaken.workspace.stored_file import StoredFile
from untaken.workspace.tables import files, graph_drafts, review_log
from untaken.workspace.versions import GraphVersion, SaveConflict, Saved


class GraphDraft(Struct, frozen=True, kw_only=True):
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


class GraphStore:
    """What a `Workspace` does with plan graphs."""

    path: Path
    _engine: Engine

    def graphs(self) -> list[StoredFile]:
        """Every plan graph, earlier versions included."""
        with reading(self._engine) as connection:
            return records.all_files(connection, self.path, where=files.c.kind == "graph")

    def graph_set(self) -> GraphSet:
        """The highest version of every plan graph; of one version, what was added last.

        A file that was damaged since it was added is a finding, and its graph is not used.
        """
        newest: dict[str, StoredFile] = {}
        for file in self.graphs():
            known = newest.get(file.graph_id or "")
            if known is None or (known.graph_version or 0) <= (file.graph_version or 0):
                newest[file.graph_id or ""] = file
        graphs: list[PlanGraph] = []
        findings: list[Finding] = []
        for file in newest.values():
            try:
                graph, graph_findings = stored_graph(file)
            except UntakenError as error:
                findings.append(error.finding())
            else:
                graphs.append(graph)
                findings += graph_findings
        return GraphSet.of(graphs, findings)

    def save_graph(
        self, graph: PlanGraph | bytes, *, author: str, message: str, based_on: int | None
    ) -> Saved | SaveConflict:
        """Saves a plan graph as its next version, unless somebody else saved one in between.

        Looking and writing are one transaction: of two people who save at once, one gets a conflict. The file
        that is written states the version's number; a YAML file given as bytes keeps its wording otherwise.

        Args:
            graph: a valid graph, or the bytes of its file.
            author: who saves (untrusted, cut after 120 characters).
            message: what was changed and why (untrusted, cut after 10,000 characters).
            based_on: the version that was edited; ``None`` for a new graph.

        Returns:
            What was saved, or a conflict: then nothing is written, and there is a newer version to merge with
            or to reload. Saving what the newest version says already is neither, and changes nothing.

        Raises:
            UntakenError: what is wrong with the graph; ``graph-versions-full``.
        """
        return save_version(self._engine, self.path, graph, author=author, message=message, based_on=based_on)

    def graph_history(self, graph_id: str) -> list[GraphVersion]:
        """Every version of a plan graph, lowest first, removed ones included; uploads among them."""
        with reading(self._engine) as connection:
            return versions.history(connection, graph_id)

    def newest_version(self, graph_id: str) -> GraphVersion | None:
        """The version of a plan graph that is in force; ``None`` if there is none."""
        with reading(self._engine) as connection:
            return versions.newest(connection, graph_id)

    def graph_version(self, graph_id: str, version: int) -> PlanGraph:
        """One version of a plan graph, also a removed one until it is purged.

        Raises:
            UntakenError: ``graph-version-unknown``, ``stored-graph-damaged``.
        """
        with reading(self._engine) as connection:
            known = [one for one in versions.history(connection, graph_id) if one.version == version]
            file = records.find_file(connection, known[0].file, self.path) if known else None
        if file is None:
            raise UntakenError(
                "graph-version-unknown",
                f"there is no version {version} of this plan graph",
                where=Where(file=graph_id),
                hint="See `Workspace.graph_history` for the existing versions.",
            )
        return versions.as_version(stored_graph(file)[0], version)

    def keep_draft(
        self, graph_id: str, *, author: str, content: str, based_on: int | None = None
    ) -> GraphDraft:
        """Keeps what somebody is writing, in the place of their earlier draft of this graph.

        Raises:
            UntakenError: ``graph-too-large``.
        """
        size = len(content.encode(errors="surrogatepass"))  # half a surrogate pair has a size, too
        if size > limits.GRAPH_FILE_BYTES:
            raise versions.too_large(graph_id, size)
        key, work = _key_of(graph_id, author), {"content": content, "based_on": based_on}
        with writing(self._engine) as connection:
            records.put(connection, graph_drafts, key, {**work, "updated_at": records.now()})
            return _draft_of(connection.execute(select(graph_drafts).filter_by(**key)).one())

    def draft(self, graph_id: str, author: str) -> GraphDraft | None:
        """The draft of one author."""
        with reading(self._engine) as connection:
            chosen = select(graph_drafts).filter_by(**_key_of(graph_id, author))
            row = connection.execute(chosen).one_or_none()
            return None if row is None else _draft_of(row)

    def discard_draft(self, graph_id: str, author: str) -> bool:
        """Deletes a draft for good; false if there is none."""
        with writing(self._engine) as connection:
            gone = connection.execute(delete(graph_drafts).filter_by(**_key_of(graph_id, author)))
            return bool(gone.rowcount)

    def drafts(self) -> list[GraphDraft]:
        """Everybody's drafts, the one written last first."""
        latest = select(graph_drafts).order_by(graph_drafts.c.updated_at.desc(), graph_drafts.c.position)
        with reading(self._engine) as connection:
            return [_draft_of(row) for row in connection.execute(latest)]


@row_reader
def _draft_of(row: Row[Any]) -> GraphDraft:
    return of_row(GraphDraft, row)


def _key_of(graph_id: str, author: str) -> dict[str, str]:
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
