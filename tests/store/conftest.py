"""Tests of what the workspace keeps in its database run on both kinds; those of its files on one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

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
