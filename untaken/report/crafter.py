"""Crafter scores as a document (§7)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from untaken.errors import Finding
from untaken.planning.crafter import MethodScore
from untaken.report.documents import Document, entry, finding_entries


def crafter_score_document(
    scores: Sequence[MethodScore], *, budget_steps: int, findings: Iterable[Finding] = ()
) -> Document:
    """``untaken.crafter-score/1``: methods by score, with every seed behind it."""
    return {
        "schema": "untaken.crafter-score/1",
        "budget_steps": budget_steps,
        "methods": [_method(score) for score in scores],
        "findings": finding_entries(findings),
    }


def _method(score: MethodScore) -> Document:
    return entry(score) | {
        "success_percent": dict(score.success_percent),
        "by_seed": [entry(s) | {"success_percent": dict(s.success_percent)} for s in score.by_seed],
    }
