"""A workspace out of the files of one that has lost its database."""

from __future__ import annotations

import shutil
from pathlib import Path

from msgspec import Struct
from sqlalchemy import select

from untaken.errors import Finding, UntakenError
from untaken.workspace import records
from untaken.workspace.database import open_engine, reading
from untaken.workspace.examining import PATIENCE, KeptFile, kept_files, loose_files, unusable
from untaken.workspace.ledger_snapshots import current_content
from untaken.workspace.restoring import refuse_used
from untaken.workspace.schema import DATABASE
from untaken.workspace.tables import files
from untaken.workspace.workspace import Workspace


class Rebuilt(Struct, frozen=True, kw_only=True):
    """A workspace that was rebuilt.

    Attributes:
        folder: where it is.
        ledgers, graphs: how many were taken over.
        findings: on files that were not, and on what is lost with the database.
    """

    folder: Path
    ledgers: int
    graphs: int
    findings: tuple[Finding, ...]


def rebuild_workspace(damaged: Path, folder: Path, url: str | None = None) -> Rebuilt:
    """Makes a workspace out of the ledgers and plan graphs kept in `damaged`, which stays as it is.

    Names and order are those of the damaged database as far as its rows can be read; a file whose row says
    that it was removed stays behind. A ledger is anchored again: at the heads beside it, else at its end.

    Args:
        damaged: folder of the workspace that has lost its database.
        folder: where the new one is made; must not exist, or be empty.
        url: address of the damaged one's PostgreSQL database; default: SQLite in its folder.

    Raises:
        UntakenError: ``restore-not-empty``, and as `Workspace`.
    """
    refuse_used(folder)
    names, removed = _salvaged(damaged, url)
    order = {digest: place for place, digest in enumerate(names)}
    kept = sorted(kept_files(damaged), key=lambda file: (order.get(file.digest, len(order)), file.path.name))
    used: list[KeptFile] = []
    findings = [unusable(file) for file in kept if file.fault and file.digest not in removed]
    with Workspace(folder) as workspace:
        for file in kept:
            if file.fault or file.digest in removed:
                continue
            data, heads = current_content(file.path)
            added = workspace.add(names.get(file.digest, file.path.name), data, heads=heads)
            findings += added.findings
            used.append(file)
        for path in loose_files(damaged):
            shutil.copyfile(path, folder / path.name)
        workspace.audit("workspace-rebuilt", f"made of {len(used)} files of a workspace without a database")
    ledgers = sum(file.kind == "ledger" for file in used)
    return Rebuilt(folder=folder, ledgers=ledgers, graphs=len(used) - ledgers, findings=tuple(findings))


def _salvaged(folder: Path, url: str | None) -> tuple[dict[str, str], set[str]]:
    """Names by digest, in the order in which files came, and digests of removed files: what can be read."""
    names: dict[str, str] = {}
    removed: set[str] = set()
    try:
        engine = open_engine(folder / DATABASE, url, busy_seconds=PATIENCE)
    except UntakenError:
        return names, removed
    try:
        with reading(engine) as connection:
            for row in connection.execute(select(files.c.digest, files.c.name).order_by(files.c.position)):
                # Rows of a damaged database can hold anything.
                if isinstance(row.digest, str) and isinstance(row.name, str):
                    names[row.digest] = row.name
        with reading(engine) as connection:
            removed.update(connection.scalars(records.removed_files()))
    except UntakenError:
        return names, removed  # as far as they could be read
    finally:
        engine.dispose()
    return names, removed
