"""JSON, or the Python literals that language models and published scripts write in its place; never run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any, Final

from untaken.ledger import JsonFault, parse_json

LITERAL_CHARS: Final = 4 * 1024 * 1024
LITERAL_DEPTH: Final = 24
FENCES: Final = 20
"""Fenced blocks of one reply that are looked at."""
_BRACKET: Final = re.compile(r"[\[({})\]]")
_LANGUAGE: Final = re.compile(r"[ \t]*+\w{0,20}[ \t]*+\r?\n|json\b", re.IGNORECASE)


def parse_document(data: bytes) -> Any:
    """The value of a JSON text, or of a Python literal: single quotes, ``True``, ``None``, trailing commas.

    Raises:
        JsonFault: of the text as JSON, where it is neither.
    """
    try:
        return parse_json(data)
    except JsonFault as fault:
        if fault.code == "duplicate-key":  # Python would keep the last without a word
            raise
        try:
            return _literal(data.decode())
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            raise fault from None


def written_object(value: Any) -> Any:
    """An object that is written as text, as JSON or as Python does; any other value as it is."""
    if not isinstance(value, str) or value[:1] != "{":
        return value
    try:
        read = parse_document(value.encode(errors="replace"))
    except JsonFault:
        return value
    return read if isinstance(read, dict) else value


def values_in(reply: str) -> Iterator[str]:
    """The texts in a reply that may be its value: each fenced block, then all between the outer braces."""
    blocks = reply.split("```", 2 * FENCES)[1::2]
    for block in blocks:
        language = _LANGUAGE.match(block)
        yield block[language.end() :] if language else block
    yield reply[reply.find("{") : reply.rfind("}") + 1]


def _literal(text: str) -> Any:
    """A literal of JSON's kinds, with limits checked before Python's parser sees it."""
    # Python's own parser can exhaust memory on long or deep text before it raises.
    depth = 0
    for bracket in _BRACKET.finditer(text):
        depth += 1 if bracket[0] in "[({" else -1
        if depth > LITERAL_DEPTH:
            raise ValueError("nested too deep")
    if len(text) > LITERAL_CHARS:
        raise ValueError("too long")
    tree = ast.parse(text.strip(), mode="eval").body
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
            if len(set(keys)) < len(node.keys):
                raise ValueError("a key is repeated or is not a literal")
    return _plain(ast.literal_eval(tree))


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _plain(item) for key, item in value.items()}
    raise ValueError(f"{type(value).__name__} cannot be written as JSON")
