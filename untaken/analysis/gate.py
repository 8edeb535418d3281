"""Holds agents to requirements such as ``critical_completion>=0.9``: what continuous integration asks (§5).

The values are those that `untaken rank` prints, and for what it does not rank, those of `untaken score`.
Without evidence a requirement is unscored, which is never a pass.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

from untaken.analysis import ranking
from untaken.analysis.ranking import METRICS
from untaken.errors import Score, Unscored, UntakenError, one_of
from untaken.ledger import Run
from untaken.scoring import AgentScore, NodeResult, RunScore, score_agents

if TYPE_CHECKING:
    from untaken.analysis.ranking import RankedAgent

Op = Literal[">=", ">", "<=", "<"]
Basis = Literal["point", "interval"]
GateVerdict = Literal["met", "not_met", "unscored"]

_WORDS: Final[Mapping[Op, str]] = {">=": "at least", ">": "above", "<=": "at most", "<": "below"}
# With blanks, so that the error can suggest the metric that is meant.
_NAME: Final = r"([A-Za-z][A-Za-z_]*(?: +[A-Za-z_]+)*)"
_WRITTEN: Final = re.compile(rf"\s*{_NAME}\s*(>=|<=|>|<)\s*([0-9]{{1,9}}(?:\.[0-9]{{1,15}})?)\s*")
DECIMALS: Final = 12
"""A value and a bound that agree to so many decimals are equal, as in rankings."""
SHOWN: Final = 3
"""Sub-goals and runs that are named to begin with."""


class Requirement(Struct, frozen=True, kw_only=True):
    """`metric` `op` `bound`, as `parse_requirement` reads it."""

    metric: str
    op: Op
    bound: float

    def __str__(self) -> str:
        return f"{self.metric}{self.op}{self.bound:.15g}"


class MissedSubGoal(Struct, frozen=True, kw_only=True):
    """A sub-goal that `missed` of `runs` runs did not complete; the title is untrusted text."""

    sub_goal: str
    title: str
    critical: bool
    missed: int
    runs: int


class GateCheck(Struct, frozen=True, kw_only=True):
    """One agent held to one requirement.

    Attributes:
        source: whose value it is: that of ``rank`` (mean over tasks of the mean over repeats, with a 95%
            interval, for shares wider than rank's) or of ``score`` (over the agent's runs, without one).
        compared: what was compared with the bound: the value, or on the interval its worse end.
        margin: how far `compared` is on the right side of the bound; negative on the wrong one.
        n_tasks: tasks behind the value; ``None`` where it does not rest on tasks.
        reason: the verdict in words.
        missed: the sub-goals that the agent misses most often, where the requirement is not met.
        look_at: ids of the runs that miss most of them.
    """

    agent: str
    requirement: str
    metric: str
    op: Op
    bound: float
    source: Literal["rank", "score"]
    value: Score
    low: Score
    high: Score
    compared: Score
    margin: Score
    n_tasks: int | None
    n_runs: int
    verdict: GateVerdict
    reason: str
    missed: tuple[MissedSubGoal, ...]
    look_at: tuple[str, ...]


def _violations_per_run(agent: AgentScore) -> Score:
    if not agent.scored_runs:
        return Unscored("no run of this agent has a sub-goal that counts")
    return agent.violations / agent.scored_runs


_POOLED: Final[Mapping[str, Callable[[AgentScore], tuple[Score, int]]]] = {
    "critical_path_skipped_rate": lambda a: (a.critical_path_skipped_rate, a.scored_runs),
    "replanning_events_per_trace": lambda a: (a.replanning_events_per_trace, a.runs),
    "violations_per_run": lambda a: (_violations_per_run(a), a.scored_runs),
}
"""Figures of an agent that `untaken score` prints and `untaken rank` does not: the value and its runs."""
_UNBOUNDED: Final = frozenset({"replanning_events_per_trace", "violations_per_run"})


def gate_metrics() -> tuple[str, ...]:
    """What can be required: the metrics agents are ranked by, then figures of `untaken score`."""
    return (*METRICS, *_POOLED)


def parse_requirement(text: str, *, on: Basis = "point") -> Requirement:
    """Reads ``metric op number``, e.g. ``critical_completion>=0.9``.

    Args:
        text: a metric of `gate_metrics`, one of ``>= > <= <``, and a number without sign or exponent.
        on: what the requirement is held on.

    Raises:
        UntakenError: ``requirement-invalid`` where it cannot be read, where a share is compared with more
            than 1, or where the interval of a figure that has none is asked for; ``metric-unknown``.
    """
    found = _WRITTEN.fullmatch(text)
    if found is None:
        raise _invalid(f"{text!r} is not a metric, a comparison and a number", "critical_completion>=0.9")
    metric, op, bound = found[1], found[2], float(found[3])
    if metric not in gate_metrics():
        raise metric_unknown(metric)
    if metric not in _UNBOUNDED and bound > 1:
        raise _invalid(f"{text!r}: {metric} is a share, from 0 to 1", f"{metric}{op}0.9")
    if on == "interval" and metric in _POOLED:
        raise _invalid(f"{text!r}: {metric} has no interval to compare", f"{metric}{op}{found[3]} --on point")
    # `next` only narrows the type: `op` is one of them.
    return Requirement(metric=metric, op=next(known for known in _WORDS if known == op), bound=bound)


def metric_unknown(metric: str) -> UntakenError:
    """The error about a name that is none of `gate_metrics`, with the one that may be meant."""
    hint = one_of(metric.lower().replace(" ", "_"), gate_metrics())
    return UntakenError("metric-unknown", f"there is no metric {metric!r}", hint=hint)


def _invalid(message: str, example: str) -> UntakenError:
    return UntakenError("requirement-invalid", message, hint=f"For example {example}.")


def check_requirements(
    runs: Iterable[Run],
    scores: Iterable[RunScore],
    requirements: Sequence[Requirement],
    *,
    on: Basis = "point",
    agents: Collection[str] = (),
    resamples: int = 10_000,
    seed: int = 0,
) -> tuple[GateCheck, ...]:
    """Holds every agent to every requirement.

    Args:
        runs: all scored runs, which also show which agent ran which task.
        scores: of the unbroken ones among these runs (`untaken.analysis.corpus.countable`).
        requirements: each must be met by each agent.
        on: ``point`` compares the value; ``interval`` the worse end of its 95% interval, so that luck with
            few tasks passes nobody.
        agents: hold only these to the requirements; the values are the same. Empty for all.
        resamples: as for `untaken.rank_agents`.
        seed: as for `untaken.rank_agents`.

    Returns:
        By agent, then in the order of the requirements.

    Raises:
        UntakenError: ``agent-unknown`` where no unbroken run is of an agent named; ``nothing-to-check`` where
            there is no unbroken run at all.
    """
    counted = list(scores)
    pooled = {agent.agent: agent for agent in score_agents(counted)}
    refuse_unknown(agents, pooled)
    standings = _standings(runs, counted, resamples, seed)
    return tuple(
        _check(requirement, pooled[agent], standings, counted, on)
        for agent in pooled
        if not agents or agent in agents
        for requirement in dict.fromkeys(requirements)
    )


def refuse_unknown(agents: Collection[str], known: Collection[str]) -> None:
    """Agents that were named must be there.

    Raises:
        UntakenError: ``agent-unknown``; ``nothing-to-check`` where there is no agent at all.
    """
    if not known:
        raise UntakenError("nothing-to-check", "no unbroken run, so no requirement can be met")
    if unknown := sorted(set(agents) - set(known)):
        message = f"no unbroken run is of {', '.join(map(repr, unknown))}"
        raise UntakenError("agent-unknown", message, hint=f"There are: {', '.join(sorted(known)[:20])}.")


def _standings(
    runs: Iterable[Run], scores: Sequence[RunScore], resamples: int, seed: int
) -> dict[tuple[str, str], RankedAgent]:
    """Agents that share no task are ranked apart, so that none of them goes unchecked."""
    found: dict[tuple[str, str], RankedAgent] = {}
    for group in ranking.comparable_groups(runs):
        kept = frozenset(group.digests)
        ranked = [score for score in scores if score.digest in kept]
        report = ranking.rank_agents(ranked, resamples=resamples, seed=seed)
        standings = ranking.guaranteed_standings(report)
        found |= {(s.agent, metric): s for metric, row in standings.items() for s in row}
    return found


def _figure(
    metric: str, agent: AgentScore, standings: Mapping[tuple[str, str], RankedAgent]
) -> tuple[tuple[Score, Score, Score], int | None, int]:
    """An agent's value under a metric with both ends of its interval; the tasks and runs that it rests on."""
    if metric in _POOLED:
        value, n_runs = _POOLED[metric](agent)
        none = Unscored("this figure has no interval")
        return (value, none, none), None, n_runs
    # Without weights there is no ranking by completion_weighted: it is completion.
    s = standings.get((agent.agent, metric)) or standings[agent.agent, "completion"]
    return (s.value, s.low, s.high), s.n_tasks, s.n_runs


