"""The part of a state that an expression is given: the fields it names, and no more than fits."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from untaken import limits
from untaken.errors import Unscored, UntakenError
from untaken.plans.expression_source import BUILDERS, ExpressionSource, FieldPath, Loop, Token

_CHARS_PER_STEP = 32
_REGEX_CHARS = 200
_REGEX_REPEATS = 100
_HIDING = re.compile(r"\\[xXuU0-7]")
_COUNTED = re.compile(r"\{([0-9]*)(?:,([0-9]*))?\}")

Tree = dict[str, Any]
"""Nested field names; an empty tree means everything below."""


class Size(Struct, frozen=True):
    """How much a value holds: items in all collections, characters in all texts, longest collection."""

    items: int
    chars: int
    longest: int


class Projection(Struct, frozen=True):
    """Which fields of the state are read."""

    tree: Tree

    @classmethod
    def reading(cls, paths: Iterable[FieldPath]) -> Projection:
        """The smallest projection that holds all `paths`."""
        wanted = sorted({path.segments for path in paths}, key=len)
        kept: set[tuple[str, ...]] = set()
        tree: Tree = {}
        for segments in wanted:
            if any(segments[:n] in kept for n in range(len(segments))):
                continue
            kept.add(segments)
            branch = tree
            for segment in segments:
                branch = branch.setdefault(segment, {})
        return cls(tree if wanted else {"": {}})  # an empty tree would mean the whole state

    def of(self, state: Any) -> Any:
        """`state` with the fields that are not read left out."""
        return _project(state, self.tree)


def at(state: Any, segments: tuple[str, ...]) -> Any:
    """The value at a path; ``None`` if there is none."""
    for segment in segments:
        if not isinstance(state, Mapping) or segment not in state:
            return None
        state = state[segment]
    return state


def measure(value: Any) -> Size | Unscored:
    """The size of a state, or why it may not be handed to an expression."""
    items = chars = longest = 0
    # Layer by layer: recursion would end in an error of Python's on what is nested deeply.
    layer: list[Any] = [value]
    for _ in range(limits.JSON_DEPTH + 1):
        below: list[Any] = []
        for item in layer:
            if isinstance(item, Mapping):
                below += item.values()
                chars += sum(len(key) for key in item if isinstance(key, str))
                longest = max(longest, len(item))
            elif isinstance(item, list | tuple):
                below += item
                longest = max(longest, len(item))
            elif isinstance(item, str):
                chars += len(item)
        items += len(below)
        if items > limits.EXPRESSION_ITEMS:
            return Unscored(f"the expression reads more than {limits.EXPRESSION_ITEMS:,} items of the state")
        if chars > limits.EXPRESSION_STRING_CHARS:
            return Unscored(
                f"the expression reads more than {limits.EXPRESSION_STRING_CHARS:,} characters of the state"
            )
        if not below:
            return Size(items, chars, longest)
        layer = below
    return Unscored(
        f"the part of the state that the expression reads is nested deeper than {limits.JSON_DEPTH} levels"
    )


def describe_missing(source: ExpressionSource, state: Any, error: Exception) -> str:
    """Which field an expression could not find, by its dotted name; else that its values do not go together.

    The library names only the last part of a missing field, so the paths in the expression are walked to find
    it.
    """
    key = error.args[0] if isinstance(error, KeyError) and error.args else None
    for path in source.paths:
        known = _known(state, path.segments)
        if known == len(path.segments):
            continue
        missing = f"missing field {_dotted(path.segments[: known + 1])}"
        if isinstance(at(state, path.segments[:known]), Mapping):
            if key in (None, path.segments[known]):
                return missing
        elif key is None:
            return f"{missing}: {_dotted(path.segments[:known])} has no fields"
    if key is not None:
        return f"missing field {source.chain_to(str(key)) or key}"
    return "the expression compares or combines values of different types"


def _known(state: Any, segments: tuple[str, ...]) -> int:
    """How many segments of a path are there."""
    for n, segment in enumerate(segments):
        if not isinstance(state, Mapping) or segment not in state:
            return n
        state = state[segment]
    return len(segments)


def _dotted(segments: tuple[str, ...]) -> str:
    return ".".join(("state", *segments))


def _project(value: Any, tree: Tree) -> Any:
    if not tree or not isinstance(value, Mapping):
        return value
    return {key: _project(value[key], branch) for key, branch in tree.items() if key in value}


def refuse_regexes(source: ExpressionSource) -> None:
    """A pattern must be written in the expression, short, and without large counted repetitions.

    Raises:
        UntakenError: ``expression-regex``.
    """
    for i in range(len(source.tokens)):
        if not _calls_matches(source.tokens, i):
            continue
        pattern = _pattern(source.tokens, i)
        if pattern is None:
            message = (
                "the pattern of matches() must be written out in the expression, like x.matches('ORD-[0-9]+')"
            )
        elif len(pattern) > _REGEX_CHARS:
            message = f"the pattern of matches() has {len(pattern)} characters; {_REGEX_CHARS} are allowed"
        elif _repeats(pattern) > _REGEX_REPEATS:
            message = f"the counted repetitions in matches() multiply to more than {_REGEX_REPEATS}"
        else:
            continue
        raise UntakenError("expression-regex", message)


def steps(source: ExpressionSource, state: Any, size: Size) -> float:
    """Upper bound of the steps that `source` takes on `state`, of `size`."""
    # With n additions a list or a text can be n + 1 times as long as all that is read.
    weight = size.items + size.chars / _CHARS_PER_STEP + 1
    joins = 1 + sum(token.text == "+" for token in source.tokens)
    total = len(source.tokens) * weight * joins
    rounds = size.longest * joins + len(source.tokens)  # a list may also be written out in the expression
    for loop in source.loops:
        total += rounds * _body(source, loop, state)
        if loop.kind in BUILDERS:
            held = rounds * _body(source, loop, state) if loop.kind == "map" else 0.0
            total += rounds * (weight * joins + held)
    return total + _regexes(source, size, rounds)


def _body(source: ExpressionSource, loop: Loop, state: Any) -> float:
    """Steps of one round: its tokens, each of which may look through what the body reads of the state."""
    read = 1.0
    for path in source.paths:
        if loop.start < path.at < loop.end:
            part = measure(at(state, path.segments))
            read += part.items + part.chars / _CHARS_PER_STEP if isinstance(part, Size) else math.inf
    return (loop.end - loop.start) * read


def _regexes(source: ExpressionSource, size: Size, rounds: float) -> float:
    total = 0.0
    for i in range(len(source.tokens)):
        if _calls_matches(source.tokens, i) and (pattern := _pattern(source.tokens, i)) is not None:
            parts = len(pattern) * _repeats(pattern)
            # A class such as \w has thousands of ranges in Unicode; inside a loop each round compiles again.
            compiling = 100 * parts + 8_000 * pattern.count("\\") * _repeats(pattern)
            times = rounds if any(loop.start < i < loop.end for loop in source.loops) else 1
            total += times * compiling + parts * size.chars / 4
    return total


def _calls_matches(tokens: tuple[Token, ...], i: int) -> bool:
    return tokens[i].text == "matches" and [t.text for t in tokens[i + 1 : i + 2]] == ["("]


def _pattern(tokens: tuple[Token, ...], i: int) -> str | None:
    """The pattern in ``x.matches("…")`` at token `i`; ``None`` where it is not plainly written there."""
    texts = [t.text for t in tokens[i + 1 : i + 4]]
    if i == 0 or tokens[i - 1].text != "." or texts[:1] != ["("] or texts[2:] != [")"]:
        return None
    return _unquoted(tokens[i + 2])


def _unquoted(token: Token) -> str | None:
    """A text's content; ``None`` where escapes could hide what it says."""
    if token.kind != "text":
        return None
    if token.text[0] in "rR":
        return token.text[2:-1]
    plain = token.text[1:-1].replace("\\\\", "\0")
    return None if _HIDING.search(plain) else plain.replace("\0", "\\")


def _repeats(pattern: str) -> int:
    repeats = 1
    for low, high in _COUNTED.findall(pattern):
        repeats *= max(int((high or low)[:9] or 1), 1)
    return repeats
