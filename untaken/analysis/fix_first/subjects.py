"""What sub-goals of different plan graphs share: the tool that they ask for, else their title (§5)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec
from msgspec import Struct

from untaken.plans import KINDS, PlanGraph, SubGoal

# Possessive: linear in the length of a hostile title.
SPECIFIC: Final = re.compile(
    r"[\"'`\u2018\u201c][^\"'`\u2018-\u201d]*+[\"'`\u2019\u201d]|(?<!\w)[^\W\d]*+\d\w*+"
)
"""What differs between titles of one kind: words in quotes, and words with digits."""
_GLOB: Final = re.compile(r"[*?\[]")

Key = tuple[str, str]
"""Graph and sub-goal."""


class Subject(Struct, frozen=True, kw_only=True, eq=False):  # a key, by identity
    """One sub-goal, or those of several graphs that ask for the same.

    Attributes:
        name: of one sub-goal its title, else the title they share, else their tool (untrusted).
        members: graph and sub-goal, in order; `critical`: whether one of them is.
    """

    name: str
    members: tuple[Key, ...]
    critical: bool

    @property
    def graph(self) -> str | None:
        """The graph; ``None`` where several share it."""
        graphs = {graph for graph, _ in self.members}
        return graphs.pop() if len(graphs) == 1 else None

    @property
    def sub_goal(self) -> str:
        """The id, where all have one; else the name."""
        ids = {name for _, name in self.members}
        return ids.pop() if len(ids) == 1 else self.name


def subjects_of(graphs: Iterable[PlanGraph]) -> dict[Key, Subject]:
    """The subject of each sub-goal. Sub-goals of one graph are apart, unless another graph has them, too."""
    groups: dict[tuple[str, ...], list[tuple[Key, SubGoal]]] = {}
    for graph in graphs:
        repeated = Counter(kind for node in graph.sub_goals if (kind := _kind(node))[0] == "rule")
        for node in graph.sub_goals:
            kind = _kind(node)
            # Several nodes that one tool is mapped to are different steps: their titles tell them apart.
            kind = (*kind, _pattern(node)) if repeated[kind] > 1 else kind
            groups.setdefault(kind, []).append(((graph.id, node.id), node))
    found: dict[Key, Subject] = {}
    for kind, some in groups.items():
        if len({graph for (graph, _), _ in some}) > 1:
            subject = _joined(kind, some)
            found |= dict.fromkeys(subject.members, subject)
        else:
            found |= {
                key: Subject(name=node.title or node.id, members=(key,), critical=node.critical)
                for key, node in some
            }
    return found


def _joined(kind: Sequence[str], some: Sequence[tuple[Key, SubGoal]]) -> Subject:
    titles = {node.title or node.id for _, node in some}
    name = titles.pop() if len(titles) == 1 else kind[1]
    return Subject(
        name=name, members=tuple(key for key, _ in some), critical=any(node.critical for _, node in some)
    )


def _kind(node: SubGoal) -> tuple[str, ...]:
    """``tool`` that its check asks for, with the patterns that its arguments must fit; ``rule``: the one tool
    that its rules name; ``title``: its title without what is special to one task.
    """
    call = None if node.check is None else node.check.tool_call
    if call is not None:
        patterns = {
            name: value
            for name, value in call.arguments.items()
            if isinstance(value, Mapping) and len(value) == 1 and next(iter(value)) in KINDS
        }
        words = msgspec.json.encode(patterns, order="sorted").decode()
        return ("tool", call.name, *([words] if patterns else []))
    tools = {rule.tool for rule in node.rules if rule.tool is not None}
    if len(tools) == 1 and not _GLOB.search(tool := tools.pop()):
        return "rule", tool
    return "title", _pattern(node)


def _pattern(node: SubGoal) -> str:
    title = node.title or node.id
    shared = SPECIFIC.sub("…", title)
    if not any(map(str.isalpha, shared)):  # all of it is special to one task
        shared = title
    words = " ".join(shared.split()).casefold().rstrip(".")
    return f"{words[:1].upper()}{words[1:]}"