def _check(
    requirement: Requirement,
    agent: AgentScore,
    standings: Mapping[tuple[str, str], RankedAgent],
    scores: Sequence[RunScore],
    on: Basis,
) -> GateCheck:
    (value, low, high), n_tasks, n_runs = _figure(requirement.metric, agent, standings)
    pooled = requirement.metric in _POOLED
    upward = requirement.op in (">=", ">")
    compared = value if on == "point" else low if upward else high
    margin = _margin(compared, requirement)
    verdict = _verdict(margin, requirement)
    # What a run left undone is no reason why a share is too large.
    wanting = verdict != "met" and (upward or pooled)
    missed, look_at = _shortfall(requirement.metric, agent.agent, scores) if wanting else ((), ())
    return GateCheck(
        agent=agent.agent,
        requirement=str(requirement),
        metric=requirement.metric,
        op=requirement.op,
        bound=requirement.bound,
        source="score" if pooled else "rank",
        value=value,
        low=low,
        high=high,
        compared=compared,
        margin=margin,
        n_tasks=n_tasks,
        n_runs=n_runs,
        verdict=verdict,
        reason=_reason(requirement, compared, margin, verdict, on),
        missed=missed,
        look_at=look_at,
    )


def _margin(compared: Score, requirement: Requirement) -> Score:
    if isinstance(compared, Unscored):
        return compared
    above = round(compared - requirement.bound, DECIMALS)
    return above if requirement.op in (">=", ">") else 0.0 - above  # never -0.0


