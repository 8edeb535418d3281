"""Issues over the runs of a corpus: tracked, as a table and as a document (§9)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from untaken.answers.documents import Document, entry, finding_entries
from untaken.answers.frame import Columns, count, figure, frame, moment, text, truth, why
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
)
from untaken.corpus import Corpus
from untaken.errors import Finding
from untaken.failure_modes import Taxonomy
from untaken.failure_modes.issue_model import Issue
from untaken.failure_modes.issues import (
    IssueRate,
    TrackedIssue,
    asks_for_statements,
    track_issues,
)
from untaken.failure_modes.reading import NO_VERSION, started_at, version_of
from untaken.ledger import Run

if TYPE_CHECKING:
    import pandas as pd

    from untaken.counterfactual.plan import PlanEvaluation


STATE: Final[Schema] = {"enum": ["open", "fixed", "reopened"]}


def corpus_issues(corpus: Corpus, issues: Sequence[Issue], taxonomy: Taxonomy) -> tuple[TrackedIssue, ...]:
    """Where each issue is now over the runs of a corpus."""
    statements = statements_of(corpus.plans) if asks_for_statements(issues) else {}
    return track_issues(issues, list(corpus.runs.values()), corpus.scores, taxonomy, statements=statements)


def statements_of(plans: PlanEvaluation) -> Mapping[str, Sequence[str]]:
    """By digest, what a run did where a supported statement favours another way."""
    return {
        digest: [
            str(one.decision.option) for one in path.decisions if any(a.better for a in one.alternatives)
        ]
        for digest, path in plans.runs.items()
    }


ISSUES: Final[Columns[TrackedIssue]] = {
    "state": text("open, fixed or reopened", "state"),
    "title": text("what it is", "issue.title"),
    "matches": count("runs that match", "overall.matches"),
    "runs": count("runs of which it can be known", "overall.runs"),
    "rate": figure("matches / runs", "overall.rate"),
    "low": figure("lower end of its 95% interval", "overall.low"),
    "high": figure("upper end of its 95% interval", "overall.high"),
    "since_fix": text(
        "matching runs of those that began after the fix",
        lambda one: f"{one.after.matches} of {one.after.runs}" if one.after else None,
    ),
    "first_seen": moment("when the first matching run began", "first_seen"),
    "last_seen": moment("when the last matching run began", "last_seen"),
    "unknown": count("runs of which it cannot be known", "unknown"),
    "mode": text("id of its failure mode", lambda one: one.issue.mode or None),
    "rule": text("what finds it", lambda one: str(one.issue.rule) or None),
    "id": text("its id", "issue.id"),
    "rate_reason": why("rate", "overall.rate"),
}
"""Columns of `issues_table`."""

ISSUE_RATES: Final[Columns[IssueRate]] = {
    "version": text("version of the agent, or all, before or after the fix", "name"),
    "matches": count("runs that match", "matches"),
    "runs": count("runs of which it can be known", "runs"),
    "rate": figure("matches / runs", "rate"),
    "low": figure("lower end of its 95% interval", "low"),
    "high": figure("upper end of its 95% interval", "high"),
    "rate_reason": why("rate", "rate"),
}
"""Columns of `issue_rates_table`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchingRun:
    """A run that has an issue; `after`: it began after the fix."""

    run: Run
    after: bool


ISSUE_RUNS: Final[Columns[MatchingRun]] = {
    "after_fix": truth("whether the run began after the fix", "after"),
    "agent": text("name of the agent", "run.agent"),
    "task_id": text("the task", "run.task_id"),
    "version": text("version of the agent", lambda row: version_of(row.run)),
    "started": moment("when it began; empty without a clock", lambda row: started_at(row.run)),
    "run_id": text("the run's own id", "run.run_id"),
    "digest": text("content digest: the run's id in links", "run.digest"),
}
"""Columns of `issue_runs_table`."""


