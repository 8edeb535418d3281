"""A workspace opened again: ledgers of which nothing has changed are neither decoded nor scored again.

Their bytes are hashed all the same. The table of a ledger (`untaken.workspace.derived`) is found by a digest
of these bytes, the recorded heads, what was appended here, the plan graphs and this program; so it says what
reading and scoring would say now.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import ClassVar, Final, cast

import msgspec

from untaken.facts.scaling.distant import FILES_OPEN, DistantRun, RunRecord, RunSource, Same, events_among
from untaken.facts.scaling.reading import (
    ScoredRun,
    Scoring,
    decode_ledger,
    encode_ledger,
    encoded_score,
    made_of,
)
from untaken.ledger import AnyEvent, Run, RunLines
from untaken.limits import MIB
from untaken.plans import GraphSet, graph_digest
from untaken.workspace import (
    FileReading,
    LedgerContent,
    StoredFile,
    Workspace,
    has_answer,
    key_of,
    load_answer,
    load_table,
    save_answer,
    save_table,
    tidy_tables,
)

_CONTENTS: Final = "contents"
_decode_contents = msgspec.msgpack.Decoder(dict[str, LedgerContent]).decode
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
    contents = _contents(store) if keeps else {}
    kept = tidy_tables(store.path, {file.digest for file in ledgers})
    files: dict[str, FileReading] = {}
    unkept: list[StoredFile] = []
    with store.one_connection():
        known = store.contents_of([f for f in ledgers if f.digest in kept and f.digest not in contents])
        for file in ledgers:
            now = (contents.get(file.digest) or next(known)) if file.digest in kept else None
            found = _kept(store, file, now, graphs=graphs, same=same) if now else None
            if found is None:
                unkept.append(file)
            else:
                files[file.digest] = found
        later = sum(file.bytes for file in unkept) > _TABLES_AT_ONCE_BYTES
        for file, read in zip(unkept, store.read_some(unkept, Lightening(store, graphs)), strict=True):
            files[file.digest] = read
            if keeps and not later:
                keep_table(store.path, file.digest, read, graphs)
    digests = tuple(file.digest for file in unkept)
    return Reopened(
        graphs=graphs,
        files={file.digest: files[file.digest] for file in ledgers},
        unkept=digests,
        stale=len(kept.intersection(digests)),
        tables_due=keeps and later,
    )


def keep_contents(store: Workspace, files: Mapping[str, FileReading], state: str) -> None:
    """Keeps what the ledgers of a workspace hold, by their state: it need not be put together again."""
    if not has_answer(store.path, _CONTENTS, key_of(state)):
        contents = {digest: file.content for digest, file in files.items()}
        save_answer(store.path, _CONTENTS, key_of(state), msgspec.msgpack.encode(contents))


def _contents(store: Workspace) -> dict[str, LedgerContent]:
    """What was kept for the state that the ledgers are in now; nothing where they have another one."""
    state = store.ledger_state.now()
    found = state and load_answer(store.path, _CONTENTS, key_of(state))
    with suppress(msgspec.MsgspecError):  # damaged, it is as good as none
        return _decode_contents(found) if found else {}
    return {}


class Lightening:
    """Makes of whole runs what a server holds: scored, with their detail left in the ledger.

    Args:
        store: the workspace.
        graphs: its plan graphs.
    """

    def __init__(self, store: Workspace, graphs: GraphSet) -> None:
        self._store, self._scoring, self._same = store, Scoring(graphs=graphs), Same()
        self._details: dict[str, _Detail] = {}

    def __call__(self, file: StoredFile, some: Sequence[tuple[Run, RunLines | None]]) -> list[Run]:
        """As `untaken.workspace.readings.Make`."""
        under = self._scoring.graphs, self._scoring.verdicts

        def lighter(some: Sequence[ScoredRun]) -> list[Run]:
            return [
                DistantRun(run, source, scoring=under, scored=scored, same=self._same)
                for run, source, scored in some
            ]

        return made_of([(run, lines or self._detail(file)) for run, lines in some], self._scoring, lighter)

    def _detail(self, file: StoredFile) -> _Detail:
        return self._details.setdefault(file.digest, _Detail(self._store, file))


def keep_table(workspace: Path, digest: str, file: FileReading, graphs: GraphSet) -> None:
    """Keeps the table of a ledger, by its digest, whose runs are scored against these graphs."""
    runs = cast("Sequence[DistantRun]", file.runs)
    if file.content.digest and all(run.graphs == graphs for run in runs):
        table = encode_ledger(
            [(RunRecord.of(run, run.spans), encoded_score(run)) for run in runs], file.findings
        )
        save_table(workspace, digest, _key(file.content.digest, graphs), table)


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
    runs = record.runs_at(file.path, _Detail(store, file), Scoring(graphs=graphs), same)
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
