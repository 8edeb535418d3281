"""Foreign values made fit for a ledger, and counted by their place on the way."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, Final

from untaken import limits
from untaken.traces.losses import FIRST_PLACES, KEY_CHARS, Findings, Held, clip
from untaken.working import step

DEPTH: Final = limits.JSON_DEPTH - 8
"""Levels of nesting kept in a value; an event wraps it in a few more."""
TEXT_CHARS: Final = 2 * limits.MIB
"""Most characters of one text; with any characters, it then fits in a ledger line."""
PLACES: Final = 1_000
"""Maximum of distinct places per file; more names, as in a hostile file, are counted together."""
OTHER: Final = "(other places)"
_INTEGER: Final = 1 << (limits.INTEGER_BITS - 1)


class Places:
    """The places of a source format that reach a ledger or a graph.

    A place is written ``[].info.task.user_id``: names joined by dots, ``[]`` for any element. A place
    ending in ``.**`` covers everything below it, whatever its names (the arguments of a call, say).

    Args:
        kept: places whose values are written.
        dropped: places below which names vary and nothing is written but what is `kept`; every other place is
            dropped too, one by one.
    """

    def __init__(self, kept: Iterable[str], dropped: Iterable[str] = ()) -> None:
        self._named = kept
        self.dropped = tuple(dropped)
        self._known: dict[tuple[str, str], str] = {}

    @cached_property
    def kept(self) -> frozenset[str]:
        """The places whose values are written."""
        return frozenset(self._named)

    @cached_property
    def _whole(self) -> frozenset[str]:
        return frozenset(p[:-3] for p in (*self.kept, *self.dropped) if p.endswith(".**"))

    @cached_property
    def _above(self) -> frozenset[str]:
        """What has kept places inside. Some formats name 200,000, which only their own files need."""
        return frozenset(_above(place.removesuffix(".**") for place in self.kept))

    @cached_property
    def _apart(self) -> frozenset[str]:
        return self._above.union(place.removesuffix(".**") for place in self.kept)

    @cached_property
    def _left_out(self) -> tuple[str, ...]:
        return tuple(p[:-2] for p in self.dropped if p[:-3] in self._above)

    def below(self, place: str, name: str) -> str:
        """The place of a member (or ``[]``) of the value at `place`."""
        known = self._known.get((place, name))
        if known is None:
            if place.endswith(".**") or place == OTHER:
                return place
            if len(self._known) >= PLACES:
                return OTHER
            known = f"{place}[]" if name == "[]" else f"{place}.{clip(name, KEY_CHARS)}".lstrip(".")
            if f"{known}.**" in self.kept or (known in self._whole and known not in self._apart):
                known += ".**"
            elif known not in self._apart:
                home = next((home for home in self._left_out if known.startswith(home)), None)
                known = known if home is None else f"{home}**"
            self._known[place, name] = known
        return known


def under(home: str, names: str) -> Iterator[str]:
    """The places of these names, written with blanks between them, below `home`."""
    return (f"{home}{name}" for name in names.split())


def _above(places: Iterable[str]) -> set[str]:
    """Every place above one of these: ``a``, ``a.b`` and ``a.b[]`` above ``a.b[].c``."""
    found: set[str] = set()
    for place in places:
        while (end := max(place.rfind("."), place.rfind("[]"))) >= 0 and (place := place[:end]) not in found:
            found.add(place)
    return found


class Tidier:
    """Makes values fit (no NaN, no lone surrogates, bounded numbers, depth and text); says what changed."""

    def __init__(self, places: Places, findings: Findings) -> None:
        self.places = places
        self._findings = findings
        self._held = Held()
        self._path: list[str | int] = []

    def record(self, value: Any, root: str) -> tuple[Any, Held]:
        """A whole record, tidied, with the number of values (nulls aside) at each place below `root`."""
        self._held = Held()
        self._path = []
        return self._walk(value, root, 0), self._held

    def value(self, value: Any) -> Any:
        """A value that came inside a text, tidied; it is not counted again."""
        held, self._held = self._held, Held()
        path, self._path = self._path, []
        tidied = self._walk(value, OTHER, 0)
        self._held, self._path = held, path
        return tidied

    def _walk(self, value: Any, place: str, depth: int) -> Any:
        if value is None:
            return None
        if isinstance(value, str):
            self._count(place)
            return self._text(value, place)
        if value and isinstance(value, dict | list):  # an empty one is a value by itself
            if depth >= DEPTH:
                self._count(place)
                self._findings.add("too-deep", f"{place} is nested deeper than {DEPTH} levels; cut there")
                return "…"
            return self._inside(value, place, depth + 1)
        self._count(place)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return value
        return self._number(value, place)

    def _inside(self, value: dict[str, Any] | list[Any], place: str, depth: int) -> Any:
        """What has members or elements, each of them tidied at its own place."""
        path, walk, below = self._path, self._walk, self.places.below
        path.append("")
        if isinstance(value, list):
            inner, elements = below(place, "[]"), []
            for path[-1], item in enumerate(value):  # the place at hand, without a list for each element
                elements.append(walk(item, inner, depth))
            path.pop()
            return elements
        step()
        members = {}
        for name, item in value.items():
            path[-1] = name
            members[self._text(name, place)] = walk(item, below(place, name), depth)
        path.pop()
        return members

    def _count(self, place: str) -> None:
        held = self._held
        held[place] = count = held.get(place, 0) + 1
        if count <= FIRST_PLACES:
            held.at.setdefault(place, []).append(tuple(self._path))

    def _text(self, text: str, place: str) -> str:
        if len(text) > TEXT_CHARS:
            self._findings.add("text-cut", f"{place} holds {len(text)} characters; cut to {TEXT_CHARS}")
            text = text[: TEXT_CHARS - 1] + "…"
        if text.isascii():  # the usual case, without an encoding of it
            return text
        try:
            text.encode()
        except UnicodeEncodeError:
            self._findings.add("lone-surrogate", f"{place} holds half a character (a lone surrogate); now �")
            # Two halves in a row become one character.
            return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return text

    def _number(self, value: float, place: str) -> Any:
        if isinstance(value, int):
            if -_INTEGER <= value < _INTEGER:
                return value
            self._findings.add("number-too-large", f"{place} holds an integer beyond 64 bits; kept as text")
            return str(value)
        if math.isfinite(value):
            return value
        self._findings.add(
            "not-a-number", f"{place} holds a number too large for a double; treated as not recorded"
        )
        return None
