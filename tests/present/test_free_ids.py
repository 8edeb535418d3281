"""An id that nothing else has."""

from __future__ import annotations

import pytest

from untaken.visible import free_id

CASES = [
    ("free as it is", "pay", {"book"}, None, "pay"),
    ("the first free number", "pay", {"pay", "pay-2", "pay-4"}, None, "pay-3"),
    ("cut only where a number follows", "a-long-stem", {"a-long-stem"}, 6, "a-long-2"),
    ("never cut where it is free", "a-long-stem", set(), 6, "a-long-stem"),
]


@pytest.mark.parametrize(("desc", "stem", "taken", "most", "want"), CASES, ids=[case[0] for case in CASES])
def test_a_free_id(desc: str, stem: str, taken: set[str], most: int | None, want: str) -> None:
    assert free_id(stem, taken, most=most) == want
