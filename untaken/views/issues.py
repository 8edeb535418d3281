"""Issues over the runs of a corpus: tracked, as a table and as a document (§9)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from untaken.analysis import (
    NO_VERSION,
    Corpus,
    Issue,
    IssueRate,
    IssueState,
    Taxonomy,
    TrackedIssue,
    asks_for_statements,
    track_issues,
    version_of,
)
from untaken.errors import Finding
from untaken.ledger import Run
from untaken.views.documents import Count, DocumentPart
from untaken.views.frame import Columns, RowWith, count, figure, frame, interval, moment, text, truth, why

if TYPE_CHECKING:
    import pandas as pd

    from untaken.counterfactual import PlanEvaluation


def corpus_issues(corpus: Corpus, issues: Sequence[Issue], taxonomy: Taxonomy) -> tuple[TrackedIssue, ...]:
    """Where each issue is now over the runs of a corpus."""
    statements = statements_of(corpus.plans) if asks_for_statements(issues) else {}
    return track_issues(issues, list(corpus.runs.values()), corpus.scores, taxonomy, statements=statements)


def statements_of(plans: PlanEvaluation) -> Mapping[str, Sequence[str]]:
    """What each run did where a supported statement favours another option, by the run's digest."""
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
    **interval(at="overall."),
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

ISSUE_RATES: Final[Columns[IssueRate]] = {
    "version": text("version of the agent, or all, before or after the fix", "name"),
    "matches": count("runs that match", "matches"),
    "runs": count("runs of which it can be known", "runs"),
    "rate": figure("matches / runs", "rate"),
    **interval(),
    "rate_reason": why("rate", "rate"),
}


ISSUE_RUNS: Final[Columns[RowWith[Run, bool]]] = {
    "after_fix": truth("whether the run began after the fix", "beside"),
    "agent": text("name of the agent", "row.agent"),
    "task_id": text("the task", "row.task_id"),
    "version": text("version of the agent", lambda one: version_of(one.row)),
    "started": moment("when it began; empty without a clock", "row.started_at"),
    "run_id": text("the run's own id", "row.run_id"),
    "digest": text("content digest: the run's id in links", "row.digest"),
}


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
        (RowWith(corpus.runs[run], run in again) for run in reversed(found.matches)),
    )


class IssueEntry(DocumentPart, frozen=True, kw_only=True):
    """An issue with its state, rates and runs."""

    id: str
    title: str
    mode: str | None
    expr: str | None
    text: str | None
    sub_goals: Sequence[str]
    state: IssueState
    fixed_at: str | None
    first_seen: str | None
    last_seen: str | None
    runs: Sequence[str]
    reopened_by: Sequence[str]
    undated: Count
    unknown: Count
    unknown_reason: str | None
    overall: IssueRate
    before: IssueRate | None
    after: IssueRate | None
    versions: Sequence[IssueRate]
    agreed: Count
    missed: Count
    extra: Count


class IssuesDocument(DocumentPart, frozen=True, kw_only=True, tag="untaken.issues/1"):
    """Every issue."""

    issues: Sequence[IssueEntry]
    findings: Sequence[Finding]


class GatedIssue(DocumentPart, frozen=True, kw_only=True):
    """An issue as the gate shows it."""

    id: str
    title: str
    state: IssueState
    reopened_by: Sequence[str]


def issue_entry(one: TrackedIssue, run_ids: Mapping[str, str]) -> IssueEntry:
    """An issue as `corpus_issues` tracks it, with the run id of each digest."""
    issue = one.issue
    return IssueEntry.of(
        one,
        issue,
        mode=issue.mode or None,
        expr=issue.rule.expr or None,
        text=issue.rule.text or None,
        fixed_at=_moment(issue.fixed_at),
        first_seen=_moment(one.first_seen),
        last_seen=_moment(one.last_seen),
        runs=[run_ids[run] for run in one.matches],
        reopened_by=[run_ids[run] for run in one.reopened_by],
        unknown_reason=one.unknown_reason or None,
    )


def _moment(at: datetime | None) -> str | None:
    return at.isoformat() if at else None
