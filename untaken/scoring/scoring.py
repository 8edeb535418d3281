"""Score one run against its plan graph (§4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final, Literal, TypeVar

from msgspec import Struct, structs

from untaken.errors import Finding, Score, Unscored, Where, first_few
from untaken.ledger import BLAMED, Run
from untaken.numbers import counted
from untaken.plans import Mapping, PlanGraph, map_actions
from untaken.scoring.attempts import AttemptsById, attempts
from untaken.scoring.checks import CheckRunner, DecisionsById
from untaken.scoring.compiled import CompiledGraph, Conditions, compiled_graph
from untaken.scoring.diagnosis import Diagnosed, diagnose, remedy
from untaken.scoring.expressions import ExpressionResults, conditions
from untaken.scoring.progress import progress, recovered
from untaken.scoring.requirements import (
    critical_violations,
    dependency_figures,
    node_results,
    node_scores,
    order_violations,
)
from untaken.scoring.run_score import (
    DetailLater,
    MissingRule,
    NodeResult,
    RunScore,
    ScoreDetail,
    Tally,
    Violation,
    counted_nodes,
    nothing_counts,
)
from untaken.scoring.trace import Trace

Part = TypeVar("Part")
NAMED: Final = 5
"""How many unknown sub-goals a finding names."""
AT_ONCE: Final = 32
"""Runs that are scored together: few enough to stay in a processor's cache."""
PATTERNS: Final = 4_096
"""Patterns of results, and parts of scores, that are remembered of a graph: most runs share theirs."""


def score_run(
    run: Run,
    graph: PlanGraph,
    *,
    missing: MissingRule = "fail",
    verdicts: Sequence[str] = (),
    again: Callable[[], Run] | None = None,
) -> RunScore:
    """Score a run from its record alone.

    Args:
        run: with unbroken integrity; it need not have finished.
        graph: a valid plan graph.
        missing: ``fail`` counts required sub-goals without evidence as not completed, ``drop`` leaves them
            out; `RunScore.unscored` says how many there were either way.
        verdicts: globs over VERDICT.by: whose recorded verdicts count; empty is everybody's. With the literal
            ``test`` among them, the benchmark's own recorded results stand in for recomputed expression and
            tool-call checks.
        again: gives the run when the detail of its score is asked for; the score holds the run itself if this
            is not given.

    Raises:
        UntakenError: ``run-broken`` where the integrity verdict forbids any conclusion from the run;
            ``graph-cycle`` for a graph that was never validated.
    """
    some = [again] if again else ()
    return next(score_together([run], graph, missing=missing, verdicts=verdicts, again=some))


def score_together(
    runs: Sequence[Run],
    graph: PlanGraph,
    *,
    missing: MissingRule = "fail",
    verdicts: Sequence[str] = (),
    again: Sequence[Callable[[], Run]] = (),
    detailed: bool = False,
) -> Iterator[RunScore]:
    """`score_run` of many runs: all are mapped, then all are checked, and so on.

    A processor repeats one step for many runs in far less time than it takes all steps for one run after the
    other. `detailed`: the detail is worked out at once, in the same steps, where every run's is wanted.
    """
    for run in runs:
        run.refuse_broken()
    for begin in range(0, len(runs), AT_ONCE):
        some = slice(begin, begin + AT_ONCE)
        later = None if detailed else (again or runs)[some]
        yield from _assemble(runs[some], later, graph, verdicts, missing)


def recounted(score: RunScore, missing: MissingRule) -> RunScore:
    """The same score under another rule for missing verdicts, which changes counts and rates alone."""
    if not score.unscored:  # nothing is missing
        return structs.replace(score, missing=missing)
    return structs.replace(score, missing=missing, **structs.asdict(Tally.of(score.results, missing)))


def score_outcome(run: Run, why: Unscored, *, missing: MissingRule = "fail") -> RunScore:
    """Count a run by its outcome alone: a success is one with or without a plan graph (§5).

    Args:
        run: with unbroken integrity.
        why: why there is no score against a graph; the reason of every figure about sub-goals.
        missing: the rule of the runs it is pooled and ranked with.
    """
    trace, counts = Trace(run), structs.asdict(Tally.of((), missing))
    return RunScore(
        **_of_record(run, trace),
        graph_id="",
        graph_version=0,
        results=(),
        missing=missing,
        **counts | {name: why for name, value in counts.items() if isinstance(value, Unscored)},
        completed_with_deps=0,
        completed_with_deps_all=0,
        violations=(),
        mapped=(),
        extra=(),
        recovered=why,
        diagnosis="unscored",
        diagnosis_reason=why.reason,
        detail=DetailLater(ScoreDetail(nodes=(), progress=())),
    )


def _of_record(run: Run, trace: Trace) -> dict[str, Any]:
    """The fields of a score that no plan graph changes."""
    return {
        "run_id": run.run_id,
        "digest": run.digest,
        "agent": run.agent,
        "task_id": run.task_id,
        "task_repeat": run.started.task_repeat,
        "model": run.started.model,
        "kind": run.started.kind,
        "success": run.success,
        "cost": _recorded(trace, "cost"),
        "steps": _recorded(trace, "steps"),
        "plans": trace.plans,
        "replans": len(trace.replans),
        "transient_failures": len(trace.failed),
    }


