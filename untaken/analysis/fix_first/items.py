"""What the fix-first list is made of (§5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

from untaken.errors import Score
from untaken.ledger import InfrastructureKind, cut
from untaken.numbers import counted
from untaken.scoring import Cause, Way, brief_cause, cause_words

Kind = Literal["sub_goal", "cause"]
Ground = Literal["failed runs", "critical completion"]

WAY_WORDS: Final[Mapping[Way, str]] = {
    "never attempted": "never attempted",
    "attempted": "attempted, not completed",
    "stopped": "the run ended before it",
    "attempts unknown": "not completed; attempts unknown",
    "check holds": "its check holds, but no mapped action was seen",
    "everything completed": "everything completed",
}


class FixItem(Struct, frozen=True, kw_only=True):
    """One item to fix: failed runs that failed first at one sub-goal, for one cause or in one way.

    Attributes:
        kind: ``cause`` where `cause` says why, else ``sub_goal``.
        digest: short content digest of what the item names.
        graph: of the sub-goal; ``None`` where several graphs share it, and for *everything completed*.
        sub_goal: its id; where graphs share it under several ids, its tool or title (untrusted, as `title`).
        members: graph and sub-goal of each one meant.
        unplanned: of *everything completed*, the first accepted change that no sub-goal expects; else empty.
        commonest: without a cause, what at least half of all runs it counts state by themselves, however few.
        failed_runs: failed runs that fail first here; `share`: of all failed runs, whatever ended them.
        gain: success gained over all runs if these runs succeeded as often as the runs that
            passed here, `passed_successes` of `passed`; `low`, `high`: 95% interval, clustered by task.
        critical_gain: critical completion gained over all runs at most; 0 for other sub-goals.
        missed: runs that leave it uncompleted (this item's part), failed first or not;
            `missed_successes`: of them, those that succeeded.
        recommended: whether to act on it, and on what `ground`; `why`: what the rule says, in words.
        p: one-sided exact: failed runs leave it uncompleted this way more often than successes do.
        runs: content digests, runs that fail first here, else those that miss it; `goals`: the sub-goal in
            each; `seqs`: the event to look at, if any; `first_run`: the own id of the first.
        agents: number of those runs by agent, most first.
    """

    kind: Kind
    way: Way
    digest: str
    graph: str | None
    sub_goal: str | None
    title: str
    members: tuple[tuple[str, str], ...] = ()
    critical: bool = False
    unplanned: str = ""
    cause: Cause | None = None
    commonest: Cause | None = None
    failed_runs: int
    share: Score
    gain: Score
    low: Score
    high: Score
    passed: int
    passed_successes: int
    critical_gain: float = 0.0
    missed: int = 0
    missed_successes: int = 0
    recommended: bool = False
    ground: Ground | None = None
    why: str = ""
    p: float | None = None
    runs: tuple[str, ...]
    first_run: str = ""
    goals: tuple[str, ...] = ()
    seqs: tuple[int | None, ...] = ()
    agents: Mapping[str, int]

    @property
    def brief(self) -> str:
        """What is wrong in a few words (untrusted)."""
        if self.cause is not None:
            return brief_cause(self.cause)
        if self.way == "everything completed":
            return "failed; no sub-goal expects that change" if self.unplanned else "failed all the same"
        if self.way == "attempted" and self.commonest is not None:
            runs = f"{len(self.commonest.runs):,} of {counted(self.commonest.n, 'run')}"
            return f"{brief_cause(self.commonest)} in {runs}"
        return WAY_WORDS[self.way]

    @property
    def reason(self) -> str:
        """What is wrong, in one sentence part (untrusted)."""
        if self.cause is not None:
            return cause_words(self.cause)
        if self.way == "everything completed":
            extra = f"; first unplanned change: {self.unplanned}" if self.unplanned else ""
            return f"failed with every sub-goal completed{extra}"
        often = f"; {cause_words(self.commonest)}" if self.commonest is not None else ""
        return f"{WAY_WORDS[self.way]}{often}"


class LeftSubGoal(Struct, frozen=True, kw_only=True):
    """A sub-goal that failed runs leave uncompleted, and at which none counts as failing first.

    Attributes:
        failed_runs, successes: runs that leave it uncompleted in this way, of `of_failed` and `of_successes`
            that require it.
        doubt: whether the plan may be at fault: its check holds, or successful runs leave it out as often.
    """

    graph: str | None
    sub_goal: str
    title: str
    way: Way
    failed_runs: int
    of_failed: int
    successes: int
    of_successes: int
    doubt: bool

    @property
    def doubt_words(self) -> str:
        """How often, and what to do about a plan in doubt, in one sentence or two; the title is untrusted."""
        held = self.way == "check holds"
        todo = "Map an action to it, or write `needs_action: false`." if held else "Does the plan need it?"
        return (
            f"“{cut(self.title)}” ({WAY_WORDS[self.way]}), in {self.failed_runs:,} of "
            f"{self.of_failed:,} failed runs and {self.successes:,} of {self.of_successes:,} successes. "
            f"{todo}"
        )


class InfrastructureGroup(Struct, frozen=True, kw_only=True):
    """Runs that their infrastructure ended: `failed_runs` with a recorded failure, `no_outcome` without."""

    kind: InfrastructureKind
    failed_runs: int
    no_outcome: int
    runs: tuple[str, ...]
