"""Plan graphs as a Mermaid flowchart that Mermaid draws and `mermaid_reader` reads back.

Ids and titles are untrusted: ids that Mermaid could take for syntax become ``n1, n2, …`` with the real id in a comment,
and in titles every character but letters, digits and plain punctuation becomes a numeric entity, so that no title can
close its quotes or smuggle in a directive, a link or HTML.
"""

from __future__ import annotations

import json
import re

from untaken.plans.model import PlanGraph

NOTE = "%% untaken "
"""Begins a comment that carries what Mermaid itself has no place for, as JSON on the rest of the line."""

_SAFE_ID = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_ALIAS = re.compile(r"n[0-9]+\Z")
_RESERVED = frozenset(
    "end graph flowchart subgraph class classdef click style linkstyle default direction call href interpolate"
    " call accTitle accDescr title td tb lr rl bt v".lower().split()
)
_UNSAFE_IN_TITLE = re.compile(r"[^\w .,()/+=?!'*-]|_{2,}")


def write_mermaid(graph: PlanGraph) -> str:
    """A ``flowchart TD``: an arrow runs from a dependency to what needs it; critical sub-goals have a class."""
    about = {"id": graph.id, "version": graph.version, "title": graph.title}
    lines = ["flowchart TD", f"  {NOTE}graph {_json(about)}"]
    names = {node.id: _name(node.id, i) for i, node in enumerate(graph.sub_goals, start=1)}
    lines += [f"  {NOTE}id {name} {_json(real)}" for real, name in names.items() if name != real]
    for node in graph.sub_goals:
        mark = ":::critical" if node.critical else ""
        lines.append(f'  {names[node.id]}["{_label(node.title or node.id)}"]{mark}')
    for node in graph.sub_goals:
        lines += [f"  {names[dep]} --> {names[node.id]}" for dep in node.deps]
    if any(node.critical for node in graph.sub_goals):
        lines.append("  classDef critical stroke-width:4px")
    return "\n".join(lines) + "\n"


def _name(sub_goal: str, position: int) -> str:
    plain = _SAFE_ID.match(sub_goal) and not _ALIAS.match(sub_goal) and sub_goal.lower() not in _RESERVED
    return sub_goal if plain else f"n{position}"


def _label(title: str) -> str:
    return _UNSAFE_IN_TITLE.sub(lambda match: "".join(f"#{ord(c)};" for c in match.group()), title)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=True)
