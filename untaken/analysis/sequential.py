"""A gate that may be looked at after every run, also while others are in flight (§5).

An ordinary gate that is asked again after every run sooner or later fails an agent that has not changed. Here
each verdict holds at every look (`untaken.stats.betting`): a requirement that is met is ever failed, and one
that is not ever passed, with a probability of at most 5%.

*Worst case.* Values count in the order in which their runs started, whenever these finish. While a run is in
flight its value is the least it can be where *pass* is looked for, and the most where *fail* is. So slow
failures pass nobody, and no verdict is revoked: what finishes later can only add to its evidence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from statistics import fmean
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

from untaken import stats
from untaken.analysis.gate import Requirement, gate_metrics, metric_unknown, refuse_unknown
from untaken.analysis.ranking import METRICS
from untaken.errors import Score, Unscored, UntakenError
from untaken.ledger import Run
from untaken.scoring import RunScore

if TYPE_CHECKING:
    from untaken.stats import Decided

SequentialVerdict = Literal["pass", "fail", "keep_going", "unscored"]
MARGIN: Final = 0.1
"""How far an agent may fall behind its baseline and still pass."""


class SequentialCheck(Struct, frozen=True, kw_only=True):
    """One agent, held to a requirement or to a baseline, after as many values as there are.

    Attributes:
        baseline: the agent it is compared with; ``None`` where it is held to a requirement.
        requirement: what is asked, in the form ``metric>=bound``.
        bound: of the requirement; of a comparison, the least difference that passes.
        time_limit: seconds; a run that does not finish within them has failed. ``None`` without a limit.
        value: the mean of what has finished; of a comparison, the agent's minus the baseline's.
        low, high: interval of the mean; each end holds at every look with 95% confidence.
        n: values so far: tasks; of a comparison, pairs of runs of one task. Those in flight are included.
        unfinished: how many of these are in flight, and count against each verdict.
        decided_at: how many values were enough for the verdict; later ones do not change it.
        left_out: tasks or runs without a value, or without a partner.
        repeats: ids of runs that do not count, because the agent ran their task before; untrusted text.
    """

    agent: str
    baseline: str | None
    requirement: str
    metric: str
    bound: float
    time_limit: float | None
    value: Score
    low: Score
    high: Score
    verdict: SequentialVerdict
    n: int
    unfinished: int
    decided_at: int | None
    left_out: int
    repeats: tuple[str, ...]
    reason: str


class TimeLimit(Struct, frozen=True, kw_only=True):
    """Runs that do not finish within `limit` of their start have failed, whatever they do later.

    Attributes:
        limit: stated before the first run; chosen afterwards, it is no limit but a result.
        now: when unfinished runs are looked at; ``None`` for the last moment that the runs record.
    """

    limit: timedelta
    now: datetime | None = None


def check_in_sequence(
    runs: Iterable[Run],
    scores: Iterable[RunScore],
    requirements: Sequence[Requirement],
    *,
    agents: Collection[str] = (),
    within: TimeLimit | None = None,
) -> tuple[SequentialCheck, ...]:
    """Hold each agent to each requirement; of each task the run that started first counts, no repeat.

    Args:
        runs: what was scored, for their times.
        scores: of the unbroken ones among these runs.
        requirements: of metrics that agents are ranked by.
        agents: only these; empty for all.
        within: what has not finished by then has failed; ``None``: it is in flight for ever.

    Raises:
        UntakenError: ``requirement-invalid`` for a figure that agents are not ranked by; ``agent-unknown``,
            ``nothing-to-check``.
    """
    of_agent = _in_order_of_start(runs, scores, within)
    refuse_unknown(agents, of_agent)
    return tuple(
        _held(agent, requirement, of_agent[agent], within)
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
    within: TimeLimit | None = None,
) -> tuple[SequentialCheck, ...]:
    """Compare each agent with the baseline: its i-th run of a task with the baseline's i-th run of that task.

    A pair takes its place when its second run starts, so that a baseline that is run late changes no pair
    before it. ``fail``: shown to be worse than the baseline. ``pass``: shown not to be worse by the margin.

    Args:
        runs: what was scored, for their times.
        scores: of the unbroken ones among these runs.
        baseline: the agent to compare with.
        metric: that agents are ranked by.
        margin: what may be lost, above 0 and at most 1.
        agents: only these; empty for all others.
        within: as for `check_in_sequence`.

    Raises:
        UntakenError: as `check_in_sequence`.
    """
    of_agent = _in_order_of_start(runs, scores, within)
    refuse_unknown({baseline, *agents}, of_agent)
    others = sorted((set(agents) or of_agent.keys()) - {baseline})
    if not others:  # else a gate would pass that compared nothing
        raise UntakenError("nothing-to-check", f"no agent to compare with {baseline}, the baseline")
    return tuple(
        _compared(agent, baseline, of_agent, metric=metric, margin=margin, within=within) for agent in others
    )


class _Trial(Struct, frozen=True, kw_only=True):
    """A run that has started."""

    run_id: str
    task_id: str
    began: datetime
    score: RunScore
    state: Literal["in_flight", "in_time", "too_late"]

    @property
    def place(self) -> tuple[datetime, str]:
        return self.began, self.run_id  # the id breaks ties the same way at every look

    def value(self, metric: Callable[[RunScore], Score]) -> Score | None:
        """``None`` while it is in flight."""
        if self.state == "in_time":
            return metric(self.score)
        return 0.0 if self.state == "too_late" else None


def _in_order_of_start(
    runs: Iterable[Run], scores: Iterable[RunScore], within: TimeLimit | None
) -> dict[str, list[_Trial]]:
    """Each agent's runs."""
    known = {run.digest: run for run in runs}
    now = within.now if within else None
    if within and now is None and known:
        now = max(event.ts for run in known.values() for event in run.events)
    of_agent: dict[str, list[_Trial]] = defaultdict(list)
    for score in scores:
        run = known[score.digest]
        trial = _Trial(
            run_id=run.run_id,
            task_id=score.task_id,
            began=run.started.ts,
            score=score,
            state=_state(run, within.limit if within else None, now),
        )
        of_agent[score.agent].append(trial)
    # By start: ordered by their ends, slow failures would come last and an agent could pass before them.
    return {agent: sorted(some, key=lambda one: one.place) for agent, some in of_agent.items()}


