"""Text of others with nothing invisible in it: no name can pose as another one."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Container
from itertools import count
from typing import Final

_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
"""Categories of characters that are not seen, or steer what is seen."""
INVISIBLE: Final = (
    "\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Format characters (Unicode Cf), variation selectors, fillers, tags: without a glyph, and no white space."""
CONTROL: Final = "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"
"""Control characters that are no white space."""


def visible(text: str) -> str:
    """Line breaks and tabs become blanks; escapes, direction marks and the like a visible mark."""
    return text if text.isprintable() else "".join(map(_visible, text))


def free_id(stem: str, taken: Container[str], *, most: int | None = None) -> str:
    """The stem if it is free, else its first `most` characters with the first free number."""
    if stem not in taken:
        return stem
    return next(name for n in count(2) if (name := f"{stem[:most]}-{n}") not in taken)


def one_line(text: object, limit: int = 120) -> str:
    """The text on one line with nothing invisible in it, cut at `limit` characters."""
    shown = visible(str(text)[: limit + 1])  # cut before it is looked at: the text may be megabytes long
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


class Wrapper(textwrap.TextWrapper):
    """Breaks a call as a programmer would: after a bracket, a comma, a sign, not within a name."""

    wordsep_re = re.compile(r"(\s+|(?<=[-(,=/])(?=\S)|(?<=\w_)(?=\w))")


def _visible(character: str) -> str:
    # As blanks, not as marks: they separate words.
    if character in "\n\r\t":
        return " "
    return "\ufffd" if unicodedata.category(character) in _HIDDEN else character