class _Judged(Struct, frozen=True, kw_only=True, gc=False):
    """Runs read, mapped and decided, before anything is counted: a column each."""

    compiled: CompiledGraph
    traces: Sequence[Trace]
    mappings: Sequence[Mapping]
    attempts: Sequence[AttemptsById]
    required: Sequence[Conditions]
    decisions: Sequence[DecisionsById]
    actions: Sequence[Sequence[int]]
    ends: Sequence[Sequence[int]]


def _judge(runs: Sequence[Run], graph: PlanGraph, verdicts: Sequence[str], *, in_words: bool) -> _Judged:
    compiled, traces = compiled_graph(graph), [Trace(run) for run in runs]
    mappings = [map_actions(run, graph) for run in runs]
    required = [conditions(compiled, trace.states if compiled.conditional else ()) for trace in traces]
    tried = [
        attempts(compiled, trace, mapping, needed)
        for trace, mapping, needed in zip(traces, mappings, required, strict=True)
    ]
    actions: list[list[int]] = [[] for _ in runs]
    if in_words or compiled.stepwise:  # nothing else asks for steps
        actions = [[call.seq for call in trace.calls] for trace in traces]
        if compiled.reads_messages:  # else only calls are actions
            served = ([seq for seq, _, _ in mapping.mapped] for mapping in mappings)
            actions = [sorted({*calls, *seqs}) for calls, seqs in zip(actions, served, strict=True)]
    ends = [trace.step_ends(seqs) for trace, seqs in zip(traces, actions, strict=True)]
    results = [
        ExpressionResults(compiled, trace, made, steps, in_words=in_words)
        for trace, made, steps in zip(traces, tried, ends, strict=True)
    ]
    runners = [
        CheckRunner(trace, run.success, result, mapping, verdicts, required=needed, in_words=in_words)
        for run, trace, result, mapping, needed in zip(runs, traces, results, mappings, required, strict=True)
    ]
    for name in compiled.options_first:
        criterion = compiled.criteria[name]
        for runner, made in zip(runners, tried, strict=True):
            runner.decide(criterion, made[name])
    return _Judged(
        compiled=compiled,
        traces=traces,
        mappings=mappings,
        attempts=tried,
        required=required,
        decisions=[runner.decisions for runner in runners],
        actions=actions,
        ends=ends,
    )


def score_detail(
    run: Run | Callable[[], Run], graph: PlanGraph, verdicts: Sequence[str], missing: MissingRule
) -> ScoreDetail:
    """What a run's score rests on, of the run or of what gives it."""
    again = run if isinstance(run, Run) else run()
    return _detail(_judge([again], graph, verdicts, in_words=True), 0, missing)


def _detail(judged: _Judged, at: int, missing: MissingRule) -> ScoreDetail:
    """The detail of one of some runs judged in words."""
    nodes = node_scores(
        judged.compiled,
        judged.attempts[at],
        judged.decisions[at],
        judged.required[at],
        outside=judged.traces[at].ended_outside,
    )
    done = [node for node in counted_nodes(nodes, missing) if node.completed]
    return ScoreDetail(nodes=nodes, progress=progress(done, judged.actions[at], judged.ends[at]))


def _assemble(
    runs: Sequence[Run],
    again: Sequence[Run | Callable[[], Run]] | None,
    graph: PlanGraph,
    verdicts: Sequence[str],
    missing: MissingRule,
) -> Iterator[RunScore]:
    """`again`: what gives each run when its detail is asked for; without it, the detail is worked out now."""
    judged = _judge(runs, graph, verdicts, in_words=again is None)
    compiled, columns = judged.compiled, (judged.traces, judged.attempts, judged.decisions)
    consequences = [
        _consequences(compiled, tried, decisions, required, missing, outside=trace.ended_outside)
        for trace, tried, decisions, required in zip(
            judged.traces, judged.attempts, judged.decisions, judged.required, strict=True
        )
    ]
    orders = [
        order_violations(compiled, tried, required)
        for tried, required in zip(judged.attempts, judged.required, strict=True)
    ]
    rates = [recovered(compiled, *each) for each in zip(*columns, strict=True)]
    details: Sequence[ScoreDetail | Callable[[], ScoreDetail]] = (
        [_detail(judged, at, missing) for at in range(len(runs))]
        if again is None
        else [partial(score_detail, run, graph, verdicts, missing) for run in again]
    )
    for run, detail, trace, mapping, tried, decisions, known, order, rate in zip(
        runs,
        details,
        judged.traces,
        judged.mappings,
        judged.attempts,
        judged.decisions,
        consequences,
        orders,
        rates,
        strict=True,
    ):
        results, tally, deps, critical, diagnosed = known
        # This rests on more than the pattern of results, so it is not remembered with that.
        if trace.never_replanned:
            # Whatever the rule for missing verdicts: a diagnosis looks at all requirements.
            counted_all = counted_nodes(results, "fail")
            if counted_all:
                diagnosed = diagnose(counted_all, critical, compiled, (trace, tried))
        if advice := diagnosed.advice:
            calls = [call.seq for call in trace.calls]
            advice = remedy(diagnosed, counted_nodes(results, "fail"), compiled, tried, calls)
        yield RunScore(
            **_of_record(run, trace),
            **structs.asdict(tally),
            graph_id=graph.id,
            graph_version=graph.version,
            results=results,
            completed_at=tuple([decisions[name].at for name in compiled.criteria]),
            missing=missing,
            completed_with_deps=deps[0],
            completed_with_deps_all=deps[1],
            violations=(*critical, *_shared(graph, order)),
            mapped=_shared(graph, mapping.mapped),
            extra=_own(mapping.extra, trace),
            recovered=rate,
            diagnosis=diagnosed.diagnosis,
            diagnosis_reason=diagnosed.reason,
            diagnosis_advice=advice,
            findings=(*mapping.findings, *_findings(run, compiled, trace, decisions)),
            detail=DetailLater(detail),
        )


