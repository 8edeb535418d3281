"""Databases of earlier and later versions, of other people, and out of reach."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.runtime.environment import EnvironmentContext
from alembic.script import ScriptDirectory
from builders import a_run
from sqlalchemy import Engine, event, text

from untaken.errors import UntakenError
from untaken.workspace import Workspace, schema
from untaken.workspace.database import one_connection, open_engine, reading, store_url, writing
from untaken.workspace.tables import metadata

ASSETS = Path(__file__).parent / "assets"
GRAPH = (
    b"schema: untaken.plan/1\nid: desk\ntasks: ['task']\nsub_goals:\n- {id: look, check: {outcome: true}}\n"
)
DIGEST_BEFORE = "03af9ee6386879b883f09d2c5d94a898f4c621d351d27373448f65d6949a9947"
"""What the program that wrote `workspace_0001.sql` said its digest is."""


def as_before_there_were_migrations(folder: Path) -> None:
    """The workspace that an earlier version wrote, with its files."""
    folder.mkdir()
    connection = sqlite3.connect(folder / "untaken.sqlite3")
    connection.executescript((ASSETS / "workspace_0001.sql").read_text())
    connection.execute("PRAGMA journal_mode=WAL")
    stored = dict(connection.execute("SELECT name || bytes || coalesce(graph_version, ''), path FROM files"))
    connection.close()
    graphs = [
        GRAPH + f"version: {v}\ntitle: {t}\n".encode() for t, v in (("first", 2), ("second", 2), ("old", 1))
    ]
    for name, data in (
        ("a.jsonl", a_run("r1").call("search").finish().ledger()),
        ("b.jsonl", a_run("r2").finish().ledger()),
        ("b2.jsonl", a_run("r2").call("search").finish(False).ledger()),
        ("forged.jsonl", a_run("r1").call("sealed").finish().ledger()),
        ("t.json", b"[]"),
        *zip(("desk.plan.yaml",) * 3, graphs, strict=True),
    ):
        version = "" if "plan" not in name else data.split(b"version: ")[1][:1].decode()
        path = folder / stored[f"{name}{len(data)}{version}"]
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)


@pytest.mark.database("sqlite")
def test_many_may_open_an_earlier_workspace_at_once(tmp_path: Path) -> None:
    as_before_there_were_migrations(tmp_path / "w")
    seen: list[str] = []

    def open_it() -> None:
        with Workspace(tmp_path / "w") as workspace:
            seen.append(workspace.digest())

    threads = [Thread(target=open_it) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [DIGEST_BEFORE] * 4


def test_the_steps_lead_to_the_tables_that_a_new_workspace_gets(tmp_path: Path) -> None:
    engine = open_engine(tmp_path / "untaken.sqlite3", os.environ.get("UNTAKEN_STORE"))
    try:
        with writing(engine) as connection:
            schema.migrate(connection, None)
        with reading(engine) as connection:
            assert schema.revision(connection) == schema.REVISION
            context = MigrationContext.configure(connection, opts={"compare_type": True})
            assert compare_metadata(context, metadata) == []
    finally:
        engine.dispose()


@pytest.mark.database("sqlite")
def test_the_newest_step_is_the_one_the_program_knows() -> None:
    steps = ScriptDirectory(str(Path(schema.__file__).with_name("migrations")))
    assert steps.get_heads() == [schema.REVISION]
    assert steps.get_bases() == [schema.FIRST]


@pytest.mark.database("sqlite")
def test_a_step_that_fails_leaves_the_database_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_before_there_were_migrations(tmp_path / "w")

    def dump() -> list[str]:
        connection = sqlite3.connect(tmp_path / "w" / "untaken.sqlite3")
        try:
            return list(connection.iterdump())
        finally:
            connection.close()

    before = dump()
    run = EnvironmentContext.run_migrations

    def crash(environment: EnvironmentContext) -> None:
        run(environment)
        raise KeyboardInterrupt

    monkeypatch.setattr(EnvironmentContext, "run_migrations", crash)
    with pytest.raises(KeyboardInterrupt):
        Workspace(tmp_path / "w")
    assert dump() == before
    monkeypatch.undo()
    with Workspace(tmp_path / "w") as workspace:
        assert workspace.digest() == DIGEST_BEFORE


def test_a_workspace_of_a_newer_version_is_refused_unharmed(tmp_path: Path) -> None:
    with Workspace(tmp_path / "w") as workspace, writing(workspace._engine) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(UntakenError, match="workspace-newer") as refused:
        Workspace(tmp_path / "w")
    assert "upgrade" in refused.value.hint


@pytest.mark.database("sqlite")
def test_a_current_workspace_opens_without_the_library_that_migrates(tmp_path: Path) -> None:
    Workspace(tmp_path / "w").close()
    program = (
        "import sys; from untaken.workspace import Workspace; Workspace(sys.argv[1]).close();"
        "Workspace(sys.argv[1] + '2').close();"
        "print([m for m in ('alembic', 'mako', 'psycopg') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "w")], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


@pytest.mark.database("postgresql")
def test_a_database_serves_the_one_folder_that_holds_its_files(tmp_path: Path) -> None:
    Workspace(tmp_path / "w").close()
    Workspace(tmp_path / "w").close()
    with pytest.raises(UntakenError, match="store-other-folder"):
        Workspace(tmp_path / "other")


@pytest.mark.database("postgresql")
def test_two_servers_on_one_folder_see_each_other(tmp_path: Path) -> None:
    with Workspace(tmp_path / "w") as one, Workspace(tmp_path / "w") as other:
        one.add("a.jsonl", a_run("r1").finish().ledger())
        assert [f.name for f in other.files()] == ["a.jsonl"]
        assert other.digest() == one.digest()
    assert not (tmp_path / "w" / "untaken.sqlite3").exists()


SECRET = "hunter2"
ADDRESSES = [
    ("another database", f"mysql://u:{SECRET}@host/name"),
    ("SQLite", f"sqlite:///{SECRET}"),
    ("no address", SECRET),
    ("a bare @", f"postgresql://u:x@{SECRET}@host/name"),
    ("no database", f"postgresql://u:{SECRET}@host"),
    ("a port in words", f"postgresql://u:{SECRET}@host:{SECRET}/name"),
]


@pytest.mark.database("sqlite")
@pytest.mark.parametrize(("desc", "address"), ADDRESSES, ids=[case[0] for case in ADDRESSES])
def test_an_address_that_is_none_is_refused_without_its_password(
    desc: str, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNTAKEN_STORE", address)
    with pytest.raises(UntakenError, match="store-url-invalid") as refused:
        Workspace(tmp_path / "w")
    assert SECRET not in f"{refused.value} {refused.value.where} {refused.value.hint}"


@pytest.mark.database("sqlite")
def test_a_server_that_is_away_is_said_without_the_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNTAKEN_STORE", f"postgresql://u:{SECRET}@127.0.0.1:1/name")
    with pytest.raises(UntakenError, match="store-unreachable") as refused:
        Workspace(tmp_path / "w")
    told = f"{refused.value} {refused.value.where} {refused.value.hint}"
    assert "127.0.0.1:1/name" in told
    assert SECRET not in told


@pytest.mark.database("sqlite")
@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_every_usual_way_to_write_an_address_is_taken(scheme: str) -> None:
    assert store_url(f"{scheme}://u:p%40@h:1/d").drivername == "postgresql+psycopg"


def count_connections(engine: Engine) -> list[object]:
    """Gets an entry for each connection from now on."""
    made: list[object] = []
    event.listen(engine, "connect", lambda connection, _: made.append(connection))
    return made


def test_files_are_read_through_one_connection_however_many_there_are(tmp_path: Path) -> None:
    with Workspace(tmp_path) as store:
        for number in range(3):
            store.add(f"{number}.jsonl", a_run(f"r{number}").ledger())
        made = count_connections(store._engine)
        assert len(store.read_runs()[0]) == 3
        few = len(made)
        for number in range(3, 12):
            store.add(f"{number}.jsonl", a_run(f"r{number}").ledger())
        made.clear()
        assert len(store.read_runs()[0]) == 12
        assert len(made) == few
    assert few < 4


def test_each_read_of_a_held_connection_sees_what_was_written_before_it(tmp_path: Path) -> None:
    engine = open_engine(tmp_path / "x.sqlite3")
    with writing(engine) as connection:
        connection.exec_driver_sql("CREATE TABLE t (n INTEGER)")
    count = text("SELECT count(*) FROM t")
    seen = []
    with one_connection(engine):
        for _ in range(3):
            with reading(engine) as first, reading(engine) as inner:
                assert inner is not first
                seen.append(first.execute(count).scalar())
            with writing(engine) as connection:
                connection.exec_driver_sql("INSERT INTO t VALUES (1)")
    assert seen == [0, 1, 2]
