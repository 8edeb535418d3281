"""Scores of runs, integrity verdicts and the gate: tables by run and sub-goal, and the JSON documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final, Literal

from msgspec import UNSET, Struct, UnsetType

from untaken.analysis import Contradiction, Corpus, GateCheck, SequentialCheck
from untaken.counterfactual import EvaluationStatus, Summary
from untaken.errors import Finding, Unscored
from untaken.facts import ABOUT_RUN, WHY_UNSCORED
from untaken.judging import JudgeStanding
from untaken.ledger import Integrity, Run
from untaken.scoring import AgentScore, MissingRule, NodeScore, RunScore
from untaken.views.documents import Count, Document, Keys, Part, entry
from untaken.views.frame import Columns, RowWith, as_facts, count, figure, frame, text
from untaken.views.issues import GATED_ISSUE
from untaken.views.shapes import shape
from untaken.views.spending import AgentUsage

if TYPE_CHECKING:
    import pandas as pd


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


class RunRow(Struct, frozen=True, kw_only=True):
    """All that is known about one run."""

    run: Run
    score: RunScore | Unscored
    evaluation: EvaluationStatus
    summary: Summary
    contradiction: Contradiction | None


RUNS: Final[Columns[RunRow]] = {
    **ABOUT_RUN,
    "contradiction": text("lucky, unlucky, or nothing", "contradiction?.kind"),
    "evaluation": text("counterfactual evaluation: evaluated, skipped, aborted", "evaluation"),
    "decisions": count("decision points", "summary.decisions"),
    "better_alternatives": count("branches that score higher", "summary.alternative_may_be_better"),
    "max_delta": figure("largest delta over all branches", "summary.max_delta"),
    **WHY_UNSCORED,
}

SUB_GOALS: Final[Columns[RowWith[RunScore, NodeScore]]] = {
    **as_facts("digest run_id task_id task_repeat agent", at="row."),
    "graph": text("the plan graph", "row.graph_id"),
    **as_facts("sub_goal title critical status attempted completed", at="beside."),
    "decided_by": text("what decided", "beside.decided_by"),
    "reason": text("the result in words", "beside.reason"),
    "actions": count("actions mapped to it", lambda row: len(row.beside.events)),
    "completed_at": count("seq after which it was completed", "beside.completed_at"),
}


def run_rows(corpus: Corpus) -> list[RunRow]:
    """What is known about each run, in reading order."""
    contradictions = {c.digest: c for c in corpus.contradictions}
    return [
        RunRow(
            run=run,
            score=corpus.scores[digest],
            evaluation=corpus.evaluations.status(digest),
            summary=corpus.evaluations.summary(digest),
            contradiction=contradictions.get(digest),
        )
        for digest, run in corpus.runs.items()
    ]


def runs_table(corpus: Corpus) -> pd.DataFrame:
    """One row per run (columns: `RUNS`); unscored figures are ``NA`` with the reason in ``<key>_reason``."""
    return frame(RUNS, run_rows(corpus))


def sub_goals_table(corpus: Corpus) -> pd.DataFrame:
    """One row per scored run and sub-goal of its graph (columns: `SUB_GOALS`)."""
    scores = (score for score in corpus.scores.values() if isinstance(score, RunScore))
    return frame(SUB_GOALS, (RowWith(score, node) for score in scores for node in score.nodes))
