"""What policies without a plan of their own have in common (§7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from untaken.crafter.simulator.names import ACTIONS
from untaken.errors import UntakenError

if TYPE_CHECKING:
    from untaken.crafter.policy import Feedback


def better(feedback: Feedback) -> str | None:
    """The best rewarded of the other actions tried, where it beats the chosen one.

    Of equally rewarded ones the first in the order of `ACTIONS`; ``None`` where none beats it.
    """
    tried = [name for name in ACTIONS if feedback.others.get(name, feedback.reward) > feedback.reward]
    return max(tried, key=lambda name: feedback.others[name], default=None)


def no_skills(policy: str, skill: str) -> UntakenError:
    """What to say where a skill is asked of a policy that has none."""
    return UntakenError(
        "skill-unknown",
        f"the policy {policy} has no skill {skill!r}: it has none",
        hint="Ask scripted, noisy or uniform.",
    )
