"""Misspelt words that try to steer a judge: a model reads over a slip that a pattern would miss."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_KEYS: Final = (
    *("ignore", "disregard", "forget", "override", "bypass"),
    *("instruction", "instructions", "guideline", "guidelines", "evaluator", "verdict"),
)
_OTHERS: Final = frozenset(
    (
        *("ignored", "ignores", "forgot", "forgets", "forged", "forger", "forges", "overrides", "overrode"),
        *("overridden", "instructing", "instructors", "instructor", "instructional", "construction"),
        *("destruction", "obstruction", "evaluators", "evaluated", "evaluates", "evaluate", "verdicts"),
        *("evaluation", "evaluations", "overwrite", "overwrites", "overwritten"),
    )
)
"""Words of their own that are spelt nearly so."""
_WORD: Final = re.compile(r"[a-z]{5,14}")
_BY_LENGTH: Final = {
    length: [(key, frozenset(key)) for key in _KEYS if abs(len(key) - length) <= _most]
    for length in range(5, 15)
    for _most in [2 if length > 8 else 1]
}


def corrected(text: str) -> str:
    """A text in lower case with misspelt `_KEYS` spelt right; the same text where there are none."""
    meant = {word: key for word in set(_WORD.findall(text)) if (key := _meant(word))}
    return _WORD.sub(lambda word: meant.get(word[0], word[0]), text) if meant else text


@lru_cache(maxsize=16_384)
def _meant(word: str) -> str | None:
    """The key that differs by one slip, by two where it is long; ``None`` where the word is right."""
    if word in _KEYS or word in _OTHERS:
        return None
    most = 2 if len(word) > 8 else 1
    letters = set(word)
    near = (
        key
        for key, needed in _BY_LENGTH[len(word)]
        # The cheap conditions first: few words get as far as the distance.
        if key[0] in word[:2] and len(needed & letters) >= len(needed) - most and _apart(word, key) <= most
    )
    return next(near, None)


def _apart(a: str, b: str) -> int:
    """Letters left out, added, replaced or swapped with the next one (optimal string alignment)."""
    before: list[int] = []
    last = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        now = [i]
        for j, y in enumerate(b, start=1):
            cost = min(last[j] + 1, now[j - 1] + 1, last[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, before[j - 2] + 1)
            now.append(cost)
        before, last = last, now
    return last[-1]
