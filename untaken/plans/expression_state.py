"""The part of a state that an expression is given: the fields it names, and no more than fits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from untaken import limits
from untaken.errors import Unscored
from untaken.plans.expression_source import ExpressionSource, FieldPath

Tree = dict[str, Any]
"""Nested field names; an empty tree means everything below."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much a value holds: items in all collections, characters in all texts, longest collection."""

    items: int
    chars: int
    longest: int


@dataclass(frozen=True, slots=True)
class Projection:
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
