"""A workspace opened again: ledgers of which nothing has changed are neither decoded nor scored again.

Their bytes are hashed all the same. The table of a ledger (`untaken.store.derived`) is found by a digest of
these bytes, the recorded heads, what was appended here, the plan graphs and this program; so it says what
reading and scoring would say now.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Lock

import msgspec

from untaken.errors import Unscored, UntakenError
from untaken.ledger import AnyEvent, Run
from untaken.plans import GraphSet
from untaken.plans.structure import graph_digest
from untaken.scaling.distant import RunSource, events_among
from untaken.scaling.reading import LedgerRecord, Scoring, decode_record, distant_runs, encode_record
from untaken.store import Workspace
from untaken.store.derived import key_of, load_table, save_table, tidy_tables
from untaken.store.model import StoredFile
from untaken.store.readings import FileReading
from untaken.subgoals import RunScore

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reopened:
    """The ledgers of a workspace.

    Attributes:
        graphs: the plan graphs that `files` were scored against.
        files: by digest of the ledger.
        unkept: digests of those that had to be read, as nothing was kept of them, or they have changed since.
        stale: how many of these had a table, of what they, their plan graphs or this program were before.
    """

    graphs: GraphSet
    files: Mapping[str, FileReading]
    unkept: tuple[str, ...]
    stale: int


def reopen(store: Workspace, progress: Progress | None = None) -> Reopened:
    """Reads every ledger of a workspace, from its table where that is what reading would give now."""
    graphs, ledgers = store.graph_set(), store.ledgers()
    kept = tidy_tables(store.path, {file.digest for file in ledgers})
    files: dict[str, FileReading] = {}
    unkept: list[str] = []
    with store.one_connection():
        for done, file in enumerate(ledgers, start=1):
            found = _kept(store, file, graphs) if file.digest in kept else None
            if found is None:
                unkept.append(file.digest)
                found = store.read_file(file)
            files[file.digest] = found
            if progress:
                progress(done, len(ledgers), file.name)
    stale = len(kept.intersection(unkept))
    return Reopened(graphs=graphs, files=files, unkept=tuple(unkept), stale=stale)


def keep(
    store: Workspace,
    files: Mapping[str, FileReading],
    graphs: GraphSet,
    runs: Mapping[str, Run],
    scores: Mapping[str, RunScore | Unscored],
) -> None:
    """Keeps what was made of some ledgers.

    Args:
        store: the workspace.
        files: by digest of the ledger.
        graphs: the workspace's plan graphs.
        runs: of these and other ledgers, by digest; of a run that came twice, one of both.
        scores: of `runs`, against the plan graphs and with everybody's verdicts.
    """
    scoring = Scoring(graphs=graphs)
    for digest, file in files.items():
        if file.content:
            known = {run.digest: scores[run.digest] for run in file.runs if runs.get(run.digest) is run}
            record = LedgerRecord.of(file.runs, file.findings, scoring, known)
            save_table(store.path, digest, _key(file.content, graphs), encode_record(record))


def _kept(store: Workspace, file: StoredFile, graphs: GraphSet) -> FileReading | None:
    try:
        key, content = store.content_of(file)
    except UntakenError:  # reading it says what is wrong
        return None
    table = load_table(store.path, file.digest, _key(content, graphs))
    if table is None:
        return None
    try:
        record = decode_record(table)
    except msgspec.MsgspecError:
        return None
    runs = distant_runs(record.runs, _Detail(store, file), Scoring(graphs=graphs))
    return FileReading(key=key, runs=tuple(runs), findings=record.findings, content=content)


class _Detail:
    """The runs of a stored ledger, read when somebody asks for what a table does not hold, and then held."""

    def __init__(self, store: Workspace, file: StoredFile) -> None:
        self._store, self._file, self._lock = store, file, Lock()
        self._runs: dict[str, Run] | None = None

    def __call__(self, run: RunSource) -> tuple[AnyEvent, ...] | None:
        with self._lock:
            if self._runs is None:
                self._runs = {each.digest: each for each in self._store.read_file(self._file).runs}
            return events_among(self._runs, run)


def _key(content: str, graphs: GraphSet) -> str:
    rules = [graph_digest(graph) for graph in graphs.graphs], sorted(graphs.ambiguous), graphs.findings
    return key_of(content, *rules)
