"""Where in the texts of runs some words are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from untaken.analysis import event_words
from untaken.ledger import Run

CHARS_LOOKED_AT: Final = 20_000_000
"""Most characters searched over all runs, so that a search ends within a second or two."""
_BEFORE: Final = 40
_EXCERPT: Final = 140


class TextHit(Struct, frozen=True, kw_only=True):
    """The first event of a run that holds all words; `excerpt` is untrusted text around the first of them."""

    digest: str
    seq: int
    excerpt: str


def texts_with(runs: Iterable[Run], words: list[str], *, most: int) -> tuple[list[TextHit], bool]:
    """Runs of which one event says all words, upper and lower case alike.

    Returns:
        The hits, and whether everything was looked at.
    """
    hits: list[TextHit] = []
    left = CHARS_LOOKED_AT
    for run in runs:
        for event in run.events[: run.own]:
            spoken = event_words(event) or ""
            folded = spoken.casefold()
            left -= len(spoken)  # whether found or not: the time taken depends on the characters
            if all(word in folded for word in words):
                start = max(0, folded.find(words[0]) - _BEFORE)  # about there: folding may lengthen a text
                hits.append(
                    TextHit(digest=run.digest, seq=event.seq, excerpt=spoken[start : start + _EXCERPT])
                )
                break
        if len(hits) == most or left <= 0:
            return hits, False
    return hits, True