def _state(
    run: Run, limit: timedelta | None, now: datetime | None
) -> Literal["in_flight", "in_time", "too_late"]:
    until = run.finished.ts if run.finished else now
    if limit is not None and until is not None and until - run.started.ts > limit:
        return "too_late"
    return "in_time" if run.finished else "in_flight"


def _metric(name: str) -> Callable[[RunScore], Score]:
    if name not in gate_metrics():
        raise metric_unknown(name)
    if name not in METRICS:
        raise UntakenError(
            "requirement-invalid",
            f"{name} cannot be decided in sequence: its values have no upper bound, or no mean over tasks",
            hint=f"One of: {', '.join(METRICS)}.",
        )
    return METRICS[name].value


def _held(
    agent: str, requirement: Requirement, trials: Sequence[_Trial], within: TimeLimit | None
) -> SequentialCheck:
    value_of = _metric(requirement.metric)
    # A repeat can be foreseen from the first run of its task, which betting does not allow for.
    first: dict[str, _Trial] = {}
    repeats = [trial.run_id for trial in trials if first.setdefault(trial.task_id, trial) is not trial]
    found = [trial.value(value_of) for trial in first.values()]
    values = [value for value in found if not isinstance(value, Unscored)]
    upward = requirement.op in (">=", ">")
    bound = requirement.bound
    # "At most b" is "at least 1 − b" of the complement.
    shares = values if upward else [None if value is None else 1 - value for value in values]
    least = bound if upward else 1 - bound
    decided = stats.decide(shares, passes=least, fails=least)
    low, high = decided.ends if upward else (1 - decided.ends[1], 1 - decided.ends[0])
    return _check(
        decided,
        agent=agent,
        baseline=None,
        requirement=str(requirement),
        metric=requirement.metric,
        bound=bound,
        within=within,
        values=values,
        ends=(low, high),
        left_out=len(found) - len(values),
        repeats=tuple(repeats),
        words=("the requirement is met", "the requirement is not met", "task"),
        more="add more" if least < 1 else f"more tasks can fail it, and none can show a mean of {bound:g}",
    )


