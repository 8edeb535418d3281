"""A workspace of any released version opens as it was; an upgrade that fails leaves the old one usable."""

from __future__ import annotations

from pathlib import Path

import pytest
from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, event, insert
from test_databases import DIGEST_BEFORE, as_before_there_were_migrations

from untaken.workspace import Workspace, schema
from untaken.workspace.database import open_engine, reading, writing
from untaken.workspace.restoring import restore_workspace
from untaken.workspace.schema import DATABASE, REVISION, revision
from untaken.workspace.tables import marks

pytestmark = pytest.mark.database("sqlite")
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


def test_every_version_is_tried() -> None:
    assert REVISIONS[0] == schema.FIRST
    assert REVISIONS[-1] == REVISION


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


@pytest.mark.parametrize("version", REVISIONS[:-1])
def test_wherever_an_upgrade_fails_the_old_workspace_stays_as_it_was(
    version: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
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
