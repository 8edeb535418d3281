"""Runs that an added file extends beyond their recorded head: the head moves once a person confirms it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from sqlalchemy import Engine, or_, select

from untaken.ledger import Head, Run, Verdict, event_type, read_ledger
from untaken.workspace import records
from untaken.workspace.anchoring import DIFFERS, WAITS
from untaken.workspace.appending import move_head
from untaken.workspace.database import reading, writing
from untaken.workspace.stored_file import StoredFile
from untaken.workspace.tables import files, heads

NAMED: Final = 5


class Extension(Struct, frozen=True, kw_only=True):
    """The part of a run in an added file beyond its recorded head; it does not count yet.

    Attributes:
        file: the added file.
        run_id: the run.
        recorded: the head that it follows, or would replace.
        words: what it holds, and who signs the verdicts in it (untrusted).
    """

    file: StoredFile
    run_id: str
    recorded: Head
    words: str


def waiting(engine: Engine, folder: Path) -> list[Extension]:
    """What nobody has confirmed: events that still follow a recorded head, conversions that still differ."""
    with reading(engine) as connection:
        # This searches JSON text and may find too much; `_waiting_codes` decides.
        noted = or_(*(files.c.findings.contains(code, autoescape=True) for code in (WAITS, DIFFERS)))
        stored = [f for f in records.all_files(connection, folder, where=noted) if _waiting_codes(f)]
        recorded = records.recorded_heads(connection) if stored else {}
        chosen = select(heads.c.file, heads.c.run_id).where(heads.c.accepted | heads.c.superseded)
        settled = {(row.file, row.run_id) for row in connection.execute(chosen)} if stored else set()
    found = []
    for file in stored:
        codes = _waiting_codes(file)
        for run in _runs(file):
            code, known = codes.get(run.run_id), recorded.get(run.run_id)
            if code is None or known is None or (file.digest, run.run_id) in settled:
                continue
            if words := _words_of(run, code, known[0]):
                found.append(Extension(file=file, run_id=run.run_id, recorded=known[0], words=words))
    return found


def confirm(engine: Engine, folder: Path, extension: Extension, author: str) -> bool:
    """Moves a run's recorded head to the end of an added file; the audit log says who did.

    Returns:
        False where it does not wait any more; nothing was changed.
    """
    if extension not in waiting(engine, folder):
        return False
    run = next(run for run in _runs(extension.file) if run.run_id == extension.run_id)
    if run.integrity.broken or run.integrity.head is None:
        return False
    with writing(engine) as connection:
        # Checked again, now that no other writer can come between.
        if records.recorded_heads(connection)[run.run_id][0] != extension.recorded:
            return False
        move_head(connection, extension.file.digest, run.run_id, run.integrity.head)
        message = f"{author} confirmed {extension.words} from {extension.file.name}"
        records.insert_audit(connection, "run-extended", message, run.run_id)
    return True


def _waiting_codes(file: StoredFile) -> dict[str, str]:
    """The codes of the findings on what waits, by run."""
    return {n.where.run: n.code for n in file.findings if n.code in (WAITS, DIFFERS) and n.where.run}


def _words_of(run: Run, code: str, recorded: Head) -> str | None:
    """What the file adds to the run, or would put in its place; ``None`` where that is neither any more."""
    if code == DIFFERS:
        differs = run.integrity.head not in (None, recorded)
        what = f"another conversion of the run, in the place of the {recorded.events} events recorded here: "
        return what + _words(run, 0) if differs else None
    follows = len(run.events) > recorded.events and run.events[recorded.events].prev == recorded.sha256
    return _words(run, recorded.events) if follows else None


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
