"""Do labels look like a random draw of what a judge decided? If not, what rests on them misleads (§5)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

import numpy as np

from untaken.errors import Finding, Unscored
from untaken.ledger import Run
from untaken.numbers import percent
from untaken.stats import Floats, draw_test, weighted_draw_test

HINT: Final = "Label a random draw (the review queue offers one), or give the odds of each label with --odds."
START: Final = "start"
AGENT: Final = "agent"
WORDS: Final[Mapping[str, str]] = {
    "verdict": "the judge calls {some} of them met, and {all} of all",
    "outcome": "{some} of their runs succeeded, and {all} of all",
    "task": "their tasks succeed in {some} of runs, and all tasks in {all}",
}
"""Features with a share; the other two are the start and the agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedItem:
    """A sub-goal of a run that a judge was asked about; `judge` and `people` are NaN where unknown.

    `odds` are those with which its label was drawn; ``None`` where all had the same.
    """

    digest: str
    agent: str
    task_id: str
    judge: float
    people: float
    odds: float | None


def draw_findings(items: Sequence[JudgedItem], *, runs: Sequence[Run]) -> tuple[Finding, ...]:
    """A warning where labels are no random draw of the items, or where that cannot be checked.

    Args:
        items: every sub-goal that the judge was asked about.
        runs: all of them, which tell how often a task succeeds and when each run started.
    """
    labelled = ~np.isnan(np.array([item.people for item in items]))
    if not labelled.any() or labelled.all():  # nothing was drawn
        return ()
    features = _features(items, runs)
    digests, tasks = (
        np.unique(codes, return_inverse=True)[1]
        for codes in ([item.digest for item in items], [item.task_id for item in items])
    )
    odds = np.array([np.nan if item.odds is None else item.odds for item in items])
    if np.isnan(odds[labelled]).any():
        found = draw_test(labelled, digests, tasks, features)
    else:
        found = weighted_draw_test(labelled, odds, tasks, features)
    if isinstance(found, Unscored):
        message = f"whether the labels are a random draw cannot be checked: {found.reason}"
        return (Finding(code="labels-draw-unknown", message=message, hint=HINT),)
    if not found.unusual:
        return ()
    words = "; ".join(_words(name, features[name], labelled, items) for name in found.unusual)
    message = f"the labelled sub-goals do not look like a random draw: {words}"
    return (Finding(code="labels-not-random", message=message, hint=HINT),)


def _features(items: Sequence[JudgedItem], runs: Sequence[Run]) -> dict[str, Floats]:
    """What is known of every item; NaN where it was not recorded."""
    outcome = {run.digest: _success(run) for run in runs}
    by_task: dict[str, list[float]] = defaultdict(list)
    for run in runs:
        if not np.isnan(outcome[run.digest]):
            by_task[run.task_id].append(outcome[run.digest])
    # Ranks: one late run would outweigh all.
    rank = {ts: place for place, ts in enumerate(sorted({run.started.ts for run in runs}))}
    began = {run.digest: float(rank[run.started.ts]) for run in runs}
    agents = sorted({item.agent for item in items})
    return {
        "verdict": np.array([item.judge for item in items]),
        "outcome": np.array([outcome[item.digest] for item in items]),
        "task": np.array(
            [fmean(by_task[item.task_id]) if by_task[item.task_id] else np.nan for item in items]
        ),
        START: np.array([began[item.digest] for item in items]),
        AGENT: np.array([[float(item.agent == agent) for agent in agents] for item in items]),
    }


def _success(run: Run) -> float:
    success = run.finished.success if run.finished else None
    return np.nan if success is None else float(success)


def _words(name: str, values: Floats, labelled: np.ndarray, items: Sequence[JudgedItem]) -> str:
    if name == START:
        earlier = values[labelled].mean() < values.mean()
        return f"their runs started {'earlier' if earlier else 'later'} than the others"
    if name == AGENT:
        away = values[labelled].mean(axis=0) - values.mean(axis=0)
        most = int(np.abs(away).argmax())
        agent = sorted({item.agent for item in items})[most]
        some, everything = (
            percent(float(column.mean())) for column in (values[labelled, most], values[:, most])
        )
        return f"{some} of them are of {agent!r}, and {everything} of all"
    some, everything = (percent(float(np.nanmean(one))) for one in (values[labelled], values))
    return WORDS[name].format(some=some, all=everything)
