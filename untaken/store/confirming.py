"""An added file that goes on after a run's recorded head: the head moves once a person confirms it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy import Engine, select

from untaken.ledger import Run, read_ledger
from untaken.ledger.events import Verdict, event_type
from untaken.store import records
from untaken.store.anchoring import WAITS
from untaken.store.appending import move_head
from untaken.store.database import reading, writing
from untaken.store.model import StoredFile
from untaken.store.tables import heads

NAMED: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Extension:
    """Events of an added file that follow a run's recorded head and do not count yet.

    Attributes:
        file: the added file.
        run_id: the run.
        words: what the events are, and who signs the verdicts among them (untrusted).
    """

    file: StoredFile
    run_id: str
    words: str


def waiting(engine: Engine, folder: Path) -> list[Extension]:
    """The extensions that nobody has confirmed, and that still follow the recorded head."""
    with reading(engine) as connection:
        stored = [
            f for f in records.all_files(connection, folder) if any(n.code == WAITS for n in f.findings)
        ]
        recorded = records.recorded_heads(connection) if stored else {}
        chosen = select(heads.c.file, heads.c.run_id).where(heads.c.accepted | heads.c.superseded)
        settled = {(row.file, row.run_id) for row in connection.execute(chosen)} if stored else set()
    found = []
    for file in stored:
        meant = {n.where.run for n in file.findings if n.code == WAITS}
        for run in _runs(file):
            known = recorded.get(run.run_id)
            if run.run_id in meant and known and (file.digest, run.run_id) not in settled:
                start = known[0]
                if len(run.events) > start.events and run.events[start.events].prev == start.sha256:
                    found.append(Extension(file=file, run_id=run.run_id, words=_words(run, start.events)))
    return found


def confirm(engine: Engine, folder: Path, extension: Extension, author: str) -> bool:
    """Moves a run's recorded head to the end of an extension; the audit log says who did.

    Returns:
        False where the extension does not follow the recorded head any more; nothing was changed.
    """
    now = [one for one in waiting(engine, folder) if one.run_id == extension.run_id]
    if not any(one.file.digest == extension.file.digest for one in now):
        return False
    run = next(run for run in _runs(extension.file) if run.run_id == extension.run_id)
    if run.integrity.broken or run.integrity.head is None:
        return False
    with writing(engine) as connection:
        start = records.recorded_heads(connection)[run.run_id][0]
        if run.events[start.events].prev != start.sha256:
            return False
        move_head(connection, extension.file.digest, run.run_id, run.integrity.head)
        said = f"{author} confirmed {extension.words} from {extension.file.name}"
        records.insert_audit(connection, "run-extended", said, run.run_id)
    return True


def _runs(file: StoredFile) -> Sequence[Run]:
    if file.path is None or not file.path.is_file():
        return ()
    return read_ledger(file.path, strict=False, heads={}, name=file.name)[0]


def _words(run: Run, start: int) -> str:
    added = run.events[start:]
    kinds = [event_type(event) for event in added]
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    signed = list(dict.fromkeys(event.by for event in added if isinstance(event, Verdict)))
    by = f" signed {', '.join(signed[:NAMED])}" if signed else ""
    return f"{counts}{by}"
