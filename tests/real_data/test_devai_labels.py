"""DevAI: rates from a few of people's verdicts and the judge's, against people's verdicts on everything."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from real_records import Converted

from benchmarks.labels import Items, coverage, devai_items, some, whole_tasks


@pytest.fixture(scope="module")
def items(converted: Callable[[str, str], Converted]) -> Items:
    return devai_items(converted("devai", "devai").runs)


def test_30_labels_and_the_judge_hold_the_truth_in_an_interval_of_at_most_085_of_the_width(items) -> None:
    found = coverage(items, some(30), draws=1000)
    assert found.held >= 0.93
    assert found.ratio <= 0.85


def test_labels_of_whole_tasks_hold_it_where_tasks_are_taken_together_and_not_where_labels_are(items) -> None:
    clustered, naive = (coverage(items, whole_tasks(8), draws=800, naive=flag) for flag in (False, True))
    assert clustered.held >= 0.93
    assert naive.held <= 0.9
    assert clustered.ratio <= 0.65
