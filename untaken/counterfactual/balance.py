"""Which tasks and agents are behind the two sides of a comparison (§2a)."""

from __future__ import annotations

from msgspec import Struct

from untaken.counterfactual.memory import Snapshot


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
    import numpy as np  # noqa: PLC0415 (slow)

    from untaken.counterfactual.strata import UNKNOWN, numbers_of  # noqa: PLC0415 (loads numpy and scipy)

    history = snapshot.history
    numbers = numbers_of(history)
    every = [numbers.runs(history, skill, context_hash) for skill in (alternative, selected)]
    # A history holds later ones, too.
    every = [runs.where(runs.position < snapshot.observations) for runs in every]
    first, second = (
        one.where(~np.isin(one.run, two.run)) for one, two in zip(every, every[::-1], strict=True)
    )
    other, taken = (
        [numbers.named[number] for number in set(side.stratum.tolist()) - {UNKNOWN}]
        for side in (first, second)
    )
    both = (set(first.stratum.tolist()) & set(second.stratum.tolist())) - {UNKNOWN}
    runs = [*first.stratum.tolist(), *second.stratum.tolist()]
    return Balance(
        context_hash=context_hash,
        selected=selected,
        alternative=alternative,
        runs_selected=second.run.size,
        runs_alternative=first.run.size,
        tasks_selected=len({task_id for task_id, _ in taken}),
        tasks_alternative=len({task_id for task_id, _ in other}),
        agents_selected=len({agent for _, agent in taken}),
        agents_alternative=len({agent for _, agent in other}),
        strata_both=len(both),
        runs_both=sum(number in both for number in runs),
        unknown=runs.count(UNKNOWN),
    )
