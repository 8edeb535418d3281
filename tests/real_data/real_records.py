"""Public records, converted and read back: all that a claim about them needs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from untaken.errors import Unscored
from untaken.ledger import Run
from untaken.plans import GraphSet
from untaken.plans.patterns import comparing_free_text
from untaken.scoring import AgentScore, RunScore, score_agents, score_run
from untaken.traces import Conversion


@dataclass(frozen=True)
class Converted:
    """A conversion on disk."""

    conversion: Conversion
    runs: list[Run]
    graphs: GraphSet

    def of_file(self, name: str) -> list[Run]:
        """The runs of the one ledger that came from a source file."""
        loss = next(loss for loss in self.conversion.losses if loss.name == name)
        return [run for run in self.runs if Path(run.source).name in loss.ledgers]

    def scores(
        self, runs: Iterable[Run] | None = None, *, by_benchmark: bool = False, **rule: Any
    ) -> list[RunScore]:
        """Each run against its plan graph, or by the benchmark's rule, which compares free text, too."""
        scores = []
        for run in self.runs if runs is None else runs:
            graph, findings = self.graphs.for_task(run.task_id, run.started.graph)
            assert not isinstance(graph, Unscored), (run.run_id, graph, findings)
            compared = comparing_free_text(graph) if by_benchmark else graph
            scores.append(score_run(run, compared, **rule))
        return scores

    def agents(self, **rule: Any) -> dict[str, AgentScore]:
        """The scores of each agent."""
        return {score.agent: score for score in score_agents(self.scores(**rule))}
