"""The JSON documents of scores, of integrity verdicts and of the gate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Literal

from msgspec import UNSET, UnsetType

from untaken.analysis import GateCheck, SequentialCheck
from untaken.errors import Finding, Unscored
from untaken.judging import JudgeStanding
from untaken.ledger import Integrity, IntegrityVerdict
from untaken.scoring import AgentScore, FieldDifference, MissedBy, MissingRule, RunScore, Violation
from untaken.views.documents import Count, Document, DocumentPart, Spread, entry
from untaken.views.issues import GatedIssue
from untaken.views.shapes import shape
from untaken.views.spending import AgentUsage


class FailedCheck(DocumentPart, frozen=True, kw_only=True):
    """What a failed check looked at."""

    missed: MissedBy | None
    nearest: Count | None
    differences: Sequence[FieldDifference]


class ScoredRun(DocumentPart, frozen=True, kw_only=True):
    """A run with what its scores rest on, by sub-goal."""

    score: Spread[RunScore]
    status: Mapping[str, str]
    reasons: Mapping[str, str]
    failed_checks: Mapping[str, FailedCheck]
    violations: Sequence[Violation]
    extra: Sequence[Count]


class UnscoredRun(DocumentPart, frozen=True, kw_only=True):
    """A run without scores."""

    run_id: str
    digest: str
    reason: str


class ScoreDocument(DocumentPart, frozen=True, kw_only=True, tag="untaken.score/1"):
    """Sub-goal scores by agent, and by run on request, under the rule for sub-goals without a verdict."""

    missing: MissingRule
    verdicts: Sequence[str]
    agents: Sequence[AgentScore]
    runs: Sequence[Annotated[Document, partial(shape, ScoredRun)]] | UnsetType = UNSET
    unscored_runs: Sequence[UnscoredRun]
    usage: Sequence[AgentUsage] | UnsetType = UNSET
    findings: Sequence[Finding]


def score_document(
    agents: Sequence[AgentScore],
    scores: Mapping[str, RunScore | Unscored],
    *,
    run_ids: Mapping[str, str],
    missing: MissingRule,
    verdicts: Sequence[str] = (),
    runs: bool = False,
    used: Sequence[AgentUsage] = (),
    findings: Sequence[Finding] = (),
) -> ScoreDocument:
    """The document of scores; `used`: what runs come to, where there is no plan graph."""
    return ScoreDocument(
        missing=missing,
        verdicts=verdicts,
        agents=agents,
        runs=[_scored(score) for score in scores.values() if isinstance(score, RunScore)] if runs else UNSET,
        unscored_runs=[
            UnscoredRun(run_id=run_ids[digest], digest=digest, reason=score.reason)
            for digest, score in scores.items()
            if isinstance(score, Unscored)
        ],
        usage=used or UNSET,
        findings=findings,
    )


def _scored(score: RunScore) -> Document:
    return entry(
        ScoredRun.of(
            score,
            score=score,
            status={node.sub_goal: node.status for node in score.results},
            reasons={node.sub_goal: node.reason for node in score.nodes},
            failed_checks={node.sub_goal: FailedCheck.of(node) for node in score.nodes if node.differences},
        )
    )


class VerifiedRun(DocumentPart, frozen=True, kw_only=True):
    """The integrity verdict of a run, with the file that holds it."""

    run_id: str
    verdict: IntegrityVerdict
    line: Count | None
    column: Count | None
    reason: str
    events: Count
    sha256: str | None
    file: str


class VerifyDocument(DocumentPart, frozen=True, kw_only=True, tag="untaken.verify/1"):
    """The integrity verdict of every run, and how often each verdict occurs."""

    runs: Sequence[VerifiedRun]
    verdicts: Mapping[str, Count]
    findings: Sequence[Finding]


def verify_document(
    integrity: Sequence[tuple[str, Integrity]], *, findings: Sequence[Finding] = ()
) -> VerifyDocument:
    """The document of `integrity`: each verdict with its file."""
    runs = [
        VerifiedRun.of(
            verdict,
            file=file,
            events=verdict.head.events if verdict.head else 0,
            sha256=verdict.head.sha256 if verdict.head else None,
        )
        for file, verdict in integrity
    ]
    counts = Counter(str(run.verdict) for run in runs)
    return VerifyDocument(runs=runs, verdicts=dict(sorted(counts.items())), findings=findings)


class GateDocument(DocumentPart, frozen=True, kw_only=True, tag="untaken.gate/1"):
    """Each agent against each requirement; `met` only where all are, on sound records.

    `issues` are those checked on the runs, `judges` what the verdicts of judges in them are worth.
    """

    met: bool
    on: Literal["point", "interval"]
    missing: MissingRule
    verdicts: Sequence[str]
    checks: Sequence[GateCheck]
    sequential: Sequence[SequentialCheck]
    issues: Sequence[GatedIssue]
    judges: Sequence[JudgeStanding]
    usage: Sequence[AgentUsage] | UnsetType = UNSET
    findings: Sequence[Finding]
