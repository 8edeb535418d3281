"""A workspace stores criteria and recorded replies completely, by name, whatever else is uploaded."""

from __future__ import annotations

import json
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from untaken.errors import UntakenError
from untaken.judging import editing
from untaken.judging.criteria import (
    change_criteria,
    criterion_means,
    forget_replies,
    kept_criteria,
    kept_digest,
    kept_runs,
    ledger_criteria,
    take_in_criteria,
)
from untaken.judging.criteria.stored_criteria import FILE

CLARITY = {"name": "Clarity", "accepted_values": ["bad", "good"]}
CRITERIA = json.dumps([CLARITY]).encode()


def replies(*said: str) -> bytes:
    records = {f"p{n}": {"actual_success": n == 0, "estimated_performance": s} for n, s in enumerate(said)}
    return json.dumps(records).encode()


GOOD = replies('{"Clarity": "good"}', '{"Clarity": "bad"}')


def test_files_are_taken_in_together_and_a_bad_one_stops_nothing(tmp_path: Path) -> None:
    found = take_in_criteria(
        tmp_path,
        [
            ("run1.evaluated_problems.json", GOOD),
            ("run1.criteria.txt", CRITERIA),
            ("run2.evaluated_problems.json", GOOD),
            ("bad.criteria.json", b"{"),
            ("own.criteria.json", json.dumps([{**CLARITY, "name": "Care"}]).encode()),
        ],
    )
    assert [(f.code, f.where.file) for f in found] == [
        ("criteria-taken-in", "run1.evaluated_problems.json"),
        ("criteria-taken-in", "run1.criteria.txt"),
        ("criteria-missing", "run2.evaluated_problems.json"),
        ("criteria-invalid", "bad.criteria.json"),
        ("criteria-taken-in", "own.criteria.json"),
    ]
    assert all(f.hint for f in found if f.severity == "error")
    (run,) = kept_runs(tmp_path)
    assert (run.name, criterion_means(run)[0].gap) == ("run1", 1.0)
    added = kept_criteria(tmp_path).criteria[len(ledger_criteria().criteria) :]
    assert [(c.name, c.origin) for c in added] == [
        ("Clarity", "run1.criteria.txt"),
        ("Care", "own.criteria.json"),
    ]


def test_the_same_again_changes_nothing_and_another_pass_of_the_same_name_is_another(tmp_path: Path) -> None:
    files: list[tuple[str, bytes]] = [("r.criteria.txt", CRITERIA), ("r.evaluated_problems.json", GOOD)]
    take_in_criteria(tmp_path, files)
    before = kept_digest(tmp_path)
    take_in_criteria(tmp_path, files)
    assert kept_digest(tmp_path) == before
    other = replies('{"Clarity": "bad"}')
    take_in_criteria(tmp_path, [files[0], ("r.evaluated_problems.json", other)])
    assert [len(run.items) for run in kept_runs(tmp_path)] in ([1, 2], [2, 1])
    assert kept_digest(tmp_path) != before
    assert forget_replies(tmp_path) == 2
    assert kept_runs(tmp_path) == ()


@pytest.mark.parametrize("name", ["../../x", "a/b", "..\\..\\c", "\u202e", "." * 5, "x" * 400, "-"])
def test_an_uploaded_name_is_never_a_path(name: str, tmp_path: Path) -> None:
    inside = tmp_path / "workspace"
    inside.mkdir()
    take_in_criteria(inside, [(f"{name}.criteria.txt", CRITERIA), (f"{name}.evaluated_problems.json", GOOD)])
    assert [path.name for path in tmp_path.iterdir()] == ["workspace"]
    assert len(kept_runs(inside)) == 1
    assert all(path.parent == inside / "quantified" for path in (inside / "quantified").rglob("*"))


@pytest.mark.parametrize("data", [b"", b"[]", b'{"p": 1}', b'{"p": NaN}', b"\xff"])
def test_replies_that_cannot_be_read_are_not_kept(data: bytes, tmp_path: Path) -> None:
    files = [("r.criteria.txt", CRITERIA), ("r.evaluated_problems.json", data)]
    found = take_in_criteria(tmp_path, files)
    assert [f.code for f in found] == ["criteria-taken-in", "replies-invalid"]
    assert found[1].where.file == "r.evaluated_problems.json"
    assert kept_runs(tmp_path) == ()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".criteria-")] == []


def test_people_who_change_criteria_at_once_lose_nothing(tmp_path: Path) -> None:
    def writes(n: int) -> None:
        values: dict[str, Any] = {"accepted_values": ["no", "yes"], "by": "human:x", "at": editing.now()}
        change_criteria(tmp_path, lambda c: editing.write(c, f"criterion {n}", **values))

    threads = [Thread(target=writes, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    names = {criterion.name for criterion in kept_criteria(tmp_path).criteria}
    assert {f"criterion {n}" for n in range(8)} <= names


def test_a_file_changed_by_hand_is_named_and_not_written_over(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"nonsense")
    with pytest.raises(UntakenError, match="criteria-invalid"):
        change_criteria(tmp_path, lambda c: c)
    assert (tmp_path / FILE).read_bytes() == b"nonsense"
