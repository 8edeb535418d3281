"""Advice that contradicts itself: complete this sub-goal, but do not take the skill that completes it."""

from __future__ import annotations

from collections.abc import Iterable

from untaken.corpus import Corpus
from untaken.fix_first.model import Conflict, FixFirst
from untaken.plans import SubGoal
from untaken.plans.globs import matches_glob


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
