"""A plan is drafted for tasks that belong together, and names no other task."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from untaken.plans.discovery import task_families
from untaken.plans.globs import matches_glob


@pytest.mark.parametrize(
    ("tasks", "others", "want"),
    [
        (["refund-1", "refund-12", "swap"], [], [["refund-*"], ["swap"]]),
        (["refund-1", "refund-2"], ["refund-vip"], [["refund-[0-9]*"]]),
        (["refund-1", "refund-2"], ["refund-3a"], [["refund-1", "refund-2"]]),
        (["1", "2"], [], [["[0-9]*"]]),
        (["refund-", "refund-1"], ["refund-x"], [["refund-", "refund-1"]]),
        (["a[1", "a[2"], [], [["a[[]*"]]),
        (["only-7"], [], [["only-7"]]),
        (["refund-1", "refund-2", "swap", "swap", "swap"], [], [["swap"], ["refund-*"]]),
    ],
)
def test_tasks_that_differ_in_their_last_number_are_a_family(tasks, others, want) -> None:
    assert [list(family.globs) for family in task_families(tasks, others=others)] == want


IDS = st.lists(st.text("a1-[*", min_size=1, max_size=4), max_size=8)


@given(IDS, IDS)
def test_each_task_is_named_by_its_own_family_alone(tasks: list[str], others: list[str]) -> None:
    families = task_families(tasks, others=others)
    for task in {*tasks, *others}:
        naming = [one for one in families if any(matches_glob(glob, task) for glob in one.globs)]
        assert [task in one.tasks for one in naming] == ([True] if task in tasks else [])
