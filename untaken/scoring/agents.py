"""Runs of one agent, pooled (micro) and averaged (macro) (§4, over runs)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from math import fsum
from typing import Final

from untaken.errors import Score, Unscored
from untaken.scoring.run_score import (
    AgentScore,
    NodeResult,
    RunScore,
    attempts_known,
    rate,
    weighted_completion,
)

NO_SCORED_RUN: Final = "no run of this agent has a sub-goal that counts"


def score_agents(scores: Iterable[RunScore]) -> list[AgentScore]:
    """One score an agent, in alphabetical order.

    Micro rates pool the sub-goals of all runs; macro rates are means over the runs that have the rate. Runs
    with nothing expected, or without a plan graph, count for the outcome and for replans only.
    """
    by_agent: dict[str, list[RunScore]] = defaultdict(list)
    for score in scores:
        by_agent[score.agent].append(score)
    return [_score_agent(agent, by_agent[agent]) for agent in sorted(by_agent)]


def _score_agent(agent: str, runs: Sequence[RunScore]) -> AgentScore:
    scored = [run for run in runs if run.required]
    alike = {id(run.results): run for run in scored}  # most runs share their results with others
    counted_of = {results: run.counted for results, run in alike.items()}
    counted = [counted_of[id(run.results)] for run in scored]
    kinds = {run.kind for run in runs}
    attempted, known = map(sum, zip((0, 0), *map(attempts_known, counted), strict=True))  # there may be none
    # A run that cannot tell of any attempt has no coverage: it is no run without attempts.
    covered = _total([run for run in scored if not isinstance(run.coverage, Unscored)], "required")
    required, completed = _total(scored, "required"), _total(scored, "completed")
    critical, critical_completed = _total(scored, "critical"), _total(scored, "critical_completed")
    outcomes = [run.success for run in runs if not isinstance(run.success, Unscored)]
    no_critical = "no scored run of this agent has a critical sub-goal" if scored else NO_SCORED_RUN
    no_attempts = "no required sub-goal's attempts are known" if scored else NO_SCORED_RUN
    return AgentScore(
        agent=agent,
        kind=kinds.pop() if len(kinds) == 1 else None,
        runs=len(runs),
        scored_runs=len(scored),
        sub_goals=required,
        attempted=attempted if known else Unscored(no_attempts),
        attempts_known=known,
        coverage_of=covered,
        completed=completed,
        completed_with_deps=_total(scored, "completed_with_deps"),
        completed_with_deps_all=_total(scored, "completed_with_deps_all"),
        unscored=_total(runs, "unscored"),
        critical=critical,
        critical_completed=critical_completed,
        coverage=rate(attempted, covered, no_attempts),
        coverage_macro=_mean(scored, lambda run: run.coverage, no_attempts),
        completion=rate(completed, required, NO_SCORED_RUN),
        completion_macro=_mean(scored, lambda run: run.completion, NO_SCORED_RUN),
        completion_weighted=weighted_completion([node for nodes in counted for node in nodes], NO_SCORED_RUN),
        critical_completion=rate(critical_completed, critical, no_critical),
        critical_completion_macro=_mean(scored, lambda run: run.critical_completion, no_critical),
        critical_path_skipped_rate=_skipped_rate(counted, no_critical),
        replanning_events_per_trace=_replans(runs),
        violations=_violations(runs, "critical"),
        order_violations=_violations(runs, "order"),
        successes=sum(outcomes),
        outcome_runs=len(outcomes),
        success_rate=rate(sum(outcomes), len(outcomes), "no run of this agent records a success"),
    )


def _total(runs: Sequence[RunScore], field: str) -> int:
    return sum(getattr(run, field) for run in runs)


def _mean(runs: Sequence[RunScore], value: Callable[[RunScore], Score], otherwise: str) -> Score:
    known = [score for run in runs if not isinstance(score := value(run), Unscored)]
    return fsum(known) / len(known) if known else Unscored(otherwise)


def _skipped_rate(counted: Sequence[Sequence[NodeResult]], no_critical: str) -> Score:
    """The share of runs that never attempted some critical sub-goal, of those that can tell."""
    critical = [[node for node in nodes if node.critical] for nodes in counted]
    known = [nodes for nodes in critical if any(node.attempted is not None for node in nodes)]
    skipped = sum(any(node.attempted is False and not node.completed for node in nodes) for nodes in known)
    unknown = "no critical sub-goal's attempts are known" if any(critical) else no_critical
    return rate(skipped, len(known), unknown)


def _replans(runs: Sequence[RunScore]) -> Score:
    if not any(run.plans for run in runs):
        return Unscored("no run of this agent records a plan, so replans are unknown")
    return _total(runs, "replans") / len(runs)


def _violations(runs: Sequence[RunScore], kind: str) -> int:
    return sum(violation.kind == kind for run in runs for violation in run.violations)
