"""Three-way merge of two people's edits of one plan graph, field by field (§4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any, Final, Literal

import msgspec
from msgspec.structs import replace

from untaken.plans.editing.edits import FIELDS
from untaken.plans.patterns import json_equal
from untaken.plans.plan_graph import PlanGraph, SubGoal

Side = Literal["mine", "theirs"]
Place = tuple[str | None, str]
"""Where two sides differ: the sub-goal, ``None`` for the graph itself, and the field."""

WHOLE: Final = "sub_goal"
"""The field of a conflict over whether a sub-goal is there at all."""
ORDER: Final = "order"
"""The field of a conflict over the order of sub-goals."""
LINKS: Final = ("deps", "any_of")
"""Fields that hold other sub-goals."""


class MergeConflict(msgspec.Struct, frozen=True, kw_only=True):
    """Both sides changed the same thing, differently.

    Attributes:
        sub_goal: ``None`` for the graph itself.
        field: of the sub-goal or graph; `WHOLE` where one side deleted what the other changed or came to
            need; ``deps`` or ``any_of`` where the two together would close a circle; `ORDER`.
        mine, theirs: the values as plain JSON; ``None`` for what is not there.
        taken: whose is in the merged graph.
    """

    sub_goal: str | None
    field: str
    mine: Any
    theirs: Any
    taken: Side

    @property
    def place(self) -> Place:
        """What a choice is made by."""
        return self.sub_goal, self.field


class MergedGraph(msgspec.Struct, frozen=True, kw_only=True):
    """A valid graph with both sides' edits, and where they contradict each other."""

    graph: PlanGraph
    conflicts: tuple[MergeConflict, ...]


def merge(
    base: PlanGraph, mine: PlanGraph, theirs: PlanGraph, *, choices: Mapping[Place, Side] | None = None
) -> MergedGraph:
    """Take what only one side changed; where both did, what `choices` says, else mine.

    Dependencies, options and tasks are sets: what either side added is there, what either took away is not.
    With no conflict, it makes no difference which side is called mine.
    """
    return _Merging(base, mine, theirs, choices or {}).merged()


