"""The fix-first list of a corpus: sub-goals and decisions in one order, by expected gain (§5).

Advice may contradict itself: complete this sub-goal, but do not take the skill that completes it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from untaken.corpus import Corpus
from untaken.counterfactual.choices import SMALL_Q
from untaken.errors import Unscored, UntakenError
from untaken.fix_first.decisions import decisions_to_fix
from untaken.fix_first.findings import Conflict, FixFirst, Triage
from untaken.fix_first.sub_goals import SubGoalsToFix, sub_goals_to_fix
from untaken.plans import SubGoal
from untaken.plans.globs import matches_glob


def triage(corpus: Corpus, *, agents: Collection[str] = ()) -> Triage:
    """What to fix first: how often × how much, with the runs behind each item.

    Args:
        corpus: what was evaluated.
        agents: whose runs to look at; everybody's by default. What history says of a decision is always drawn
            from the whole memory.

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
    return _triage(corpus, agents, digests)


def triage_by_agent(corpus: Corpus) -> dict[str | None, Triage]:
    """`triage` of all runs (under ``None``) and of each agent's own, by name."""
    of_agent: dict[str, dict[str, None]] = {}
    for digest, run in corpus.runs.items():
        of_agent.setdefault(run.agent, {})[digest] = None
    everybody = _triage(corpus, (), dict.fromkeys(corpus.runs))
    return {None: everybody} | {
        agent: _triage(corpus, (agent,), of_agent[agent]) for agent in sorted(of_agent)
    }


def _triage(corpus: Corpus, agents: Collection[str], digests: Mapping[str, None]) -> Triage:
    sub_goals = sub_goals_to_fix(corpus, digests)
    decisions, evaluated = decisions_to_fix(corpus, corpus.choices, digests)
    items = sorted((*sub_goals.items, *decisions), key=_order)
    return Triage(
        items=tuple(items),
        contradictions=tuple(c for c in corpus.contradictions if c.digest in digests),
        agents=tuple(sorted(agents)),
        scored=sub_goals.scored,
        unscored=len(digests) - sub_goals.scored,
        evaluated=evaluated,
        not_evaluated=len(digests) - evaluated,
        harmless=sub_goals.harmless,
        reason="" if items else f"{_no_sub_goal(sub_goals, corpus, digests)}; {no_decision(evaluated)}",
        patterns=sub_goals.patterns,
        conflicts=conflicts(corpus, items),
    )


def _order(item: FixFirst) -> tuple[object, ...]:
    names = (item.graph, item.sub_goal, item.selected, item.context_hash)
    return (-item.gain, -item.often.count, item.kind, *(name or "" for name in names))


def _no_sub_goal(sub_goals: SubGoalsToFix, corpus: Corpus, digests: Iterable[str]) -> str:
    if not sub_goals.scored:
        scored = any(not isinstance(corpus.scores[digest], Unscored) for digest in digests)
        where = "has evidence on a sub-goal that counts" if scored else "is scored against a plan graph"
        return f"no run {where}"
    if sub_goals.harmless:
        return f"no sub-goal that failed in the {sub_goals.scored} scored runs blocks a critical one"
    return f"no required sub-goal is known to have failed in the {sub_goals.scored} scored runs"


def no_decision(evaluated: int) -> str:
    """Why no decision is listed."""
    if not evaluated:
        return "no run has decisions that can be evaluated"
    where = f"in the {evaluated} evaluated runs"
    return f"no alternative is supported to succeed more often (q ≤ {SMALL_Q:g}) {where}"


def conflicts(corpus: Corpus, items: Iterable[FixFirst]) -> tuple[Conflict, ...]:
    """Each decision that advises against a tool which a sub-goal of the same list needs.

    A skill is taken for a tool of its name. Both pieces of advice can be right, in different situations: the
    decision is about one context alone, and the sub-goal about whole runs.
    """
    everything = tuple(items)
    nodes = {(graph.id, node.id): node for graph in corpus.graphs.graphs for node in graph.sub_goals}
    goals = [(item, nodes[item.graph or "", item.sub_goal or ""]) for item in everything if item.sub_goal]
    return tuple(
        Conflict(sub_goal=goal, decision=decision)
        for decision in everything
        if decision.kind == "decision"
        for goal, node in goals
        if _needs(node, decision.selected or "") and not _needs(node, decision.alternative or "")
    )


def _needs(node: SubGoal, tool: str) -> bool:
    call = None if node.check is None else node.check.tool_call
    if call is not None:
        return call.name == tool
    return any(rule.tool is not None and matches_glob(rule.tool, tool) for rule in node.rules)
