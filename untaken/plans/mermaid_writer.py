"""Plan graphs as a Mermaid flowchart that Mermaid draws and `mermaid_reader` reads back.

Ids and titles are untrusted. Ids that Mermaid could take for syntax become ``n1, n2, …`` with the real id in
a comment; in titles everything but letters, digits and plain punctuation becomes a numeric entity, so that no
title can close its quotes or smuggle in a directive, a link or HTML.
"""

from __future__ import annotations

import json
import re

from untaken.plans.plan_graph import PlanGraph

NOTE = "%% untaken "
"""Begins a comment that carries what Mermaid has no place for, as JSON texts separated by spaces."""

_SAFE_ID = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_ALIAS = re.compile(r"n[0-9]+\Z")
_RESERVED = frozenset({
    *("graph", "flowchart", "subgraph", "end", "direction", "td", "tb", "bt", "lr", "rl", "v", "default"),
    *("class", "classdef", "style", "linkstyle", "click", "call", "href", "interpolate"),
    *("acctitle", "accdescr", "title", "_self", "_blank", "_parent", "_top"),
})  # fmt: skip
_UNSAFE_IN_TITLE = re.compile(r"[^\w .,()/+=?!'*-]")


def write_mermaid(graph: PlanGraph) -> str:
    """A ``flowchart TD``: arrows run from a dependency to what needs it; critical ones have a class."""
    lines = ["flowchart TD", f"  {NOTE}graph {_quoted(graph.id)} {graph.version} {_quoted(graph.title)}"]
    names = {node.id: _name(node.id, i) for i, node in enumerate(graph.sub_goals, start=1)}
    lines += [f"  {NOTE}id {name} {_quoted(real)}" for real, name in names.items() if name != real]
    for node in graph.sub_goals:
        title = node.title or ("" if names[node.id] == node.id else node.id)
        shape = f'["{_label(title)}"]' if title else ""
        lines.append(f"  {names[node.id]}{shape}{':::critical' if node.critical else ''}")
    for node in graph.sub_goals:
        lines += [f"  {names[dep]} --> {names[node.id]}" for dep in node.deps]
    if any(node.critical for node in graph.sub_goals):
        lines.append("  classDef critical stroke-width:4px")
    return "\n".join(lines) + "\n"


def _name(sub_goal: str, position: int) -> str:
    plain = _SAFE_ID.match(sub_goal) and not _ALIAS.match(sub_goal) and sub_goal.lower() not in _RESERVED
    return sub_goal if plain else f"n{position}"


def _label(title: str) -> str:
    return _UNSAFE_IN_TITLE.sub(lambda match: f"#{ord(match.group())};", title)


def _quoted(text: str) -> str:
    """A JSON text that no Mermaid version takes for a directive (``%%{…}%%``)."""
    return re.sub(r"[{}%<>]", lambda match: f"\\u{ord(match.group()):04x}", json.dumps(text))
