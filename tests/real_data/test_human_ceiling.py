"""How far two people agree on what to blame: printed beside any automatic blame."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import blame
from untaken.failure_modes.root_causes import ceiling_words


def test_two_people_name_the_same_step_in_a_quarter_of_the_runs(
    real_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blame, "RECORDS", real_data)
    (found,) = blame.second_labels()
    assert (found.runs, found.same_step, found.near_step, found.same_sub_goal) == (24, 6, 8, 14)
    assert found.kappa == pytest.approx(0.35, abs=0.005)
    assert "in 6 of 24 runs (25%, 95 % 11% to 47%), at most one step apart in 8 (33%" in ceiling_words(
        [found]
    )
