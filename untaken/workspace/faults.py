"""The one boundary between the database drivers and everybody else: their errors become words.

Every use of the database is inside `in_words`. Beside what a driver raises, a damaged SQLite file gives rows
that cannot be: `row_reader` names them.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from errno import EDQUOT, ENOSPC
from functools import wraps
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
from sqlalchemy import URL, Engine, Row
from sqlalchemy.exc import DBAPIError, PendingRollbackError, SQLAlchemyError

from untaken.errors import UntakenError, Where
from untaken.limits import KIB
from untaken.workspace.tables import metadata

TROUBLE: Final = frozenset(
    {
        "workspace-locked",
        "workspace-damaged",
        "workspace-disk-full",
        "workspace-unwritable",
        "store-unreachable",
        "workspace-database",
    }
)
"""Codes of what is wrong with the database, whatever was to be done with it."""
_LEAST_FREE: Final = 64 * KIB
DOCTOR: Final = "Run `untaken workspace doctor` to see what is damaged and what can be rebuilt."
_ODD_ROW: Final = (ValueError, TypeError, LookupError, AttributeError, msgspec.MsgspecError)

_TYPES: Final[dict[str, tuple[type, ...]]] = {}
"""What a column may hold; columns of one name hold the same in every table."""
for _column in (column for table in metadata.tables.values() for column in table.c):
    _kinds = (_column.type.python_type, *([type(None)] if _column.nullable else []))
    _TYPES[_column.name] = tuple(dict.fromkeys((*_TYPES.get(_column.name, ()), *_kinds)))

_R = TypeVar("_R")


def place(url: URL) -> Where:
    """A database as it is named in messages: never with its user's password."""
    if url.get_backend_name() == "sqlite":
        return Where(file=url.database)
    port = f":{url.port}" if url.port else ""
    return Where(file=f"{url.host or 'this machine'}{port}/{url.database}")


@contextmanager
def in_words(engine: Engine) -> Iterator[None]:
    """What a database driver raises inside is raised as an `UntakenError`.

    Raises:
        UntakenError: ``workspace-locked``, ``workspace-damaged``, ``workspace-disk-full``,
            ``workspace-unwritable``, ``store-unreachable``, ``workspace-database``.
    """
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        driver = error.orig if isinstance(error, DBAPIError) else error
        words_for = _sqlite if engine.dialect.name == "sqlite" else _postgresql
        raise words_for(driver or error, engine.url) from error
    except PendingRollbackError as error:  # it was lost before, which somebody has taken as said
        raise unreachable(engine.url, "the connection was lost") from error
    # Impossible values from a damaged page can fail anywhere. SQLite's check tells them from our own bugs.
    except (*_ODD_ROW, SQLAlchemyError) as error:
        if engine.dialect.name == "sqlite" and (damage := integrity(engine)) != "ok":
            raise damaged(engine.url, damage) from error
        raise


def row_reader(function: Callable[..., _R]) -> Callable[..., _R]:
    """Decorates a function that makes an object of a row: an impossible row is ``workspace-damaged``."""

    @wraps(function)
    def reader(row: Row[Any], *more: Any) -> _R:
        try:
            for name, value in zip(row._fields, row, strict=True):  # a mapping takes twice as long
                if name in _TYPES and not isinstance(value, _TYPES[name]):
                    raise TypeError(f"`{name}` is {type(value).__name__}")
            return function(row, *more)
        except _ODD_ROW as error:
            raise UntakenError(
                "workspace-damaged",
                f"the workspace's database is damaged: invalid row ({str(error)[:200]})",
                hint=DOCTOR,
            ) from error

    return reader


def of_row(kind: type[_R], row: Row[Any], **changed: Any) -> _R:
    """The object of a row, its attributes named like the columns; moments are read, `changed` is as given."""
    known = {name: value for name, value in row._mapping.items() if name in kind.__annotations__}
    moments = (name for name in known if name == "ts" or name.endswith("_at"))
    return kind(**{**known, **{name: datetime.fromisoformat(known[name]) for name in moments}, **changed})


