"""What happens to a ledger, a plan graph or a heads sidecar that is added to a workspace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection, Engine

from untaken import limits
from untaken.errors import Finding, UntakenError, Where
from untaken.ledger import Head, Integrity, parse_heads, read_ledger, verify_ledger
from untaken.plans import read_graph
from untaken.workspace import bundles, records, removing, versions
from untaken.workspace.anchoring import Anchored, anchor
from untaken.workspace.appending import holds_later
from untaken.workspace.content import Staged, graph_suffix, placed_files
from untaken.workspace.database import writing
from untaken.workspace.own_events import own_spans
from untaken.workspace.stored_file import Added, FileKind, StoredFile

GivenHeads = bytes | Path | Mapping[str, Head]
"""How the runs of a ledger end, as it is known when it is added: a sidecar, or what it would say."""


class Arrival(Struct, frozen=True, kw_only=True):
    """A staged file on its way into the workspace in `folder`."""

    name: str
    copy: Staged
    folder: Path
    engine: Engine
    origin: str | None
    trusted: bool = False
    made_from: frozenset[str] = frozenset()

    def place(self, room: str, suffix: str) -> Path:
        """Moves the copy to where it stays, and says where that is."""
        target = self.folder.joinpath(room, f"{self.copy.digest}{suffix}")
        self.copy.keep(target)
        return target

    def file(
        self,
        kind: str,
        path: Path | None,
        findings: tuple[Finding, ...],
        *,
        identity: str | None = None,
        runs: int = 0,
        loss: tuple[str, ...] = (),
    ) -> StoredFile:
        """The row this file gets; it is known by its digest, unless by another `identity`."""
        return StoredFile(
            digest=identity or self.copy.digest,
            name=self.name,
            kind=kind,
            added_at=datetime.now(UTC),
            bytes=self.copy.bytes,
            path=path,
            runs=runs,
            origin=self.origin,
            findings=findings,
            loss=loss,
        )

    def answer(
        self,
        kind: FileKind,
        new: bool,
        findings: tuple[Finding, ...],
        integrity: tuple[Integrity, ...] = (),
    ) -> Added:
        """The result for the caller."""
        return Added(
            name=self.name,
            digest=self.copy.digest,
            kind=kind,
            new=new,
            integrity=integrity,
            findings=findings,
        )


@contextmanager
def placing(engine: Engine, folder: Path) -> Iterator[None]:
    """Where what is added inside fails, its files go as well, unless a row names them by now."""
    with placed_files() as placed:
        try:
            yield
        except BaseException:
            if placed:
                # If tidying fails too, the doctor lists the orphan: the first error is the one to report.
                with suppress(UntakenError, OSError), writing(engine) as connection:
                    # Another process may have added the same bytes meanwhile, which have the same path.
                    for path in set(placed) - records.named_paths(connection, placed, folder):
                        path.unlink(missing_ok=True)
            raise


def add_ledger(arrival: Arrival, sidecar: Mapping[str, Head]) -> Added:
    """Verifies a ledger, compares its runs with the heads recorded before, and records what is new.

    A file without a recognisable run is not stored.
    """
    name, copy = arrival.name, arrival.copy
    verdicts = verify_ledger(copy.content, heads=sidecar, name=name)
    runs = [verdict for verdict in verdicts if verdict.run_id]
    faults = [verdict for verdict in verdicts if not verdict.run_id]
    if not runs:
        findings = records.bounded([_fault(name, fault) for fault in faults])
        return arrival.answer("ledger", False, findings, tuple(faults))
    with writing(arrival.engine) as connection:  # also while it is placed: `placing` looks for its row
        path = arrival.place("ledgers", f".jsonl{copy.compression}")
        met = _meet_recorded(connection, runs, sidecar, path, arrival)
        integrity = (*(anchored.integrity for anchored in met.values()), *faults)
        findings = ledger_findings(name, met.values(), faults)
        file = arrival.file("ledger", path, findings, runs=len(runs))
        new = records.insert_file(connection, file, arrival.folder)
        if new:
            records.insert_heads(connection, copy.digest, met)
    return arrival.answer("ledger", new, findings, integrity)


def add_graph(arrival: Arrival) -> Added:
    """Keeps a plan graph that is valid; one that is not raises with the reason."""
    name, copy = arrival.name, arrival.copy
    if copy.bytes > limits.GRAPH_FILE_BYTES:
        raise versions.too_large(name, copy.bytes)
    data = copy.content if isinstance(copy.content, bytes) else copy.content.read_bytes()
    graph, graph_findings = read_graph(data, name=name)
    with writing(arrival.engine) as connection:
        path = arrival.place("graphs", graph_suffix(data))
        number = versions.free_number(connection, graph.id, graph.version)
        findings = records.bounded([*graph_findings, *_renumbered(name, graph.version, number)])
        file = replace(arrival.file("graph", path, findings), graph_id=graph.id, graph_version=number)
        new = records.insert_file(connection, file, arrival.folder)
        if new:
            versions.insert_version(connection, graph.id, number, copy.digest, author=versions.UPLOAD)
    return replace(arrival.answer("graph", new, findings), graph_id=graph.id)


def add_heads(arrival: Arrival) -> Added:
    """Records the heads of runs that have none yet; a sidecar never overrules what is recorded."""
    given = read_heads(arrival.copy.content, name=arrival.name)
    with writing(arrival.engine) as connection:
        recorded = records.recorded_heads(connection, given)
        differing = [r for r, head in given.items() if r in recorded and recorded[r][0] != head]
        findings = records.bounded([_disagreement(arrival.name, run_id) for run_id in differing])
        new = records.insert_file(connection, arrival.file("heads", None, findings), arrival.folder)
        if new:
            fresh = {r: Anchored.alone(r, head) for r, head in given.items() if r not in recorded}
            records.insert_heads(connection, arrival.copy.digest, fresh)
    return arrival.answer("heads", new, findings)


def read_heads(data: GivenHeads, *, name: str) -> dict[str, Head]:
    """The heads in a sidecar, or those that were given without one.

    Raises:
        UntakenError: ``ledger-heads``.
    """
    if isinstance(data, Mapping):
        return dict(data)
    size = len(data) if isinstance(data, bytes) else data.stat().st_size
    if size > limits.HEADS_FILE_BYTES:
        raise UntakenError("ledger-heads", "the heads file is too large", where=Where(file=name))
    return parse_heads(data if isinstance(data, bytes) else data.read_bytes(), name=name)


def _meet_recorded(
    connection: Connection,
    own: list[Integrity],
    sidecar: Mapping[str, Head],
    path: Path,
    arrival: Arrival,
) -> dict[str, Anchored]:
    recorded = records.recorded_heads(connection, [integrity.run_id for integrity in own])
    differing = [i.run_id for i in own if i.run_id in recorded and i.head != recorded[i.run_id][0]]
    bundles.take_out_runs(connection, arrival.folder, differing)
    longer = {
        i.run_id: recorded[i.run_id][0]
        for i in own
        if i.head and i.run_id in recorded and i.head.events > recorded[i.run_id][0].events
    }
    extending = _extending(path, longer) if longer else frozenset()  # it reads the whole ledger
    met = {}
    for integrity in own:
        head, from_format = recorded.get(integrity.run_id, (None, None))
        met[integrity.run_id] = anchor(
            integrity,
            sidecar=sidecar.get(integrity.run_id),
            recorded=head,
            extends=integrity.run_id in extending,
            reimported=arrival.origin is not None and arrival.origin == from_format,
            reconverted=_of_the_same_and_more(connection, integrity.run_id, arrival.made_from),
            earlier=_earlier(connection, arrival.folder, integrity, head),
            trusted=arrival.trusted,
        )
    return met


def _of_the_same_and_more(connection: Connection, run_id: str, made_from: frozenset[str]) -> bool:
    """Whether a run's recorded conversion was made from these traces only, and nobody judged it here."""
    before = removing.made_from(connection, run_id) if made_from else frozenset()
    return bool(before) and before <= made_from and not own_spans(connection, [run_id])


