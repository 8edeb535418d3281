"""PostgreSQL goes away in the middle of a save: an error in words, and all or nothing is saved."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from time import sleep
from typing import Any

import desk
import pytest
from builders import a_run
from sqlalchemy import Engine, event, make_url

from untaken.errors import UntakenError
from untaken.ledger import Draft, ReviewNote
from untaken.workspace import Incoming, Workspace

psycopg = pytest.importorskip("psycopg", reason="the extra untaken[postgres] is not installed")
pytestmark = pytest.mark.database("postgresql")

FIRST, SECOND = a_run("r1").call("look").finish(), a_run("r2").call("pay").finish()
MOST_STATEMENTS = 60
"""More than any save here needs."""


def note(workspace: Workspace) -> None:
    run = next(run for run in workspace.read_runs()[0] if run.run_id == "r1")
    workspace.append_events(run, [Draft(ReviewNote, {"author": "ann", "text": "seen"})])


def ledger(workspace: Workspace) -> None:
    workspace.add("second.jsonl", SECOND.ledger())


def removal(workspace: Workspace) -> None:
    workspace.remove(sha256(FIRST.ledger()).hexdigest())


def many(workspace: Workspace) -> None:
    new = [("second.jsonl", SECOND.ledger()), ("third.jsonl", a_run("r3").finish().ledger())]
    known, graph = ("first.jsonl", FIRST.ledger()), ("desk.plan.yaml", desk.GRAPH)
    workspace.add_all([Incoming(name=name, data=data) for name, data in (new[0], known, graph, new[1])])


def state(workspace: Workspace) -> tuple[object, ...]:
    runs, findings = workspace.read_runs()
    return tuple((run.run_id, run.integrity.verdict, len(run.events)) for run in runs), len(findings)


@contextmanager
def at_statement(number: int, act: Callable[[], None]) -> Iterator[list[str]]:
    """Does something just before the n-th statement; gives the statements so far."""
    seen: list[str] = []

    def count(_connection: object, _cursor: object, statement: str, *_: Any) -> None:
        seen.append(statement)
        if len(seen) == number:
            act()

    event.listen(Engine, "before_cursor_execute", count)
    try:
        yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", count)


def outcome(save: Callable[[Workspace], None], workspace: Workspace) -> UntakenError | None:
    try:
        save(workspace)
    except UntakenError as error:
        return error
    return None


def address() -> str:
    url = make_url(os.environ["UNTAKEN_STORE"]).set(drivername="postgresql", query={})
    return url.render_as_string(hide_password=False)


def kill_connections() -> None:
    others = "pid <> pg_backend_pid() AND backend_type = 'client backend'"
    with psycopg.connect(address(), autocommit=True) as connection:
        connection.execute(f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE {others}")


@pytest.mark.parametrize("save", [note, ledger, removal, many], ids=lambda save: save.__name__)
def test_wherever_connections_are_killed_it_is_said_in_words_and_again_completes(workspace, save) -> None:
    workspace.add("first.jsonl", FIRST.ledger())
    before = state(workspace)
    met, killed = [before], 0
    for number in range(1, MOST_STATEMENTS):
        with at_statement(number, kill_connections) as seen:
            said = outcome(save, workspace)
        assert said is None or (said.code, "s3cret" in str(said)) == ("store-unreachable", False)
        killed += said is not None
        met.append(state(workspace))
        if len(seen) < number:
            break  # the save was over before
    save(workspace)
    done = state(workspace)
    assert killed
    assert done != before
    assert set(met) <= {before, done}, "all or nothing, and once"


def test_a_server_that_is_killed_is_said_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from postgresql import new_database, server

    with server() as own:
        monkeypatch.setenv("UNTAKEN_STORE", new_database(own))

        def kill_server() -> None:
            with psycopg.connect(address()) as connection:
                (folder,) = connection.execute("SHOW data_directory").fetchone()
            running = Path(folder, "postmaster.pid")
            pid = int(running.read_text().split()[0])
            os.kill(pid, signal.SIGQUIT)  # an immediate shutdown: as a crash, but it takes its children along
            while running.exists():
                sleep(0.05)

        with Workspace(tmp_path) as workspace:
            workspace.add("first.jsonl", FIRST.ledger())
            for number in (4, MOST_STATEMENTS):  # in the middle of a save, and when it is gone already
                with at_statement(number, kill_server), pytest.raises(UntakenError) as said:
                    note(workspace)
                assert said.value.code == "store-unreachable"
                assert "s3cret" not in str(said.value)
                assert said.value.hint
