"""A workspace that another process makes of plain folders."""

from __future__ import annotations

from pathlib import Path

from untaken.opening_process import Opening
from untaken.scaling.reopening import reopen
from untaken.store import Workspace

SAMPLES = Path(__file__).parents[2] / "sample_runs"


def test_it_holds_what_the_folders_hold_and_no_ledger_is_read_again(tmp_path: Path) -> None:
    assert Opening([SAMPLES / "graphs", SAMPLES / "crafter" / "ledgers"], tmp_path / "made").complete()
    with Workspace.open_folder(SAMPLES / "crafter" / "ledgers", at=tmp_path / "here") as here:
        wanted = {file.digest for file in here.ledgers()}
    with Workspace(tmp_path / "made") as made:
        assert {file.digest for file in made.ledgers()} == wanted
        assert made.graph_set().graphs
        assert reopen(made).unkept == ()


def test_what_could_not_be_made_is_not_complete(tmp_path: Path) -> None:
    (tmp_path / "made").write_text("a file, where a folder is to be")
    assert not Opening([SAMPLES / "graphs"], tmp_path / "made").complete()


def test_one_that_is_ended_writes_nothing_any_more(tmp_path: Path) -> None:
    opening = Opening([SAMPLES / "ledgers"], tmp_path / "made")
    opening.end()
    assert not opening.complete()