def integrity(engine: Engine) -> str:
    """SQLite's check of its file: "ok", or the first damage."""
    try:
        with engine.connect() as connection:
            # (1): the first fault is enough.
            return str(connection.exec_driver_sql("PRAGMA quick_check(1)").scalar_one())
    except (SQLAlchemyError, sqlite3.Error, ValueError) as error:  # its own words may be no text
        return _reason(error)


def damaged(url: URL, reason: str) -> UntakenError:
    """The error for a SQLite file whose content cannot be."""
    return UntakenError(
        "workspace-damaged",
        f"the workspace's database is damaged: {reason[:300]}",
        where=place(url),
        hint=DOCTOR,
    )


def disk_failed(error: OSError, url: URL) -> UntakenError:
    """The error for a disk that refuses one of the workspace's files."""
    return _full(url) if error.errno in (ENOSPC, EDQUOT) else _unwritable(url, error.strerror or str(error))


def unreachable(url: URL, reason: str) -> UntakenError:
    """The error for a server that does not answer (any more)."""
    if url.password:
        reason = reason.replace(str(url.password), "***")
    return UntakenError(
        "store-unreachable",
        f"cannot connect to the workspace's database: {reason[:300]}",
        where=place(url),
        hint="Check that the server is running and that UNTAKEN_STORE has a valid address, user and "
        "database.",
    )


def _sqlite(error: BaseException, url: URL) -> UntakenError:
    """The error for SQLite's result code. Without a code: undecodable text, or no database at all."""
    # The low byte of an extended result code is the primary code.
    result, reason = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF, _reason(error)
    if result in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return _locked(url)
    if result == sqlite3.SQLITE_FULL:
        return _full(url)
    if result in (
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_PERM,
    ):
        # On a full disk SQLite cannot make its shared index, and calls that an input/output error.
        return _full(url) if _is_full(url) else _unwritable(url, reason)
    return damaged(url, reason)


def _postgresql(error: BaseException, url: URL) -> UntakenError:
    """The error for an SQLSTATE; without one, the connection was lost."""
    state, message = str(getattr(error, "sqlstate", None) or ""), _reason(error)
    if state in ("55P03", "40001", "40P01", "57014"):  # lock timeout, serialisation, deadlock, cancelled
        return _locked(url)
    if state.startswith("53"):  # insufficient resources
        return _full(url)
    if not state or state.startswith(("08", "57")):  # connection lost, or server shutting down
        return unreachable(url, message)
    return UntakenError(
        "workspace-database",
        f"the workspace's database rejected the operation: {message[:300]}",
        where=place(url),
        hint="Check that the database user owns the tables, or run `untaken workspace doctor`.",
    )


def _locked(url: URL) -> UntakenError:
    return UntakenError(
        "workspace-locked",
        "another program is using the workspace's database",
        where=place(url),
        hint="Try again in a moment. If it persists, stop the program that has the workspace open.",
    )


def _is_full(url: URL) -> bool:
    try:
        return shutil.disk_usage(Path(url.database or ".").parent).free < _LEAST_FREE
    except OSError:
        return False


def _unwritable(url: URL, reason: str) -> UntakenError:
    return UntakenError(
        "workspace-unwritable",
        f"the workspace cannot be opened or written: {reason}",
        where=place(url),
        hint="Check that the disk is available and the folder is writable. Nothing was saved.",
    )


def _full(url: URL) -> UntakenError:
    return UntakenError(
        "workspace-disk-full",
        "there is no space left for the workspace",
        where=place(url),
        hint="Nothing was saved. Free some space and try again.",
    )


def _reason(error: BaseException) -> str:
    driver = error.orig if isinstance(error, DBAPIError) and error.orig else error
    return " ".join(str(driver).split())
