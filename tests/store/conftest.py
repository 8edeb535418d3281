"""Tests of what the workspace keeps in its database run on both kinds; those of its files on one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from untaken.workspace import Workspace

DATABASES = ("sqlite", "postgresql")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "database" in metafunc.fixturenames:
        only = next(metafunc.definition.iter_markers("database"), None)
        metafunc.parametrize("database", only.args if only else DATABASES, indirect=True, ids=str)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """Address of a server that lives as long as the tests."""
    postgresql = pytest.importorskip("postgresql", reason="the extra untaken[postgres] is not installed")
    if postgresql.binaries() is None:
        pytest.skip("no PostgreSQL server is installed: apt-get install postgresql")
    with postgresql.server() as address:
        yield address


@pytest.fixture(autouse=True)
def database(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Which database workspaces are opened on, by the environment; of PostgreSQL, an empty one a test."""
    name: str = request.param
    monkeypatch.delenv("UNTAKEN_STORE", raising=False)
    if name == "postgresql":
        from postgresql import new_database

        monkeypatch.setenv("UNTAKEN_STORE", new_database(request.getfixturevalue("postgresql")))
    return name


@pytest.fixture
def workspace(tmp_path: Path, database: str) -> Iterator[Workspace]:
    """An empty one."""
    with Workspace(tmp_path / "w") as opened:
        yield opened


@pytest.fixture
def in_two_processes(tmp_path: Path, database: str) -> Callable[[str], None]:
    """Runs a program twice at once: on the folder of the workspace, as `left` and as `right`."""
    path = os.pathsep.join(str(Path(__file__).parents[level]) for level in (0, 1, 2))

    def run(program: str) -> None:
        words = [sys.executable, "-W", "error", "-c", program, str(tmp_path / "w")]
        given = {"env": {**os.environ, "PYTHONPATH": path}, "stderr": subprocess.PIPE, "text": True}
        writers = [subprocess.Popen([*words, who], **given) for who in ("left", "right")]
        assert [(writer.communicate()[1], writer.returncode) for writer in writers] == [("", 0), ("", 0)]

    return run
