"""A gate that may be looked at after every run: pass, fail, or keep going (§5).

An ordinary gate that is asked again after every run sooner or later fails an agent that has not changed. Here
each verdict holds at every look (`untaken.stats.betting`): a requirement that is met is ever failed, and one
that is not ever passed, with a probability of at most 5%.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from statistics import fmean
from typing import Final, Literal

from untaken import stats
from untaken.errors import Score, Unscored, UntakenError
from untaken.gate import Requirement, refuse_unknown
from untaken.ledger import Run
from untaken.ranking import METRICS
from untaken.subgoals import RunScore

SequentialVerdict = Literal["pass", "fail", "keep_going", "unscored"]
MARGIN: Final = 0.1
"""How far an agent may fall behind its baseline and still pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SequentialCheck:
    """One agent, held to a requirement or to a baseline, after as many values as there are.

    Attributes:
        baseline: the agent it is compared with; ``None`` where it is held to a requirement.
        requirement: what is asked, in the form ``metric>=bound``.
        bound: of the requirement; of a comparison, the least difference that passes.
        value: the mean so far; of a comparison, the agent's minus the baseline's.
        low, high: interval of the mean; each end holds at every look with 95% confidence.
        n: values so far: tasks; of a comparison, pairs of runs of one task.
        decided_at: after how many of them the verdict was reached; later ones do not change it.
        left_out: tasks or runs without a value, or without a partner.
    """

    agent: str
    baseline: str | None
    requirement: str
    metric: str
    bound: float
    value: Score
    low: Score
    high: Score
    verdict: SequentialVerdict
    n: int
    decided_at: int | None
    left_out: int
    reason: str


def check_in_sequence(
    runs: Iterable[Run],
    scores: Iterable[RunScore],
    requirements: Sequence[Requirement],
    *,
    agents: Collection[str] = (),
) -> tuple[SequentialCheck, ...]:
    """Hold each agent to each requirement; a task counts once, as the mean of its repeats, in order of time.

    Raises:
        UntakenError: ``requirement-invalid`` for a figure that agents are not ranked by; ``agent-unknown``,
            ``nothing-to-check``.
    """
    of_agent = _in_time(runs, scores)
    refuse_unknown(agents, of_agent)
    return tuple(
        _held(agent, requirement, of_agent[agent])
        for agent in sorted(set(agents) or of_agent)
        for requirement in dict.fromkeys(requirements)
    )


def compare_in_sequence(
    runs: Iterable[Run],
    scores: Iterable[RunScore],
    baseline: str,
    *,
    metric: str = "completion",
    margin: float = MARGIN,
    agents: Collection[str] = (),
) -> tuple[SequentialCheck, ...]:
    """Compare each agent with the baseline: its i-th run of a task with the baseline's i-th run of that task.

    ``fail``: shown to be worse than the baseline. ``pass``: shown not to be worse by the margin.

    Args:
        runs: what was scored, for their times.
        scores: of the unbroken ones among these runs.
        baseline: the agent to compare with.
        metric: that agents are ranked by.
        margin: what may be lost, above 0 and at most 1.
        agents: only these; empty for all others.

    Raises:
        UntakenError: as `check_in_sequence`.
    """
    of_agent = _in_time(runs, scores)
    refuse_unknown({baseline, *agents}, of_agent)
    return tuple(
        _compared(agent, baseline, metric, margin, of_agent)
        for agent in sorted(set(agents) or of_agent)
        if agent != baseline
    )


def _in_time(runs: Iterable[Run], scores: Iterable[RunScore]) -> dict[str, list[RunScore]]:
    """Each agent's scores, in the order in which their runs began."""
    began = {run.digest: run.started.ts for run in runs}
    of_agent: dict[str, list[RunScore]] = defaultdict(list)
    for score in sorted(scores, key=lambda score: (began[score.digest], score.run_id)):
        of_agent[score.agent].append(score)
    return of_agent


def _metric(name: str) -> Callable[[RunScore], Score]:
    if name not in METRICS:
        raise UntakenError(
            "requirement-invalid",
            f"{name} cannot be decided in sequence: its values have no upper bound, or no mean over tasks",
            hint=f"One of: {', '.join(METRICS)}.",
        )
    return METRICS[name].value


