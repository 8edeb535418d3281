"""Policies by their names (§7)."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from random import Random
from typing import TYPE_CHECKING, Any, Final, Self

from untaken.errors import UntakenError
from untaken.simulator.crafter.names import ACTIONS
from untaken.simulator.players.language import Language
from untaken.simulator.players.scripted import Scripted
from untaken.simulator.policy import Act, Policy, WithoutSkills, better

if TYPE_CHECKING:
    from untaken.simulator.policy import Seen


class RandomActions(WithoutSkills):
    """Draws each of the 17 actions with equal probability; it has no skills."""

    name = "random"
    unanswered = None

    def __init__(self) -> None:
        self.begin(0, None)

    def begin(self, seed: int, task: str | None) -> None:
        """Forgets the last episode. `seed` decides all it draws in the next one."""
        self.reseed(seed)
        self._task = task

    def act(self, seen: Seen) -> Act:
        """One of the 17 actions; asked again, the best rewarded of those tried, where one beats its own."""
        if seen.feedback is None:
            return Act(action=self._random.choice(ACTIONS))
        return Act(action=better(seen.feedback) or self._random.choice(ACTIONS))

    def reseed(self, seed: int) -> None:
        """Another `seed` decides all it draws from here on."""
        self._random = Random(f"{self.name} {seed}")

    def clone(self) -> Self:
        """A policy that goes on from here by itself."""
        twin = type(self)()
        twin._task = self._task
        twin._random.setstate(self._random.getstate())
        return twin


def _scripted() -> Policy:
    return Scripted()


def _noisy(*, epsilon: float = 0.3, slips: float = 0.0) -> Policy:
    return Scripted("noisy", exploring=epsilon, slips=slips)


def _uniform(*, slips: float = 0.0) -> Policy:
    return Scripted("uniform", exploring=1.0, slips=slips)


POLICIES: Final[dict[str, Callable[..., Policy]]] = {
    "random": RandomActions,
    "scripted": _scripted,
    "noisy": _noisy,
    "uniform": _uniform,
    "language": Language,
}
"""What makes each policy, with its options as keywords."""


def policy_named(name: str, **options: Any) -> Policy:
    """A policy, ready for its first episode.

    Args:
        name: one of `POLICIES`.
        options: of that policy. ``noisy``: `epsilon`, the probability that a skill is drawn among the
            feasible ones (0.3), and `slips`, that an action is replaced by one drawn at random (0).
            ``uniform``: `slips`. ``language``: `model`, a `ModelAccess`.

    Raises:
        UntakenError: ``policy-unknown``, ``policy-option-invalid``.
    """
    if name not in POLICIES:
        raise UntakenError(
            "policy-unknown", f"there is no policy {name!r}", hint=f"One of: {', '.join(POLICIES)}."
        )
    try:
        # Bound before the call: a `TypeError` from inside a policy would pass for a wrong option.
        signature(POLICIES[name]).bind(**options)
    except TypeError as error:
        raise _invalid(name, str(error)) from error
    for option in ("epsilon", "slips"):
        if not 0 <= options.get(option, 0) <= 1:
            raise _invalid(name, f"{option} is a probability, 0 to 1")
    return POLICIES[name](**options)


def _invalid(name: str, what: str) -> UntakenError:
    known = ", ".join(signature(POLICIES[name]).parameters)
    return UntakenError("policy-option-invalid", f"{name}: {what}", hint=f"Its options: {known or 'none'}.")
