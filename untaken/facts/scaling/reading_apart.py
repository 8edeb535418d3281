"""Much that was never read, read by several processes at once: each keeps the tables of some ledgers.

Who opens the workspace then finds these tables, as if it was opened again; what a process has not come to is
read by who asked. Pages and the other threads of the app are served in the meantime.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from typing import Final

import msgspec

from untaken.errors import UntakenError
from untaken.facts.scaling.ledger_tables import keep_table
from untaken.facts.scaling.reading import Lightening
from untaken.limits import MIB
from untaken.workspace import (
    LedgerContent,
    StoredFile,
    Workspace,
    end_with_app,
    keeps_tables,
    output_to_app,
    process_for_app,
)

_LEAST_BYTES: Final = 32 * MIB
"""Of ledgers: to start a process takes as long as to read some 5 MiB."""
_MOST: Final = 8
"""Processes; each takes some 150 MB."""
_ENTRY: Final = "from untaken.facts.scaling.reading_apart import work; work()"


_Share = tuple[str, set[str]]
"""What a process is to read: the folder of a workspace, and digests of ledgers in it."""
_decode_contents = msgspec.msgpack.Decoder(dict[str, LedgerContent]).decode


def make_tables_apart(store: Workspace, files: Sequence[StoredFile]) -> dict[str, LedgerContent]:
    """What the ledgers hold that a process has read; none where it is as fast to read them here."""
    processes = min(_processors(), len(files), _MOST)
    if processes < 2 or sum(file.bytes for file in files) < _LEAST_BYTES or not keeps_tables(store.path):
        return {}
    by_size = [file.digest for file in sorted(files, key=lambda file: file.bytes)]
    made: dict[str, LedgerContent] = {}
    with ExitStack() as at_work:
        shares = ((str(store.path), by_size[n::processes]) for n in range(processes))
        jobs = (process_for_app(_ENTRY, msgspec.json.encode(share)) for share in shares)
        for output in [at_work.enter_context(job) for job in jobs]:
            with suppress(msgspec.DecodeError):  # it was killed
                made |= _decode_contents(output.read())
    return made


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def work() -> None:
    """What a process does: reads its share, keeps the tables, and writes what the ledgers hold."""
    output = output_to_app(awaited=True)
    folder, wanted = msgspec.json.decode(sys.stdin.buffer.readline(), type=_Share)
    end_with_app()
    made: dict[str, LedgerContent] = {}
    with suppress(UntakenError, OSError), Workspace(folder) as store:  # who asked says what is wrong
        graphs = store.graph_set()
        files = [file for file in store.ledgers() if file.digest in wanted]
        for file, read in zip(files, store.read_some(files, Lightening(store, graphs)), strict=True):
            keep_table(store.path, file.digest, read, graphs)
            made[file.digest] = read.content
    output.write(msgspec.msgpack.encode(made))
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it ends by itself now
    output.close()