def _held(agent: str, requirement: Requirement, scores: Sequence[RunScore]) -> SequentialCheck:
    value_of = _metric(requirement.metric)
    by_task: dict[str, list[Score]] = defaultdict(list)
    for score in scores:
        by_task[score.task_id].append(value_of(score))
    known = [[value for value in values if not isinstance(value, Unscored)] for values in by_task.values()]
    values = [fmean(some) for some in known if some]
    upward = requirement.op in (">=", ">")
    bound = requirement.bound
    shares, least = (values, bound) if upward else ([1 - value for value in values], 1 - bound)
    found = _decide(shares, passes=least, fails=least)
    low, high = found.ends if upward else (1 - found.ends[1], 1 - found.ends[0])
    return _check(
        found,
        agent=agent,
        baseline=None,
        requirement=str(requirement),
        metric=requirement.metric,
        bound=bound,
        values=values,
        ends=(low, high),
        left_out=len(known) - len(values),
        words=("the requirement is met", "the requirement is not met", "task"),
    )


def _compared(
    agent: str, baseline: str, metric: str, margin: float, of_agent: dict[str, list[RunScore]]
) -> SequentialCheck:
    value_of = _metric(metric)
    waiting: dict[str, tuple[list[RunScore], list[RunScore]]] = defaultdict(lambda: ([], []))
    for side, name in enumerate((agent, baseline)):
        for score in of_agent[name]:
            waiting[score.task_id][side].append(score)
    place = {score.digest: at for at, score in enumerate(of_agent[agent])}
    pairs = [pair for sides in waiting.values() for pair in zip_longest(*sides)]
    both = sorted(
        ((one, other) for one, other in pairs if one is not None and other is not None),
        key=lambda pair: place[pair[0].digest],
    )
    values = [
        first - second
        for first, second in ((value_of(one), value_of(other)) for one, other in both)
        if not isinstance(first, Unscored) and not isinstance(second, Unscored)
    ]
    found = _decide([(1 + value) / 2 for value in values], passes=(1 - margin) / 2, fails=0.5)
    return _check(
        found,
        agent=agent,
        baseline=baseline,
        requirement=f"{metric}>={baseline}-{margin:g}",
        metric=metric,
        bound=-margin,
        values=values,
        ends=(2 * found.ends[0] - 1, 2 * found.ends[1] - 1),
        left_out=len(pairs) - len(values),
        words=(f"not worse than {baseline} by {margin:g}", f"worse than {baseline}", "pair of runs"),
    )


@dataclass(frozen=True, slots=True)
class _Decided:
    verdict: SequentialVerdict
    at: int | None
    ends: tuple[float, float]


def _decide(values: Sequence[float], *, passes: float, fails: float) -> _Decided:
    """Pass once the mean is shown to be above `passes`, fail once below `fails`: whichever comes first."""
    if not values:
        return _Decided("unscored", None, (0.0, 1.0))
    against = [1 - value for value in values]
    ends = stats.lower_end(values), 1 - stats.lower_end(against)
    won, lost = stats.first_above(values, passes), stats.first_above(against, 1 - fails)
    if won is not None and (lost is None or won <= lost):
        return _Decided("pass", won, ends)
    return _Decided("keep_going" if lost is None else "fail", lost, ends)


def _check(
    found: _Decided,
    *,
    agent: str,
    baseline: str | None,
    requirement: str,
    metric: str,
    bound: float,
    values: Sequence[float],
    ends: tuple[float, float],
    left_out: int,
    words: tuple[str, str, str],
) -> SequentialCheck:
    met, missed, unit = words
    first, *rest = unit.split()
    n = f"{len(values)} {' '.join([first if len(values) == 1 else f'{first}s', *rest])}"
    none = Unscored(f"no {unit} has a value of {metric}")
    reasons: dict[SequentialVerdict, str] = {
        "pass": f"{met}, shown after {found.at} of {n}",
        "fail": f"{missed}, shown after {found.at} of {n}",
        "keep_going": f"not decided after {n}: add more",
        "unscored": f"unscored, not a pass: {none.reason}",
    }
    return SequentialCheck(
        agent=agent,
        baseline=baseline,
        requirement=requirement,
        metric=metric,
        bound=bound,
        value=fmean(values) if values else none,
        low=ends[0] if values else none,
        high=ends[1] if values else none,
        verdict=found.verdict,
        n=len(values),
        decided_at=found.at,
        left_out=left_out,
        reason=reasons[found.verdict],
    )
