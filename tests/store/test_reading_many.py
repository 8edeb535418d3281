"""Many ledgers at once: what is asked of the database, and what is read while they change."""

from __future__ import annotations

import desk
from sqlalchemy import Engine, event

from untaken.ledger import ReviewNote
from untaken.ledger.run import Draft
from untaken.workspace import Workspace


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


def test_of_many_ledgers_only_the_one_that_was_written_to_is_read_again(workspace: Workspace) -> None:
    for number in range(5):
        workspace.add(f"{number}.jsonl", desk.careful(number).ledger())
    known = workspace.read_files()
    run = next(iter(known.values())).runs[0]
    workspace.append_events(run, [Draft(ReviewNote, {"author": "human:eve", "text": "seen"}, None)])
    again = workspace.read_files(known=known)
    changed = [digest for digest, reading in again.items() if reading is not known[digest]]
    assert len(changed) == 1
    assert [len(one.events) for one in again[changed[0]].runs] == [len(run.events) + 1]
    assert again[changed[0]].runs[0].appended_here == {len(run.events)}


def test_a_ledger_that_is_gone_is_a_finding_and_the_others_are_read(workspace: Workspace) -> None:
    for number in range(3):
        workspace.add(f"{number}.jsonl", desk.careful(number).ledger())
    gone = workspace.ledgers()[1]
    gone.path.unlink()
    read = workspace.read_files()
    assert [len(one.runs) for one in read.values()] == [1, 0, 1]
    assert [finding.code for finding in read[gone.digest].findings] == ["ledger-not-found"]
