"""Everything the page of one run shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from untaken.analysis import Contradiction, Corpus, contradiction_of
from untaken.caching import Once
from untaken.counterfactual import Decision, RunEvaluation
from untaken.errors import Finding, Unscored, UntakenError
from untaken.judging import finding_of, known_texts_to_judges, texts_to_judges
from untaken.ledger import Integrity, Run
from untaken.plans import PlanGraph
from untaken.scoring import NodeScore, RunScore
from untaken.views.review import RunCause, cause_of, review_kind
from untaken.views.timeline import Timeline, timeline
from untaken.views.unhandled_failures import UnhandledFailure, find_unhandled


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """One run: what happened, what it achieved, and which paths it did not take.

    What the counterfactual evaluation says is worked out when it is first asked for: it needs the memory of
    all runs.

    Attributes:
        graph: the plan graph it was scored against, or ``None`` if there is none.
        score: the sub-goal score, or why there is none.
        timeline: its events in order, actions with their sub-goal, decision points with their deltas.
        cause: what went wrong first, as the review queue says it.
        contradiction: set where the outcome and the sub-goals disagree.
        injections: events with a possible prompt injection; also among the findings.
        searched: whether somebody has looked for them yet.
        unhandled: failures that it saw without ever changing its plan.
    """

    run: Run
    graph: PlanGraph | None
    score: RunScore | Unscored
    timeline: Timeline
    contradiction: Contradiction | None
    cause: RunCause
    _own_findings: tuple[Finding, ...] = field(repr=False)
    _evaluated: Callable[[], RunEvaluation] = field(repr=False, compare=False)
    injections: tuple[Finding, ...] = ()
    searched: bool = True
    unhandled: tuple[UnhandledFailure, ...] = ()

    @property
    def evaluation(self) -> RunEvaluation:
        """The paths that it did not take."""
        return self._evaluated()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was noticed about this run."""
        return (*self._own_findings, *self.evaluation.notes, *self.injections)

    @property
    def integrity(self) -> Integrity:
        """How far the record can be trusted."""
        return self.run.integrity

    @property
    def nodes(self) -> tuple[NodeScore, ...]:
        """The sub-goals with their results; empty where the run is unscored."""
        return () if isinstance(self.score, Unscored) else self.score.nodes

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """The evaluated decision points."""
        return self.evaluation.decisions

    @property
    def progress(self) -> tuple[tuple[int, int], ...]:
        """(seq, sub-goals completed so far) after each step."""
        return () if isinstance(self.score, Unscored) else self.score.progress


def run_report(
    corpus: Corpus, digest: str, graph: PlanGraph | None = None, *, search: bool = True
) -> RunReport:
    """The report on one run of a corpus.

    Args:
        corpus: what was evaluated.
        digest: content digest of the run (`Run.digest`).
        graph: the graph to draw; default is the one the run was scored against.
        search: look for possible prompt injections where nobody has looked yet; seconds, for a long record.

    Raises:
        UntakenError: ``run-unknown`` where no run of the corpus has that digest.
    """
    run = corpus.runs.get(digest)
    if run is None:
        raise UntakenError(
            "run-unknown",
            "no run with this content digest",
            hint="The ledger may have been extended since the link was made; look the run up by its id.",
        )
    # Not every view of a run shows its paths.
    score, evaluated = corpus.scores[digest], Once(lambda: corpus.evaluations.alone(digest))
    found, graph_findings = corpus.graphs.for_task(run.task_id, run.started.graph)
    whole = not run.integrity.broken
    found_texts = (texts_to_judges(run) if search else known_texts_to_judges(run)) if whole else ()
    injections = tuple(finding_of(run, one) for one in found_texts or ())
    mapped = () if isinstance(score, Unscored) else score.mapped
    contradiction = None if isinstance(score, Unscored) else contradiction_of(score)
    own = None if isinstance(found, Unscored) else found
    return RunReport(
        run=run,
        graph=graph or own,
        score=score,
        timeline=timeline(run, mapped=mapped, decisions=lambda: evaluated().decisions),
        contradiction=contradiction,
        cause=cause_of(
            run, score, review_kind(run, contradiction.kind if contradiction else None), corpus.graphs
        ),
        _own_findings=(*graph_findings, *(() if isinstance(score, Unscored) else score.findings)),
        _evaluated=evaluated,
        injections=injections,
        searched=found_texts is not None,
        unhandled=find_unhandled(run, score),
    )