class _Merging:
    def __init__(
        self, base: PlanGraph, mine: PlanGraph, theirs: PlanGraph, choices: Mapping[Place, Side]
    ) -> None:
        self.base, self.mine, self.theirs = (
            {node.id: node for node in graph.sub_goals} for graph in (base, mine, theirs)
        )
        self.graphs = base, mine, theirs
        self.choices = choices
        self.conflicts: list[MergeConflict] = []

    def merged(self) -> MergedGraph:
        """Who is there, what each says, what needs what, in which order."""
        base, mine, theirs = self.graphs
        there = self.there()
        nodes = {name: self.node(name) for name in there}
        for field in LINKS:
            links = self.links(there, field)
            nodes = {name: replace(node, **{field: links[name]}) for name, node in nodes.items()}
        graph = replace(
            base,
            id=self.pick((None, "id"), base.id, mine.id, theirs.id),
            version=max(mine.version, theirs.version),
            title=self.pick((None, "title"), base.title, mine.title, theirs.title),
            tasks=_united(base.tasks, mine.tasks, theirs.tasks),
            mutates=_united(base.mutates, mine.mutates, theirs.mutates),
            hand_over=_united(base.hand_over, mine.hand_over, theirs.hand_over),
            metadata=self.pick((None, "metadata"), base.metadata, mine.metadata, theirs.metadata),
            sub_goals=[nodes[name] for name in self.ordered(there)],
        )
        return MergedGraph(graph=graph, conflicts=tuple(self.conflicts))

    def there(self) -> list[str]:
        """The sub-goals of the merged graph; where the two together would leave none, those of one side."""
        every = list(dict.fromkeys([*self.base, *self.mine, *self.theirs]))
        found = [name for name in every if self.stays(name)]
        if not found and self.mine and self.theirs:  # a graph without sub-goals is none
            sides = [self.contested((name, WHOLE), self.mine[name], None) for name in self.mine]
            found = list(self.mine if sides[0] == "mine" else self.theirs)
        return found

    def stays(self, name: str) -> bool:
        """Whether a sub-goal is in the merged graph."""
        in_mine, in_theirs = name in self.mine, name in self.theirs
        if in_mine == in_theirs or name not in self.base:
            return in_mine or in_theirs
        kept = self.mine if in_mine else self.theirs
        if _same(self.base[name], kept[name]) and _users(name, kept) <= _users(name, self.base):
            return False  # deleted by one; the other neither changed it nor came to need it
        side = self.contested((name, WHOLE), self.mine.get(name), self.theirs.get(name))
        return in_mine if side == "mine" else in_theirs

    def node(self, name: str) -> SubGoal:
        """A sub-goal; its links are still to be made."""
        mine, theirs = self.mine.get(name), self.theirs.get(name)
        if mine is None or theirs is None:
            return mine or theirs or self.base[name]
        before = self.base.get(name) or SubGoal(id=name)
        values = {
            field: self.pick((name, field), *(getattr(node, field) for node in (before, mine, theirs)))
            for field in FIELDS
            if field not in LINKS
        }
        return replace(before, **values)

    def pick(self, place: Place, base: Any, mine: Any, theirs: Any) -> Any:
        """The value that only one side changed, or whose was chosen."""
        if _same(mine, theirs) or _same(base, theirs):
            return mine
        if _same(base, mine):
            return theirs
        return mine if self.contested(place, mine, theirs) == "mine" else theirs

    def contested(self, place: Place, mine: Any, theirs: Any) -> Side:
        """Write a conflict down, once, and say whose is taken."""
        side = self.choices.get(place, "mine")
        if all(known.place != place for known in self.conflicts):
            values = [msgspec.to_builtins(value) for value in (mine, theirs)]
            self.conflicts.append(
                MergeConflict(sub_goal=place[0], field=place[1], mine=values[0], theirs=values[1], taken=side)
            )
        return side

    def links(self, there: Sequence[str], field: str) -> dict[str, list[str]]:
        """Each sub-goal's dependencies or options; where both sides together form a cycle, one side's."""
        gone = {*self.base, *self.mine, *self.theirs}.difference(there)
        wanted = {name: self.united(name, field, gone) for name in there}
        pairs = [(name, other) for name, others in wanted.items() for other in dict.fromkeys(others)]
        refused = _circular(sorted(pairs, key=lambda pair: self.turn(pair, field, set())))
        for name in dict.fromkeys(name for name, _ in refused):
            mine, theirs = (self.listed(nodes, name, field) for nodes in (self.mine, self.theirs))
            self.contested((name, field), mine, theirs)
        first = {name for name, _ in refused if self.choices.get((name, field)) == "theirs"}
        if first:
            # Drawn again, those that were chosen first: another link may close the circle then.
            refused = _circular(sorted(pairs, key=lambda pair: self.turn(pair, field, first)))
        return {
            name: [other for other in others if (name, other) not in refused]
            for name, others in wanted.items()
        }

    def united(self, name: str, field: str, gone: set[str]) -> list[str]:
        """What one sub-goal needs, or its options, whatever circles that may close."""
        sides = [self.listed(nodes, name, field) for nodes in (self.base, self.mine, self.theirs)]
        if name not in self.mine or name not in self.theirs:
            whole = sides[1] if name in self.mine else sides[2]
        else:
            whole = _united(*self.without_deletions(sides))
        return [other for other in whole if other not in gone]

    def without_deletions(self, sides: list[list[str]]) -> list[list[str]]:
        """Who deleted what is kept all the same has no say in what needs it."""
        base, mine, theirs = sides
        kept_by_them = [name for name in theirs if name in self.base and name not in self.mine]
        kept_by_me = [name for name in mine if name in self.base and name not in self.theirs]
        return [base, [*mine, *kept_by_them], [*theirs, *kept_by_me]]

    def listed(self, nodes: Mapping[str, SubGoal], name: str, field: str) -> list[str]:
        """The links of a sub-goal on one side; none where it is not there."""
        return list(getattr(nodes[name], field)) if name in nodes else []

    def turn(self, pair: tuple[str, str], field: str, first: set[str]) -> tuple[bool, ...]:
        """The order of drawing links, false first: from before, from both sides, chosen, mine, theirs."""
        name, other = pair
        known, own, foreign = (
            other in self.listed(nodes, name, field) for nodes in (self.base, self.mine, self.theirs)
        )
        return not known, not (own and foreign), not (foreign and name in first), foreign

    def ordered(self, there: Sequence[str]) -> list[str]:
        """The order of sub-goals: that of the side that changed it; new ones keep their position."""
        core = {name for name in there if name in self.base and name in self.mine and name in self.theirs}
        before, mine, theirs = (
            [name for name in nodes if name in core] for nodes in (self.base, self.mine, self.theirs)
        )
        main = self.pick((None, ORDER), before, mine, theirs)
        chains = [_chains(nodes, core, set(there)) for nodes in (self.mine, self.theirs)]
        found: dict[str, None] = {}
        for anchor in (None, *main):
            found.update({} if anchor is None else {anchor: None})
            # Sorted: it must not matter which side is called mine.
            for chain in sorted(chain.get(anchor, []) for chain in chains):
                found.update(dict.fromkeys(chain))
        return list(found)


