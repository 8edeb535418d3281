"""A workspace opened again: ledgers of which nothing has changed are neither decoded nor scored again.

Their bytes are hashed all the same. The table of a ledger (`untaken.workspace.derived`) is found by a digest
of these bytes, the recorded heads, what was appended here, the plan graphs and this program; so it says what
reading and scoring would say now.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Final

import msgspec

from untaken.facts.scaling.distant import Same
from untaken.facts.scaling.ledger_tables import keep_table, kept_reading
from untaken.facts.scaling.reading import Lightening
from untaken.facts.scaling.reading_apart import make_tables_apart
from untaken.plans import GraphSet
from untaken.workspace import (
    FileReading,
    LedgerContent,
    StoredFile,
    Workspace,
    has_answer,
    key_of,
    load_answer,
    save_answer,
    tidy_tables,
)

_CONTENTS: Final = "contents"
_decode_contents = msgspec.msgpack.Decoder(dict[str, LedgerContent]).decode


class Reopened(msgspec.Struct, frozen=True, kw_only=True):
    """The ledgers of a workspace.

    Attributes:
        graphs: the plan graphs that `files` were scored against.
        files: by digest of the ledger.
        unkept: digests of those that had to be read, as nothing was kept of them, or they have changed since.
        stale: how many of these had a table, of what they, their plan graphs or this program were before.
        state: of all the ledgers, as of `LedgerState`; ``None`` where nothing is kept.
    """

    graphs: GraphSet
    files: Mapping[str, FileReading]
    unkept: tuple[str, ...]
    stale: int
    state: str | None


def reopen(store: Workspace, *, keeps: bool = True) -> Reopened:
    """Reads every ledger of a workspace, from its table where that is what reading would give now.

    Args:
        store: the workspace.
        keeps: whether the others get tables.
    """
    graphs, ledgers, same = store.graph_set(), store.ledgers(), Same()
    # Asked before the files are read and again after: a change in between shows.
    rows = store.ledger_state.rows() if keeps else None
    state = store.ledger_state.now(rows) if rows else None
    contents = _contents(store, state) if state else {}
    kept = tidy_tables(store.path, {file.digest for file in ledgers})
    files: dict[str, FileReading] = {}
    unkept: list[StoredFile] = []
    with store.one_connection():
        # In the order of the ledgers: below, each that asks for its own takes the next.
        known = store.contents_of([f for f in ledgers if f.digest in kept and f.digest not in contents])
        for file in ledgers:
            now = (contents.get(file.digest) or next(known)) if file.digest in kept else None
            found = kept_reading(store, file, now, graphs=graphs, same=same) if now else None
            if found is None:
                unkept.append(file)
            else:
                files[file.digest] = found
    apart = make_tables_apart(store, unkept) if keeps else {}
    for file in unkept:
        made = apart.get(file.digest)
        if made and (found := kept_reading(store, file, made, graphs=graphs, same=same)):
            files[file.digest] = found
    rest = [file for file in unkept if file.digest not in files]
    with store.one_connection():
        for file, read in zip(rest, store.read_some(rest, Lightening(store, graphs)), strict=True):
            files[file.digest] = read
            if keeps:
                keep_table(store.path, file.digest, read, graphs)
    digests = tuple(file.digest for file in unkept)
    return Reopened(
        graphs=graphs,
        files={file.digest: files[file.digest] for file in ledgers},
        unkept=digests,
        stale=len(kept.intersection(digests)),
        state=state if contents and not unkept else store.ledger_state.of(files, rows),
    )


def keep_contents(store: Workspace, files: Mapping[str, FileReading], state: str) -> None:
    """Keeps what the ledgers of a workspace hold, by their state: it need not be put together again."""
    if not has_answer(store.path, _CONTENTS, key_of(state)):
        contents = {digest: file.content for digest, file in files.items()}
        save_answer(store.path, _CONTENTS, key_of(state), msgspec.msgpack.encode(contents))


def _contents(store: Workspace, state: str) -> dict[str, LedgerContent]:
    """What was kept for a state of the ledgers; nothing where there is none."""
    found = load_answer(store.path, _CONTENTS, key_of(state))
    with suppress(msgspec.MsgspecError):  # damaged, it is as good as none
        return _decode_contents(found) if found else {}
    return {}
