"""Workflow or agent? The workflow wins while it completes more of what is critical, unexplained (§5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from untaken.analysis.ranking.compared.tables import RunsByCell
from untaken.analysis.ranking.comparisons import Comparison, PairedDifference, WorkflowVerdict, WorkflowWins
from untaken.errors import Score, Unscored
from untaken.scoring import RunScore
from untaken.stats import quantised

WORKFLOW_METRIC: Final = "critical_completion"


def workflow_verdicts(
    cells: RunsByCell, comparisons: Mapping[str, Comparison]
) -> tuple[WorkflowVerdict, ...]:
    """Each workflow against each agent, by name; an agent with runs of both kinds counts as neither."""
    kinds = kinds_of(cells)
    if not {"workflow", "agent"} <= {*kinds.values()}:
        return ()
    critical = comparisons[WORKFLOW_METRIC]
    workflows, agents = (
        [name for name in sorted(critical.agents) if kinds.get(name) == kind]
        for kind in ("workflow", "agent")
    )
    verdicts = []
    for workflow in workflows:
        for agent in agents:
            pair = critical.pair(workflow, agent)
            if pair is not None:
                verdicts.append(_verdict(cells, oriented(pair, workflow)))
    return tuple(verdicts)


def kinds_of(cells: RunsByCell) -> Mapping[str, str | None]:
    """The one kind that all runs of an agent say; ``None`` where they say none, or several."""
    kinds: dict[str, set[str | None]] = {}
    for (agent, _), runs in cells.items():
        kinds.setdefault(agent, set()).update(run.kind for run in runs)
    return {agent: found.pop() if len(found) == 1 else None for agent, found in kinds.items()}


def oriented(pair: PairedDifference, first: str) -> PairedDifference:
    """The same comparison with `first` first."""
    if pair.first == first:
        return pair
    return replace(
        pair,
        first=pair.second,
        second=pair.first,
        difference=_negated(pair.difference),
        low=_negated(pair.high),
        high=_negated(pair.low),
        first_only=pair.second_only,
        second_only=pair.first_only,
        p_above=pair.p_above if isinstance(pair.p_above, Unscored) else 1 - pair.p_above,
    )


def _negated(value: Score) -> Score:
    return value if isinstance(value, Unscored) else -value


def _verdict(cells: RunsByCell, gap: PairedDifference) -> WorkflowVerdict:
    workflow, agent = gap.first, gap.second
    return WorkflowVerdict(
        workflow=workflow,
        agent=agent,
        wins=_wins(gap.difference),
        gap=gap,
        workflow_replans=_replans(cells, workflow, agent),
        agent_replans=_replans(cells, agent, workflow),
    )


def _wins(gap: Score) -> WorkflowWins:
    if isinstance(gap, Unscored):
        return "unscored"
    if (compared := quantised(gap)) == 0:  # equal means may differ in the last digits
        return "level"
    return "workflow" if compared > 0 else "agent"


def _replans(cells: RunsByCell, agent: str, other: str) -> Score:
    """Changes of plan per run, over the tasks that the other ran too."""
    runs: Sequence[RunScore] = [
        run
        for (name, task), found in cells.items()
        if name == agent and (other, task) in cells
        for run in found
    ]
    if not any(run.plans for run in runs):
        # 0 would read as an agent that never changed its plan.
        return Unscored("no run records a plan, so replans are unknown")
    return sum(run.replans for run in runs) / len(runs)
