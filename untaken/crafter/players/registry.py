"""Policies by their names (§7)."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any, Final

from untaken.crafter.players.language import Language
from untaken.crafter.players.random_actions import RandomActions
from untaken.crafter.players.scripted import Scripted
from untaken.crafter.policy import Policy
from untaken.errors import UntakenError


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
