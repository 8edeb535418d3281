"""Which tasks and agents are behind the two sides of a comparison (§2a)."""

from __future__ import annotations

from msgspec import Struct

from untaken.memory import Snapshot


class Balance(Struct, frozen=True, kw_only=True, gc=False):
    """Which tasks and agents are behind the two sides of a comparison.

    Attributes:
        runs_selected, runs_alternative: that took the one skill and not the other.
        strata_both: pairs of a task and an agent with runs on both sides; only these let the two be compared.
        runs_both: runs in them.
        unknown: runs whose task and agent the memory does not name.
    """

    context_hash: str
    selected: str
    alternative: str
    runs_selected: int
    runs_alternative: int
    tasks_selected: int
    tasks_alternative: int
    agents_selected: int
    agents_alternative: int
    strata_both: int
    runs_both: int
    unknown: int


def balance_of(snapshot: Snapshot, context_hash: str, alternative: str, selected: str) -> Balance:
    """Which tasks and agents are behind two skills in a context."""
    from untaken.counterfactual.strata import UNKNOWN, Sides  # noqa: PLC0415 (loads numpy and scipy)

    sides = Sides(snapshot, context_hash, alternative, selected, None)
    other, taken = sides.strata()
    both = [number for number in set(sides.first.stratum) & set(sides.second.stratum) if number != UNKNOWN]
    runs = [*sides.first.stratum.tolist(), *sides.second.stratum.tolist()]
    return Balance(
        context_hash=context_hash,
        selected=selected,
        alternative=alternative,
        runs_selected=sides.second.run.size,
        runs_alternative=sides.first.run.size,
        tasks_selected=len({stratum.task_id for stratum in taken}),
        tasks_alternative=len({stratum.task_id for stratum in other}),
        agents_selected=len({stratum.agent for stratum in taken}),
        agents_alternative=len({stratum.agent for stratum in other}),
        strata_both=len(both),
        runs_both=sum(number in both for number in runs),
        unknown=runs.count(UNKNOWN),
    )
