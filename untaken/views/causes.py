"""What failed runs have in common, as a table and as a document (§5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from untaken.analysis import Triage
from untaken.errors import Finding
from untaken.ledger import Run
from untaken.scoring import Cause, CauseKind, MissingRule, brief_cause, cause_words
from untaken.views.documents import Count, DocumentPart
from untaken.views.frame import Columns, count, figure, frame, text, truth

if TYPE_CHECKING:
    import pandas as pd

CAUSES: Final[Columns[Cause]] = {
    "kind": text("tool_error, argument, missing_information, skill, agent or skipped", "kind"),
    "sub_goal": text("the sub-goal at which the runs fail first", "sub_goal"),
    "critical": truth("whether it is critical", "critical"),
    "tool": text("the tool that was called, or the skill", lambda one: one.tool or None),
    "error": text("the tool's words, stripped", lambda one: one.error or None),
    "argument": text("the argument, or the part of the context", lambda one: one.argument or None),
    "value": text("its value", lambda one: one.value or None),
    "wrong": truth("whether the plan expects another value", "wrong"),
    "runs": count("failed runs with this cause", lambda one: len(one.runs)),
    "n": count("failed runs that failed here and could have had it", "n"),
    "elsewhere_k": count("of the runs that passed here, those with it", "elsewhere_k"),
    "elsewhere_n": count("runs that passed here and could have had it", "elsewhere_n"),
    "p": figure("one-sided exact p, adjusted by Holm", "p"),
    "cause": text("the cause in a few words", brief_cause),
    "words": text("the cause in words, with how often", cause_words),
}


def causes_table(found: Triage) -> pd.DataFrame:
    """One row per cause, most failed runs first (columns: `CAUSES`)."""
    return frame(CAUSES, found.causes)


class CauseEntry(DocumentPart, frozen=True, kw_only=True):
    """One cause; texts that do not apply are ``null``."""

    kind: CauseKind
    tool: str | None
    error: str | None
    argument: str | None
    value: str | None
    sub_goal: str
    critical: bool
    wrong: bool
    runs: Sequence[str]
    n: Count
    elsewhere_n: Count
    elsewhere_k: Count
    p: float | None
    words: str


class CausesDocument(DocumentPart, frozen=True, kw_only=True, tag="untaken.causes/1"):
    """The causes of failed runs."""

    missing: MissingRule
    verdicts: Sequence[str]
    agents: Sequence[str]
    headline: str
    found: Count
    causes: Sequence[CauseEntry]
    findings: Sequence[Finding]


def causes_document(
    found: Triage,
    runs: Mapping[str, Run],
    *,
    missing: MissingRule,
    verdicts: Sequence[str] = (),
    top: int | None = None,
    findings: Sequence[Finding] = (),
) -> CausesDocument:
    """The document of the causes found; `top` limits them."""
    return CausesDocument.of(
        found,
        missing=missing,
        verdicts=verdicts,
        found=len(found.causes),
        causes=[_entry(cause, runs) for cause in found.causes[:top]],
        findings=findings,
    )


def _entry(cause: Cause, runs: Mapping[str, Run]) -> CauseEntry:
    return CauseEntry.of(
        cause,
        tool=cause.tool or None,
        error=cause.error or None,
        argument=cause.argument or None,
        value=cause.value or None,
        runs=[runs[digest].run_id for digest in cause.runs],
        words=cause_words(cause),
    )
