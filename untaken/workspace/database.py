"""How a connection to the workspace database is opened, and what a transaction on it is.

Both databases run the same statements. This module has the differences: how a transaction starts, and how
one writer keeps others out.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Final
from weakref import WeakSet

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import NullPool

from untaken.errors import UntakenError
from untaken.workspace.faults import in_words, place

STORE: Final = "UNTAKEN_STORE"
LOCAL: Final = ".own-database"
"""A folder with a file of this name keeps its database in itself, whatever `STORE` says."""
BUSY_SECONDS: Final = 15
"""How long a writer waits for another one before it gives up."""
CONNECT_SECONDS: Final = 10
EXAMPLE: Final = "postgresql+psycopg://USER:PASSWORD@HOST:5432/DATABASE"

_LOCK: Final = 0x756E74616B656E
"""Number of the advisory lock that a writer holds ("untaken")."""
# Written out, because SQLite's driver begins deferred: a deferred transaction that reads and then writes
# fails under contention, however long the busy timeout is.
_BEGIN: Final = {
    ("sqlite", "write"): "BEGIN IMMEDIATE",
    ("sqlite", "read"): "BEGIN",
    ("postgresql", "write"): (
        f"BEGIN; SET LOCAL lock_timeout = '{BUSY_SECONDS}s'; SELECT pg_advisory_xact_lock({_LOCK})"
    ),
    # So that several statements see one state, as they always do in a transaction of SQLite.
    ("postgresql", "read"): "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
}

_READ_ONLY: Final = WeakSet[Engine]()
_OPEN: Final[ContextVar[tuple[Engine, Connection] | None]] = ContextVar("open transaction", default=None)
_HELD: Final[ContextVar[tuple[Engine, Connection] | None]] = ContextVar("held connection", default=None)


def store_url(text: str) -> URL:
    """The address of a PostgreSQL database.

    Raises:
        UntakenError: ``store-url-invalid``; the address is not repeated, because it holds a password.
    """
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise _invalid("it cannot be read as an address") from None
    if url.drivername not in ("postgresql", "postgres", "postgresql+psycopg"):
        raise _invalid("it is not the address of a PostgreSQL database")
    if re.sub(r"\?.*", "", text).count("@") > 1:
        raise _invalid("it holds more than one @; write the one in a password as %40")
    if not url.database:
        raise _invalid("it names no database")
    return url.set(drivername="postgresql+psycopg")


def open_engine(
    path: Path, url: str | None = None, *, busy_seconds: float = BUSY_SECONDS, read_only: bool = False
) -> Engine:
    """An engine on a SQLite file, or on the PostgreSQL database at `url`.

    `busy_seconds`: how long to wait for another program that holds the SQLite file; `read_only`: neither it
    nor its folder can be written.

    SQLite: WAL, synchronous FULL, a busy timeout, no connection kept between uses.

    Raises:
        UntakenError: ``store-url-invalid``, ``store-driver-missing``.
    """
    if url:
        return _postgresql(store_url(url))
    return _read_only_sqlite(path, busy_seconds) if read_only else _sqlite(path, busy_seconds)


def is_read_only(engine: Engine) -> bool:
    """Whether it was opened so."""
    return engine in _READ_ONLY


def _read_only_sqlite(path: Path, busy_seconds: float) -> Engine:
    # Without the log of a program that is at work, SQLite would have to make one.
    mode = "mode=ro" if path.with_name(f"{path.name}-shm").exists() else "mode=ro&immutable=1"
    address = f"{path.absolute().as_uri()}?{mode}"
    engine = create_engine(
        f"sqlite:///{path}",
        poolclass=NullPool,
        creator=lambda: sqlite3.connect(address, uri=True, timeout=busy_seconds, isolation_level=None),
    )
    _READ_ONLY.add(engine)
    return engine


def _sqlite(path: Path, busy_seconds: float) -> Engine:
    with suppress(OSError):  # said when it is opened; SQLite's log takes over the mode of its database
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    engine = create_engine(
        f"sqlite:///{path}",
        poolclass=NullPool,
        connect_args={"timeout": float(busy_seconds), "isolation_level": None},
    )

    @event.listens_for(engine, "connect")
    def configure(connection: Any, _record: object) -> None:
        try:
            connection.execute("PRAGMA journal_mode=WAL").close()  # readers do not wait for the writer
            connection.execute("PRAGMA synchronous=FULL").close()  # a commit survives a power cut
        except sqlite3.DatabaseError:
            connection.close()  # nobody else will: it never reached the pool
            raise

    return engine


def _postgresql(url: URL) -> Engine:
    try:
        return create_engine(
            url,
            isolation_level="AUTOCOMMIT",  # transactions are begun with `_BEGIN`
            pool_pre_ping=True,  # after a restart of the server, pooled connections are dead
            pool_size=2,
            max_overflow=20,
            connect_args={} if "connect_timeout" in url.query else {"connect_timeout": CONNECT_SECONDS},
        )
    except ImportError:
        raise UntakenError(
            "store-driver-missing",
            "the driver for PostgreSQL is not installed",
            where=place(url),
            hint="pip install 'untaken[postgres]'",
        ) from None


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A transaction that keeps other writers out from its first statement on.

    PostgreSQL: one advisory lock per database. A writer therefore writes on the state that it read, and
    never has to retry.

    Inside `together` it is a part of that transaction: undone by itself where it fails.

    Raises:
        UntakenError: as `in_words`.
    """
    if (outer := _transaction(engine)) is not None:
        with in_words(engine), _savepoint(outer):
            yield outer
        return
    with in_words(engine), engine.connect() as connection:
        connection.exec_driver_sql(_BEGIN[engine.dialect.name, "write"])
        try:
            yield connection
        except BaseException:
            _roll_back(connection)
            raise
        connection.exec_driver_sql("COMMIT")


