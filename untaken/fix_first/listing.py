"""The fix-first list of a corpus (§5)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from untaken.causes.features import RunFeatures
from untaken.corpus import Corpus
from untaken.errors import UntakenError
from untaken.fix_first.failing import items_of, left_out
from untaken.fix_first.findings import Triage
from untaken.fix_first.items import InfrastructureGroup
from untaken.fix_first.tally import FailureTally, tally_of
from untaken.ledger import Run
from untaken.ledger.infrastructure import INFRASTRUCTURE_KINDS


def triage(corpus: Corpus, *, agents: Collection[str] = ()) -> Triage:
    """What to fix first: where failed runs fail first and why, and critical sub-goals that are missed.

    Args:
        corpus: what was evaluated.
        agents: whose runs to look at; everybody's by default.

    Raises:
        UntakenError: ``agent-unknown`` where no run is by one of `agents`.
    """
    known = {run.agent for run in corpus.runs.values()}
    for agent in agents:
        if agent not in known:
            named = ", ".join(sorted(known)[:5]) or "none"
            raise UntakenError(
                "agent-unknown", f"no run is by the agent {agent!r}", hint=f"There are: {named}."
            )
    digests = {digest: None for digest, run in corpus.runs.items() if not agents or run.agent in agents}
    return _triage(corpus, agents, digests, _remembered())


def triage_by_agent(corpus: Corpus) -> dict[str | None, Triage]:
    """`triage` of all runs (under ``None``) and of each agent's own, by name."""
    features = _remembered()
    of_agent: dict[str, dict[str, None]] = {}
    for digest, run in corpus.runs.items():
        of_agent.setdefault(run.agent, {})[digest] = None
    everybody = _triage(corpus, (), dict.fromkeys(corpus.runs), features)
    return {None: everybody} | {
        agent: _triage(corpus, (agent,), of_agent[agent], features) for agent in sorted(of_agent)
    }


def _remembered() -> Callable[[Run], RunFeatures]:
    """Reads each run once, however often it is compared."""
    kept: dict[str, RunFeatures] = {}

    def features(run: Run) -> RunFeatures:
        if run.digest not in kept:
            kept[run.digest] = RunFeatures(run)
        return kept[run.digest]

    return features


def _triage(
    corpus: Corpus,
    agents: Collection[str],
    digests: Mapping[str, None],
    features: Callable[[Run], RunFeatures],
) -> Triage:
    tally = tally_of(corpus, digests)
    items, causes = items_of(tally, features)
    return Triage(
        items=items,
        causes=causes,
        left_out=left_out(tally, items),
        infrastructure=_infrastructure(tally),
        unscored_failed_runs=tuple(tally.unscored),
        contradictions=tuple(c for c in corpus.contradictions if c.digest in digests),
        agents=tuple(sorted(agents)),
        runs=len(tally.runs),
        failed=len(tally.failed),
        succeeded=len(tally.succeeded),
        scored=len(tally.undone),
    )


def _infrastructure(tally: FailureTally) -> tuple[InfrastructureGroup, ...]:
    """Step limits by themselves: such runs may be looping."""
    found = []
    for kind in INFRASTRUCTURE_KINDS:
        if runs := [digest for digest, ended in tally.infrastructure.items() if ended == kind]:
            failed = sum(digest in tally.failed for digest in runs)
            group = InfrastructureGroup(
                kind=kind, failed_runs=failed, no_outcome=len(runs) - failed, runs=tuple(runs)
            )
            found.append(group)
    return tuple(sorted(found, key=lambda group: (-group.failed_runs, -group.no_outcome)))
