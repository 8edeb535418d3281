"""Shell globs (``*``, ``?``, ``[seq]``, ``[!seq]``) in linear time, over whole names."""

from __future__ import annotations

import fnmatch
import re
from functools import lru_cache

_SPECIAL = re.compile(r"([*?[])")
_ESCAPED = re.compile(r"\[([*?[])\]")


@lru_cache(maxsize=8192)
def _compiled(pattern: str) -> re.Pattern[str]:
    # From Python 3.9 `translate` makes each star an atomic group: no backtracking, so `*a*a*a*b` stays linear
    # in the text.
    return re.compile(fnmatch.translate(pattern))


def matches_glob(pattern: str, text: str) -> bool:
    """True where the whole of `text` fits `pattern`, case-sensitively; a text equal to it always fits."""
    # Equality lets ids that contain brackets name themselves.
    return pattern == text or _compiled(pattern).match(text) is not None


def unescaped(pattern: str) -> str | None:
    """The one text that fits a pattern without wildcards; ``None`` where there are wildcards."""
    return None if _SPECIAL.search(_ESCAPED.sub("", pattern)) else _ESCAPED.sub(r"\1", pattern)


def escape_glob(text: str) -> str:
    """A pattern that fits exactly `text`."""
    return _SPECIAL.sub(r"[\1]", text)
