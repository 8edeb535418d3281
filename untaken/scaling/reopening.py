"""A workspace opened again: ledgers of which nothing has changed are neither decoded nor scored again.

Their bytes are hashed all the same. The table of a ledger (`untaken.store.derived`) is found by a digest of
these bytes, the recorded heads, what was appended here, the plan graphs and this program; so it says what
reading and scoring would say now.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import ClassVar, Final

import msgspec

from untaken.judging import texts_to_judges
from untaken.ledger import AnyEvent, Run
from untaken.ledger.run_lines import RunLines
from untaken.limits import MIB
from untaken.plans import GraphSet
from untaken.plans.structure import graph_digest
from untaken.scaling.distant import FILES_OPEN, DistantRun, RunSource, Same, ScoreRecord, events_among
from untaken.scaling.reading import (
    Scoring,
    decode_ledger,
    encode_ledger,
    encode_run,
    made_of,
    packed,
)
from untaken.store import Workspace
from untaken.store.derived import key_of, load_table, save_table, tidy_tables
from untaken.store.readings import FileReading, LedgerContent
from untaken.store.stored_file import StoredFile

_TABLES_AT_ONCE_BYTES: Final = 8 * MIB
"""Of ledgers whose tables are made while they are read: of more, the first visitor would wait for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reopened:
    """The ledgers of a workspace.

    Attributes:
        graphs: the plan graphs that `files` were scored against.
        files: by digest of the ledger.
        unkept: digests of those that had to be read, as nothing was kept of them, or they have changed since.
        stale: how many of these had a table, of what they, their plan graphs or this program were before.
        tables_due: whether those of `unkept` are still to be made.
    """

    graphs: GraphSet
    files: Mapping[str, FileReading]
    unkept: tuple[str, ...]
    stale: int
    tables_due: bool


def reopen(store: Workspace, *, keeps: bool = True) -> Reopened:
    """Reads every ledger of a workspace, from its table where that is what reading would give now.

    Args:
        store: the workspace.
        keeps: whether the others get tables, at once or, where there is much to read, later.
    """
    graphs, ledgers, same = store.graph_set(), store.ledgers(), Same()
    kept = tidy_tables(store.path, {file.digest for file in ledgers})
    files: dict[str, FileReading] = {}
    unkept: list[StoredFile] = []
    with store.one_connection():
        known = store.contents_of([file for file in ledgers if file.digest in kept])
        for file in ledgers:
            now = next(known) if file.digest in kept else None
            found = _kept(store, file, now, graphs=graphs, same=same) if now else None
            if found is None:
                unkept.append(file)
            else:
                files[file.digest] = found
        later = sum(file.bytes for file in unkept) > _TABLES_AT_ONCE_BYTES
        light = Lightening(store, graphs, keeps=keeps and not later)
        for file, read in zip(unkept, store.read_some(unkept, light), strict=True):
            light.keep(file, read)
            files[file.digest] = read
    digests = tuple(file.digest for file in unkept)
    return Reopened(
        graphs=graphs,
        files={file.digest: files[file.digest] for file in ledgers},
        unkept=digests,
        stale=len(kept.intersection(digests)),
        tables_due=keeps and later,
    )


class Lightening:
    """Makes of whole runs what a server holds: scored, with their detail left in the ledger.

    Args:
        store: the workspace.
        graphs: its plan graphs.
        keeps: whether it also makes what a table holds of them.
        looks: whether it looks for possible prompt injections, while they are whole.
    """

    def __init__(
        self, store: Workspace, graphs: GraphSet, *, keeps: bool = False, looks: bool = False
    ) -> None:
        self._store, self._scoring = store, Scoring(graphs=graphs, detail=keeps)
        self._keeps, self._looks = keeps, looks
        self._same, self._records = Same(), dict[int, bytes]()
        self._details: dict[str, _Detail] = {}

    def __call__(self, file: StoredFile, some: Sequence[tuple[Run, RunLines | None]]) -> list[Run]:
        """As `untaken.store.readings.Make`."""
        under = self._scoring.graphs, self._scoring.verdicts

        def lighter(run: Run, source: RunSource, scored: tuple[ScoreRecord, ...]) -> Run:
            if self._looks and not run.integrity.broken:
                texts_to_judges(run)
            if not self._keeps:
                return DistantRun(run, source, scoring=under, scored=scored, same=self._same)
            scored = tuple(map(packed, scored))
            made = DistantRun(run, source, scoring=under, scored=scored, same=self._same)
            self._records[id(made)] = encode_run(run, scored, source.spans)
            return made

        placed = [(run, lines or self._detail(file)) for run, lines in some]
        return made_of(placed, self._scoring, lambda scored: [lighter(*one) for one in scored])

    def _detail(self, file: StoredFile) -> _Detail:
        return self._details.setdefault(file.digest, _Detail(self._store, file))

    def keep(self, file: StoredFile, read: FileReading) -> None:
        """Keeps the table of a ledger whose runs were made here."""
        if self._keeps and read.content.digest:
            runs = [self._records.pop(id(run)) for run in read.runs]
            _save(self._store, file.digest, read, runs, self._scoring.graphs)


def _save(store: Workspace, digest: str, file: FileReading, runs: Iterable[bytes], graphs: GraphSet) -> None:
    save_table(store.path, digest, _key(file.content.digest, graphs), encode_ledger(runs, file.findings))


def _kept(
    store: Workspace, file: StoredFile, now: LedgerContent, *, graphs: GraphSet, same: Same
) -> FileReading | None:
    table = load_table(store.path, file.digest, _key(now.digest, graphs))
    if table is None or file.path is None:
        return None
    try:
        record = decode_ledger(table)
    except msgspec.MsgspecError:
        return None
    detail = _Detail(store, file)
    runs = [
        DistantRun(
            run,
            RunSource(run, run.lines(file.path) or detail),
            scoring=(graphs, ()),
            scored=run.scored,
            same=same,
        )
        for run in record.runs
    ]
    return FileReading(content=now, runs=tuple(runs), findings=record.findings)


class _Detail:
    """The runs of a stored ledger whose lines cannot be found by place; those asked for last stay."""

    held: ClassVar[deque[_Detail]] = deque()
    _lock: ClassVar[Lock] = Lock()

    def __init__(self, store: Workspace, file: StoredFile) -> None:
        self._store, self._file = store, file
        self._runs: dict[str, Run] | None = None

    def __call__(self, run: RunSource) -> tuple[AnyEvent, ...] | None:
        with self._lock:
            if self._runs is None:
                self._runs = {each.digest: each for each in next(self._store.read_some([self._file])).runs}
                self.held.append(self)
                if len(self.held) > FILES_OPEN:
                    self.held.popleft()._runs = None
            return events_among(self._runs, run)


def _key(content: str, graphs: GraphSet) -> str:
    return key_of(content, *rules_of(graphs))


def rules_of(graphs: GraphSet) -> tuple[object, ...]:
    """What of plan graphs decides how runs are scored, for a key."""
    return [graph_digest(graph) for graph in graphs.graphs], sorted(graphs.ambiguous), graphs.findings
