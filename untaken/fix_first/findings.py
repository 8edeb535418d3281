"""What the fix-first list is made of (§5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from untaken.ranking import Contradiction

Kind = Literal["sub_goal", "decision"]
Way = Literal["never attempted", "attempted without success", "attempts unknown"]
Unit = Literal["critical completion", "completion", "score"]

ROUGH: Final = (
    "Sub-goals gain completion, at most; decisions gain score, by association. "
    "Items of one kind are comparable; across kinds the order is approximate."
)
"""What to say wherever both kinds stand in one order."""
ITEMS_SHOWN: Final = 6
"""Items to fix first of each kind that are shown at first, each with at most so many runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Often:
    """How often: in `count` of `n` runs; `low` and `high` are the 95% interval of the share."""

    count: int
    n: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """`count` over `n`."""
        return self.count / self.n


@dataclass(frozen=True, slots=True, kw_only=True)
class FixFirst:
    """One item to fix. Fields of the other kind are ``None``.

    Attributes:
        digest: short content digest of what the item names; of a decision, its choice's id in links.
        graph, sub_goal, title, critical: of a sub-goal; titles are untrusted text, as are names of skills.
        selected, alternative, context_hash, context: of a decision.
        also: further alternatives that pass the same test over `selected` in this context, the best first.
        often: for a sub-goal, the runs in which it is the first to fail, of the scored runs; for a decision,
            the runs that made this choice, of the evaluated runs.
        required: number of runs in which the sub-goal is required, or the choice was met.
        unknown: number of runs in which the sub-goal is unscored: it may have failed there too.
        much: mean gain, in `unit`, in a run where it happens. For a sub-goal an upper bound: what it holds up
            could still fail for other reasons. For a decision an association: the advantage.
        gain: share of `often` × `much`, a mean over all those runs; `low` and `high` its 95% interval.
        q: of a decision, the share of chance ones to expect among the decisions with a q as small as this
            (Benjamini and Hochberg), over `q_family` pairs of skills.
        reason: the above in words, with untrusted names in it.
        runs: content digests, largest effect first; `points`: of a decision, the `seq` of a decision point in
            each of them.
        agents: number of those runs by agent, most first.
    """

    kind: Kind
    digest: str
    graph: str | None = None
    sub_goal: str | None = None
    title: str | None = None
    critical: bool | None = None
    selected: str | None = None
    alternative: str | None = None
    context_hash: str | None = None
    context: str | None = None
    also: tuple[str, ...] = ()
    often: Often
    required: int
    unknown: int = 0
    much: float
    gain: float
    low: float
    high: float
    unit: Unit
    q: float | None = None
    q_family: int | None = None
    reason: str
    runs: tuple[str, ...]
    points: tuple[int, ...] = ()
    agents: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class FailurePattern(FixFirst):
    """The same failure in several tasks, each with a plan graph of its own; an item without one sub-goal.

    `title` names the tool or the sub-goal's title with the way in which it fails; `often`, `much` and `gain`
    are those of its sub-goals together, at most 1 in a run.

    Attributes:
        subject: the tool that the checks ask for, else the title that the sub-goals share (untrusted).
        way: ``never attempted``, ``attempted without success`` or ``attempts unknown``.
        tasks: number of tasks in which it happens; `sub_goals`: number of sub-goals in it.
        goals: the sub-goal that failed first in each of `runs`.
        arguments: expected arguments and fields that were not met, with the number of runs, most first.
    """

    subject: str
    way: Way
    tasks: int
    sub_goals: int
    goals: tuple[str, ...]
    arguments: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Two items that contradict each other: `decision` advises against a tool that `sub_goal` needs."""

    sub_goal: FixFirst
    decision: FixFirst

    @property
    def words(self) -> str:
        """What to check before one follows either (names in it are untrusted)."""
        where = self.decision.context or self.decision.context_hash or "unknown"
        return (
            f"completing “{self.sub_goal.title}” needs {self.decision.selected}, but in the context {where} "
            f"runs that took {self.decision.alternative} instead succeeded more often; read runs of it"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Triage:
    """What to fix first, and which runs to look at because they contradict themselves.

    Attributes:
        patterns: sub-goals that fail alike in tasks with plan graphs of their own, taken together; the
            largest gain first. They restate sub-goals of `items`.
        conflicts: items that contradict each other.
        items: by expected gain, the largest first; across kinds that order is rough (`ROUGH`).
        contradictions: runs whose outcome and sub-goals disagree, largest effect first.
        agents: whose runs these are; empty for everybody's.
        scored: runs behind the sub-goals; `unscored`: runs that say nothing of them.
        evaluated: runs behind the decisions; `not_evaluated`: runs that say nothing of them.
        harmless: sub-goals that fail first, and hold up no critical one: they gain nothing in this unit.
        reason: why there is nothing to fix; empty otherwise.
    """

    items: tuple[FixFirst, ...]
    contradictions: tuple[Contradiction, ...]
    agents: tuple[str, ...]
    scored: int
    unscored: int
    evaluated: int
    not_evaluated: int
    harmless: int
    reason: str
    patterns: tuple[FailurePattern, ...] = ()
    conflicts: tuple[Conflict, ...] = ()

    @property
    def by_pattern(self) -> bool:
        """Whether patterns are shown in the place of sub-goals: there are too many sub-goals to show all."""
        return bool(self.patterns) and len(self.of_kind("sub_goal")) > ITEMS_SHOWN

    @property
    def shown_first(self) -> tuple[FixFirst, ...]:
        """What a page or a report shows at first: `items`, or by their gain patterns and decisions."""
        if not self.by_pattern:
            return self.items
        return tuple(sorted((*self.patterns, *self.of_kind("decision")), key=lambda item: -item.gain))

    def of_kind(self, kind: Kind) -> tuple[FixFirst, ...]:
        """The items of one kind, in order."""
        return tuple(item for item in self.items if item.kind == kind)
