"""Groups of agents without a clear difference (§5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from untaken.ranking.comparisons import PairedDifference


def tie_groups(agents: Sequence[str], pairs: Iterable[PairedDifference]) -> tuple[tuple[str, ...], ...]:
    """Groups that overlap, like the letters of a compact letter display (Piepho 2004).

    Two agents share a group exactly if there is no clear difference between them, and each group is as large
    as possible. So an agent can be in two groups: a tied with b and b with c does not make a tied with c. An
    agent that differs clearly from all others is its own group.

    Each pair not yet together opens a group with the first such agents, best first, that fit everyone in it:
    at most as many groups as pairs, where listing every largest group could take for ever.
    """
    apart = {frozenset((pair.first, pair.second)) for pair in pairs if pair.clear_difference}
    tied = {one: {other for other in agents if frozenset((one, other)) not in apart} for one in agents}
    together: set[frozenset[str]] = set()
    groups: list[tuple[str, ...]] = []
    for place, one in enumerate(agents):
        for other in agents[place:]:
            if other in tied[one] and frozenset((one, other)) not in together:
                if one == other and len(tied[one]) > 1:
                    continue
                group = _grown((one, other), agents, tied)
                together |= {frozenset((x, y)) for x in group for y in group}
                groups.append(group)
    return tuple(groups)


def _grown(seed: tuple[str, str], agents: Sequence[str], tied: dict[str, set[str]]) -> tuple[str, ...]:
    members = set(seed)
    for agent in agents:
        if members <= tied[agent]:
            members.add(agent)
    return tuple(agent for agent in agents if agent in members)
