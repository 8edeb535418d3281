"""Learning from paths not taken: one finished run against what was known when it began (§2).

Nothing is executed and nothing imagined: the run's ledger and the policy memory are all that is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct

from untaken.caching import Once
from untaken.counterfactual.insights import RunSignals, insights_of, signals_of
from untaken.counterfactual.memory import Memories, PolicyMemory, Snapshot, by_memory
from untaken.counterfactual.run_evaluation import (
    THRESHOLD,
    Decision,
    EvaluationStatus,
    RunEvaluation,
    Summary,
    tally,
)
from untaken.counterfactual.scoring import Weights
from untaken.errors import Finding, Score, Unscored, UntakenError, Where
from untaken.garbage import seldom_collected
from untaken.ledger import Run
from untaken.numbers import counted

if TYPE_CHECKING:
    from untaken.counterfactual.decisions import DecisionScorer
    from untaken.counterfactual.paths import PathColumns

MIN_SELECTIONS: Final = 2
ABORTED: Final = "DTL-STRAT-006"
"""Code of an evaluation that a broken ledger forbids."""


class Refusal(Struct, frozen=True, kw_only=True):
    """Why a run is not evaluated (the failure table of §2)."""

    status: EvaluationStatus
    code: str
    reason: str


def evaluate_run(
    run: Run,
    memory: PolicyMemory | Snapshot,
    *,
    weights: Weights = Weights(),  # noqa: B008 - frozen
    threshold: float = THRESHOLD,
) -> RunEvaluation:
    """Compare every decision of a run with the history of its alternatives.

    The memory is read as of RUN_STARTED.ts, whatever later things it holds, and without anything this very
    run put into it.

    Args:
        run: as a reader gives it, broken or not.
        memory: the log, or a snapshot of it.
        weights: of success, cost and steps.
        threshold: a delta must exceed it (on the unrounded double) to count either way.

    Returns:
        The evaluation: ``evaluated``, or ``skipped`` or ``aborted`` with a code; it never raises for a bad
        run.
    """
    made = evaluate_runs([run], memory, weights=weights, threshold=threshold)
    return made[run.digest]


def evaluate_runs(
    runs: Iterable[Run],
    memory: PolicyMemory | Snapshot | Memories,
    *,
    weights: Weights = Weights(),  # noqa: B008 - frozen
    threshold: float = THRESHOLD,
) -> Evaluations:
    """`evaluate_run` of many runs, at once when one is asked for: by content digest, in the order given."""
    if not 0 <= threshold < inf:
        hint = f"the default is {THRESHOLD:g}"
        raise UntakenError("threshold-invalid", f"a threshold is at least 0, not {threshold}", hint=hint)
    return Evaluations({run.digest: run for run in runs}, memory, weights, threshold)


class ScoredDecisions(NamedTuple):
    """Where the decisions of a run are: columns, what they are compared with, and the run's place."""

    scorer: DecisionScorer
    given: Snapshot
    number: int