def _verdict(margin: Score, requirement: Requirement) -> GateVerdict:
    if isinstance(margin, Unscored):
        return "unscored"
    return "met" if margin > 0 or (margin == 0 and "=" in requirement.op) else "not_met"


def _reason(requirement: Requirement, compared: Score, margin: Score, verdict: GateVerdict, on: Basis) -> str:
    if isinstance(compared, Unscored) or isinstance(margin, Unscored):
        return f"unscored, not a pass: {compared.reason if isinstance(compared, Unscored) else ''}"
    digits = 3
    while digits < DECIMALS and margin and not round(margin, digits):
        digits += 1  # 0.8996 reads as 0.8996, not as 0.900 that "is not at least 0.9"
    what = f"{compared:.{digits}f}"
    if on == "interval":
        what = f"the {'lower' if requirement.op in ('>=', '>') else 'upper'} end of the interval, {what},"
    relation = f"{_WORDS[requirement.op]} {requirement.bound:.15g}"
    return f"{what} is {'' if verdict == 'met' else 'not '}{relation}, by {abs(margin):.{digits}f}"


def _shortfall(
    metric: str, agent: str, scores: Sequence[RunScore]
) -> tuple[tuple[MissedSubGoal, ...], tuple[str, ...]]:
    """What to look at first: sub-goals missed most often, and the runs that miss most of them."""
    runs = [score for score in scores if score.agent == agent]
    if metric == "success_rate":  # what the failed runs left undone
        runs = [score for score in runs if score.success is False]
    titles: dict[tuple[str, str], NodeResult] = {}
    counted: Counter[tuple[str, str]] = Counter()
    missed: Counter[tuple[str, str]] = Counter()
    by_run: Counter[str] = Counter()
    for score in runs:
        for node in score.counted:
            if node.critical or not metric.startswith("critical"):
                key = (score.graph_id, node.sub_goal)
                titles.setdefault(key, node)
                counted[key] += 1
                missed[key] += node.completed is not True
                by_run[score.run_id] += node.completed is not True
    worst = sorted((key for key in counted if missed[key]), key=lambda key: (-missed[key], key))
    look_at = sorted((run for run, n in by_run.items() if n), key=lambda run: (-by_run[run], run))
    return tuple(
        MissedSubGoal(
            sub_goal=key[1],
            title=titles[key].title,
            critical=titles[key].critical,
            missed=missed[key],
            runs=counted[key],
        )
        for key in worst[:SHOWN]
    ), tuple(look_at[:SHOWN])