def _compared(
    agent: str,
    baseline: str,
    of_agent: Mapping[str, Sequence[_Trial]],
    *,
    metric: str,
    margin: float,
    within: TimeLimit | None,
) -> SequentialCheck:
    value_of = _metric(metric)
    sides: dict[str, tuple[list[_Trial], list[_Trial]]] = defaultdict(lambda: ([], []))
    for side, name in enumerate((agent, baseline)):
        for trial in of_agent[name]:
            sides[trial.task_id][side].append(trial)
    # As many pairs as the one with fewer runs has; the rest is `alone`.
    pairs = [pair for both in sides.values() for pair in zip(*both, strict=False)]
    pairs.sort(key=lambda pair: max(trial.place for trial in pair))
    found = [_difference(*(trial.value(value_of) for trial in pair)) for pair in pairs]
    values = [value for value in found if not isinstance(value, Unscored)]
    shares = [None if value is None else (1 + value) / 2 for value in values]  # `stats.decide` takes shares
    decided = stats.decide(shares, passes=(1 - margin) / 2, fails=0.5)  # −margin and 0 as shares
    alone = sum(max(map(len, both)) - min(map(len, both)) for both in sides.values())
    return _check(
        decided,
        agent=agent,
        baseline=baseline,
        requirement=f"{metric}>={baseline}-{margin:g}",
        metric=metric,
        bound=-margin,
        within=within,
        values=values,
        ends=(2 * decided.ends[0] - 1, 2 * decided.ends[1] - 1),
        left_out=alone + len(found) - len(values),
        repeats=(),
        more="add more",
        words=(f"not worse than {baseline} by {margin:g}", f"worse than {baseline}", "pair of runs"),
    )


def _difference(one: Score | None, other: Score | None) -> Score | None:
    """Open while either run is: what may yet turn out to have no value must not count for a verdict."""
    if one is None or other is None:
        return None
    if isinstance(one, Unscored):
        return one
    return other if isinstance(other, Unscored) else one - other


def _check(
    found: Decided,
    *,
    agent: str,
    baseline: str | None,
    requirement: str,
    metric: str,
    bound: float,
    within: TimeLimit | None,
    values: Sequence[float | None],
    ends: tuple[float, float],
    left_out: int,
    repeats: tuple[str, ...],
    words: tuple[str, str, str],
    more: str,
) -> SequentialCheck:
    met, missed, unit = words
    first, *rest = unit.split()
    n = f"{len(values):,} {' '.join([first if len(values) == 1 else f'{first}s', *rest])}"
    finished = [value for value in values if value is not None]
    in_flight = len(values) - len(finished)
    none = Unscored(f"no {unit} has {'finished' if values else f'a value of {metric}'}")
    against = f", {in_flight:,} of them in flight and counted against it" if in_flight else ""
    reasons: dict[SequentialVerdict, str] = {
        "pass": f"{met}, shown after {found.at} of {n}{against}",
        "fail": f"{missed}, shown after {found.at} of {n}{against}",
        "keep_going": f"not decided after {n}{f', {in_flight:,} of them in flight' if in_flight else ''}: "
        + more,
        "unscored": f"unscored, not a pass: {none.reason}",
    }
    return SequentialCheck(
        agent=agent,
        baseline=baseline,
        requirement=requirement,
        metric=metric,
        bound=bound,
        time_limit=within.limit.total_seconds() if within else None,
        value=fmean(finished) if finished else none,
        low=ends[0] if values else none,
        high=ends[1] if values else none,
        verdict=found.verdict,
        n=len(values),
        unfinished=in_flight,
        decided_at=found.at,
        left_out=left_out,
        repeats=repeats,
        reason=reasons[found.verdict],
    )