class Evaluations(Mapping[str, RunEvaluation]):
    """The evaluations of many runs, by content digest.

    All decisions are scored when one of them is first asked for, as columns; the objects of a run are made
    when somebody looks, and kept.
    """

    def __init__(
        self,
        runs: Mapping[str, Run],
        memory: PolicyMemory | Snapshot | Memories,
        weights: Weights,
        threshold: float,
    ) -> None:
        """Like `evaluate_runs`."""
        self._runs = runs
        self._made: dict[str, RunEvaluation] = {}
        self._score = partial(_scored, memory=memory, weights=weights, threshold=threshold)
        self._scored = Once(partial(self._score, runs))

    def _scored_run(self, digest: str) -> ScoredDecisions | None:
        """Where the columns of a run are; ``None`` where it was not evaluated."""
        return self._scored().get(digest)

    def alone(self, digest: str) -> RunEvaluation:
        """The evaluation of one run; where the others were not scored, it does not score them."""
        if digest not in self._made and not self._scored.known:
            self._made[digest] = self._make(digest, self._score({digest: self._runs[digest]}).get(digest))
        return self[digest]

    def __getitem__(self, digest: str) -> RunEvaluation:
        if digest not in self._made:
            self._made[digest] = self._make(digest, self._scored_run(digest))
        return self._made[digest]

    def __contains__(self, digest: object) -> bool:
        return digest in self._runs  # the inherited one would evaluate the run to find out

    def status(self, digest: str) -> EvaluationStatus:
        """How the evaluation of a run ended."""
        refusal = refusal_of(self._runs[digest])
        return "evaluated" if refusal is None else refusal.status

    def decisions(self, digest: str) -> tuple[Decision, ...]:
        """A run's decision points; none where it was not evaluated. They are made again each time."""
        found = self._scored_run(digest)
        return found.scorer.decisions(found.number) if found else ()

    def decision(self, digest: str, seq: int, alternative: str) -> Decision:
        """One decision point of an evaluated run, by its `seq`, with one path alone."""
        found = self._scored()[digest]
        return found.scorer.decision(found.number, seq, alternative)

    def columns(self) -> list[PathColumns]:
        """Every path not taken of these runs, by memory; `run` is a run's place among them."""
        scorers = dict.fromkeys(found.scorer for found in self._scored().values())
        place = {digest: number for number, digest in enumerate(self._runs)}
        return [scorer.columns(place) for scorer in scorers]

    def actual_score(self, digest: str) -> Score:
        """The run's own score, or why it has none."""
        found = self._scored_run(digest)
        return found.scorer.actual_score(found.number) if found else self[digest].actual_score

    def signals(self, digest: str) -> RunSignals:
        """The weak signals of a run; none where it was not evaluated. Its decisions are not made for them."""
        return _signals(self._runs[digest], self._scored_run(digest))

    def summary(self, digest: str) -> Summary:
        """The counts of a run's evaluation, without the objects of its decisions."""
        found = self._scored_run(digest)
        return found.scorer.summary(found.number) if found else self[digest].summary

    def __iter__(self) -> Iterator[str]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)

    def among(self, runs: Mapping[str, Run]) -> Evaluations:
        """Those of some of the runs."""
        some = copy(self)  # shares the columns: all runs are scored once, whichever are looked at
        some._runs = runs
        return some

    def _make(self, digest: str, found: ScoredDecisions | None) -> RunEvaluation:
        run = self._runs[digest]
        refusal = refusal_of(run)
        if refusal is not None:
            where = Where(file=run.source or None, line=run.integrity.line, run=run.run_id)
            known = {"digest": run.digest, "agent": run.agent, "task_id": run.task_id}
            return _refused(refusal, run_id=run.run_id, where=where, **known)
        assert found is not None  # noqa: S101 (a run that is not refused is scored)
        scorer, given, number = found
        decisions, used = scorer.decisions(number), scorer.snapshot(number)
        insights = insights_of(run.run_id, decisions, used.digest)
        return RunEvaluation(
            run_id=run.run_id,
            digest=run.digest,
            agent=run.agent,
            task_id=run.task_id,
            status="evaluated",
            code=None,
            reason="",
            actual_score=scorer.actual_score(number),
            decisions=decisions,
            insights=insights,
            signals=_signals(run, found).signals,
            summary=scorer.summary(number),
            memory_digest=used.digest,
            notes=tuple(_notes(run, given, used, decisions)),
        )


@seldom_collected()
def _scored(
    runs: Mapping[str, Run], memory: PolicyMemory | Snapshot | Memories, weights: Weights, threshold: float
) -> dict[str, ScoredDecisions]:
    """The decisions of the runs that can be evaluated."""
    from untaken.counterfactual.decisions import DecisionScorer  # noqa: PLC0415 (slow: it loads SciPy)

    found: dict[str, ScoredDecisions] = {}
    open_to_it = [digest for digest, run in runs.items() if refusal_of(run) is None]
    for given, digests in _by_snapshot(memory, open_to_it):
        scorer = DecisionScorer([runs[digest] for digest in digests], given, weights, threshold)
        found |= {digest: ScoredDecisions(scorer, given, number) for number, digest in enumerate(digests)}
    return found


