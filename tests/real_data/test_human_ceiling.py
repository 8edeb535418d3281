"""How far two people agree on what to blame: printed beside any automatic blame."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import blame


def test_two_people_name_the_same_step_in_a_quarter_of_the_runs(
    real_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blame, "RECORDS", real_data)
    found = blame.ceiling()
    assert found is not None
    assert (found.runs, found.same_step, found.within_one, found.same_agent) == (24, 6, 8, 14)
    assert found.kappa == pytest.approx(0.35, abs=0.005)
    assert "same step 6 (25%, 12% to 45%)" in str(found)
