"""Plan graphs and other documents as YAML text: one fixed layout, so that equal ones give equal bytes.

Blocks for a graph and its sub-goals, one line for everything inside a sub-goal; blocks all through for other
documents. Text stays unquoted only where no YAML reader could take it for anything else; quoted text is a
JSON string, which YAML reads the same way.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

_PLAIN = re.compile(r"[A-Za-z_](?:[\w ./()+-]*[\w.)])?\Z", re.ASCII)
# YAML 1.1 takes yes, no, on, off, y and n for truth values.
_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
_UNSAFE = re.compile(
    "[\x7f-\x9f\xad\u0600-\u0605\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufff0-\uffff]|[\ud800-\udfff]"
)
_SHORT_SUB_GOAL = 100


def graph_yaml(mapping: dict[str, Any]) -> str:
    """The text of a whole graph given as plain values."""
    lines = []
    for key, value in mapping.items():
        if key != "sub_goals":
            lines.append(f"{key}: {flow(value)}")
        elif not value:
            lines.append("sub_goals: []")
        else:
            lines.append("sub_goals:")
            for node in value:
                lines += _sub_goal(node)
    return "\n".join(lines) + "\n"


def _sub_goal(node: dict[str, Any]) -> list[str]:
    short = f"  - {flow(node)}"
    if len(short) <= _SHORT_SUB_GOAL and "check" not in node and "rules" not in node:
        return [short]
    lines: list[str] = []
    for key, value in node.items():
        lead = "    " if lines else "  - "
        if key == "rules" and len(value) > 1:
            lines.append(f"{lead}{key}:")
            lines += [f"      - {flow(rule)}" for rule in value]
        else:
            lines.append(f"{lead}{key}: {flow(value)}")
    return lines


def block_yaml(value: Any) -> str:
    """The text of a document in blocks."""
    return "\n".join(_block(value)) + "\n"


def _block(value: Any) -> Iterator[str]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            if isinstance(item, dict | list) and item:
                yield f"{text(str(key))}:"
                deeper = "  " if isinstance(item, dict) else ""  # YAML asks for no indent of a list's dashes
                yield from (deeper + line for line in _block(item))
            else:
                yield f"{text(str(key))}: {flow(item)}"
    elif isinstance(value, list) and value:
        for item in value:
            first, *rest = _block(item)
            yield f"- {first}"
            yield from (f"  {line}" for line in rest)
    else:
        yield flow(value)


def flow(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{text(str(key))}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    return text(value) if isinstance(value, str) else json.dumps(value)


def text(value: str) -> str:
    """A text, quoted unless it is plainly a text."""
    if _PLAIN.match(value) and value.lower() not in _WORDS:
        return value
    return _UNSAFE.sub(lambda match: f"\\u{ord(match.group()):04x}", json.dumps(value, ensure_ascii=False))
