"""Characters that a reader does not see, as a class of a regular expression."""

from __future__ import annotations

from typing import Final

INVISIBLE: Final = (
    "\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Format characters (Unicode Cf), variation selectors, fillers, tags: without a glyph, and no white space."""
CONTROL: Final = "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"
"""Control characters that are no white space."""