def _shared(graph: PlanGraph, made: Iterable[Part]) -> tuple[Part, ...]:
    """Parts of a score, each held once for all runs of the graph that have it."""
    kept: dict[object, Any] = graph.__dict__.setdefault("shared", {})
    if len(kept) < PATTERNS:
        return tuple([kept.setdefault(part, part) for part in made])
    return tuple([kept.get(part, part) for part in made])


_Consequences = tuple[tuple[NodeResult, ...], Tally, tuple[int, int], tuple[Violation, ...], Diagnosed]
"""The results of a run's sub-goals, and what follows from them and the graph's edges alone: the tally, the
figures with dependencies, the critical violations and the diagnosis."""


def _consequences(
    compiled: CompiledGraph,
    attempts: AttemptsById,
    decisions: DecisionsById,
    required: Conditions,
    missing: MissingRule,
    *,
    outside: bool,
) -> _Consequences:
    """Worked out once for each pattern of attempts, decisions and conditions."""
    kept: dict[object, _Consequences] = compiled.graph.__dict__.setdefault("consequences", {})
    made = [attempts[name].made for name in compiled.options_first]
    ended = [
        2 if one.holds else 3 if one.left_out else one.completed  # apart from true, false and unknown
        for one in (decisions[name] for name in compiled.options_first)
    ]
    not_required = tuple([name for name, one in required.items() if one is False])
    pattern = missing, outside, not_required, *made, *ended
    found = kept.get(pattern)
    if found is None:
        results = node_results(compiled, attempts, decisions, required, outside=outside)
        by_id = {result.sub_goal: result for result in results}
        critical = tuple(critical_violations(compiled, by_id))
        otherwise = nothing_counts(results)
        diagnosed = diagnose(counted_nodes(results, "fail"), critical, compiled, otherwise=otherwise)
        deps = dependency_figures(compiled, by_id)
        found = results, Tally.of(results, missing), deps, critical, diagnosed
        if len(kept) < PATTERNS:
            kept[pattern] = found
    return found


def _recorded(trace: Trace, field: Literal["cost", "steps"]) -> Score:
    if trace.finished is None:
        return Unscored("the run did not finish")
    value: float | None = getattr(trace.finished, field)
    return Unscored(f"RUN_FINISHED records no {field}") if value is None else float(value)


def _own(extra: Sequence[int], trace: Trace) -> tuple[int, ...]:
    """Actions without a sub-goal, those of a simulated user aside."""
    users = {call.seq for call in trace.calls if call.requestor == "user"} if extra else ()
    return tuple([seq for seq in extra if seq not in users])


def _findings(run: Run, compiled: CompiledGraph, trace: Trace, decisions: DecisionsById) -> Iterator[Finding]:
    others = (name for name in trace.verdicts if name not in compiled.criteria)
    unknown = [name for name in others if not name.startswith(BLAMED)]
    if unknown:
        shown = first_few([*map(repr, unknown)], NAMED)
        count = sum(len(trace.verdicts[name]) for name in unknown)
        yield Finding(
            code="verdict-sub-goal-unknown",
            message=f"{counted(count, 'verdict')} on sub-goals that the graph does not have: {shown}",
            where=Where(file=run.source or None, run=run.run_id),
            hint="Use the graph that these verdicts refer to, or correct the sub-goal id.",
        )
    if trace.verdicts and (loose := [name for name, one in decisions.items() if one.unanchored]):
        shown = first_few([*map(repr, loose)], NAMED)
        yield Finding(
            code="verdict-unanchored",
            message=f"{counted(len(loose), 'sub-goal')} met by a judge's unanchored word: {shown}",
            where=Where(file=run.source or None, run=run.run_id),
            severity="note",
            hint="Give it a rule or a check that says where a quote must be from. `gate` leaves it unscored.",
        )
    if trace.finished is None:
        yield Finding(
            code="run-not-finished",
            message="the run has no RUN_FINISHED; its last recorded state is used as the final state",
            where=Where(file=run.source or None, run=run.run_id),
            severity="note",
        )
