"""A document is its fields: JSON and schema are derived from the same types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import jsonschema
import pytest
from msgspec import UNSET, UnsetType

from untaken.errors import Finding, Score, Unscored, Where
from untaken.views.documents import Count, Document, DocumentPart, Flat, Spread, entry
from untaken.views.shapes import shape


@dataclass(frozen=True, kw_only=True)
class Inner:
    """An object of another room."""

    name: str
    rate: Score
    tools: tuple[tuple[str, int], ...] = ()
    parts: tuple[Where, ...] = ()


class Whole(DocumentPart, frozen=True, kw_only=True, tag="untaken.whole/1"):
    """A document with one field of each kind."""

    inner: Spread[Inner]
    flat: Sequence[Flat[Inner]]
    deep: Sequence[Inner]
    counts: Mapping[str, Count]
    rate: Score
    at: datetime
    asked: Count | UnsetType = UNSET
    findings: Sequence[Finding] = ()


INNER = Inner(name="a", rate=Unscored("no run"), tools=(("t", 2),), parts=(Where(line=3),))
WHOLE = Whole(
    inner=INNER,
    flat=[INNER],
    deep=[INNER],
    counts={"a": 1},
    rate=0.5,
    at=datetime(2026, 1, 2, tzinfo=UTC),
    findings=[Finding(code="c", message="m", where=Where(file="f"))],
)
FLAT = {"name": "a", "rate": None, "rate_reason": "no run"}


def test_a_document_has_its_fields_in_order_and_says_why_a_value_is_unscored() -> None:
    found = entry(WHOLE)
    assert list(found) == [
        "schema", "name", "rate", "rate_reason", "flat", "deep", "counts", "at", "findings",
    ]  # fmt: skip
    assert found["flat"] == [FLAT]
    place = {"file": None, "line": 3, "column": None, "run": None}
    assert found["deep"] == [FLAT | {"tools": {"t": 2}, "parts": [place]}]
    assert (found["at"], found["findings"][0]["file"]) == ("2026-01-02T00:00:00+00:00", "f")


def test_the_schema_accepts_the_document_and_what_was_left_unset() -> None:
    jsonschema.validate(entry(WHOLE), shape(Whole))
    asked = Whole.of(WHOLE, asked=3)
    assert entry(asked)["asked"] == 3
    jsonschema.validate(entry(asked), shape(Whole))


@pytest.mark.parametrize(
    ("desc", "change"),
    [
        ("a count below 0", {"counts": {"a": -1}}),
        ("another type", {"rate": "0.5"}),
        ("a key too many", {"more": 1}),
        ("another schema", {"schema": "untaken.whole/2"}),
    ],
)
def test_the_schema_refuses_what_the_types_do_not_allow(desc: str, change: Document) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(entry(WHOLE) | change, shape(Whole))