def issues_table(found: Iterable[TrackedIssue]) -> pd.DataFrame:
    """One row per issue (columns: `ISSUES`)."""
    return frame(ISSUES, found)


def issue_rates_table(found: TrackedIssue) -> pd.DataFrame:
    """Rates of one issue: over all runs, before and after the fix, by version (columns: `ISSUE_RATES`)."""
    around = [rate for rate in (found.before, found.after) if rate]
    named = found.versions if [rate.name for rate in found.versions] != [NO_VERSION] else ()
    return frame(ISSUE_RATES, [found.overall, *around, *named])


def issue_runs_table(found: TrackedIssue, corpus: Corpus) -> pd.DataFrame:
    """The runs that match, newest first (columns: `ISSUE_RUNS`)."""
    again = frozenset(found.reopened_by)
    return frame(
        ISSUE_RUNS,
        (MatchingRun(run=corpus.runs[run], after=run in again) for run in reversed(found.matches)),
    )


def issues_document(
    found: Iterable[TrackedIssue], run_ids: Mapping[str, str], *, findings: Sequence[Finding] = ()
) -> Document:
    """``untaken.issues/1``: every issue with its state, rates and runs.

    Args:
        found: as `corpus_issues` tracks them.
        run_ids: run id of each digest.
        findings: what was noticed while the runs were read.
    """
    return {
        "schema": "untaken.issues/1",
        "issues": [_issue(one, run_ids) for one in found],
        "findings": finding_entries(findings),
    }


def _issue(one: TrackedIssue, run_ids: Mapping[str, str]) -> Document:
    issue = one.issue
    return {
        "id": issue.id,
        "title": issue.title,
        "mode": issue.mode or None,
        "expr": issue.rule.expr or None,
        "text": issue.rule.text or None,
        "sub_goals": list(issue.sub_goals),
        "state": one.state,
        "fixed_at": issue.fixed_at.isoformat() if issue.fixed_at else None,
        "first_seen": one.first_seen.isoformat() if one.first_seen else None,
        "last_seen": one.last_seen.isoformat() if one.last_seen else None,
        "runs": [run_ids[run] for run in one.matches],
        "reopened_by": [run_ids[run] for run in one.reopened_by],
        "undated": one.undated,
        "unknown": one.unknown,
        "unknown_reason": one.unknown_reason or None,
        "overall": entry(one.overall),
        "before": entry(one.before) if one.before else None,
        "after": entry(one.after) if one.after else None,
        "versions": [entry(rate) for rate in one.versions],
        "agreed": one.agreed,
        "missed": one.missed,
        "extra": one.extra,
    }


def reopened_entry(one: TrackedIssue, run_ids: Mapping[str, str]) -> Document:
    """An issue as the gate shows it."""
    return {
        "id": one.issue.id,
        "title": one.issue.title,
        "state": one.state,
        "reopened_by": [run_ids[run] for run in one.reopened_by],
    }


def reopened_shape() -> Schema:
    """What `reopened_entry` makes."""
    return fixed(id=TEXT, title=TEXT, state=STATE, reopened_by=list_of(TEXT))


def issues_schema() -> Schema:
    """``untaken.issues/1``."""
    rate = entry_shape(IssueRate)
    issue = fixed(
        id=TEXT,
        title=TEXT,
        mode=or_null(TEXT),
        expr=or_null(TEXT),
        text=or_null(TEXT),
        sub_goals=list_of(TEXT),
        state=STATE,
        fixed_at=or_null(TEXT),
        first_seen=or_null(TEXT),
        last_seen=or_null(TEXT),
        runs=list_of(TEXT),
        reopened_by=list_of(TEXT),
        undated=COUNT,
        unknown=COUNT,
        unknown_reason=or_null(TEXT),
        overall=rate,
        before=or_null(rate),
        after=or_null(rate),
        versions=list_of(rate),
        agreed=COUNT,
        missed=COUNT,
        extra=COUNT,
    )
    return document("untaken.issues/1", issues=list_of(issue), findings=findings())
