"""The shape of a run: its sub-goals as they were reached, and the kinds of errors between them (§9).

Runs of one shape went the same way; the second one teaches less than the first of another shape.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from untaken.errors import Unscored
from untaken.ledger import Run, readable
from untaken.scoring import RunScore, Trace

Shape = tuple[str, ...]
"""Words such as ``order: completed`` and ``error: search_orders: no order # in stock``, in order of time."""

ERROR_CHARS: Final = 400
"""Characters of an error that are read."""
KIND_CHARS: Final = 80
MOST_WORDS: Final = 200
"""Words of a shape: a run that fails a thousand times in changing ways is not held whole."""
# Bounded, so that a quote that is never closed does not make the search run to the end of the text.
_QUOTED: Final = re.compile(r"\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'|`[^`\n]{0,200}`")
# Possessive: linear in the length of a hostile error.
_PART: Final = re.compile(
    r"""(?P<path>(?:[/\\][^/\\\s:,;()<>"']++){2,})
    |(?P<word>[#@]?\w++(?:[.:+-]++\w++)*+)""",
    re.VERBOSE,
)
"""Parts that may differ from one run to the next: paths, and words with a digit (numbers, ids, times)."""
_BLANK: Final = re.compile(r"\s+")


def error_kind(text: str) -> str:
    """The kind of an error: its first line in small letters, ids, numbers, paths and quoted text as ``#``."""
    line = next((line.strip() for line in text[:ERROR_CHARS].splitlines() if line.strip()), "")
    if not line.startswith(("{", "[")):  # in JSON the message itself is quoted
        line = _QUOTED.sub("#", line)
    plain = _BLANK.sub(" ", _PART.sub(_general, line)).lower()
    return plain[:KIND_CHARS]


def _general(found: re.Match[str]) -> str:
    """``#`` for what differs from run to run, a word without a digit as it is."""
    word = found["word"]
    return word if word and not any(map(str.isdigit, word)) else "#"


def run_shape(run: Run, score: RunScore | Unscored) -> Shape:
    """The shape of a run.

    Each sub-goal with its final state where an action first serves it, each failed observation with its tool
    and kind; then the sub-goals that nothing served, in graph order, and how the run ended. Immediate
    repeats count once. A run without a plan graph has no sub-goals in its shape.
    """
    moments: dict[int, list[str]] = defaultdict(list)
    later: list[str] = []
    if isinstance(score, RunScore):
        for node in score.nodes:
            if node.status != "not_required":
                word = f"{node.sub_goal}: {node.status}"
                (moments[node.events[0]] if node.events else later).append(word)
    trace = Trace(run)
    for failed, call in trace.failures:
        tool = f"{call.tool}: " if call else ""
        moments[failed.seq].append(f"error: {tool}{error_kind(readable(failed.content) or '')}")
    words = [word for seq in sorted(moments) for word in moments[seq]]
    return tuple(_once([*words[:MOST_WORDS], *later, _end(run)]))


def shapes_of(runs: Iterable[Run], scores: Mapping[str, RunScore | Unscored]) -> dict[str, Shape]:
    """The shape of each run, by digest."""
    return {run.digest: run_shape(run, scores[run.digest]) for run in runs}


def _once(words: Iterable[str]) -> Iterable[str]:
    before = None
    for word in words:
        if word != before:
            yield word
        before = word


def _end(run: Run) -> str:
    if run.finished is None:
        return "unfinished"
    if run.finished.limit:
        return f"limit: {error_kind(run.finished.limit)}"
    if run.finished.error:
        return f"ended by error: {error_kind(run.finished.error)}"
    success = run.success
    return "no outcome" if isinstance(success, Unscored) else "succeeded" if success else "failed"
