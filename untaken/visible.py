"""Text of others with nothing invisible in it: no name can pose as another one."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from typing import Final

_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
"""Categories of characters that are not seen, or steer what is seen."""


def visible(text: str) -> str:
    """Line breaks and tabs become blanks; escapes, direction marks and the like a visible mark."""
    return text if text.isprintable() else "".join(map(_visible, text))


def one_line(text: object, limit: int = 120) -> str:
    """The text on one line with nothing invisible in it, cut at `limit` characters.

    Control and format characters (line breaks, escapes, bidirectional overrides) become a visible
    mark: no name can pose as another one.
    """
    shown = visible(str(text)[: limit + 1])
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


class Wrapper(textwrap.TextWrapper):
    """Breaks a call as a programmer would: after a bracket, a comma, a sign, not within a name."""

    wordsep_re = re.compile(r"(\s+|(?<=[-(,=/])(?=\S)|(?<=\w_)(?=\w))")


def _visible(character: str) -> str:
    if character in "\n\r\t":
        return " "
    return "\ufffd" if unicodedata.category(character) in _HIDDEN else character
