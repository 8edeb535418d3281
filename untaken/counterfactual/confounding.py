"""The guard on support: a difference over all runs must hold within task and agent, too (§2a)."""

from __future__ import annotations

from untaken.counterfactual.scoring import Scale, Terms
from untaken.memory import Snapshot

Compared = tuple[str, str, str]
"""Context hash, alternative, selected skill."""


def doubt_of(
    snapshot: Snapshot, compared: Compared, scale: Scale, terms: Terms, *, above: bool, without: str | None
) -> str | None:
    """Why a difference that an interval over all runs supports does not hold within task and agent.

    Args:
        snapshot: holds the runs behind both histories.
        compared: the two skills, where.
        scale: of the comparison.
        terms: that it uses.
        above: whether the alternative has the better history over all runs.
        without: run that both histories leave out.

    Returns:
        ``None`` where it does hold.
    """
    from untaken.counterfactual.strata import Sides  # noqa: PLC0415 (loads SciPy)

    context_hash, alternative, selected = compared
    return Sides(snapshot, context_hash, alternative, selected, without).doubt(scale, terms, above)
