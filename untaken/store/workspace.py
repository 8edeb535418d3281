"""The workspace: a folder that remembers ledgers, plan graphs and the head of every run it has seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Final, Self

from filelock import FileLock
from sqlalchemy import Connection

from untaken import limits
from untaken.errors import Finding, UntakenError, Where
from untaken.ledger import Head, Run, read_ledger, verify_ledger
from untaken.plans import GraphSet, PlanGraph
from untaken.store import records
from untaken.store.adding import Arrival, add_graph, add_heads, add_ledger, read_heads
from untaken.store.content import ledgers_and_graphs, peek, sniff, staged
from untaken.store.model import Added, AuditEntry, StoredFile
from untaken.store.standing import as_it_stands, is_whole, stored_graph
from untaken.store.tables import create_tables, open_engine, reading, writing

Progress = Callable[[int, int, str], None]
"""Called with (done, total, name) while files are worked through."""

DATABASE: Final = "untaken.sqlite3"


class Workspace:
    """A folder with ``ledgers/``, ``graphs/`` and ``untaken.sqlite3``; safe for several processes at once.

    Files are kept under their content digest, so adding the same bytes again changes nothing and an uploaded
    name never becomes a path. A file is on disk, whole, before its row is committed. What a file says wrongly
    is a finding in the answer; a disk that fails raises.

    Args:
        path: the folder; made where it does not exist.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        for room in ("ledgers", "graphs", "sources"):
            (self.path / room).mkdir(parents=True, exist_ok=True)
        self._engine = open_engine(self.path / DATABASE)
        with FileLock(self.path / ".creating.lock"):
            create_tables(self._engine, self.path / DATABASE)

    @classmethod
    def open_folder(
        cls, folder: str | Path, *, at: str | Path | None = None, progress: Progress | None = None
    ) -> Self:
        """A workspace that holds every ledger and plan graph found under a plain folder.

        Args:
            folder: searched recursively; heads sidecars beside ledgers are used, and what a writer announced
                that is at work or was interrupted. Nothing found is changed.
                Without `at`, a folder that is a workspace itself, or holds nothing to add, is opened as one.
            at: where the workspace is kept; default ``<folder>/.untaken``.
            progress: called after each file.
        """
        source = Path(folder)
        found = [] if at is None and (source / DATABASE).is_file() else ledgers_and_graphs(source)
        if at is None and not found:
            return cls(source)
        workspace = cls(at if at is not None else source / ".untaken")
        for done, path in enumerate(found, start=1):
            name = path.relative_to(source).as_posix()
            data, heads = as_it_stands(path)
            workspace._take(name, data, heads, None)  # not `add`: what was removed stays away
            if progress:
                progress(done, len(found), name)
        return workspace

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the database."""
        self._engine.dispose()

    def add(
        self, name: str, data: bytes | Path, *, heads: bytes | Path | None = None, origin: str | None = None
    ) -> Added:
        """Adds a ledger, a plan graph or a heads sidecar; idempotent by content.

        A ledger that comes without heads is UNANCHORED now, and anchored here from now on.

        Args:
            name: what to call it in messages (untrusted).
            data: its bytes, or the file that holds them.
            heads: the heads sidecar that came with a ledger.
            origin: the foreign format a ledger or graph was converted from. A newer conversion takes the
                place of an earlier one with the same run ids.

        Returns:
            What was found. Where `Added.kind` is ``None`` the file is none of these; a finding says so.
            A file that was removed is brought back, and is new again.
        """
        added = self._take(name, data, heads, origin)
        return replace(added, new=True) if self.restore(added.digest) else added

    def _take(self, name: str, data: bytes | Path, heads: bytes | Path | None, origin: str | None) -> Added:
        name = name[: limits.NAME_CHARS]
        kind = sniff(name, peek(data))
        if kind is None:
            return Added(name=name, digest="", kind=None, new=False, findings=(_unknown(name),))
        with staged(data, self.path) as copy:
            if (known := self._find(copy.digest)) is not None:
                if known.path is not None and not is_whole(known):
                    copy.keep(known.path)
                return self._again(known, name)
            arrival = Arrival(name=name, copy=copy, folder=self.path, engine=self._engine, origin=origin)
            try:
                if kind == "ledger":
                    return self._add_ledger(arrival, heads)
                return add_graph(arrival) if kind == "graph" else add_heads(arrival)
            except UntakenError as error:
                return arrival.answer(kind, new=False, findings=(error.finding(),))

    def keep_source(
        self,
        name: str,
        data: bytes | Path,
        kind: str,
        *,
        agent: str | None,
        findings: Sequence[Finding],
        loss: Sequence[str],
    ) -> bool:
        """Keeps a foreign trace beside its conversion, so that it can be joined with traces added later.

        Args:
            name: what it was added under.
            data: its content.
            kind: the name of its format.
            agent: the name given to the agent, where the trace does not record it.
            findings: what the conversion noticed in it.
            loss: what the conversion could not carry over, in words.

        Returns:
            False where the same content was kept before under this name; its account is brought up to date.
        """
        with staged(data, self.path) as copy:
            arrival = Arrival(
                name=name[: limits.NAME_CHARS], copy=copy, folder=self.path, engine=self._engine, origin=agent
            )
            path = arrival.place("sources", "")
            # Formats that tell by folder whose verdicts a file holds do have files of equal bytes.
            identity = sha256(f"{arrival.name}\0{copy.digest}".encode()).hexdigest()
            account = arrival.file(kind, path, records.bounded(findings))
            file = replace(account, digest=identity, loss=tuple(loss))
            back = self.restore(identity)
            with writing(self._engine) as connection:
                new = records.insert_file(connection, file, self.path)
                return new or records.update_account(connection, file) or back

    def remove(self, digest: str) -> bool:
        """Takes a file out of the workspace: its runs or its plan graph are no longer read.

        Nothing is deleted. `restore`, or adding the file again, brings it back; opening the folder it came
        from does not. The recorded heads of its
        runs stay recorded, so that another chain under their run ids still shows. A run that the file had
        taken over from an earlier one is read from that one again; of a plan graph, the version before it.

        Args:
            digest: of the file (`StoredFile.digest`).

        Returns:
            False where there is no such file, or it was removed before. Otherwise the audit log says so.
        """
        return self._moved(digest, records.remove, "file-removed", "was removed from this workspace")

    def restore(self, digest: str) -> bool:
        """Brings a removed file back; false where it was not removed. The audit log says so."""
        return self._moved(digest, records.restore, "file-restored", "was brought back")

    def removed(self) -> list[StoredFile]:
        """What was removed and can be brought back, in the order in which it was added."""
        with reading(self._engine) as connection:
            return records.all_files(connection, self.path, removed=True)

    def sources(self, kind: str) -> list[StoredFile]:
        """The foreign traces of one format, in the order in which they were added."""
        return [f for f in self.files() if f.kind == kind]

    def files(self) -> list[StoredFile]:
        """Everything added, in order."""
        with reading(self._engine) as connection:
            return records.all_files(connection, self.path)

    def ledgers(self) -> list[StoredFile]:
        """The ledgers, in the order in which they were added."""
        return [f for f in self.files() if f.kind == "ledger"]

    def graphs(self) -> list[StoredFile]:
        """Every plan graph, earlier versions included."""
        return [f for f in self.files() if f.kind == "graph"]

    def heads(self) -> dict[str, Head]:
        """The recorded head of each run id."""
        with reading(self._engine) as connection:
            return {run_id: head for run_id, (head, _) in records.recorded_heads(connection).items()}

    def read_runs(self, progress: Progress | None = None) -> tuple[list[Run], list[Finding]]:
        """Reads every run again from disk and compares it with its recorded head.

        Returns:
            The runs, each chain once, and what was noticed. A broken run is among them, with its verdict.
        """
        runs: dict[str, Run] = {}
        findings: list[Finding] = []
        ledgers = self.ledgers()
        for done, file in enumerate(ledgers, start=1):
            found, noticed = self._read(file)
            for run in found:
                runs.setdefault(run.digest, run)
            findings.extend(noticed)
            if progress:
                progress(done, len(ledgers), file.name)
        return list(runs.values()), findings

    def graph_set(self) -> GraphSet:
        """Of every plan graph the highest version; of one version, what was added last.

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
                graph, noticed = stored_graph(file)
            except UntakenError as error:
                findings.append(error.finding())
            else:
                graphs.append(graph)
                findings += noticed
        return GraphSet.of(graphs, findings)

    def digest(self) -> str:
        """Changes whenever what can be read from the workspace changes; the key of every cache above."""
        with reading(self._engine) as connection:
            return records.content_digest(connection)

    def audit(self, code: str, message: str, run: str | None = None) -> None:
        """Writes a line to the audit log, once for the same words about the same run."""
        with writing(self._engine) as connection:
            records.insert_audit(connection, code, message, run)

    def audit_log(self) -> list[AuditEntry]:
        """The audit log, oldest first."""
        with reading(self._engine) as connection:
            return records.audit_entries(connection)

    def _moved(self, digest: str, move: Callable[[Connection, str], int], code: str, words: str) -> bool:
        with writing(self._engine) as connection:
            file, times = records.find_file(connection, digest, self.path), move(connection, digest)
            if file is None or not times:
                return False
            again = f" (time {times})" if times > 1 else ""  # the log holds the same words once
            message = f"{file.kind} {file.name!r}, {digest[:12]}, {words}{again}"
            records.insert_audit(connection, code, message, None)
        return True

    def _find(self, digest: str) -> StoredFile | None:
        with reading(self._engine) as connection:
            return records.find_file(connection, digest, self.path)

    def _read(self, file: StoredFile) -> tuple[list[Run], list[Finding]]:
        if file.path is None:
            return [], []
        with reading(self._engine) as connection:
            expected, superseded = records.expected_heads(connection, file.digest)
        try:
            runs, findings = read_ledger(file.path, strict=False, heads=expected, name=file.name)
        except UntakenError as error:  # the file is gone
            return [], [error.finding()]
        return [run for run in runs if run.run_id not in superseded], findings

    def _again(self, known: StoredFile, name: str) -> Added:
        answer = Added(
            name=name,
            digest=known.digest,
            kind=known.kind,
            new=False,
            graph_id=known.graph_id,
            findings=known.findings,
        )
        if known.kind != "ledger" or known.path is None:
            return answer
        with reading(self._engine) as connection:
            expected, _ = records.expected_heads(connection, known.digest)
        return replace(answer, integrity=tuple(verify_ledger(known.path, heads=expected, name=name)))

    def _add_ledger(self, arrival: Arrival, heads: bytes | Path | None) -> Added:
        """A sidecar that cannot be read is a finding; the ledger is then added as one without heads."""
        if heads is None:
            return add_ledger(arrival, {})
        try:
            return add_ledger(arrival, read_heads(heads, name=f"{arrival.name}.heads.json"))
        except UntakenError as error:
            added = add_ledger(arrival, {})
            return replace(added, findings=(error.finding(), *added.findings))


def _unknown(name: str) -> Finding:
    return Finding(
        code="file-not-recognised",
        message="neither a run ledger, nor a plan graph, nor a heads sidecar",
        where=Where(file=name),
        hint="Ledgers end in .jsonl (.gz, .zst), plan graphs in .plan.yaml or .plan.json.",
        severity="error",
    )
