"""The workspace database: four tables, and how a connection to SQLite must be opened."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Engine,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    create_engine,
    event,
)
from sqlalchemy.exc import DatabaseError, OperationalError
from sqlalchemy.pool import NullPool

from untaken.errors import UntakenError, Where

BUSY_SECONDS: Final = 30.0
"""How long a writer waits for another one before it gives up."""

metadata = MetaData()

files = Table(
    "files",
    metadata,
    Column("position", Integer, primary_key=True, autoincrement=True),
    Column("digest", String(64), nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("kind", String(40), nullable=False),
    Column("added_at", String(40), nullable=False),
    Column("bytes", Integer, nullable=False),
    Column("path", Text),
    Column("runs", Integer, nullable=False),
    Column("origin", String(40)),
    Column("graph_id", Text),
    Column("graph_version", Integer),
    Column("findings", Text, nullable=False),
    Column("loss", Text, nullable=False),
)

heads = Table(
    "heads",
    metadata,
    Column("position", Integer, primary_key=True, autoincrement=True),
    Column("run_id", Text, nullable=False, index=True),
    Column("file", String(64), nullable=False, index=True),
    Column("events", Integer, nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("accepted", Boolean, nullable=False),
    Column("superseded", Boolean, nullable=False),
    Column("recorded_at", String(40), nullable=False),
    UniqueConstraint("run_id", "file"),
)
"""The head each run of each file is compared with.

`accepted`: this row is the run's recorded head. `superseded`: it was, until another took its place."""

audit = Table(
    "audit",
    metadata,
    Column("position", Integer, primary_key=True, autoincrement=True),
    Column("ts", String(40), nullable=False),
    Column("code", String(80), nullable=False),
    Column("message", Text, nullable=False),
    Column("run", Text, nullable=False),
    UniqueConstraint("code", "message", "run"),
)

removals = Table(
    "removals",
    metadata,
    Column("position", Integer, primary_key=True, autoincrement=True),
    Column("file", String(64), nullable=False, index=True),
    Column("removed_at", String(40), nullable=False),
    Column("restored_at", String(40)),
)
"""Every time a file was removed; it is gone while one of them has not been restored. Nothing is deleted."""


def open_engine(path: Path) -> Engine:
    """An engine on a SQLite file: WAL, synchronous FULL, a busy timeout, no connection kept between uses.

    The driver's own transaction handling is switched off (`autocommit`), because it begins deferred: a
    deferred read-then-write fails under contention however long the busy timeout is.
    """
    engine = create_engine(
        f"sqlite:///{path}",
        poolclass=NullPool,
        connect_args={"timeout": BUSY_SECONDS, "isolation_level": None},
    )

    @event.listens_for(engine, "connect")
    def configure(connection: Any, _record: object) -> None:
        cursor = connection.cursor()
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
            cursor.execute("PRAGMA synchronous=FULL")
        except sqlite3.DatabaseError:
            connection.close()  # nobody else will: it never reached the pool
            raise
        finally:
            cursor.close()

    return engine


def create_tables(engine: Engine, path: Path) -> None:
    """Makes the tables that are not there yet.

    Raises:
        UntakenError: ``workspace-damaged`` where the file is no SQLite database.
    """
    try:
        metadata.create_all(engine)
    except OperationalError:  # a disk that is full, locked or read-only is no fault of the file
        raise
    except DatabaseError as error:
        raise UntakenError(
            "workspace-damaged",
            f"the workspace's database cannot be read: {error.orig}",
            where=Where(file=str(path)),
            hint="Move the file away; the ledgers and graphs beside it can be added again.",
        ) from error


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A transaction that holds the write lock from its first statement on."""
    with engine.connect() as connection:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        try:
            yield connection
        except BaseException:
            connection.exec_driver_sql("ROLLBACK")
            raise
        connection.exec_driver_sql("COMMIT")


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A transaction that sees one state of the database."""
    with engine.connect() as connection:
        connection.exec_driver_sql("BEGIN")
        try:
            yield connection
        finally:
            connection.exec_driver_sql("ROLLBACK")
