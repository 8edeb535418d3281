"""The JSON documents of scores, of integrity verdicts and of the gate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Final, Literal

from msgspec import UNSET, UnsetType

from untaken.analysis import GateCheck, SequentialCheck
from untaken.errors import Finding, Unscored
from untaken.judging import JudgeStanding
from untaken.ledger import Integrity
from untaken.scoring import AgentScore, MissingRule, NodeScore, RunScore
from untaken.views.documents import Count, Document, Keys, Part, entry
from untaken.views.issues import GATED_ISSUE
from untaken.views.shapes import shape
from untaken.views.spending import AgentUsage

_FAILED: Final = Keys(NodeScore, "missed nearest differences")
_SCORED: Final = Keys(
    RunScore,
    "* status reasons failed_checks violations extra",
    status={str: str},
    reasons={str: str},
    failed_checks={str: _FAILED},
    extra=[Count],
)
_UNSCORED: Final = Keys.given(run_id=str, digest=str, reason=str)
SCORE_DOCUMENT: Final = Keys.given(
    schema="untaken.score/1",
    missing=MissingRule,
    verdicts=[str],
    agents=[AgentScore],
    runs=Sequence[Annotated[Document, partial(shape, _SCORED)]] | UnsetType,
    unscored_runs=[_UNSCORED],
    usage=Sequence[AgentUsage] | UnsetType,
    findings=[Finding],
)
"""Sub-goal scores by agent, and by run on request, under the rule for sub-goals without a verdict."""


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
) -> Part:
    """The document of scores; `used`: what runs come to, where there is no plan graph."""
    return SCORE_DOCUMENT(
        missing=missing,
        verdicts=verdicts,
        agents=agents,
        runs=[_scored(score) for score in scores.values() if isinstance(score, RunScore)] if runs else UNSET,
        unscored_runs=[
            _UNSCORED(run_id=run_ids[digest], digest=digest, reason=score.reason)
            for digest, score in scores.items()
            if isinstance(score, Unscored)
        ],
        usage=used or UNSET,
        findings=findings,
    )


def _scored(score: RunScore) -> Document:
    return entry(
        _SCORED(
            score,
            status={node.sub_goal: node.status for node in score.results},
            reasons={node.sub_goal: node.reason for node in score.nodes},
            failed_checks={node.sub_goal: node for node in score.nodes if node.differences},
        )
    )


def _events(of: Integrity) -> Count:
    return of.head.events if of.head else 0


def _sha256(of: Integrity) -> str | None:
    return of.head.sha256 if of.head else None


_VERIFIED: Final = Keys(
    Integrity,
    "run_id verdict line column reason events sha256 file",
    events=_events,
    sha256=_sha256,
    file=str,
)
VERIFY_DOCUMENT: Final = Keys.given(
    schema="untaken.verify/1", runs=[_VERIFIED], verdicts={str: Count}, findings=[Finding]
)
"""The integrity verdict of every run, and how often each verdict occurs."""


def verify_document(integrity: Sequence[tuple[str, Integrity]], *, findings: Sequence[Finding] = ()) -> Part:
    """The document of `integrity`: each verdict with its file."""
    runs = [_VERIFIED(verdict, file=file) for file, verdict in integrity]
    counts = Counter(str(verdict.verdict) for _, verdict in integrity)
    return VERIFY_DOCUMENT(runs=runs, verdicts=dict(sorted(counts.items())), findings=findings)


GATE_DOCUMENT: Final = Keys.given(
    schema="untaken.gate/1",
    met=bool,
    on=Literal["point", "interval"],
    missing=MissingRule,
    verdicts=[str],
    checks=[GateCheck],
    sequential=[SequentialCheck],
    issues=[GATED_ISSUE],
    judges=[JudgeStanding],
    usage=Sequence[AgentUsage] | UnsetType,
    findings=[Finding],
)
"""Each agent against each requirement; `met` only where all are, on sound records.

`issues` are those checked on the runs, `judges` what the verdicts of judges in them are worth.
"""
