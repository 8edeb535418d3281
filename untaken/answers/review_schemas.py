"""JSON Schemas of the documents about reviews and reviewers."""

from __future__ import annotations

from typing import Final

from untaken.answers.shapes import (
    COUNT,
    TEXT,
    Schema,
    document,
    entry_shape,
    findings,
    fixed,
    list_of,
    or_null,
    values_of,
)
from untaken.judging import Reliability, ReviewedSubGoal, ReviewerPair
from untaken.store.review_model import STATUSES

STATUS: Final[Schema] = {"enum": list(STATUSES)}
KINDS: Final[Schema] = {"enum": ["failed", "unlucky", "lucky", "unfinished", "broken"]}


def reviewers() -> Schema:
    """How far several authors agree, each of them one rater."""
    reliability = entry_shape(Reliability)
    return fixed(
        whose=list_of(TEXT),
        overall=reliability,
        sub_goals=list_of(reliability),
        pairs=list_of(entry_shape(ReviewerPair)),
    )


def review() -> Schema:
    """``untaken.review/1``."""
    case = fixed(
        run_id=TEXT,
        digest=TEXT,
        kind=KINDS,
        agent=TEXT,
        task_id=TEXT,
        task_repeat=or_null({"type": "integer"}),
        why=TEXT,
        first=list_of(TEXT),
        fix_first=or_null(TEXT),
        completion=or_null({"type": "number"}),
        model=or_null(TEXT),
        graph=or_null(TEXT),
        diagnosis=TEXT,
        metadata=values_of(TEXT),
        notes=COUNT,
        parted=COUNT,
        status=STATUS,
        assignee=TEXT,
        tags=list_of(TEXT),
        revision=COUNT,
        updated_at=or_null(TEXT),
        updated_by=TEXT,
    )
    case["properties"]["completion_reason"] = TEXT
    counts = dict.fromkeys(STATUSES, COUNT)
    return document(
        "untaken.review/1",
        progress=fixed(reviewed=COUNT, total=COUNT, **counts),
        cases=list_of(case),
        reviewers=reviewers(),
        disagreements=list_of(
            entry_shape(ReviewedSubGoal, reasons=values_of(TEXT), title=TEXT, critical={"type": "boolean"})
        ),
        findings=findings(),
    )
