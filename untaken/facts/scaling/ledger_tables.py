"""The table of a ledger: what reading and scoring it gave, kept to be opened again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import msgspec

from untaken.facts.scaling.distant import DistantRun, RunRecord, Same
from untaken.facts.scaling.ledger_record import (
    LedgerTable,
    Scoring,
    decode_ledger,
    encode_ledger,
    encoded_score,
)
from untaken.facts.scaling.reading import LedgerDetail
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
    made = LedgerTable(record, file.path, LedgerDetail(store, file), Scoring(graphs=graphs), same)
    return FileReading(content=now, runs=tuple(made.runs), findings=record.findings)


def _key(content: str, graphs: GraphSet) -> str:
    return key_of(content, *rules_of(graphs))


def rules_of(graphs: GraphSet) -> tuple[object, ...]:
    """What of plan graphs decides how runs are scored, for a key."""
    return [graph_digest(graph) for graph in graphs.graphs], sorted(graphs.ambiguous), graphs.findings
