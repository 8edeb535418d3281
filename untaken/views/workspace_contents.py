"""What a workspace holds, in the counts that somebody asks for after an upload."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from untaken.analysis import Corpus
from untaken.errors import Unscored
from untaken.numbers import counted
from untaken.scoring import RunScore
from untaken.views.review import review_order


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """Unbroken runs in a few counts.

    Attributes:
        runs, agents, tasks: how many there are.
        with_plan: runs that a plan graph covers.
        with_outcome: runs with a recorded outcome.
        failing: content digest of the first run in the order of review in which something went wrong; empty
            where there is none.
    """

    runs: int
    agents: int
    tasks: int
    with_plan: int
    with_outcome: int
    failing: str


def contents(corpus: Corpus) -> Contents:
    """The counts above."""
    runs = {digest: run for digest, run in corpus.runs.items() if not run.integrity.broken}
    failing = (one.digest for one in review_order(corpus) if one.failing and one.digest in runs)
    return Contents(
        runs=len(runs),
        agents=len({run.agent for run in runs.values()}),
        tasks=len({run.task_id for run in runs.values()}),
        with_plan=sum(isinstance(corpus.scores[digest], RunScore) for digest in runs),
        with_outcome=sum(not isinstance(run.success, Unscored) for run in runs.values()),
        failing=next(failing, ""),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldRun:
    """What counts of one unbroken run."""

    agent: str
    task: str
    with_plan: bool


def runs_by_id(corpus: Corpus) -> Mapping[str, list[HeldRun]]:
    """The unbroken runs by their ids, which runs of several files can share."""
    found: dict[str, list[HeldRun]] = {}
    for digest, run in corpus.runs.items():
        if not run.integrity.broken:
            planned = isinstance(corpus.scores[digest], RunScore)
            one = HeldRun(agent=run.agent, task=run.task_id, with_plan=planned)
            found.setdefault(run.run_id, []).append(one)
    return found


def runs_in_words(runs: Collection[HeldRun]) -> str:
    """For example: 120 runs of 3 agents, 50 tasks; 20 need a plan."""
    agents, tasks = len({run.agent for run in runs}), len({run.task for run in runs})
    words = f"{counted(len(runs), 'run')} of {counted(agents, 'agent')}, {counted(tasks, 'task')}"
    bare = sum(not run.with_plan for run in runs)
    if bare:
        words += (
            f"; {bare:,} {'needs' if bare == 1 else 'need'} a plan" if bare < len(runs) else "; no plan yet"
        )
    return words
