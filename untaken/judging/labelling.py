"""Rates of sub-goals, agents and their differences from a few people's labels and a judge's verdicts (§6)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import Final, Literal

import numpy as np
from msgspec import Struct

from untaken.errors import Finding, Unscored, UntakenError
from untaken.judging.labelled import LabelledRate, LabelledRates
from untaken.ledger import Run, Verdict
from untaken.numbers import percent
from untaken.scoring import not_withdrawn, ruling, whose_count
from untaken.stats import (
    Corrected,
    Floats,
    Labels,
    Target,
    corrected_difference,
    corrected_rate,
    draw_test,
    weighted_draw_test,
)

Odds = Mapping[tuple[str, str], float]
"""(run id, sub-goal) → the probability with which it was drawn; the sub-goal is empty for all of a run."""
MOST_AGENTS: Final = 12
"""Agents whose differences are taken, by name; pairs grow with the square."""
HINT: Final = "Label a random draw (the review queue offers one), or give the odds of each label with --odds."
START: Final = "start"
AGENT: Final = "agent"
WORDS: Final[Mapping[str, str]] = {
    "verdict": "the judge calls {some} of them met, and {all} of all",
    "outcome": "{some} of their runs succeeded, and {all} of all",
    "task": "their tasks succeed in {some} of runs, and all tasks in {all}",
}
"""Features with a share; the other two are the start and the agent."""


class JudgedItem(Struct, frozen=True, kw_only=True):
    """A sub-goal of a run that a judge was asked about; `judge` and `people` are NaN where unknown.

    `odds` are those with which its label was drawn; ``None`` where all had the same.
    """

    digest: str
    agent: str
    task_id: str
    graph: str
    sub_goal: str
    cluster: str
    judge: float
    people: float
    odds: float | None


def labelled_rates(
    runs: Iterable[Run],
    people: Sequence[str] = ("human:*",),
    judge: Sequence[str] = ("judge:*",),
    *,
    target: Target = "runs",
    odds: Odds | None = None,
    among: Collection[tuple[str, str]] | None = None,
) -> LabelledRates:
    """Estimate how often sub-goals were met, from labels on some of what a judge decided.

    The items are the sub-goals of runs that the judge was asked about. Several people, or judges, have one
    voice, as in scoring. Labels must be a random draw of items or of whole tasks, or have the odds given.

    Args:
        runs: broken ones are left out.
        people: globs over VERDICT.by whose word is taken for the truth.
        judge: globs of those to correct.
        target: what the rates are of.
        odds: of each label; without, all items of a rate had the same.
        among: (run digest, sub-goal) of the items that count; ``None`` for all.

    Raises:
        UntakenError: ``odds-missing`` where a labelled item has none, ``odds-invalid`` where they are no
            probability above 0.
    """
    unbroken = [run for run in runs if not run.integrity.broken]
    tasks = len({run.task_id for run in unbroken}) > 1
    items: list[JudgedItem] = []
    outside = 0
    for run in unbroken:
        found, unasked = _items(run, people, judge, run.task_id if tasks else run.digest, odds)
        items += found if among is None else [one for one in found if (one.digest, one.sub_goal) in among]
        outside += unasked
    by_agent = _grouped(items, lambda one: ("", one.agent))
    by_goal = _grouped(items, lambda one: (one.graph, one.sub_goal))
    agents = {
        agent: corrected_rate(_labels(some), target=target) for (_, agent), some in sorted(by_agent.items())
    }
    labelled = [agent for agent, found in agents.items() if found.labels]
    rates = [_rate(corrected_rate(_labels(items), target=target), "all", "")]
    rates += [_rate(agents[agent], "agent", agent) for agent in labelled]
    rates += [
        _rate(corrected_difference(agents[a], agents[b]), "difference", a, other=b)
        for a, b in combinations(labelled[:MOST_AGENTS], 2)
    ]
    rates += [
        _rate(corrected_rate(_labels(some), target=target), "sub_goal", goal, graph=graph)
        for (graph, goal), some in sorted(by_goal.items())
        if any(not np.isnan(one.people) for one in some)
    ]
    return LabelledRates(
        people=tuple(people),
        judge=tuple(judge),
        target=target,
        cluster="task" if tasks else "run",
        odds="even" if odds is None else "given",
        rates=tuple(rates),
        outside=outside,
        findings=draw_findings(items, runs=unbroken),
    )


def _items(
    run: Run, people: Sequence[str], judge: Sequence[str], cluster: str, odds: Odds | None
) -> tuple[list[JudgedItem], int]:
    spoken: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in not_withdrawn(run.of(Verdict)):
        spoken[verdict.sub_goal].append(verdict)
    found, outside = [], 0
    for sub_goal, verdicts in spoken.items():
        label, judged = (_opinion(whose_count(verdicts, [globs])) for globs in (people, judge))
        if judged is None:
            outside += label is not None and not np.isnan(label)  # a label where the judge was not asked
            continue
        given_label = np.nan if label is None else label
        found.append(
            JudgedItem(
                digest=run.digest,
                agent=run.agent,
                task_id=run.task_id,
                graph=run.started.graph or "",
                sub_goal=sub_goal,
                cluster=cluster,
                judge=judged,
                people=given_label,
                # What nobody labelled was not drawn, and has no odds.
                odds=None if odds is None or np.isnan(given_label) else _odds_of(run, sub_goal, odds),
            )
        )
    return found, outside


def _opinion(verdicts: Sequence[Verdict]) -> float | None:
    """1 or 0; NaN where they could not tell or are split; ``None`` where nobody was asked."""
    ruled = ruling(verdicts)
    if ruled is None:
        return None
    return np.nan if isinstance(ruled.passed, Unscored) else float(ruled.passed)


def _odds_of(run: Run, sub_goal: str, odds: Odds) -> float:
    value = odds.get((run.run_id, sub_goal), odds.get((run.run_id, "")))
    if value is None:
        raise UntakenError(
            "odds-missing",
            f"the label of {sub_goal!r} in run {run.run_id!r} has no odds",
            hint="Add the odds with which it was drawn, or leave its verdict out by --a.",
        )
    if not 0 < value <= 1:
        raise UntakenError(
            "odds-invalid",
            f"the odds of {sub_goal!r} in run {run.run_id!r} are {value:g}",
            hint="Odds are a probability: above 0 and at most 1.",
        )
    return value


def _grouped(
    items: Iterable[JudgedItem], key: Callable[[JudgedItem], tuple[str, str]]
) -> dict[tuple[str, str], list[JudgedItem]]:
    groups: dict[tuple[str, str], list[JudgedItem]] = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return groups


def _labels(items: Sequence[JudgedItem]) -> Labels:
    """The odds of each item; where none were given, the group's share of labels."""
    people = np.array([item.people for item in items])
    even = float(np.mean(~np.isnan(people))) if len(items) else 0.0
    return Labels(
        judge=np.array([item.judge for item in items]),
        people=people,
        odds=np.array([even if item.odds is None else item.odds for item in items]),
        cluster=np.array([item.cluster for item in items]),
        agent=np.unique([item.agent for item in items], return_inverse=True)[1].astype(float),
    )


def _rate(
    found: Corrected,
    part: Literal["all", "agent", "sub_goal", "difference"],
    name: str,
    *,
    other: str = "",
    graph: str = "",
) -> LabelledRate:
    given = {name: getattr(found, name) for name in Corrected.__struct_fields__}
    return LabelledRate(part=part, name=name, other=other, graph=graph, **given)


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
