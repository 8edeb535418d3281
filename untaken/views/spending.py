"""What runs come to without a plan: outcome, cost, tokens and steps by agent and task (§5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from untaken import numbers, stats
from untaken.analysis import Corpus
from untaken.errors import Score, Unscored
from untaken.facts import total_tokens
from untaken.ledger import Run
from untaken.views.documents import Count
from untaken.views.frame import Columns, as_facts, count, figure, frame, interval, text, why

if TYPE_CHECKING:
    import pandas as pd

NOT_RECORDED: Final = Unscored("no run records it")
ONE_VALUE: Final = Unscored("one value has no interval")
ALIKE: Final = Unscored("all values are the same: how far others differ is unknown")
SEVERAL_UNITS: Final = Unscored("the costs are in several units")


class AgentUsage(Struct, frozen=True, kw_only=True):
    """What the runs of an agent came to, over all its tasks (`task_id` is ``None``) or in one.

    Over tasks a figure is the mean over tasks of each task's mean, and the task is the unit of its 95%
    interval; in one task, or where there is only one, the run is. `…_n` runs record the figure.
    """

    agent: str
    task_id: str | None
    runs: Count
    tasks: Count
    success: Score
    success_low: Score
    success_high: Score
    success_n: Count
    cost: Score
    cost_low: Score
    cost_high: Score
    cost_n: Count
    cost_unit: str | None
    tokens: Score
    tokens_low: Score
    tokens_high: Score
    tokens_n: Count
    steps: Score
    steps_low: Score
    steps_high: Score
    steps_n: Count


Measure = Callable[[Run], float | None]


MEASURES: Final[Mapping[str, Measure]] = {
    "success": lambda run: None if isinstance(run.success, Unscored) else float(run.success),
    "cost": lambda run: run.finished.cost if run.finished else None,
    "tokens": total_tokens,
    "steps": lambda run: run.finished.steps if run.finished else None,
}


def usage(runs: Iterable[Run]) -> tuple[AgentUsage, ...]:
    """Outcome, cost, tokens and steps of the unbroken runs: a row by agent, then one by agent and task."""
    by_agent: dict[str, list[Run]] = {}
    for run in runs:
        if not run.integrity.broken:
            by_agent.setdefault(run.agent, []).append(run)
    agents = {agent: by_task(by_agent[agent]) for agent in sorted(by_agent)}
    return (
        *(_usage(agent, None, tasks) for agent, tasks in agents.items()),
        *(
            _usage(agent, task, {task: tasks[task]})
            for agent, tasks in agents.items()
            for task in sorted(tasks)
        ),
    )


def by_task(runs: Iterable[Run]) -> dict[str, list[Run]]:
    """The runs of each task, in their order."""
    found: dict[str, list[Run]] = {}
    for run in runs:
        found.setdefault(run.task_id, []).append(run)
    return found


def corpus_usage(corpus: Corpus) -> tuple[AgentUsage, ...]:
    """`usage` of the runs of a corpus."""
    return usage(corpus.runs.values())


def figure_words(one: AgentUsage, name: str, unit: str) -> tuple[str, str] | None:
    """A figure of a row and its interval in words, costs in `unit`; ``None`` where it is not recorded."""
    value, low, high = (getattr(one, key) for key in (name, f"{name}_low", f"{name}_high"))
    if isinstance(value, Unscored):
        return None
    writers: dict[str, Callable[..., str]] = {
        "success": numbers.percent,
        "cost": partial(numbers.money, unit=unit),
        "tokens": partial(numbers.decimal, digits=0),
        "steps": partial(numbers.decimal, digits=1),
    }
    write = writers[name]
    return write(value), numbers.interval(low, high, write, unknown="no interval")


def _usage(agent: str, task_id: str | None, runs: Mapping[str, list[Run]]) -> AgentUsage:
    ends = [run.finished for some in runs.values() for run in some]
    units = {end.cost_unit for end in ends if end is not None and end.cost is not None}
    figures: dict[str, Any] = {}
    for name, take in MEASURES.items():
        value, low, high, n = measured(runs, take, share=name == "success")
        if name == "cost" and len(units) > 1:  # dollars and points cannot be added up
            value = low = high = SEVERAL_UNITS
        figures |= {name: value, f"{name}_low": low, f"{name}_high": high, f"{name}_n": n}
    return AgentUsage(
        agent=agent,
        task_id=task_id,
        runs=sum(map(len, runs.values())),
        tasks=len(runs),
        cost_unit=next(iter(units)) if len(units) == 1 else None,
        **figures,
    )


def measured(runs: Mapping[str, list[Run]], take: Measure, *, share: bool) -> tuple[Score, Score, Score, int]:
    """The mean over tasks of the mean over each task's runs that have the figure.

    Args:
        runs: by task.
        take: the figure of a run; ``None`` where it is not recorded.
        share: whether it is a success, 0 or 1; else it is 0 or more, without an upper bound.

    Returns:
        The mean, the ends of its 95% interval, and the number of runs that have it.
    """
    values = [[v for v in map(take, some) if v is not None] for some in runs.values()]
    values = [some for some in values if some]
    n = sum(map(len, values))
    if not n:
        return NOT_RECORDED, NOT_RECORDED, NOT_RECORDED, 0
    means = [stats.mean(some) for some in values]
    # One task has no spread over tasks: its runs are the units then.
    return stats.mean(means), *_ends(means if len(means) > 1 else values[0], n, share=share), n


def _ends(units: list[float], trials: int, *, share: bool) -> tuple[Score, Score]:
    if share:
        return stats.interval_of_share(units, trials)
    if len(units) < 2:
        return ONE_VALUE, ONE_VALUE
    return stats.mean_interval(units, least=0.0) if max(units) > min(units) else (ALIKE, ALIKE)


def _columns(name: str, words: str) -> Columns[AgentUsage]:
    shown = "percent" if name == "success" else ""
    return {
        name: figure(words, name, shown),
        **interval(f"{name}_", of=f"the {name}'s", at=f"{name}_", shown=shown),
        f"{name}_n": count(f"runs that record {name}", f"{name}_n"),
        f"{name}_reason": why(name, name),
    }


USAGE: Final[Columns[AgentUsage]] = {
    **as_facts("agent"),
    "task_id": text("the task; empty for all of the agent's", "task_id"),
    "runs": count("unbroken runs", "runs"),
    "tasks": count("tasks that they are of", "tasks"),
    **_columns("success", "share that succeeded: mean over tasks of each task's mean"),
    **_columns("cost", "mean cost of a run, in cost_unit, averaged in the same way"),
    **as_facts("cost_unit"),
    **_columns("tokens", "mean tokens of a run, in and out"),
    **_columns("steps", "mean number of steps of a run"),
}


def usage_table(found: Iterable[AgentUsage]) -> pd.DataFrame:
    """One row per agent, or per agent and task (columns: `USAGE`)."""
    return frame(USAGE, found)
