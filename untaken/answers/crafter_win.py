"""An episode seen by What-If-Not, as a document (§7)."""

from __future__ import annotations

from collections.abc import Sequence

from untaken.answers.documents import Document, entry
from untaken.crafter.win import Watched, Watching, found_mistakes, summarise_wins


def crafter_win_document(settings: Watching, steps: Sequence[Watched]) -> Document:
    """``untaken.crafter-win/1``: an episode, each action beside what else could have been done."""
    return {
        "schema": "untaken.crafter-win/1",
        "settings": entry(settings),
        "summary": entry(summarise_wins([step.found for step in steps])),
        "mistakes": entry(found_mistakes(steps)),
        "steps": [_watched(step) for step in steps],
    }


def _watched(step: Watched) -> Document:
    found = step.found
    return entry(step) | entry(found) | {"terms": [entry(term) for term in found.terms]}