def _signals(run: Run, found: ScoredDecisions | None) -> RunSignals:
    ended = run.finished.ts if run.finished else run.started.ts  # without an end there are no signals
    better = found.scorer.better_paths(found.number) if found else ()
    return RunSignals(run.run_id, run.digest, signals_of(run.run_id, better, ended))


def _by_snapshot(
    memory: PolicyMemory | Snapshot | Memories, digests: list[str]
) -> list[tuple[Snapshot, list[str]]]:
    if isinstance(memory, Snapshot):
        return [(memory, digests)] if digests else []
    memories = dict.fromkeys(digests, memory) if isinstance(memory, PolicyMemory) else memory
    return [(one.snapshot(), some) for one, some in by_memory(memories, digests)]


def abort_unread(run_id: str, reason: str, where: Where) -> RunEvaluation:
    """The evaluation of a run of which not even the start can be read: aborted, agent and task unknown."""
    return _refused(Refusal(status="aborted", code=ABORTED, reason=reason), run_id=run_id, where=where)


def refusal_of(run: Run) -> Refusal | None:
    """Why the run cannot be evaluated; ``None`` where it can."""
    # Before all else: nothing that a broken ledger says can be trusted, its end neither.
    if run.integrity.broken:
        why = f"the ledger is {run.integrity.verdict}: {run.integrity.reason}"
        return Refusal(status="aborted", code=ABORTED, reason=why)
    if run.finished is None:
        return Refusal(status="skipped", code="run_not_finished", reason="the run did not finish")
    if len(run.selections) < MIN_SELECTIONS:
        why = f"{counted(len(run.selections), 'decision point')}; at least {MIN_SELECTIONS} are needed"
        return Refusal(status="skipped", code="insufficient_decision_points", reason=why)
    if isinstance(run.success, Unscored):
        return Refusal(status="skipped", code="outcome_unscored", reason=run.success.reason)
    return None


def _refused(
    refusal: Refusal, *, run_id: str, where: Where, digest: str = "", agent: str = "", task_id: str = ""
) -> RunEvaluation:
    note = Finding(
        code=refusal.code,
        message=refusal.reason,
        where=where,
        severity="error" if refusal.status == "aborted" else "note",
    )
    return RunEvaluation(
        run_id=run_id,
        digest=digest,
        agent=agent,
        task_id=task_id,
        status=refusal.status,
        code=refusal.code,
        reason=refusal.reason,
        actual_score=Unscored(refusal.reason),
        decisions=(),
        insights=(),
        signals=(),
        summary=tally([(refusal.status, refusal.code)]),
        memory_digest="",
        notes=(note,),
    )


def _notes(run: Run, given: Snapshot, used: Snapshot, decisions: tuple[Decision, ...]) -> Iterator[Finding]:
    where = Where(file=run.source or None, run=run.run_id)

    def note(code: str, message: str) -> Finding:
        return Finding(code=code, message=message, where=where, severity="note")

    later = given.observations - used.observations
    if later:
        moment = run.started.ts.isoformat()
        yield note(
            "memory-stale", f"{later} observations are newer than the run's start; used as of {moment}"
        )
    if given.knows_run(run.run_id):
        yield note("memory-own-outcome", "the run's own outcome is in the memory and was left out")
    reference = run.started.policy_memory
    if reference and reference.digest and reference.digest != used.digest:
        yield note("memory-differs", "the run started with a different memory than the one used here")
    known = [branch for decision in decisions for branch in decision.branches if branch.known]
    for what, left_out in (
        ("cost", sum(not branch.cost_used for branch in known)),
        ("steps", sum(not branch.steps_used for branch in known)),
    ):
        if left_out:
            yield note(
                f"{what}-left-out",
                f"{left_out} of {len(known)} comparisons leave out {what}, which one side does not record",
            )
