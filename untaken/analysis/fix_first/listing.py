"""The fix-first list of a corpus (§5)."""

from __future__ import annotations

from collections.abc import Collection

from untaken.analysis.corpus import Corpus
from untaken.analysis.fix_first.failing import items_of, left_out
from untaken.analysis.fix_first.findings import Triage
from untaken.analysis.fix_first.items import InfrastructureGroup
from untaken.analysis.fix_first.tally import FailureTally, tally_of
from untaken.errors import Unscored, UntakenError, first_few
from untaken.garbage import seldom_collected
from untaken.ledger import INFRASTRUCTURE_KINDS


def triage(corpus: Corpus, *, agents: Collection[str] = ()) -> Triage:
    """What to fix first: where failed runs fail first and why, and critical sub-goals that are missed.

    Args:
        corpus: what was evaluated.
        agents: whose runs to look at; everybody's by default.

    Raises:
        UntakenError: ``agent-unknown`` where no run is by one of `agents`.
    """
    known = {run.agent for run in corpus.runs.values()} if agents else set()
    for agent in agents:
        if agent not in known:
            named = first_few(sorted(known), 5) or "none"
            raise UntakenError(
                "agent-unknown", f"no run is by the agent {agent!r}", hint=f"There are: {named}."
            )
    digests = [digest for digest, run in corpus.runs.items() if not agents or run.agent in agents]
    with seldom_collected():
        tally = tally_of(corpus, digests)
        items, causes = items_of(tally)
    return Triage(
        items=items,
        causes=causes,
        left_out=left_out(tally, items),
        infrastructure=_infrastructure(tally),
        unscored_failed_runs=tuple(tally.unscored),
        without_plan=any(isinstance(corpus.scores[digest], Unscored) for digest in tally.unscored),
        contradictions=tuple(c for c in corpus.contradictions if not agents or c.agent in agents),
        agents=tuple(sorted(agents)),
        runs=len(tally.tasks),
        failed=len(tally.failed),
        succeeded=len(tally.succeeded),
        scored=len(tally.placed),
    )


def _infrastructure(tally: FailureTally) -> tuple[InfrastructureGroup, ...]:
    """Step limits by themselves: such runs may be looping."""
    found = []
    for kind in INFRASTRUCTURE_KINDS:
        if runs := [digest for digest, ended in tally.infrastructure.items() if ended == kind]:
            failed = len(tally.failed.keys() & runs)
            group = InfrastructureGroup(
                kind=kind, failed_runs=failed, no_outcome=len(runs) - failed, runs=tuple(runs)
            )
            found.append(group)
    return tuple(sorted(found, key=lambda group: (-group.failed_runs, -group.no_outcome)))
