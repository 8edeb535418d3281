"""Many files at once: new ledgers and foreign traces, written with few statements for all of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection, Engine

from untaken import limits
from untaken.errors import Finding, UntakenError
from untaken.ledger import Head, Integrity, intact, verify_ledger
from untaken.workspace import bundles, records, removing
from untaken.workspace.adding import Arrival, GivenHeads, ledger_findings, placing, read_heads
from untaken.workspace.anchoring import Anchored, anchor
from untaken.workspace.appending import ledger_snapshot
from untaken.workspace.bundles import BundledLedger
from untaken.workspace.content import Staged, digest_of, peek, sniff, source_identity, staged
from untaken.workspace.database import reading, together, writing
from untaken.workspace.stored_file import Added, StoredFile
from untaken.workspace.syncing import synced_together


class Incoming(Struct, frozen=True, kw_only=True):
    """A file to add; the attributes are the arguments of `Workspace.add`.

    Heads that are a mapping come from who wrote the ledger a moment ago, each line as a reader accepts it: it
    is not verified before it is read.
    """

    name: str
    data: bytes | Path
    heads: GivenHeads | None = None
    origin: str | None = None
    made_from: Collection[str] = ()


class KeptTrace(Struct, frozen=True, kw_only=True):
    """A foreign trace to keep beside its conversion.

    Attributes:
        name: what it was added under.
        data: its content.
        kind: the name of its format.
        agent: the name given to the agent, where the trace does not record it.
        findings: what the conversion noticed in it.
        loss: what the conversion could not carry over, in words.
        results: digests of the ledgers that its runs went to; they are removed with it.
    """

    name: str
    data: bytes | Path
    kind: str
    agent: str | None = None
    findings: Sequence[Finding] = ()
    loss: Sequence[str] = ()
    results: Sequence[str] = ()


class _Verified(Struct, frozen=True):
    arrival: Arrival
    sidecar: dict[str, Head]
    verdicts: list[Integrity]

    @property
    def runs(self) -> list[Integrity]:
        return [verdict for verdict in self.verdicts if verdict.run_id]

    @property
    def faults(self) -> list[Integrity]:
        return [verdict for verdict in self.verdicts if not verdict.run_id]


@contextmanager
def one_transaction(engine: Engine, folder: Path) -> Iterator[None]:
    """What is added inside is on disk before its rows are committed, all of them or none."""
    # The sync is innermost: files are safe before the transaction commits.
    with placing(engine, folder), bundles.swept(engine, folder), together(engine), synced_together():
        yield


@contextmanager
def taking_out(engine: Engine, folder: Path) -> Iterator[Connection]:
    """A transaction in which ledgers may be taken out of bundles."""
    with placing(engine, folder), bundles.swept(engine, folder), writing(engine) as connection:
        yield connection


def add_new_ledgers(engine: Engine, folder: Path, incoming: Sequence[Incoming]) -> dict[int, Added]:
    """Adds those files that are ledgers of which nothing is known here: neither their bytes nor their runs.

    Short ones that came out of traces are bundled. Of those that are in a bundle already, it is said.

    Returns:
        The result for each, by its place in `incoming`; the others are left to be added one by one.
    """
    with ExitStack() as copies:
        found: dict[int, _Verified] = {}
        for number, one in enumerate(incoming):
            if isinstance(one.heads, Mapping) or sniff(one.name, peek(one.data)) == "ledger":
                copy = copies.enter_context(staged(one.data, folder))
                verified = _verified(one, copy, engine, folder)
                if verified is not None:
                    found[number] = verified
        given = {one.arrival.copy.digest: one.arrival.copy.content for one in found.values()}
        known = bundles.integrity_here(engine, folder, given)
        again = {
            number: one.arrival.answer("ledger", False, (), known[digest])
            for number, one in found.items()
            if (digest := one.arrival.copy.digest) in known
        }
        with writing(engine) as connection:
            return again | _insert(connection, folder, _unknown(connection, found))


def _verified(one: Incoming, copy: Staged, engine: Engine, folder: Path) -> _Verified | None:
    """A ledger compared with its own sidecar; ``None`` where there is more to say of it."""
    name = one.name[: limits.NAME_CHARS]
    arrival = Arrival(name=name, copy=copy, folder=folder, engine=engine, origin=one.origin)
    if isinstance(one.heads, Mapping):
        return _Verified(
            arrival, dict(one.heads), [intact(run_id, head) for run_id, head in one.heads.items()]
        )
    try:
        sidecar = {} if one.heads is None else read_heads(one.heads, name=f"{name}.heads.json")
        verdicts = verify_ledger(copy.content, heads=sidecar, name=name)
    except UntakenError:
        return None  # said when it is added by itself
    return _Verified(arrival, sidecar, verdicts)


def _unknown(connection: Connection, found: dict[int, _Verified]) -> dict[int, _Verified]:
    """Those of which neither the bytes nor a run are known, here or from one before."""
    digests = [one.arrival.copy.digest for one in found.values()]
    known = records.known_files(connection, digests) | set(bundles.find_parts(connection, digests))
    taken = records.known_runs(connection, (run.run_id for one in found.values() for run in one.runs))
    chosen = {}
    for number, one in found.items():
        runs = {run.run_id for run in one.runs}
        if runs and one.arrival.copy.digest not in known and taken.isdisjoint(runs):
            chosen[number] = one
            known.add(one.arrival.copy.digest)
            taken |= runs
    return chosen


def _insert(connection: Connection, folder: Path, chosen: dict[int, _Verified]) -> dict[int, Added]:
    added: dict[int, Added] = {}
    ledgers: list[_Anchored] = []
    for number, one in chosen.items():
        met = {
            run.run_id: anchor(run, sidecar=one.sidecar.get(run.run_id), recorded=None) for run in one.runs
        }
        findings = ledger_findings(one.arrival.name, met.values(), one.faults)
        ledgers.append(_Anchored(one.arrival, met, findings))
        integrity = (*(anchored.integrity for anchored in met.values()), *one.faults)
        added[number] = one.arrival.answer("ledger", True, findings, integrity)
    files: list[StoredFile] = []
    heads: dict[str, dict[str, Anchored]] = {}
    for group in _bundled(ledgers):
        ledger, parts = _as_one(group)
        path = ledger.arrival.place("ledgers", f".jsonl{ledger.arrival.copy.compression}")
        files.append(ledger.arrival.file("ledger", path, ledger.findings, runs=len(ledger.met)))
        heads[ledger.arrival.copy.digest] = ledger.met
        bundles.insert_parts(connection, parts)
    records.insert_files(connection, files, folder)
    records.insert_new_heads(connection, heads)
    return added


class _Anchored(Struct, frozen=True):
    """A new ledger, its runs as they are recorded, and what is noticed."""

    arrival: Arrival
    met: dict[str, Anchored]
    findings: tuple[Finding, ...]

    @property
    def may_be_bundled(self) -> bool:
        """Whether it came out of traces, is short, and nothing is to be said about it by itself."""
        copy = self.arrival.copy
        return (
            self.arrival.origin is not None
            and isinstance(copy.content, bytes)
            and copy.bytes <= bundles.SHORT_BYTES
            and not (copy.compression or self.findings)
            and copy.content.endswith(b"\n")  # otherwise the next ledger would continue its last line
            and all(one.accepted and not one.integrity.broken for one in self.met.values())
        )


def _bundled(ledgers: Sequence[_Anchored]) -> Iterator[list[_Anchored]]:
    """The ledgers in their order: those that follow one another and may be bundled, some at a time."""
    group: list[_Anchored] = []
    room = bundles.MOST_BYTES
    for one in ledgers:
        room -= one.arrival.copy.bytes
        goes_in = one.may_be_bundled and room >= 0 and len(group) < bundles.MOST
        if group and not (goes_in and group[0].may_be_bundled):
            yield group
            group, room = [], bundles.MOST_BYTES - one.arrival.copy.bytes
        group.append(one)
    if group:
        yield group


def _as_one(group: Sequence[_Anchored]) -> tuple[_Anchored, list[BundledLedger]]:
    """A ledger by itself; of several, the bundle and where each of them is in it."""
    first = group[0]
    if len(group) == 1:
        return first, []
    content = b"".join(
        one.arrival.copy.content for one in group if isinstance(one.arrival.copy.content, bytes)
    )
    digest = digest_of(content)
    copy = replace(first.arrival.copy, content=content, digest=digest, bytes=len(content))
    name = bundles.name_of([one.arrival.name for one in group])
    parts = bundles.placed(
        (
            BundledLedger(
                bundle=digest,
                digest=one.arrival.copy.digest,
                name=one.arrival.name,
                first=0,
                bytes=one.arrival.copy.bytes,
                runs=len(one.met),
            )
            for one in group
        ),
        digest,
    )
    met = {run_id: anchored for one in group for run_id, anchored in one.met.items()}
    return _Anchored(replace(first.arrival, copy=copy, name=name), met, ()), list(parts)


def add_bundled(engine: Engine, folder: Path, copy: Staged, *, back: bool) -> Added | None:
    """The answer about a ledger that is in a bundle; `back` restores it where that is removed.

    ``None`` where it is in none, or the bundle's file is gone.
    """
    with reading(engine) as connection:
        part = bundles.find_parts(connection, [copy.digest]).get(copy.digest)
    if part is None:
        return None
    answer = Added(name=part.name, digest=copy.digest, kind="ledger", new=False)
    here = bundles.integrity_here(engine, folder, {copy.digest: copy.content})
    if copy.digest in here or not back:
        return replace(answer, integrity=here.get(copy.digest, ()))
    with taking_out(engine, folder) as connection:
        restored = removing.restore(connection, copy.digest, folder)
    if not restored:
        return None
    with ledger_snapshot(engine, folder, copy.digest) as now:
        verdicts = verify_ledger(now.front, heads=now.heads, name=part.name)
    return replace(answer, new=True, integrity=tuple(verdicts))


def keep_traces(engine: Engine, folder: Path, traces: Sequence[KeptTrace]) -> list[bool]:
    """What `Workspace.keep_traces` does."""
    with ExitStack() as copies:
        arrivals = [_arrival(copies.enter_context(staged(t.data, folder)), t, engine, folder) for t in traces]
        identities = [source_identity(one.name, one.copy.digest) for one in arrivals]
        with writing(engine) as connection:  # also while the copies are placed: they could be purged
            known = records.known_files(connection, identities)
            fresh: dict[str, StoredFile] = {}
            back: dict[str, bool] = {}
            links: dict[str, list[str]] = {}
            for identity, arrival, trace in zip(identities, arrivals, traces, strict=True):
                path = arrival.place("sources", "")
                noted, loss = records.bounded(trace.findings), tuple(trace.loss)
                file = arrival.file(trace.kind, path, noted, identity=identity, loss=loss)
                links.setdefault(identity, []).extend(trace.results)
                if identity in known:
                    back[identity] = removing.restore(connection, identity, folder)
                    # The report of the latest conversion replaces that of an earlier one.
                    records.update_account(connection, file)
                else:
                    fresh.setdefault(identity, file)
            records.insert_files(connection, fresh.values(), folder)
            removing.link(connection, links)
    return [fresh.pop(one, None) is not None or back.pop(one, False) for one in identities]


def _arrival(copy: Staged, trace: KeptTrace, engine: Engine, folder: Path) -> Arrival:
    return Arrival(
        name=trace.name[: limits.NAME_CHARS], copy=copy, folder=folder, engine=engine, origin=trace.agent
    )
