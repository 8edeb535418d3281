"""Where each issue is now: when it was seen, how often by version, and whether it came back (§9)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from msgspec import Struct

from untaken import stats
from untaken.analysis.failure_modes.assignments import modes_by_run
from untaken.analysis.failure_modes.facts import rule_holds
from untaken.analysis.failure_modes.failure_mode import Taxonomy
from untaken.analysis.failure_modes.issue_model import Issue, IssueState
from untaken.analysis.failure_modes.reading import version_of
from untaken.errors import Score, Unscored
from untaken.ledger import Run
from untaken.scoring import RunScore

NO_RUNS = Unscored("no run of which it can be known")


class IssueRate(Struct, frozen=True, kw_only=True):
    """How often an issue occurs in some runs.

    Attributes:
        name: a version, or ``all``, ``before`` or ``after`` the fix (untrusted where it is a version).
        runs: those of which it can be known; `matches` of them have the issue.
        rate: matches / runs, with its 95% interval; repeats of a task are not taken for independent.
    """

    name: str
    runs: int
    matches: int
    rate: Score
    low: Score
    high: Score


class TrackedIssue(Struct, frozen=True, kw_only=True):
    """An issue over the runs at hand.

    Attributes:
        state: ``reopened`` where it was called fixed and a run that began later matches.
        matches: digests of the runs that match, oldest first.
        first_seen, last_seen: when the first and the last matching run began; ``None`` where no matching run
            has a clock.
        reopened_by: digests of the matching runs that began after the fix, oldest first.
        undated: matching runs without a clock; they never reopen an issue.
        unknown: runs of which it cannot be known whether they match, and the first reason.
        overall, before, after: rates of all runs and of those that began before and after the fix, in neither
            of which a run without a clock is; without a fix the latter two are ``None``.
        versions: rate by version of the agent, in the order in which versions were first seen.
        agreed: read runs that match and have its mode; `missed`: have the mode and do not match; `extra`:
            match and were read without the mode. All 0 where there is no mode or no rule.
    """

    issue: Issue
    state: IssueState
    matches: tuple[str, ...]
    first_seen: datetime | None
    last_seen: datetime | None
    reopened_by: tuple[str, ...]
    undated: int
    unknown: int
    unknown_reason: str
    overall: IssueRate
    before: IssueRate | None
    after: IssueRate | None
    versions: tuple[IssueRate, ...]
    agreed: int
    missed: int
    extra: int


def track_issues(
    issues: Iterable[Issue],
    runs: Collection[Run],
    scores: Mapping[str, RunScore | Unscored],
    taxonomy: Taxonomy,
    *,
    statements: Mapping[str, Sequence[str]] | None = None,
) -> tuple[TrackedIssue, ...]:
    """Looks for each issue in every unbroken run."""
    found = modes_by_run(runs, taxonomy)
    evidence = _Evidence(
        runs=[run for run in runs if run.digest in found],
        scores=scores,
        modes={digest: one.modes for digest, one in found.items()},
        read=frozenset(digest for digest, one in found.items() if one.read),
        statements=statements or {},
    )
    return tuple(_tracked(issue, taxonomy.current(issue.mode), evidence) for issue in issues)


def asks_for_statements(issues: Iterable[Issue]) -> bool:
    """Whether any rule may read `statements`, which are dear to compute."""
    # One that names it in vain costs time alone.
    return any("statements" in issue.rule.expr for issue in issues)


class _Evidence(Struct, frozen=True, kw_only=True):
    """The unbroken runs and what is known of them, by digest; `read` are those that somebody read."""

    runs: Sequence[Run]
    scores: Mapping[str, RunScore | Unscored]
    modes: Mapping[str, Sequence[str]]
    read: frozenset[str]
    statements: Mapping[str, Sequence[str]]

    def holds(self, issue: Issue, mode: str, run: Run) -> bool | Unscored:
        """Whether a run has an issue; without a rule people decide, and an unread run is not known."""
        its = self.modes[run.digest]
        if not issue.ruled:
            return mode in its if run.digest in self.read else Unscored("nobody has read the run")
        statements = self.statements.get(run.digest, ())
        return rule_holds(issue.rule, run, self.scores[run.digest], modes=its, statements=statements)


def _tracked(issue: Issue, mode: str, evidence: _Evidence) -> TrackedIssue:
    held = {run.digest: evidence.holds(issue, mode, run) for run in evidence.runs}
    known = [run for run in evidence.runs if isinstance(held[run.digest], bool)]
    why = [answer.reason for answer in held.values() if isinstance(answer, Unscored)]
    matching = sorted((run for run in known if held[run.digest] is True), key=lambda run: run.started.ts)
    matches = frozenset(run.digest for run in matching)
    moments = [at for run in matching if (at := run.started_at) is not None]
    fixed = issue.fixed_at
    # A run without a clock is on neither side of the fix, though importers give it a time before every fix.
    dated = [(run, at) for run in known if (at := run.started_at) is not None]
    before = [run for run, at in dated if fixed is not None and at <= fixed]
    after = [run for run, at in dated if fixed is not None and at > fixed]
    since = {run.digest for run in after}
    again = tuple(run.digest for run in matching if run.digest in since)
    compared = issue.ruled and bool(mode)
    # A run on which the rule is unscored neither matches nor fails to.
    read = [run.digest for run in known if run.digest in evidence.read] if compared else []
    with_mode = {run for run in read if mode in evidence.modes[run]}
    return TrackedIssue(
        issue=issue,
        state="open" if fixed is None else "reopened" if again else "fixed",
        matches=tuple(run.digest for run in matching),
        first_seen=min(moments, default=None),
        last_seen=max(moments, default=None),
        reopened_by=again,
        undated=len(matching) - len(moments),
        unknown=len(why),
        unknown_reason=why[0] if why else "",
        overall=_rate("all", known, matches),
        before=_rate("before", before, matches) if fixed else None,
        after=_rate("after", after, matches) if fixed else None,
        versions=_by_version(known, matches),
        agreed=len(with_mode & matches),
        missed=len(with_mode - matches),
        extra=len(matches.intersection(read) - with_mode),
    )


def _by_version(runs: Iterable[Run], matches: Collection[str]) -> tuple[IssueRate, ...]:
    grouped: dict[str, list[Run]] = {}
    for run in sorted(runs, key=lambda run: run.started.ts):  # versions as they appeared
        grouped.setdefault(version_of(run), []).append(run)
    return tuple(_rate(version, some, matches) for version, some in grouped.items())


def _rate(name: str, runs: Sequence[Run], matches: Collection[str]) -> IssueRate:
    shown = [run.digest for run in runs if run.digest in matches]
    rate: Score = NO_RUNS
    low: Score = NO_RUNS
    high: Score = NO_RUNS
    if runs:
        rate = len(shown) / len(runs)
        sample = stats.TaskSample({run.digest: run.task_id for run in runs})
        low, high = sample.interval(dict.fromkeys(shown, 1.0))
    return IssueRate(name=name, runs=len(runs), matches=len(shown), rate=rate, low=low, high=high)