def _earlier(connection: Connection, folder: Path, own: Integrity, recorded: Head | None) -> bool:
    """Whether the run came as it was before something was written about it here."""
    if own.head is None or recorded is None or own.head.events >= recorded.events:
        return False
    return holds_later(connection, folder, own.run_id, own.head)


def _extending(path: Path, recorded: Mapping[str, Head]) -> frozenset[str]:
    """The runs whose chain passes through the recorded head."""
    runs, _ = read_ledger(path, strict=False, heads={})
    return frozenset(
        run.run_id
        for run in runs
        if (head := recorded.get(run.run_id))
        and len(run.events) > head.events
        and run.events[head.events].prev == head.sha256
    )


def ledger_findings(name: str, met: Iterable[Anchored], faults: Iterable[Integrity]) -> tuple[Finding, ...]:
    """What the anchoring said, and each fault that it said nothing about."""
    findings = [a.finding or _fault(name, a.integrity) for a in met if a.finding or a.integrity.broken]
    located = [finding.about(name) for finding in findings]
    return records.bounded(located + [_fault(name, fault) for fault in faults])


def _fault(name: str, integrity: Integrity) -> Finding:
    where = Where(file=name, line=integrity.line, column=integrity.column, run=integrity.run_id or None)
    return Finding(
        code=f"ledger-{integrity.verdict.lower()}",
        message=integrity.reason,
        where=where,
        hint="Do not use this run. Get the ledger again from its source.",
        severity="error",
    )


def _renumbered(name: str, stated: int, number: int) -> list[Finding]:
    if stated == number:
        return []
    note = Finding(
        code="graph-renumbered",
        message=f"a different graph is version {stated} here; this one is kept as version {number}",
        where=Where(file=name),
        severity="note",
    )
    return [note]


def _disagreement(name: str, run_id: str) -> Finding:
    return Finding(
        code="run-head-differs",
        message="the sidecar has a different head than this workspace; the recorded head is kept",
        where=Where(file=name, run=run_id),
        hint="Add the sidecar together with its ledger.",
        severity="error",
    )
