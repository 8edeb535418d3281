"""Tools with nearly the same name: a misspelling in a graph, or a tool of another version."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final

CLOSE: Final = 0.85
"""Likeness of two names (`difflib`, 0 to 1) from which one is taken for a misspelling of the other."""
SIMILAR: Final = 0.6
"""Likeness from which a name is offered as "did you mean"."""
COMPARED: Final = 200
"""Tools that an unknown name is compared with."""
_WILD: Final = re.compile(r"[*?\[\]!]")


def alike(tool: str, called: Iterable[str]) -> list[tuple[float, str]]:
    """The tools called whose names are `SIMILAR`, the most alike first."""
    compared = ((_likeness(tool, other), other) for other in sorted(called)[:COMPARED])
    return sorted((one for one in compared if one[0] >= SIMILAR), key=lambda one: (-one[0], one[1]))


@lru_cache(maxsize=16_384)
def _likeness(pattern: str, tool: str) -> float:
    """Likeness of two names, ignoring case and ``-`` or ``_``; of a glob, by what it spells out."""
    spelled = _plain(_WILD.sub("", pattern))
    name = _plain(tool)
    parts = [name]
    near = range(max(1, len(spelled) - 1), len(spelled) + 2)  # one letter too few or too many
    if pattern.endswith("*"):
        parts += [name[:length] for length in near]
    if pattern.startswith("*"):
        parts += [name[-length:] for length in near]
    # Without `autojunk=False`, letters that are frequent in a long name are not compared.
    return max(SequenceMatcher(None, spelled, part, autojunk=False).ratio() for part in parts)


def _plain(name: str) -> str:
    return name.casefold().replace("-", "_")
