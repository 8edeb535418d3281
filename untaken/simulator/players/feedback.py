"""What policies without a plan of their own have in common (§7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from untaken.errors import UntakenError
from untaken.simulator.crafter.names import ACTIONS

if TYPE_CHECKING:
    from untaken.simulator.policy import Feedback


def better(feedback: Feedback) -> str | None:
    """The best rewarded of the other actions tried, where it beats the chosen one.

    Of equally rewarded ones the first in the order of `ACTIONS`; ``None`` where none beats it.
    """
    tried = [name for name in ACTIONS if feedback.others.get(name, feedback.reward) > feedback.reward]
    return max(tried, key=lambda name: feedback.others[name], default=None)


class WithoutSkills:
    """What policies have in common that answer step by step and begin no skill."""

    name: str
    _task: str | None

    @property
    def aim(self) -> str | None:
        """The task; what else it pursues it does not say."""
        return self._task

    def take(self, skill: str) -> None:
        """It has no skills.

        Raises:
            UntakenError: ``skill-unknown``.
        """
        raise UntakenError(
            "skill-unknown",
            f"the policy {self.name} has no skill {skill!r}: it has none",
            hint="Ask scripted, noisy or uniform.",
        )
