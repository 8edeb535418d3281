"""Issues over the runs of a corpus: tracked, as a table and as a document (§9)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from untaken.analysis import (
    NO_VERSION,
    Corpus,
    Issue,
    IssueRate,
    Taxonomy,
    TrackedIssue,
    asks_for_statements,
    track_issues,
    version_of,
)
from untaken.errors import Finding
from untaken.ledger import Run
from untaken.views.documents import Keys, Part
from untaken.views.frame import (
    Columns,
    RowWith,
    as_facts,
    count,
    figure,
    frame,
    interval,
    moment,
    text,
    truth,
    why,
)

if TYPE_CHECKING:
    import pandas as pd

    from untaken.counterfactual import PlanEvaluation


def corpus_issues(corpus: Corpus, issues: Sequence[Issue], taxonomy: Taxonomy) -> tuple[TrackedIssue, ...]:
    """Where each issue is now over the runs of a corpus."""
    # Evaluating the plans is the slow part, and few issues ask for it.
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
    "rate": figure("matches / runs", "overall.rate", "percent"),
    **interval(at="overall.", shown="percent"),
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
    "rate": figure("matches / runs", "rate", "percent"),
    **interval(shown="percent"),
    "rate_reason": why("rate", "rate"),
}


ISSUE_RUNS: Final[Columns[RowWith[Run, bool]]] = {
    "after_fix": truth("whether the run began after the fix", "beside"),
    **as_facts("agent task_id", at="row."),
    "version": text("version of the agent", lambda one: version_of(one.row)),
    "started": moment("when it began; empty without a clock", "row.started_at"),
    **as_facts("run_id digest", at="row."),
}


def issues_table(found: Iterable[TrackedIssue]) -> pd.DataFrame:
    """One row per issue (columns: `ISSUES`)."""
    return frame(ISSUES, found)


def issue_rates_table(found: TrackedIssue) -> pd.DataFrame:
    """Rates of one issue: over all runs, before and after the fix, by version (columns: `ISSUE_RATES`)."""
    around = [rate for rate in (found.before, found.after) if rate]
    # Where no run names a version, its only row would repeat the overall one.
    named = found.versions if [rate.name for rate in found.versions] != [NO_VERSION] else ()
    return frame(ISSUE_RATES, [found.overall, *around, *named])


def issue_runs_table(found: TrackedIssue, corpus: Corpus) -> pd.DataFrame:
    """The runs that match, newest first (columns: `ISSUE_RUNS`)."""
    again = frozenset(found.reopened_by)
    return frame(
        ISSUE_RUNS,
        (RowWith(corpus.runs[run], run in again) for run in reversed(found.matches)),
    )


_ISSUE: Final = Keys(
    TrackedIssue,
    "issue.id issue.title issue.mode? issue.rule.expr? issue.rule.text? issue.sub_goals state"
    " issue.fixed_at first_seen last_seen runs reopened_by undated unknown unknown_reason? overall"
    " before after versions agreed missed extra",
    runs=[str],
    reopened_by=[str],
)
ISSUES_DOCUMENT: Final = Keys.given(schema="untaken.issues/1", issues=[_ISSUE], findings=[Finding])
"""Every issue."""
GATED_ISSUE: Final = Keys(TrackedIssue, "issue.id issue.title state reopened_by", reopened_by=[str])


def issue_entry(one: TrackedIssue, run_ids: Mapping[str, str]) -> Part:
    """An issue as `corpus_issues` tracks it, with the run id of each digest."""
    runs, again = ([run_ids[run] for run in some] for some in (one.matches, one.reopened_by))
    return _ISSUE(one, runs=runs, reopened_by=again)


def gated_issue(one: TrackedIssue, run_ids: Mapping[str, str]) -> Part:
    """An issue as the gate shows it, with the run id of each digest."""
    return GATED_ISSUE(one, reopened_by=[run_ids[run] for run in one.reopened_by])
