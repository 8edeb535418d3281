"""A policy that draws each action uniformly (§7)."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Self

from untaken.crafter.players.feedback import better, no_skills
from untaken.crafter.policy import Act
from untaken.crafter.simulator.names import ACTIONS

if TYPE_CHECKING:
    from untaken.crafter.policy import Seen


class RandomActions:
    """Draws each of the 17 actions with equal probability; it has no skills."""

    name = "random"
    unanswered = None

    def __init__(self) -> None:
        self.begin(0, None)

    def begin(self, seed: int, task: str | None) -> None:
        """Forgets the last episode. `seed` decides all it draws in the next one."""
        self.reseed(seed)
        self._task = task

    @property
    def aim(self) -> str | None:
        """The task; it pursues nothing by itself."""
        return self._task

    def act(self, seen: Seen) -> Act:
        """One of the 17 actions; asked again, the best rewarded of those tried, where one beats its own."""
        if seen.feedback is None:
            return Act(action=self._random.choice(ACTIONS))
        return Act(action=better(seen.feedback) or self._random.choice(ACTIONS))

    def take(self, skill: str) -> None:
        """It has no skills.

        Raises:
            UntakenError: ``skill-unknown``.
        """
        raise no_skills(self.name, skill)

    def reseed(self, seed: int) -> None:
        """Another `seed` decides all it draws from here on."""
        self._random = Random(f"{self.name} {seed}")

    def clone(self) -> Self:
        """A policy that goes on from here by itself."""
        twin = type(self)()
        twin._task = self._task
        twin._random.setstate(self._random.getstate())
        return twin
