"""Outcomes joined from a table while converting."""

from __future__ import annotations

from pathlib import Path

import pytest
from foreign_files import codes, put

from untaken.errors import UntakenError
from untaken.ledger import read_ledger
from untaken.traces import convert

TRAJECTORY = {
    "schema_version": "ATIF-v1.5",
    "session_id": "s1",
    "agent": {"name": "a"},
    "steps": [{"source": "agent", "message": "hi"}],
}


def finished(tmp_path: Path, table: str):  # type: ignore[no-untyped-def]
    put(tmp_path / "in" / "t.json", TRAJECTORY)
    (tmp_path / "outcomes.csv").write_text(table, encoding="utf-8")
    done = convert(None, [tmp_path / "in"], tmp_path / "out", outcomes=tmp_path / "outcomes.csv")
    (run,) = read_ledger(done.ledgers[0])
    return done, run.finished


@pytest.mark.parametrize(("run_id", "between"), [("atif/a/s1", ","), ("s1", ","), ("s1", ";"), ("s1", "\t")])
def test_a_row_says_how_the_run_ended(tmp_path: Path, run_id: str, between: str) -> None:
    table = f"run_id,success,cost\n{run_id},true,0.25\n".replace(",", between)
    done, end = finished(tmp_path, table)
    assert (end.success, end.cost) == (True, 0.25)
    assert "outcome-unmatched" not in codes(done)


def test_json_lines_do_as_well(tmp_path: Path) -> None:
    _, end = finished(tmp_path, '{"run_id": "s1", "success": false, "error": "time\u2028out"}\r\n')
    assert (end.success, end.error) == (False, "time\u2028out")


def test_an_empty_cell_changes_nothing_and_a_row_without_a_run_is_named(tmp_path: Path) -> None:
    done, end = finished(tmp_path, "run_id,success,cost\ns1,1,\nother,0,\n")
    assert (end.success, end.cost) == (True, None)
    assert "outcome-unmatched" in codes(done)


@pytest.mark.parametrize("table", ["run_id,passed\ns1,true\n", "run_id,success\ns1,\n", '{"run_id": "s1"}'])
def test_a_table_that_says_nothing_of_any_run_is_refused(tmp_path: Path, table: str) -> None:
    with pytest.raises(UntakenError, match="no row has one of success, cost, steps, error, limit"):
        finished(tmp_path, table)


@pytest.mark.parametrize(
    ("table", "line"),
    [
        ("id,success\n", 1),
        ("run_id,success\ns1,perhaps\n", 2),
        ("run_id,success\ns1,1\ns1,0\n", 3),
        ("run_id,cost\ns1,-3\n", 2),
        ('{"run_id": ', 1),
    ],
)
def test_a_bad_table_is_refused_with_its_line(tmp_path: Path, table: str, line: int) -> None:
    with pytest.raises(UntakenError) as caught:
        finished(tmp_path, table)
    assert (caught.value.code, caught.value.where.line) == ("outcomes-invalid", line)
