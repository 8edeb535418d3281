"""Databases of earlier and later versions, of other people, out of reach; and how often they are asked."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from threading import Thread

import desk
import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.runtime.environment import EnvironmentContext
from alembic.script import ScriptDirectory
from builders import a_run
from sqlalchemy import Engine, event, insert, text

from untaken.errors import UntakenError
from untaken.workspace import Workspace, schema
from untaken.workspace.database import one_connection, open_engine, reading, store_url, writing
from untaken.workspace.restoring import restore_workspace
from untaken.workspace.schema import DATABASE, REVISION, revision
from untaken.workspace.tables import marks, metadata

ASSETS = Path(__file__).parent / "assets"
GRAPH = (
    b"schema: untaken.plan/1\nid: desk\ntasks: ['task']\nsub_goals:\n- {id: look, check: {outcome: true}}\n"
)
DIGEST_BEFORE = "029776486ce543d18275bef7cc16581dd596637ee2fd01ec685602f6ab0bd6d8"
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
def test_a_step_that_fails_leaves_the_database_as_it_was(tmp_path, monkeypatch) -> None:
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
def test_a_server_that_is_away_is_said_without_the_password(tmp_path, monkeypatch) -> None:
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


STEPS = ScriptDirectory(str(Path(schema.__file__).with_name("migrations")))
REVISIONS = sorted(step.revision for step in STEPS.walk_revisions())


def of_version(folder: Path, version: str) -> Path:
    """A workspace with two runs, a forged one, a trace and three graphs, as that version left it."""
    as_before_there_were_migrations(folder)
    engine = open_engine(folder / DATABASE)
    target = EnvironmentContext(
        Config(), STEPS, fn=lambda at, _: STEPS._upgrade_revs(version, at), destination_rev=version
    )
    with writing(engine) as connection:
        schema._stamps.create_all(connection)
        connection.execute(schema._stamp.insert().values(version_num=schema.FIRST))
        with target as environment:
            environment.configure(connection=connection, target_metadata=schema.metadata)
            environment.run_migrations()
    engine.dispose()
    return folder


def version_of(folder: Path) -> str | None:
    engine = open_engine(folder / DATABASE)
    try:
        with reading(engine) as connection:
            return revision(connection)
    finally:
        engine.dispose()


@pytest.mark.database("sqlite")
@pytest.mark.parametrize("version", REVISIONS)
def test_a_workspace_of_every_version_opens_as_it_was(version: str, tmp_path: Path) -> None:
    folder = of_version(tmp_path / "w", version)
    assert version_of(folder) == version
    with Workspace(folder) as workspace:
        assert workspace.digest() == DIGEST_BEFORE
        runs = [(run.run_id, run.integrity.verdict) for run in workspace.read_runs()[0]]
        assert runs == [("r1", "INTACT"), ("r2", "INTACT"), ("r1", "ALTERED")]
        assert [graph.title for graph in workspace.graph_set().graphs] == ["second"]
        history = [(version.version, version.author) for version in workspace.graph_history("desk")]
        assert history == [(number, "upload") for number in (1, 2, 3)]
        assert len(workspace.audit_log()) == 4
        workspace.audit("DTL-STRAT-006", "evaluation aborted", "r1")  # said before
        assert len(workspace.audit_log()) == 4
        assert workspace.diagnose().healthy
    assert version_of(folder) == REVISION


@pytest.mark.database("sqlite")
def test_what_an_earlier_version_kept_of_views_is_carried_along(tmp_path: Path) -> None:
    with Workspace(of_version(tmp_path / "w", REVISION)) as workspace:
        with writing(workspace._engine) as connection:
            connection.execute(insert(marks).values(name="saved_views", value='[{"name":"b","page":"run"}]'))
        assert workspace.diagnose().healthy
        restore_workspace(workspace.backup(tmp_path / "b.zip").path, tmp_path / "again")
    with Workspace(tmp_path / "again") as again:
        assert again.digest() == DIGEST_BEFORE


class Crash(Exception):
    """The disk, or the process, is gone."""


@pytest.mark.database("sqlite")
@pytest.mark.parametrize("version", REVISIONS[:-1])
def test_wherever_an_upgrade_fails_the_old_workspace_stays_as_it_was(version, tmp_path, request) -> None:
    folder = of_version(tmp_path / "w", version)
    fail_at, statements, step = 0, 0, 1 if request.config.getoption("--slow") else 3

    def fail(*arguments: object) -> None:
        nonlocal statements
        statements += 1
        if statements == fail_at:
            raise Crash

    while version_of(folder) == version:
        fail_at, statements = fail_at + step, 0
        event.listen(Engine, "before_cursor_execute", fail)
        try:
            Workspace(folder).close()
        except Crash:
            pass
        finally:
            event.remove(Engine, "before_cursor_execute", fail)
        assert version_of(folder) in (version, REVISION), fail_at
    assert fail_at > 5
    with Workspace(folder) as workspace:
        assert workspace.digest() == DIGEST_BEFORE
        assert workspace.diagnose().healthy


def asked(workspace: Workspace) -> int:
    """Statements that reading every ledger takes, the first time and again."""
    statements = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        statements.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        known = workspace.read_files()
        assert workspace.read_files(known=known).keys() == known.keys()
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    return len(statements)


def test_reading_many_ledgers_asks_the_database_as_often_as_reading_few(workspace: Workspace) -> None:
    for number in range(3):
        workspace.add(f"{number}.jsonl", desk.careful(number).ledger())
    few = asked(workspace)
    for number in range(3, 40):
        workspace.add(f"{number}.jsonl", desk.careful(number).ledger())
    assert asked(workspace) == few
