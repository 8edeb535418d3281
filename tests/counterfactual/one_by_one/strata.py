"""Two skills compared inside strata, run by run: what supports a difference in success (§2a)."""

from __future__ import annotations

from zlib import crc32

import numpy as np
from msgspec import UNSET

from untaken.counterfactual.memory import Observed, Snapshot
from untaken.counterfactual.strata import NOT_NAMED, decided_at
from untaken.counterfactual.support import ComparedRuns, OptionComparison, nested_groups

Called = tuple[str, str, str | None]


def support_of(snapshot: Snapshot, context: str, alternative: str, selected: str, without: str) -> Called:
    """Support, its reason and its direction, without a run."""
    log = [o for o in snapshot.history.log[: snapshot.observations] if o.run_id != without]
    known = log[: int(decided_at(np.array([len(log)]))[0])]
    took: dict[str, dict[str, Observed]] = {}
    for observed in known:
        if observed.kind == "outcome" and context in observed.layers:
            took.setdefault(observed.skill, {}).setdefault(observed.run_id, observed)
    one, two = sorted((alternative, selected))
    first, second = took.get(one, {}), took.get(two, {})
    runs = [*((o, True) for o in first.values()), *((o, False) for o in second.values())]
    runs = [(o, took_one) for o, took_one in runs if not (o.run_id in first and o.run_id in second)]
    units: dict[object, tuple[Observed, bool]] = {}
    for observed, took_one in runs:
        copied = (observed.run_id,) if observed.trail is UNSET else (*parts_of(observed), observed.trail)
        units.setdefault(copied, (observed, took_one))
    runs = list(units.values())
    if any(o.task_id is UNSET or o.agent is UNSET for o, _ in runs):
        return "weak", NOT_NAMED, None
    ruling = OptionComparison(
        ComparedRuns(
            first=np.array([took_one for _, took_one in runs], dtype=bool),
            group=nested_groups(parts_of(o) for o, _ in runs),
            identity=nested_groups(parts_of(o)[1:] * 2 for o, _ in runs)[:, 3],
            start=np.array([np.nan if o.started is UNSET else o.started.timestamp() for o, _ in runs]),
            tie=np.array([crc32(o.run_id.encode()) for o, _ in runs]),
        )
    ).ruling(np.array([o.success for o, _ in runs]))
    if not ruling.holds:
        return "weak", ruling.reason, None
    sign = 1 if one == alternative else -1
    return "supported", ruling.words(sign), "better" if sign * ruling.difference > 0 else "worse"


def parts_of(observed: Observed) -> tuple[str, ...]:
    """What a run has for `IDENTITY`."""
    parts = observed.task_id, observed.agent, observed.model, observed.version, observed.prompt_version
    return tuple("" if part is UNSET else part for part in parts)
