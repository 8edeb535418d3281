"""The same choice over many runs: what speaks for the path not taken once luck has evened out (§2a).

A *choice* is one skill taken, another left, in one context. Its runs share one history: no single run is
judged here, so both histories cover everything in the memory. With layered contexts, the context is the one
in which the two skills are compared (§2b).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from hashlib import sha256
from math import fsum
from typing import Final, Literal, NamedTuple, overload

import msgspec
from msgspec import Struct

from untaken.counterfactual.memory import Record
from untaken.counterfactual.parts import ScoreParts
from untaken.counterfactual.run_evaluation import Direction, Support
from untaken.errors import Score, Unscored

ChoiceSide = Literal["ahead", "behind", "weak", "none"]

SMALL_Q: Final = 0.05
"""An alternative is said to succeed more (or less) often up to this q (§2e)."""
NO_DELTA = Unscored("the alternative had no history when any of the runs began")


class Point(NamedTuple):
    """Where a choice was made: content digest of the run, `seq` of its SKILL_SELECTION event."""

    run: str
    decision_point: int


class Points(Sequence[Point]):
    """Points as columns: there may be hundreds of thousands, and most are only counted.

    Args:
        digests: of runs.
        run: of each point the place of its run in `digests`; `seq` of its SKILL_SELECTION event.
    """

    __slots__ = ("digests", "run", "seq")

    def __init__(self, digests: Sequence[str], run: array[int], seq: array[int]) -> None:
        self.digests, self.run, self.seq = digests, run, seq

    @overload
    def __getitem__(self, at: int) -> Point: ...
    @overload
    def __getitem__(self, at: slice) -> Points: ...
    def __getitem__(self, at: int | slice) -> Point | Points:
        if isinstance(at, slice):
            return Points(self.digests, self.run[at], self.seq[at])
        return Point(self.digests[self.run[at]], self.seq[at])

    def __iter__(self) -> Iterator[Point]:
        # The inherited one indexes each point.
        return map(Point, map(self.digests.__getitem__, self.run), self.seq)

    def __len__(self) -> int:
        return len(self.seq)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    @property
    def runs(self) -> int:
        """The number of different runs."""
        return len(set(self.run))

    def numbered(self, digests: Sequence[str]) -> Points:
        """The same points, their runs numbered by their places among these."""
        if digests == self.digests:
            return self
        place = {digest: number for number, digest in enumerate(digests)}
        return Points(digests, array("q", [place[self.digests[run]] for run in self.run]), self.seq)


class Choice(Struct, frozen=True, kw_only=True, gc=False):
    """A skill taken, an alternative left, in a context: over all runs that made this choice.

    Attributes:
        context: readable form of the context, where a run recorded one; of a coarser layer, what the contexts
            in it have in common.
        advantage, low, high: score of the alternative's history minus that of the selected skill's, with its
            95% interval; `p_better`: probability that it exceeds the threshold.
        direction: what is supported: the alternative is ``better`` or ``worse``; ``None`` where nothing is.
        q: adjusted by Benjamini and Hochberg, the share of false ones to expect among all choices with a `q`
            as small as this; over a family of `q_family` pairs of skills. Unscored where no
            test could tell them apart.
        parts: what the two differ in, in units, each with its interval between runs of one task and agent.
        taken, other: histories of the selected skill and of the alternative; ``None`` without any.
        deltas: the source's delta at each point that has one: history against that run's own outcome.
        may_be_better, was_better, equivalent, unknown: number of points with that verdict.
        points: every decision point that made this choice, by agent, task and run.
        level: of `levels` layers of the situation at the first of these points, the one compared at.
    """

    selected: str
    alternative: str
    context_hash: str
    context: str | None
    advantage: Score
    low: Score
    high: Score
    p_better: Score
    support: Support
    support_reason: str
    q: Score
    q_family: int
    parts: ScoreParts
    taken: Record | None
    other: Record | None
    deltas: tuple[float, ...]
    may_be_better: int
    was_better: int
    equivalent: int
    unknown: int
    points: Points
    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    level: int
    levels: int
    direction: Direction | None

    @property
    def succeeds(self) -> int:
        """1 where the alternative is supported to succeed more often at a small q, -1 less often, else 0.

        By success alone: whatever the score says, the interval of the difference in success excludes 0.
        """
        small = self.direction is not None and not isinstance(self.q, Unscored) and self.q <= SMALL_Q
        way = self.parts.success.sign
        return way if small and way == (1 if self.direction == "better" else -1) else 0

    @property
    def side(self) -> ChoiceSide:
        """Whether the alternative succeeded more often (`ahead`); `weak` and `none` are neither."""
        if not self.succeeds:
            return "none" if self.support == "none" else "weak"
        return "ahead" if self.succeeds > 0 else "behind"

    @property
    def called(self) -> str:
        """What may be said of the alternative, the part that differs first (§2e)."""
        return self.parts.called(self.succeeds)

    @property
    def n_selected(self) -> int:
        """Outcomes in the selected skill's history."""
        return self.taken.n if self.taken else 0

    @property
    def n_alternative(self) -> int:
        """Outcomes in the alternative's history."""
        return self.other.n if self.other else 0

    @property
    def mean_delta(self) -> Score:
        """Mean of `deltas`."""
        return fsum(self.deltas) / len(self.deltas) if self.deltas else NO_DELTA

    @property
    def max_delta(self) -> Score:
        """Largest of `deltas`."""
        return max(self.deltas, default=NO_DELTA)

    @property
    def digest(self) -> str:
        """Short content digest of skill, alternative and context: a stable id for links."""
        named = [self.selected, self.alternative, self.context_hash]
        # As JSON, in which no two lists of names are written alike.
        return sha256(msgspec.json.encode(named)).hexdigest()[:16]
