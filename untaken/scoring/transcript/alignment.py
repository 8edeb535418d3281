"""Two transcripts of one task laid side by side."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from itertools import zip_longest

from msgspec import Struct

from untaken.scoring.transcript.items import Transcript, TranscriptItem

Key = tuple[str, ...]


class AlignedItem(Struct, frozen=True, kw_only=True, gc=False):
    """One line of two transcripts: positions of the items in each, ``None`` where a run has nothing there.

    Attributes:
        aligned: both items are the same step of the plan, or the same call.
        differs: what they say differs, or only one run has the step.
    """

    left: int | None
    right: int | None
    aligned: bool
    differs: bool


def align_transcripts(left: Transcript, right: Transcript) -> tuple[AlignedItem, ...]:
    """Pairs the steps of two runs, in the order of both.

    Two items can be a pair where they serve the same sub-goal with the same tool; calls that serve none where
    they are of the same tool, messages where the same party speaks. The n-th such item of one run is paired
    with the n-th of the other; of pairs that cross, as many are kept as are in one order. Time grows with
    n log n.
    """
    pairs = _in_one_order(_candidates(left.items, right.items))
    lines: list[AlignedItem] = []
    at, to = 0, 0
    for i, j in [*pairs, (len(left.items), len(right.items))]:
        lines += [
            AlignedItem(left=a, right=b, aligned=False, differs=True)
            for a, b in zip_longest(range(at, i), range(to, j))
        ]
        if i < len(left.items):
            same = _content(left.items[i]) == _content(right.items[j])
            lines.append(AlignedItem(left=i, right=j, aligned=True, differs=not same))
        at, to = i + 1, j + 1
    return tuple(lines)


def _candidates(left: Sequence[TranscriptItem], right: Sequence[TranscriptItem]) -> list[tuple[int, int]]:
    """The n-th item of a kind on the left with the n-th on the right, in the order of the left."""
    waiting: defaultdict[Key, list[int]] = defaultdict(list)
    for at in range(len(right) - 1, -1, -1):  # from the end, so that `pop` gives the first
        waiting[_key(right[at])].append(at)
    found = []
    for at, item in enumerate(left):
        if others := waiting.get(_key(item)):
            found.append((at, others.pop()))
    return found


def _key(item: TranscriptItem) -> Key:
    goals = sorted({mark.sub_goal for mark in item.marks if mark.kind in ("attempted", "completed")} - {""})
    return (item.kind, item.speaker, item.title if item.kind == "call" else "", *goals)


def _in_one_order(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest part of the pairs that rises on both sides."""
    ends: list[int] = []
    last: list[int] = []
    before: list[int | None] = []
    for number, (_, right) in enumerate(pairs):
        length = bisect_left(ends, right)  # the longest increasing subsequence, by patience sorting
        before.append(last[length - 1] if length else None)
        if length == len(ends):
            ends.append(right)
            last.append(number)
        else:
            ends[length], last[length] = right, number
    kept: list[tuple[int, int]] = []
    at = last[-1] if last else None
    while at is not None:
        kept.append(pairs[at])
        at = before[at]
    return kept[::-1]


def _content(item: TranscriptItem) -> tuple[object, ...]:
    results = tuple((result.ok, result.text) for result in item.results)
    return item.title, item.text, item.arguments, results
