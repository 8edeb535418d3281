"""Suggested failure modes on AgentRx' labelled reasons: better than always naming the most frequent one."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.mode_suggestions import SETS, labelled
from untaken.analysis.failure_modes import suggestion_quality

WANT = {"Magentic-One": (140, 24, 0.60), "both": (161, 38, 0.54)}


@pytest.mark.parametrize("name", WANT)
def test_notes_of_other_runs_say_more_than_the_most_frequent_mode(name: str, real_data: Path) -> None:
    found = suggestion_quality(labelled(real_data / "agentrx" / file for file in SETS[name]))
    notes, runs, majority = WANT[name]
    assert (found.notes, found.runs) == (notes, runs)
    assert found.majority == pytest.approx(majority, abs=0.005)
    assert found.low > found.majority
    assert found.right >= 0.78
