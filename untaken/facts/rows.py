"""The rows of one run: what its events, its plan graph and the rule for verdicts say, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import inf

from msgspec import Struct

from untaken.counterfactual import PlanChange, plan_changes, why_silent
from untaken.errors import Unscored
from untaken.ledger import Observation, Run, RunFinished, ToolCall, Verdict
from untaken.plans import PlanGraph, SubGoal
from untaken.scoring import (
    BlamedRun,
    NodeResult,
    RunScore,
    SeenTexts,
    StatedCause,
    Undone,
    UnusedValue,
    Violation,
    counted_nodes,
    nearest_call,
    not_withdrawn,
    stated_causes,
    undone_in_order,
    unused_values,
    whose_count,
)


class RunWithScore(Struct, frozen=True, kw_only=True):
    """A run with its score.

    Attributes:
        plan: the plan graph of its task, or why there is none.
        verdicts: globs over VERDICT.by; empty counts everybody's.
    """

    run: Run
    score: RunScore | Unscored
    plan: PlanGraph | Unscored
    verdicts: tuple[str, ...]


class ResultRow(Struct, frozen=True, kw_only=True, gc=False):
    """How one sub-goal ended in the run.

    Attributes:
        counts: it is a requirement that rates count, if only under the rule that counts what is unscored as
            not completed; `critical_counts`: it counts as critical, which a used option of it may make it.
        events: `seq` of each action that served it.
    """

    result: NodeResult
    counts: bool
    critical_counts: bool
    events: list[int]


class ActionRow(Struct, frozen=True, kw_only=True, gc=False):
    """A tool call with its answer; `served` are (sub-goal, authority) of each sub-goal that it served."""

    call: ToolCall
    answer: Observation | None
    served: list[tuple[str, str]]


class UndoneRow(Struct, frozen=True, kw_only=True, gc=False):
    """A sub-goal that a failed run left uncompleted.

    Attributes:
        order: 1 for what failed first by the log, and so on.
        stated: what the run's own calls say of why.
        values: expected values that the nearest call did not use, with where they could be known from.
    """

    order: int
    undone: Undone
    stated: list[StatedCause]
    values: tuple[UnusedValue, ...]

    @property
    def place(self) -> float | None:
        """`Undone.place`, where the log can tell."""
        return None if self.undone.place == inf else self.undone.place


class VerdictRow(Struct, frozen=True, kw_only=True, gc=False):
    """A recorded verdict; `counts`: it is its author's last word, and one whose word counts."""

    verdict: Verdict
    counts: bool


def result_rows(of: RunWithScore) -> Iterator[ResultRow]:
    """One for each sub-goal of the plan graph, in its order; none for a run without a score."""
    if isinstance(of.score, Unscored):
        return
    events: dict[str, list[int]] = {}
    for seq, name, _ in of.score.mapped:
        events.setdefault(name, []).append(seq)
    # Under the other rule, readers leave out the unscored themselves.
    counted = {node.sub_goal: node.critical for node in counted_nodes(of.score.results, "fail")}
    for result in of.score.results:
        name = result.sub_goal
        yield ResultRow(
            result=result,
            counts=name in counted,
            critical_counts=counted.get(name, False),
            events=events.get(name, []),
        )


def change_rows(of: RunWithScore) -> Iterable[PlanChange]:
    """One for each accepted change of a finished run whose plan graph says which tools change something."""
    if isinstance(of.plan, Unscored) or isinstance(of.score, Unscored):
        return ()
    return plan_changes(of.run, of.plan, of.score.mapped) if why_silent(of.run, of.plan) is None else ()


def action_rows(of: RunWithScore) -> Iterator[ActionRow]:
    """One for each tool call, in order."""
    served: dict[int, list[tuple[str, str]]] = {}
    for seq, name, authority in () if isinstance(of.score, Unscored) else of.score.mapped:
        served.setdefault(seq, []).append((name, authority))
    answers = of.run.answers
    for call in of.run.actions:
        yield ActionRow(call=call, answer=answers.get(call.seq), served=served.get(call.seq, []))


def violation_rows(of: RunWithScore) -> Sequence[Violation]:
    """One for each violation, critical ones first."""
    return () if isinstance(of.score, Unscored) else of.score.violations


def failure_rows(of: RunWithScore) -> Iterator[UndoneRow]:
    """One for each required sub-goal that a failed run did not complete, what failed first to begin with."""
    if isinstance(of.plan, Unscored) or isinstance(of.score, Unscored) or of.run.success is not False:
        return
    nodes, seen = {node.id: node for node in of.plan.sub_goals}, SeenTexts(of.run)
    for order, undone in enumerate(undone_in_order(of.score, of.plan, of.run), start=1):
        node = nodes[undone.node.sub_goal]
        blamed = BlamedRun(run=of.run, node=node, events=undone.events, moment=undone.place)
        yield UndoneRow(
            order=order,
            undone=undone,
            stated=list(stated_causes(blamed)),
            values=_values(seen, node, undone.events),
        )


def _values(seen: SeenTexts, node: SubGoal, events: tuple[int, ...]) -> tuple[UnusedValue, ...]:
    spec = None if node.check is None else node.check.tool_call
    if spec is None:
        return ()
    calls = [call for call in seen.run.actions if call.seq in events and call.tool == spec.name]
    near = nearest_call(spec, calls)
    return () if near is None else unused_values(seen, spec, near[0])


def verdict_rows(of: RunWithScore) -> Iterator[VerdictRow]:
    """One for each recorded verdict, in order."""
    recorded = of.run.of(Verdict)
    if not recorded:
        return
    counted = whose_count(not_withdrawn(recorded), [of.verdicts], graph=of.run.started.graph or "")
    # Of one author on one sub-goal, the last word stays.
    latest = {(verdict.sub_goal, verdict.by): verdict.seq for verdict in counted if not verdict.withdrawn}
    words = set(latest.values())
    for verdict in recorded:
        yield VerdictRow(verdict=verdict, counts=verdict.seq in words)


def total_time(run: Run) -> float | None:
    """Seconds: the recorded metric, else from RUN_STARTED to RUN_FINISHED."""
    end = run.finished
    if end is None:
        return None
    recorded = _metric(end, "total_time")
    if recorded is not None:
        return recorded
    # Importers write one moment where there is no clock.
    return (end.ts - run.started.ts).total_seconds() or None


def total_tokens(run: Run) -> int | None:
    """Tokens in and out, as recorded in the run's metrics."""
    if run.finished is None:
        return None
    whole = _metric(run.finished, "total_tokens")
    if whole is not None:
        return _int64(whole)
    for pair in (("prompt_tokens", "completion_tokens"), ("input_tokens", "output_tokens")):
        parts = [_metric(run.finished, name) for name in pair]
        if None not in parts:
            return _int64(sum(part for part in parts if part is not None))
    return None


def _int64(tokens: float) -> int | None:
    """A number of tokens; more than any table holds are none."""
    return int(tokens) if abs(tokens) < 2**63 else None


def _metric(end: RunFinished, name: str) -> float | None:
    value = (end.metrics or {}).get(name)
    return None if value is None or isinstance(value, bool) else float(value)  # True would be 1 token
