"""Removing files, restoring them, and deleting them after thirty days."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Select, delete, insert, select, update

from untaken.ledger import heads_path, journal_path
from untaken.workspace import bundles, records
from untaken.workspace.derived import discard_tables
from untaken.workspace.records import now, removed_files
from untaken.workspace.stored_file import StoredFile
from untaken.workspace.tables import bundled, conversions, files, heads, marks, removals

KEPT_DAYS: Final = 30
"""How long a removal can be taken back."""
PURGED: Final = "purged_at"
"""The mark that holds when the workspace was purged last."""


def link(connection: Connection, results: Mapping[str, Iterable[str]]) -> None:
    """Remembers which files came out of each foreign trace."""
    before = select(conversions.c.source, conversions.c.result)
    asked = (before.where(part) for part in records.among(conversions.c.source, results))
    known = {(row.source, row.result) for one in asked for row in connection.execute(one)}
    pairs = dict.fromkeys((source, result) for source, found in results.items() for result in found)
    rows = [{"source": source, "result": result} for source, result in pairs if (source, result) not in known]
    if rows:
        connection.execute(insert(conversions), rows)


def made_from(connection: Connection, run_id: str) -> frozenset[str]:
    """The foreign traces that a run's recorded conversion came out of."""
    chosen = select(conversions.c.source).join(heads, heads.c.file == conversions.c.result)
    return frozenset(connection.scalars(chosen.where(heads.c.run_id == run_id, heads.c.accepted)))


def goes_with(connection: Connection, source: str) -> list[str]:
    """What came out of a foreign trace and out of no other that is still here; in the order added.

    Ledgers that are in a bundle come last.
    """
    others = select(conversions.c.result).where(
        conversions.c.source != source, ~conversions.c.source.in_(removed_files())
    )
    chosen = (
        select(conversions.c.result)
        .join(files, files.c.digest == conversions.c.result)
        .where(conversions.c.source == source, ~conversions.c.result.in_(others))
        .where(~conversions.c.result.in_(removed_files()))
        .order_by(files.c.position)
    )
    inside = (
        select(conversions.c.result)
        .join(bundled, bundled.c.digest == conversions.c.result)
        .where(conversions.c.source == source, ~conversions.c.result.in_(others))
        .where(~bundled.c.bundle.in_(removed_files()), ~bundled.c.digest.in_(select(files.c.digest)))
        .order_by(bundled.c.position)
    )
    return [*connection.scalars(chosen), *connection.scalars(inside)]


def remove(connection: Connection, digest: str, folder: Path) -> bool:
    """Takes a file, and what came out of it alone, out of every listing; false where it is not here now."""
    bundles.take_out(connection, folder, [digest])
    here = select(files.c.digest).where(files.c.digest == digest, ~files.c.digest.in_(removed_files()))
    if connection.execute(here).one_or_none() is None:
        return False
    bundles.take_out(connection, folder, goes_with(connection, digest))
    moment = now()
    going = goes_with(connection, digest)  # again, because those in bundles have files of their own now
    here_too = records.known_files(connection, going)  # not what is in a bundle whose file is gone
    for one in (digest, *(one for one in going if one in here_too)):
        connection.execute(insert(removals).values(file=one, removed_at=moment))
        discard_tables(folder, one)
        _log(connection, one, folder, "file-removed", "was removed from this workspace")
    return True


def restore(connection: Connection, digest: str, folder: Path) -> bool:
    """Restores a removed file and everything removed with it; false if it is not removed, or was purged.

    A ledger of a removed bundle is restored without the others.
    """
    part = bundles.find_parts(connection, [digest]).get(digest)
    if part is not None and records.is_removed(connection, part.bundle):
        bundles.take_out(connection, folder, [digest])
        if not records.known_files(connection, [digest]):
            return False
        _log(connection, digest, folder, "file-restored", "was restored")
        return True
    when = select(removals.c.removed_at).where(removals.c.file == digest, removals.c.restored_at.is_(None))
    moment = connection.execute(when).scalar_one_or_none()
    if moment is None or not _bytes_are_there(connection, digest, folder):
        return False
    together = select(conversions.c.result).where(conversions.c.source == digest)
    # What went with it has the same moment; what was removed by itself before stays removed.
    with_it = select(removals.c.file).where(
        removals.c.file.in_(together), removals.c.removed_at == moment, removals.c.restored_at.is_(None)
    )
    for one in (digest, *connection.scalars(with_it).all()):
        if one == digest or _bytes_are_there(connection, one, folder):
            back = (removals.c.file == one) & removals.c.restored_at.is_(None)
            connection.execute(update(removals).where(back).values(restored_at=now()))
            _log(connection, one, folder, "file-restored", "was restored")
    return True


def expire(connection: Connection, folder: Path, before: datetime) -> list[StoredFile]:
    """Purges what was removed before a moment: it can be added again, but not restored.

    The rows stay, and with them the heads of the runs: another chain under their run ids still shows.
    """
    chosen = (
        select(files)
        .join(removals, removals.c.file == files.c.digest)
        .where(removals.c.restored_at.is_(None), removals.c.purged_at.is_(None))
        .where(removals.c.removed_at < before.astimezone(UTC).isoformat(timespec="microseconds"))
        .order_by(files.c.position)
    )
    old = [records.stored_file(row, folder) for row in connection.execute(chosen)]
    for file in old:
        marked = (removals.c.file == file.digest) & removals.c.restored_at.is_(None)
        connection.execute(update(removals).where(marked).values(purged_at=now()))
        connection.execute(delete(bundled).where(bundled.c.bundle == file.digest))
        _log(
            connection, file.digest, folder, "file-purged", f"was deleted {KEPT_DAYS} days after its removal"
        )
    return old


def sweep(connection: Connection, folder: Path) -> None:
    """Deletes the bytes of what has expired, where nothing else needs them."""
    chosen = select(files.c.path).where(files.c.digest.in_(_expired()), files.c.path.is_not(None)).distinct()
    for path in connection.scalars(chosen).all():
        # A file added under another name may have the same bytes.
        needing = select(files.c.digest).where(files.c.path == path, ~files.c.digest.in_(_expired())).limit(1)
        if connection.execute(needing).first() is None:
            for related in (folder / path, heads_path(folder / path), journal_path(folder / path)):
                related.unlink(missing_ok=True)


def purge_is_due(connection: Connection, moment: datetime) -> bool:
    """Whether the last one was a day ago or longer."""
    last = connection.execute(select(marks.c.value).where(marks.c.name == PURGED)).scalar_one_or_none()
    return last is None or datetime.fromisoformat(last) <= moment - timedelta(days=1)


def mark_purged(connection: Connection, moment: datetime) -> None:
    """Remembers when that was."""
    value = moment.astimezone(UTC).isoformat(timespec="microseconds")
    records.put(connection, marks, {"name": PURGED}, {"value": value})


def _expired() -> Select[tuple[str]]:
    return select(removals.c.file).where(removals.c.restored_at.is_(None), removals.c.purged_at.is_not(None))


def _bytes_are_there(connection: Connection, digest: str, folder: Path) -> bool:
    path = connection.execute(select(files.c.path).where(files.c.digest == digest)).scalar_one_or_none()
    return path is None or (folder / path).is_file()


def _log(connection: Connection, digest: str, folder: Path, code: str, words: str) -> None:
    file: Any = records.find_file(connection, digest, folder)
    times = records.times_removed(connection, digest)
    again = f" (time {times})" if times > 1 else ""  # the log holds the same words once
    message = f"{file.kind} {file.name!r}, {digest[:12]}, {words}{again}"
    records.insert_audit(connection, code, message, None)
