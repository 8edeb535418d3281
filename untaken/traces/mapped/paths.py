"""Paths into a foreign record: ``messages[].content``. They lead down only, and know their place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

PATH_CHARS: Final = 300
STEPS: Final = 20
_STEP: Final = re.compile(r'\.?(?:(\[\])|"([^"]+)"|([^.\[\]"\s/{}\']+))')


class RecordPath(Struct, frozen=True, kw_only=True):
    """Where a value is: names, and ``None`` for every element of a list.

    Attributes:
        steps: from the outside in; none leads to the value itself.
        from_root: whether it begins at the whole record, not at the element at hand.
    """

    steps: tuple[str | None, ...]
    from_root: bool = False

    @property
    def is_many(self) -> bool:
        """Whether it goes through a list."""
        return None in self.steps

    def found(self, value: Any) -> list[Any]:
        """Every value there, in order; nulls are left out."""
        here = [value]
        for step in self.steps:
            if step is None:
                here = [each for one in here if isinstance(one, list) for each in one]
            else:
                here = [one[step] for one in here if isinstance(one, dict) and step in one]
        return [each for each in here if each is not None]

    def of(self, value: Any) -> Any:
        """The value there, ``None`` where there is none; of a path through a list all of them."""
        if self.is_many:
            return self.found(value) or None
        for step in self.steps:
            if not isinstance(value, dict):
                return None
            value = value.get(step)
        return value

    def place(self, home: str) -> str:
        """How the loss report calls it, below `home`."""
        place = "" if self.from_root else home
        for step in self.steps:
            place += "[]" if step is None else f".{step}" if place else step
        return place


def read_path(text: str) -> RecordPath:
    """The path that a text is: ``a.b[]."c d"``; ``.`` is the element at hand, ``/a`` begins at the record.

    Raises:
        ValueError: where it is none, says why.
    """
    if len(text) > PATH_CHARS:
        raise ValueError(f"a path has at most {PATH_CHARS} characters")
    from_root = text.startswith("/")
    rest = text[1:] if from_root else text
    steps = () if rest in ("", ".") else tuple(_steps(rest))
    if not text or len(steps) > STEPS:
        raise ValueError(f"a path has 1 to {STEPS} steps")
    if from_root and None in steps:
        raise ValueError("a path from the record (/) goes through no list")
    return RecordPath(steps=steps, from_root=from_root)


def _steps(text: str) -> Iterator[str | None]:
    at = 0
    while at < len(text):
        step = _STEP.match(text, at)
        if step is None or (at == 0 and text[0] == "."):
            raise ValueError(f"{text!r} is no path: names with dots between, [] for every element")
        yield None if step[1] else step[2] or step[3]
        at = step.end()
