"""What differs between two versions of a plan graph, as far as it can matter (§4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

import msgspec

from untaken import limits
from untaken.plans.globs import matches_glob, unescaped
from untaken.plans.patterns import json_equal
from untaken.plans.plan_graph import PlanGraph, Rule, SubGoal
from untaken.plans.structure import edges

_OF_GRAPH: Final = ("id", "version", "title", "tasks", "mutates", "hand_over", "metadata")
_OF_SUB_GOAL: Final = (
    "title",
    "description",
    "critical",
    "weight",
    "kind",
    "check",
    "when",
    "when_at",
    "needs_action",
    "times",
    "evidence",
    "rules",
    "any_of",
    "metadata",
)


class FieldChange(msgspec.Struct, frozen=True, kw_only=True):
    """A field with another value; values as plain JSON, ``None`` for a field without one."""

    field: str
    before: Any
    after: Any


class ChangedSubGoal(msgspec.Struct, frozen=True, kw_only=True):
    """A sub-goal of both versions that does not say the same in both; its dependencies are edges."""

    sub_goal: str
    title: str
    fields: tuple[FieldChange, ...]


class Edge(msgspec.Struct, frozen=True, kw_only=True):
    """A direct dependency: `sub_goal` needs `dependency`."""

    dependency: str
    sub_goal: str


class Renamed(msgspec.Struct, frozen=True, kw_only=True):
    """A removed and an added sub-goal that are alike in all but the id, and like no other: a guess."""

    before: str
    after: str


class Reordered(msgspec.Struct, frozen=True, kw_only=True):
    """Two sub-goals that changed places while their rules may claim the same action: the first gets it."""

    first: str
    second: str


class GraphDiff(msgspec.Struct, frozen=True, kw_only=True):
    """The changes from one version of a plan graph to another.

    Attributes:
        before, after: the two versions.
        fields: of the graph itself.
        added, removed: sub-goals in one version only.
        changed: sub-goals in both versions with other fields.
        edges_added, edges_removed: direct dependencies in one version only.
        renamed: proposed pairs of `removed` and `added`. They stay in both lists: an id is what tags and
            verdicts in ledgers name, so a new id is a new sub-goal to them.
        reordered: the one way in which the order of sub-goals matters.
    """

    before: PlanGraph
    after: PlanGraph
    fields: tuple[FieldChange, ...]
    added: tuple[SubGoal, ...]
    removed: tuple[SubGoal, ...]
    changed: tuple[ChangedSubGoal, ...]
    edges_added: tuple[Edge, ...]
    edges_removed: tuple[Edge, ...]
    renamed: tuple[Renamed, ...]
    reordered: tuple[Reordered, ...]

    @property
    def equal(self) -> bool:
        """True where no differences."""
        return not any(
            (
                self.fields,
                self.added,
                self.removed,
                self.changed,
                self.edges_added,
                self.edges_removed,
                self.reordered,
            )
        )


def diff_graphs(before: PlanGraph, after: PlanGraph) -> GraphDiff:
    """Compare two valid plan graphs.

    What has no effect is no difference: the order of dependencies, tasks, rules of one sub-goal and options,
    a dependency named twice, a default written out, and the order of sub-goals unless rules of two of them
    may claim the same action.
    """
    old = {node.id: node for node in before.sub_goals}
    new = {node.id: node for node in after.sub_goals}
    old_edges, new_edges = dict.fromkeys(edges(before)), dict.fromkeys(edges(after))
    added = tuple(node for node in after.sub_goals if node.id not in old)
    removed = tuple(node for node in before.sub_goals if node.id not in new)
    return GraphDiff(
        before=before,
        after=after,
        fields=tuple(_changes(before, after, _OF_GRAPH)),
        added=added,
        removed=removed,
        changed=tuple(_changed(old, after.sub_goals)),
        edges_added=tuple(Edge(dependency=a, sub_goal=b) for a, b in new_edges if (a, b) not in old_edges),
        edges_removed=tuple(Edge(dependency=a, sub_goal=b) for a, b in old_edges if (a, b) not in new_edges),
        renamed=_renamed(removed, added),
        reordered=tuple(_reordered(before.sub_goals, new)),
    )


def _changed(old: Mapping[str, SubGoal], nodes: Sequence[SubGoal]) -> Iterator[ChangedSubGoal]:
    for node in nodes:
        found = tuple(_changes(old[node.id], node, _OF_SUB_GOAL)) if node.id in old else ()
        if found:
            yield ChangedSubGoal(sub_goal=node.id, title=node.title or node.id, fields=found)


def _changes(before: Any, after: Any, names: Sequence[str]) -> Iterator[FieldChange]:
    for name in names:
        old, new = (_plain(name, getattr(of, name)) for of in (before, after))
        if not json_equal(old, new):
            yield FieldChange(field=name, before=old, after=new)


def _plain(name: str, value: Any) -> Any:
    """The value as JSON, sorted where its order means nothing."""
    plain = msgspec.to_builtins(value)
    if name in ("tasks", "mutates", "hand_over", "any_of", "rules"):
        return _sorted(plain)
    if name == "check" and plain:
        return {kind: _check_part(part) for kind, part in plain.items()}
    return plain


def _check_part(part: Any) -> Any:
    if not isinstance(part, dict):
        return part
    return {key: _sorted(value) if key in ("by", "compare_args") else value for key, value in part.items()}


def _sorted(items: list[Any]) -> list[Any]:
    by_text: dict[bytes, Any] = {msgspec.json.encode(item, order="sorted"): item for item in items}
    return [by_text[text] for text in sorted(by_text)]


def _renamed(removed: Sequence[SubGoal], added: Sequence[SubGoal]) -> tuple[Renamed, ...]:
    """Pairs alike in title and rules, unlike all others, whose dependencies are the same or renamed too."""
    old, new = _by_content(removed), _by_content(added)
    pairs = {old[key][0]: new[key][0] for key in old if len(old[key]) == len(new.get(key, ())) == 1}
    nodes = {node.id: node for node in (*removed, *added)}
    while True:  # each round drops a pair, so it ends
        wrong = [a for a, b in pairs.items() if _needs(nodes[a], pairs) != _needs(nodes[b], {})]
        if not wrong:
            return tuple(Renamed(before=a, after=b) for a, b in pairs.items())
        for name in wrong:
            del pairs[name]


def _by_content(nodes: Sequence[SubGoal]) -> dict[bytes, list[str]]:
    found: dict[bytes, list[str]] = {}
    for node in nodes:
        if node.title or node.rules:  # without either, all would be alike
            key = msgspec.json.encode([node.title, _plain("rules", node.rules)], order="sorted")
            found.setdefault(key, []).append(node.id)
    return found


def _needs(node: SubGoal, renamed: Mapping[str, str]) -> tuple[frozenset[str], frozenset[str]]:
    def called(names: Sequence[str]) -> frozenset[str]:
        return frozenset(renamed.get(name, name) for name in names)

    return called(node.deps), called(node.any_of)


def _reordered(old: Sequence[SubGoal], new: Mapping[str, SubGoal]) -> Iterator[Reordered]:
    """Pairs that swapped; past the limit of comparisons a pair counts as rivals without a look."""
    place = {name: number for number, name in enumerate(new)}
    holders = [new[node.id] for node in old if node.id in new and new[node.id].rules]
    # As a rule nothing moved: no pair of rules need be compared.
    if [node.id for node in holders] == sorted((node.id for node in holders), key=place.__getitem__):
        return
    left = limits.MAPPING_COMPARISONS
    for one, other in combinations(holders, 2):
        if place[one.id] > place[other.id]:
            left -= len(one.rules) * len(other.rules)
            if left < 0 or any(_may_share(a, b) for a in one.rules for b in other.rules):
                yield Reordered(first=other.id, second=one.id)


def _may_share(a: Rule, b: Rule) -> bool:
    """Whether an action can fit both."""
    if (a.text is None) != (b.text is None):
        return False
    first, second = _pattern(a), _pattern(b)
    if (name := unescaped(first)) is not None:
        return matches_glob(second, name)
    name = unescaped(second)
    return name is None or matches_glob(first, name)  # of two patterns with wildcards, nobody looks further


def _pattern(rule: Rule) -> str:
    return rule.text.casefold() if rule.text is not None else rule.tool or "*"
