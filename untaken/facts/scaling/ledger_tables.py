"""The table of a ledger: what reading and scoring it gave, kept to be opened again."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import ClassVar, cast

import msgspec

from untaken.facts.scaling.distant import FILES_OPEN, DistantRun, RunRecord, RunSource, Same, events_among
from untaken.facts.scaling.reading import (
    LedgerTable,
    ScoredRun,
    Scoring,
    decode_ledger,
    encode_ledger,
    encoded_score,
    made_of,
)
from untaken.ledger import AnyEvent, Run, RunLines
from untaken.plans import GraphSet, graph_digest
from untaken.workspace import (
    FileReading,
    LedgerContent,
    StoredFile,
    Workspace,
    key_of,
    load_table,
    save_table,
)


class Lightening:
    """Makes of whole runs what a server holds: scored, with their detail left in the ledger.

    Args:
        store: the workspace.
        graphs: its plan graphs.
        few: a few runs are read again: who asks for the features of one reads it once more.
    """

    def __init__(self, store: Workspace, graphs: GraphSet, *, few: bool = False) -> None:
        self._store, self._same = store, Same()
        self._scoring = Scoring(graphs=graphs, features=not few)
        self._details: dict[str, _Detail] = {}

    def __call__(self, file: StoredFile, some: Sequence[tuple[Run, RunLines | None]]) -> list[Run]:
        """As `untaken.workspace.readings.Make`."""
        under = self._scoring.graphs, self._scoring.verdicts

        def lighter(some: Sequence[ScoredRun]) -> list[Run]:
            return [DistantRun.lighter(*one, scoring=under, same=self._same) for one in some]

        return made_of([(run, lines or self._detail(file)) for run, lines in some], self._scoring, lighter)

    def _detail(self, file: StoredFile) -> _Detail:
        return self._details.setdefault(file.digest, _Detail(self._store, file))


def keep_table(workspace: Path, digest: str, file: FileReading, graphs: GraphSet) -> None:
    """Keeps the table of a ledger, by its digest, whose runs are scored against these graphs."""
    runs = cast("Sequence[DistantRun]", file.runs)
    # Scored against other graphs, it would be found under the key of these.
    if file.content.digest and all(run.scoring[0] == graphs for run in runs):
        table = encode_ledger(
            [(RunRecord.of(run, run.spans), encoded_score(run)) for run in runs], file.findings
        )
        save_table(workspace, digest, _key(file.content.digest, graphs), table)


def kept_reading(
    store: Workspace, file: StoredFile, now: LedgerContent, *, graphs: GraphSet, same: Same
) -> FileReading | None:
    """What reading a ledger would give, from its table; ``None`` where there is none of what it holds now."""
    table = load_table(store.path, file.digest, _key(now.digest, graphs))
    if table is None or file.path is None:
        return None
    try:
        record = decode_ledger(table)
    except msgspec.MsgspecError:
        return None
    made = LedgerTable(record, file.path, _Detail(store, file), Scoring(graphs=graphs), same)
    return FileReading(content=now, runs=tuple(made.runs), findings=record.findings)


class _Detail:
    """The runs of a stored ledger whose lines cannot be found by place; those asked for last stay."""

    held: ClassVar[deque[_Detail]] = deque()
    _lock: ClassVar[Lock] = Lock()  # one for all, as they share `held`

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
