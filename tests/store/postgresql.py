"""A real PostgreSQL server for the time of the tests."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import psycopg
import psycopg.sql

INSTALLED = Path("/usr/lib/postgresql")
ACCOUNT = "postgres"
PASSWORD = "s3cret"
SETTINGS = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=60")


def binaries() -> Path | None:
    """Where initdb and pg_ctl are."""
    found = shutil.which("pg_ctl")
    newest = sorted(INSTALLED.glob("*/bin/pg_ctl"), key=lambda path: int(path.parts[-3]))
    path = Path(found).resolve() if found else (newest[-1] if newest else None)
    return path.parent if path and (path.parent / "initdb").is_file() else None


@contextmanager
def server() -> Iterator[str]:
    """Address of a fresh server, without a database at its end; the server refuses to run as root."""
    there = binaries()
    assert there is not None
    with tempfile.TemporaryDirectory(prefix="untaken-pg-") as name:
        folder = Path(name)
        (folder / "password").write_text(PASSWORD)
        if os.geteuid() == 0:
            for path in (folder, folder / "password"):
                shutil.chown(path, ACCOUNT)
        data, port = folder / "data", _free_port()
        _call(there / "initdb", "-D", data, "-U", "tester", "-A", "trust", "--pwfile", folder / "password")
        options = f"-h 127.0.0.1 -p {port} -k {folder} " + " ".join(f"-c {setting}" for setting in SETTINGS)
        _call(there / "pg_ctl", "-D", data, "-w", "-l", folder / "log", "-o", options, "start")
        try:
            yield f"postgresql+psycopg://tester:{PASSWORD}@127.0.0.1:{port}"
        finally:
            if (data / "postmaster.pid").exists():  # a test may have stopped it
                _call(there / "pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")


def new_database(address: str) -> str:
    """Address of an empty schema of its own, which is quicker to make than a database."""
    name = f"t{uuid4().hex}"
    with psycopg.connect(f"{address}/postgres".replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute(psycopg.sql.SQL("CREATE SCHEMA {}").format(psycopg.sql.Identifier(name)))
    return f"{address}/postgres?options=-csearch_path%3D{name}"


def _call(*words: object) -> None:
    prefix: Sequence[str] = ("runuser", "-u", ACCOUNT, "--") if os.geteuid() == 0 else ()
    with tempfile.TemporaryFile("w+") as said:  # a pipe would stay open for as long as the server lives
        done = subprocess.run([*prefix, *map(str, words)], cwd="/", stdout=said, stderr=said, check=False)
        said.seek(0)
        assert done.returncode == 0, f"{words}: {said.read()}"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
