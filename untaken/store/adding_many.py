"""Many files at once: new ledgers and foreign traces, written with few statements for all of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from sqlalchemy import Connection, Engine

from untaken import limits
from untaken.errors import Finding, UntakenError
from untaken.ledger import Head, Integrity, verify_ledger
from untaken.store import records, removing
from untaken.store.adding import Arrival, ledger_findings, placing, read_heads
from untaken.store.anchoring import Anchored, anchor
from untaken.store.content import Staged, peek, sniff, source_identity, staged
from untaken.store.database import together, writing
from untaken.store.stored_file import Added, StoredFile
from untaken.store.syncing import synced_together


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A file to add; the attributes are the arguments of `Workspace.add`."""

    name: str
    data: bytes | Path
    heads: bytes | Path | None = None
    origin: str | None = None
    made_from: Collection[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptTrace:
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


@dataclass(frozen=True, slots=True)
class _Verified:
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
    with placing(engine, folder), together(engine), synced_together():
        yield


def add_new_ledgers(engine: Engine, folder: Path, incoming: Sequence[Incoming]) -> dict[int, Added]:
    """Adds those files that are ledgers of which nothing is known here: neither their bytes nor their runs.

    Returns:
        The result for each, by its place in `incoming`; the others are left to be added one by one.
    """
    with ExitStack() as copies:
        found: dict[int, _Verified] = {}
        for number, one in enumerate(incoming):
            if sniff(one.name, peek(one.data)) == "ledger":
                copy = copies.enter_context(staged(one.data, folder))
                verified = _verified(one, copy, engine, folder)
                if verified is not None:
                    found[number] = verified
        with writing(engine) as connection:
            return _insert(connection, folder, _unknown(connection, found))


def _verified(one: Incoming, copy: Staged, engine: Engine, folder: Path) -> _Verified | None:
    """A ledger compared with its own sidecar; ``None`` where there is more to say of it."""
    name = one.name[: limits.NAME_CHARS]
    try:
        sidecar = {} if one.heads is None else read_heads(one.heads, name=f"{name}.heads.json")
        verdicts = verify_ledger(copy.content, heads=sidecar, name=name)
    except UntakenError:
        return None  # said when it is added by itself
    arrival = Arrival(name=name, copy=copy, folder=folder, engine=engine, origin=one.origin)
    return _Verified(arrival, sidecar, verdicts)


def _unknown(connection: Connection, found: dict[int, _Verified]) -> dict[int, _Verified]:
    """Those of which neither the bytes nor a run are known, here or from one before."""
    known = records.known_files(connection, (one.arrival.copy.digest for one in found.values()))
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
    files: list[StoredFile] = []
    heads: dict[str, dict[str, Anchored]] = {}
    for number, one in chosen.items():
        arrival = one.arrival
        met = {
            run.run_id: anchor(run, sidecar=one.sidecar.get(run.run_id), recorded=None) for run in one.runs
        }
        findings = ledger_findings(arrival.name, met.values(), one.faults)
        path = arrival.place("ledgers", f".jsonl{arrival.copy.compression}")
        files.append(replace(arrival.file("ledger", path, findings), runs=len(met)))
        heads[arrival.copy.digest] = met
        integrity = (*(anchored.integrity for anchored in met.values()), *one.faults)
        added[number] = replace(arrival.answer("ledger", True, findings), integrity=integrity)
    records.insert_files(connection, files, folder)
    records.insert_new_heads(connection, heads)
    return added


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
                account = arrival.file(trace.kind, path, records.bounded(trace.findings))
                file = replace(account, digest=identity, loss=tuple(trace.loss))
                links.setdefault(identity, []).extend(trace.results)
                if identity in known:
                    back[identity] = removing.restore(connection, identity, folder)
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