@contextmanager
def one_connection(engine: Engine) -> Iterator[None]:
    """What this thread reads inside goes through one connection, each time in a transaction of its own.

    Connecting to a SQLite file takes longer than reading a row. PostgreSQL's connections are kept anyway.

    Raises:
        UntakenError: as `in_words`.
    """
    if engine.dialect.name != "sqlite":
        yield
        return
    with in_words(engine), engine.connect() as connection:
        before = _HELD.set((engine, connection))
        try:
            yield
        finally:
            _HELD.reset(before)


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A transaction that sees one state of the database; inside `together`, with what was written there.

    Raises:
        UntakenError: as `in_words`.
    """
    if (outer := _transaction(engine)) is not None:
        with in_words(engine):
            yield outer
        return
    with in_words(engine), _connected(engine) as connection:
        connection.exec_driver_sql(_BEGIN[engine.dialect.name, "read"])
        try:
            yield connection
        finally:
            _roll_back(connection)


@contextmanager
def together(engine: Engine) -> Iterator[None]:
    """All that this thread writes inside is one transaction. Other writers wait meanwhile: keep it short.

    Raises:
        UntakenError: as `in_words`.
    """
    with writing(engine) as connection:
        before = _OPEN.set((engine, connection))
        try:
            yield
        finally:
            _OPEN.reset(before)


@contextmanager
def _connected(engine: Engine) -> Iterator[Connection]:
    """The connection of `one_connection`, if nothing is being read through it; else one of its own."""
    held = _HELD.get()
    if held is None or held[0] is not engine:
        with engine.connect() as connection:
            yield connection
        return
    before = _HELD.set(None)
    try:
        yield held[1]
    finally:
        _HELD.reset(before)


def _transaction(engine: Engine) -> Connection | None:
    """The transaction of `together` that this thread is in."""
    opened = _OPEN.get()
    return opened[1] if opened is not None and opened[0] is engine else None


@contextmanager
def _savepoint(connection: Connection) -> Iterator[None]:
    connection.exec_driver_sql("SAVEPOINT part")  # nested savepoints may share a name: the innermost is meant
    try:
        yield
    except BaseException:
        _roll_back(connection, "ROLLBACK TO SAVEPOINT part")
        raise
    connection.exec_driver_sql("RELEASE SAVEPOINT part")


def _roll_back(connection: Connection, statement: str = "ROLLBACK") -> None:
    """A connection that is gone has nothing left to roll back; why it went is being raised already."""
    with suppress(DBAPIError):
        if not connection.invalidated:
            connection.exec_driver_sql(statement)


def _invalid(why: str) -> UntakenError:
    return UntakenError(
        "store-url-invalid", f"{STORE} is no address of a workspace: {why}", hint=f"Write it as {EXAMPLE}."
    )
