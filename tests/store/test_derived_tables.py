"""What was worked out from ledgers is kept beside them, and used only where it is what was written."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import a_run

from untaken.workspace import Workspace
from untaken.workspace.derived import (
    ANSWERS_KEPT,
    FOLDER,
    KEPT,
    has_answer,
    load_answer,
    load_table,
    save_answer,
    save_table,
    tidy_tables,
)

LEDGER, KEY, CONTENT = "a" * 64, "b" * 64, b"what was worked out " * 9

pytestmark = pytest.mark.database("sqlite")


def tables(folder: Path) -> list[Path]:
    return sorted((folder / FOLDER).iterdir())


def test_a_table_is_given_back_under_its_own_ledger_and_key_alone(tmp_path: Path) -> None:
    save_table(tmp_path, LEDGER, KEY, CONTENT)
    assert load_table(tmp_path, LEDGER, KEY) == CONTENT
    assert load_table(tmp_path, LEDGER, "c" * 64) is None
    assert load_table(tmp_path, "c" * 64, KEY) is None
    (file,) = tables(tmp_path)
    file.rename(file.with_name(file.name.replace("b", "c")))
    assert load_table(tmp_path, LEDGER, "c" * 64) is None, "another table under this name"


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda content: content[:-1],
    "emptied": lambda content: b"",
    "longer": lambda content: content + b"\0",
    "flipped": lambda content: content[:-3] + bytes([content[-3] ^ 1]) + content[-2:],
    "signed otherwise": lambda content: bytes([content[0] ^ 1]) + content[1:],
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_table_is_none(damage: Callable[[bytes], bytes], tmp_path: Path) -> None:
    save_table(tmp_path, LEDGER, KEY, CONTENT)
    (file,) = tables(tmp_path)
    file.write_bytes(damage(file.read_bytes()))
    assert load_table(tmp_path, LEDGER, KEY) is None
    save_table(tmp_path, LEDGER, KEY, CONTENT)
    assert load_table(tmp_path, LEDGER, KEY) == CONTENT


def test_a_table_that_another_user_wrote_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    save_table(tmp_path, LEDGER, KEY, CONTENT)
    assert load_table(tmp_path, LEDGER, KEY) == CONTENT
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    assert load_table(tmp_path, LEDGER, KEY) is None


def test_without_a_place_for_the_secret_nothing_is_kept(tmp_path, monkeypatch) -> None:
    (tmp_path / "a file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a file"))
    save_table(tmp_path, LEDGER, KEY, CONTENT)
    assert load_table(tmp_path, LEDGER, KEY) is None
    assert not (tmp_path / FOLDER).exists()


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
def test_tables_and_their_secret_are_for_their_owner_alone(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    before = os.umask(0)
    try:
        save_table(tmp_path, LEDGER, KEY, CONTENT)
    finally:
        os.umask(before)
    files = [*tables(tmp_path), tmp_path / "cache" / "untaken" / "tables.key"]
    assert [file.stat().st_mode & 0o777 for file in files] == [0o600, 0o600]
    assert [file.parent.stat().st_mode & 0o777 for file in files] == [0o700, 0o700]


def test_few_tables_of_a_ledger_are_kept_and_none_of_one_that_is_gone(tmp_path: Path) -> None:
    for number in range(KEPT + 2):
        save_table(tmp_path, LEDGER, f"{number:064}", CONTENT)
        os.utime(tmp_path / FOLDER / f"{LEDGER}-{number:064}.table", (number, number))
    save_table(tmp_path, "c" * 64, KEY, CONTENT)
    (tmp_path / FOLDER / ".half").write_bytes(b"of a killed process")
    tidy_tables(tmp_path, {LEDGER})
    assert [file.name for file in tables(tmp_path)] == [
        f"{LEDGER}-{number:064}.table" for number in range(2, KEPT + 2)
    ]


def test_with_a_ledger_its_tables_are_removed(workspace: Workspace) -> None:
    first, other = (workspace.add(f"{n}.jsonl", a_run(f"r{n}").finish().ledger()).digest for n in range(2))
    for ledger in (first, other):
        save_table(workspace.path, ledger, KEY, CONTENT)
    assert workspace.remove(first)
    assert load_table(workspace.path, first, KEY) is None
    assert load_table(workspace.path, other, KEY) == CONTENT
    assert workspace.diagnose().healthy


def test_few_answers_of_a_name_are_kept_and_few_in_all(tmp_path: Path) -> None:
    for number in range(KEPT + 2):
        save_answer(tmp_path, "often", f"{number:064}", CONTENT)
        os.utime(tmp_path / FOLDER / f"answer.often-{number:064}.table", (number, number))
    tidy_tables(tmp_path, set())
    assert [has_answer(tmp_path, "often", f"{n:064}") for n in range(KEPT + 2)] == [False] * 2 + [True] * KEPT
    for number in range(ANSWERS_KEPT + 3):
        save_answer(tmp_path, f"name{number}", KEY, CONTENT)
    tidy_tables(tmp_path, set())
    assert len(tables(tmp_path)) == ANSWERS_KEPT


def test_with_any_ledger_all_answers_are_removed(workspace: Workspace) -> None:
    ledger = workspace.add("r.jsonl", a_run("r").finish().ledger()).digest
    save_answer(workspace.path, "table", KEY, CONTENT)
    assert load_answer(workspace.path, "table", KEY) == CONTENT
    assert workspace.remove(ledger)
    assert load_answer(workspace.path, "table", KEY) is None