def _same(one: Any, other: Any) -> bool:
    return json_equal(msgspec.to_builtins(one), msgspec.to_builtins(other))


def _users(name: str, nodes: Mapping[str, SubGoal]) -> set[tuple[str, str]]:
    """Which sub-goals name it, and in which field."""
    return {(node.id, field) for node in nodes.values() for field in LINKS if name in getattr(node, field)}


def _united(base: Sequence[str], mine: Sequence[str], theirs: Sequence[str]) -> list[str]:
    """What either added, without what either took away; in the order of a side that says all of it."""
    before, own, foreign = set(base), set(mine), set(theirs)
    kept = (own & foreign) | (own - before) | (foreign - before)
    whole = [list(side) for side in (mine, theirs) if set(side) == kept and list(side) != list(base)]
    if whole:
        return min(whole)  # not the first: it must not matter which side is mine
    return [*(name for name in base if name in kept), *sorted(kept - before)]


def _circular(pairs: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    """The links that would close a cycle, when drawn one after the other."""
    needs: dict[str, list[str]] = {}
    for name, other in pairs:
        needs.setdefault(name, []).append(other)
    # As a rule there is no cycle, and the links need not be drawn one by one.
    try:
        TopologicalSorter(needs).prepare()
    except CycleError:
        needs = {}
        return {pair for pair in pairs if not _drawn(needs, *pair)}
    return set()


def _drawn(needs: dict[str, list[str]], name: str, other: str) -> bool:
    """Draw a link, unless it closes a circle."""
    if _reaches(needs, other, name):
        return False
    needs.setdefault(name, []).append(other)
    return True


def _reaches(needs: Mapping[str, Sequence[str]], start: str, goal: str) -> bool:
    seen, todo = {start}, [start]
    while todo:
        name = todo.pop()
        if name == goal:
            return True
        fresh = [other for other in needs.get(name, ()) if other not in seen]
        seen.update(fresh)
        todo += fresh
    return False


def _chains(nodes: Iterable[str], core: set[str], there: set[str]) -> dict[str | None, list[str]]:
    """Sub-goals between those that all sides have, by the one before them."""
    chains: dict[str | None, list[str]] = {}
    anchor: str | None = None
    for name in nodes:
        if name in core:
            anchor = name
        elif name in there:
            chains.setdefault(anchor, []).append(name)
    return chains
