"""The fix-first list with what belongs beside it (§5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

from untaken.analysis.fix_first.items import FixItem, InfrastructureGroup, LeftSubGoal
from untaken.analysis.ranking import Contradiction
from untaken.errors import number
from untaken.numbers import counted, percent
from untaken.scoring import Cause
from untaken.visible import visible

ITEMS_SHOWN: Final = 6
"""Items to fix first that are shown at first, each with at most so many runs."""
Order = Literal["failed", "gain", "critical"]
ORDERS: Final[Mapping[Order, str]] = {
    "failed": "Failed runs",
    "gain": "Success gained",
    "critical": "Critical completion",
}
"""What the items can be ordered by, in words."""
LEAST_FAILED: Final = 3
"""With fewer failed runs nothing is recommended for failure."""


class Triage(Struct, frozen=True, kw_only=True):
    """What to fix first, and which runs to look at because they contradict themselves.

    A failed run is in one item, or in `infrastructure`, or in `unscored_failed_runs`. What choices the runs
    could have made is said apart: `untaken.analysis.fix_first.advice`.

    Attributes:
        items: most failed runs first; then critical sub-goals that are missed without failing first.
        causes: what failed runs have in common, over all items.
        left_out: sub-goals that failed runs leave uncompleted and no item names; doubts about the plan first.
        infrastructure: runs that a limit, a provider, the sandbox or the verifier ended.
        unscored_failed_runs: content digests of failed runs of which nothing is known where they failed;
            `without_plan`: whether some of them have none, else they record nothing that theirs asks for.
        contradictions: runs whose outcome and sub-goals disagree, largest effect first.
        agents: whose runs these are; empty for everybody's.
        runs: unbroken ones; `failed`, `succeeded`: by their outcome; the rest records none.
        scored: runs with a sub-goal that is known to be completed or not.
    """

    items: tuple[FixItem, ...]
    causes: tuple[Cause, ...]
    left_out: tuple[LeftSubGoal, ...]
    infrastructure: tuple[InfrastructureGroup, ...]
    unscored_failed_runs: tuple[str, ...]
    without_plan: bool
    contradictions: tuple[Contradiction, ...]
    agents: tuple[str, ...]
    runs: int
    failed: int
    succeeded: int
    scored: int

    def __str__(self) -> str:
        """The headline and the first items, as a table of plain text."""
        lines = [f"{self.headline}."]
        for item in self.items[:ITEMS_SHOWN]:
            mark, star = ("✓" if item.recommended else " "), (" ★" if item.critical else "")
            # A title is a stranger's: control characters would move the cursor of a terminal.
            what = visible(f"{item.title}{star}: {item.brief}")
            lines.append(f"{mark} {item.failed_runs:>5,} {percent(item.share):>5}  {what}")
        if (more := len(self.items) - ITEMS_SHOWN) > 0:
            lines.append(f"… and {more:,} more; triage_table has them all")
        return "\n".join(lines)

    @property
    def recommended(self) -> tuple[FixItem, ...]:
        """The items to act on."""
        return tuple(item for item in self.items if item.recommended)

    def failing_like(self, digest: str) -> tuple[str, int] | None:
        """The sub-goal that this failed run fails first at, and how many other runs do; if it does at one."""
        at = next((one for one in self.items if one.failed_runs and one.goals and digest in one.runs), None)
        if at is None:
            return None
        here = [one.failed_runs for one in self.items if one.members == at.members]
        return at.goals[at.runs.index(digest)], sum(here) - 1

    def ordered(self, by: Order = "failed") -> tuple[FixItem, ...]:
        """The items by failed runs, by the success or by the critical completion that a fix would gain."""
        if by == "failed":
            return self.items
        worth = {
            item.digest: number(item.gain) or 0.0 if by == "gain" else item.critical_gain
            for item in self.items
        }
        return tuple(sorted(self.items, key=lambda item: -worth[item.digest]))

    @property
    def headline(self) -> str:
        """What the list is about, in one sentence without its end."""
        if not self.runs:
            return "No usable run"
        if not self.failed:
            return self._none_failed()
        many = counted(self.failed, "failed run")
        if self.unscored_failed_runs and not self.scored:
            return f"{many}, none scored: read one{' · draft a plan' if self.without_plan else ''}"
        every = "; no run succeeded, so there is nothing to compare with" if not self.succeeded else ""
        parts = [f"{many} of {self.runs:,}{every}"]
        if ended := sum(group.failed_runs for group in self.infrastructure):
            parts.append(f"{ended:,} ended by infrastructure or a limit")
        if self.unscored_failed_runs:
            parts.append(f"{len(self.unscored_failed_runs):,} not scored")
        if self.failed < LEAST_FAILED:
            parts.append("too few to recommend anything for failure")
        return "; ".join(parts)

    def _none_failed(self) -> str:
        if not self.succeeded:
            words = f"None of {self.runs:,} runs records whether it succeeded"
            if self.runs == 1:
                words = "The run does not record whether it succeeded"
        elif self.succeeded == self.runs:
            words = "The run succeeded" if self.runs == 1 else f"All {self.runs:,} runs succeeded"
        else:
            unknown = self.runs - self.succeeded
            words = f"No run failed; {counted(unknown, 'run')} of {self.runs:,} without an outcome"
        missed = len(self.items)
        if missed:
            where = "it" if self.runs == 1 else "some of them"
            return f"{words}; {counted(missed, 'critical sub-goal')} not completed in {where}"
        return f"{words}, and none is known to have missed a critical sub-goal" if self.scored else words
