"""People write, edit, accept and reject criteria; each change says who, when and why, and is taken back."""
# ruff: noqa: E501  (tables of cases)

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from untaken.errors import UntakenError
from untaken.judging import editing
from untaken.judging.criteria import CriteriaSet, Criterion, parse_criteria

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
WHO: dict[str, Any] = {"by": "human:ann", "at": AT}
SET = CriteriaSet(
    id="desk",
    criteria=[
        Criterion(name="Tone", accepted_values=["rude", "plain", "kind"], status="proposed"),
        Criterion(name="Speed", description="How fast", accepted_values=["slow", "fast"]),
    ],
)
Edit = Callable[[CriteriaSet], CriteriaSet]


def tone(criteria: CriteriaSet) -> Criterion:
    return editing.find(criteria, "Tone")


EDITS = [
    ("accepted", lambda c: editing.accept(c, "Tone", why="it matters", **WHO), {"status": "accepted"}, "accepted it"),
    ("rejected", lambda c: editing.reject(c, "Tone", **WHO), {"status": "rejected"}, "rejected it"),
    ("described", lambda c: editing.edit(c, "Tone", description=" How it sounds. ", **WHO), {"description": "How it sounds."}, "changed description"),
    (
        "given other values",
        lambda c: editing.edit(c, "Tone", accepted_values=["rude", " kind ", ""], **WHO),
        {"accepted_values": ["rude", "kind"]},
        "changed accepted values"
    ),
    (
        "put in order",
        lambda c: editing.edit(c, "Tone", accepted_values=["kind", "plain", "rude"], **WHO),
        {"accepted_values": ["kind", "plain", "rude"]},
        "changed accepted values"
    )
]  # fmt: skip


@pytest.mark.parametrize(("desc", "edit", "want", "what"), EDITS)
def test_a_change_is_made_and_kept_and_taken_back(desc: str, edit: Any, want: Any, what: Any) -> None:
    changed = tone(edit(SET))
    for field, value in want.items():
        assert getattr(changed, field) == value
    (change,) = changed.history
    assert (change.author, change.at, change.what) == ("human:ann", "2026-03-01T12:00:00+00:00", what)
    back = tone(editing.take_back(edit(SET), "Tone", **WHO))
    assert msgspec.structs.replace(back, history=[]) == tone(SET)
    assert [c.what for c in back.history] == [what, f"undid: {what}"]
    assert editing.find(edit(SET), "Speed") == editing.find(SET, "Speed")


def test_a_criterion_that_a_person_writes_is_accepted_and_says_so() -> None:
    made = editing.write(SET, "Care ", description="d", accepted_values=["no", "yes"], why="w", **WHO)
    care = made.criteria[-1]
    assert (care.name, care.status, care.origin) == ("Care", "accepted", "human")
    assert (care.history[0].what, care.history[0].why) == ("wrote it", "w")


def test_renaming_keeps_place_and_history() -> None:
    renamed = editing.edit(editing.accept(SET, "Tone", **WHO), "Tone", new_name="Manner", **WHO)
    assert [c.name for c in renamed.criteria] == ["Manner", "Speed"]
    assert [c.what for c in renamed.criteria[0].history] == ["accepted it", "changed name"]
    assert [c.name for c in editing.take_back(renamed, "Manner", **WHO).criteria] == ["Tone", "Speed"]


@pytest.mark.parametrize(
    "edit",
    [
        lambda c: editing.accept(c, "Speed", **WHO),
        lambda c: editing.edit(c, "Speed", description="How fast", **WHO),
        lambda c: editing.edit(c, "Speed", accepted_values=["slow", "fast"], **WHO),
        lambda c: editing.add(c, [Criterion(name="SPEED", accepted_values=["x", "y"])]),
    ],
)
def test_what_changes_nothing_leaves_no_trace(edit: Edit) -> None:
    assert edit(SET) == SET


@pytest.mark.parametrize(
    ("code", "edit"),
    [
        ("criterion-unknown", lambda c: editing.accept(c, "tone", **WHO)),
        ("criteria-invalid", lambda c: editing.write(c, "tone", accepted_values=["a", "b"], **WHO)),
        ("criteria-invalid", lambda c: editing.write(c, "  ", accepted_values=["a", "b"], **WHO)),
        ("criteria-invalid", lambda c: editing.write(c, "New", accepted_values=["a"], **WHO)),
        ("criteria-invalid", lambda c: editing.edit(c, "Tone", new_name="speed", **WHO)),
        ("criteria-invalid", lambda c: editing.edit(c, "Tone", accepted_values=["A", "a"], **WHO)),
        ("criteria-invalid", lambda c: editing.edit(c, "Tone", description="x" * 2_001, **WHO)),
        ("nothing-to-take-back", lambda c: editing.take_back(c, "Tone", **WHO)),
    ],
)
def test_what_cannot_be_done_is_named_and_changes_nothing(code: str, edit: Edit) -> None:
    with pytest.raises(UntakenError) as caught:
        edit(SET)
    assert caught.value.code == code
    assert caught.value.hint


STEPS: list[Edit] = [change for desc, change, *_ in EDITS if desc != "put in order"]


@given(st.lists(st.sampled_from(STEPS), max_size=8))
def test_taking_everything_back_leads_to_the_beginning_and_history_only_grows(steps: list[Edit]) -> None:
    now, lengths = SET, [0]
    for step in steps:
        now = step(now)
        lengths.append(len(tone(now).history))
    while any(change.before for change in editing.changes_in_force(tone(now))):
        now = editing.take_back(now, "Tone", **WHO)
        lengths.append(len(tone(now).history))
    assert msgspec.structs.replace(tone(now), history=[]) == tone(SET)
    assert lengths == sorted(lengths)
    assert parse_criteria(msgspec.json.encode(now), name="x") == now
