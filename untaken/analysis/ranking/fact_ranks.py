"""Rankings of agents from facts: only sums over runs are read, so millions need little memory (§5)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from itertools import chain, repeat
from math import fsum
from typing import Final

import numpy as np

from untaken.analysis.ranking.compared.tables import Cells, table_of
from untaken.analysis.ranking.groups import parts_of
from untaken.analysis.ranking.metrics import METRICS, WEIGHTED
from untaken.analysis.ranking.rank import rank_tables
from untaken.analysis.ranking.rank_report import RankReport
from untaken.facts import Facts


@dataclass(frozen=True, kw_only=True)
class FactReport(RankReport):
    """A ranking of which the facts are known, and no run: it answers while they are open."""

    facts: Facts = field(repr=False, compare=False)

    def measure(self, metric: str, agents: Sequence[str], tasks: Sequence[str]) -> Cells:
        """As in `RankReport`."""
        return _cells(self.facts, metric, tuple(agents), tuple(tasks))


def rank_facts(facts: Facts, *, resamples: int = 10_000, seed: int = 0) -> FactReport:
    """Agents ranked as `rank_agents` ranks their runs: the same numbers, to the last digit.

    Of several sets of agents without a task in common, the one with most runs is ranked. The report knows no
    single run: its `runs` and `contradictions` are empty, and so is all that looks at them. Pairs of agents
    are compared when somebody asks, while the facts are open.

    Args:
        facts: of unbroken runs, under one rule for missing verdicts.
        resamples: as for `rank_agents`.
        seed: likewise.
    """
    ran = facts.rows("SELECT agent, task_id, count(*) FROM runs GROUP BY ALL ORDER BY ALL")
    agents = _compared(ran)
    pairs = {(agent, task) for agent, task, _ in ran if agent in agents}
    tasks = sorted({task for _, task in pairs})
    shared = tuple(task for task in tasks if all((agent, task) in pairs for agent in agents))
    rule = facts.manifest.missing
    tables = [
        table_of(_cells(facts, metric, agents, shared), shared)
        for metric in METRICS
        if metric != WEIGHTED or facts.rows(_WEIGHTED, [rule, list(agents)])
    ]
    report = rank_tables(tables, shared, missing=rule, resamples=resamples, seed=seed)
    known = {one.name: getattr(report, one.name) for one in fields(report)}
    unmatched = tuple(sorted({task for _, task, _ in ran}.difference(shared)))
    return FactReport(**known | {"unmatched_tasks": unmatched, "facts": facts})


_WEIGHTED: Final = """SELECT 1 FROM results WHERE counts AND weight <> 1
    AND (? = 'fail' OR status <> 'unscored') AND list_contains(?, agent) LIMIT 1"""


def _compared(ran: Sequence[tuple[str, str, int]]) -> tuple[str, ...]:
    """The agents of the set with most runs that has several, as `comparable_groups` orders sets; else all."""
    part = parts_of([(agent, task) for agent, task, _ in ran])
    sets: dict[str, list[tuple[str, str, int]]] = defaultdict(list)
    for row in ran:
        sets[part[row[0]]].append(row)
    several = [rows for rows in sets.values() if len({agent for agent, _, _ in rows}) > 1]
    first = min(several, key=_size, default=ran)
    return tuple(sorted({agent for agent, _, _ in first}))


def _size(rows: Sequence[tuple[str, str, int]]) -> tuple[int, int, str]:
    runs, agents = sum(runs for *_, runs in rows), {agent for agent, _, _ in rows}
    return -runs, -len(agents), min(task for _, task, _ in rows)


def _cells(facts: Facts, metric: str, agents: tuple[str, ...], tasks: tuple[str, ...]) -> Cells:
    """As `ranking.compared.tables.metric_cells`; equal values of a cell come once, counted."""
    source = METRICS[metric]
    row, column = ({name: at for at, name in enumerate(names)} for names in (agents, tasks))
    shape = len(agents), len(tasks)
    means, runs, trials = np.full(shape, np.nan), np.zeros(shape, dtype=np.int64), np.zeros(shape)
    values: dict[tuple[int, int], list[tuple[float, int]]] = defaultdict(list)
    ran, asked = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    reasons: dict[str, str] = {}
    by = f"agent, task_id, {source.column}"
    query = (
        f"SELECT {by}, sum({source.column_trials})::BIGINT, min({source.column_reason}), count(*) FROM runs"  # noqa: S608 - ours
    )
    for agent, task, value, questions, why, count in facts.rows(f"{query} GROUP BY {by} ORDER BY {by}"):
        # An agent of another set, or a task that not all of them ran.
        if agent not in row or task not in column:
            continue
        at = row[agent], column[task]
        ran[at] += count
        asked[at] += questions
        if value is None:
            reasons[agent] = min(why, reasons.get(agent, why))
        else:
            values[at].append((value, count))
    for at, known in values.items():
        many = sum(count for _, count in known)
        # Not with SQL's sum, whose last digits depend on the order in which threads finish.
        means[at] = fsum(chain.from_iterable(repeat(value, count) for value, count in known)) / many
        runs[at] = many
        trials[at] = int(asked[at]) * many / int(ran[at])
    return Cells(metric=metric, agents=agents, means=means, runs=runs, trials=trials, reasons=reasons)
