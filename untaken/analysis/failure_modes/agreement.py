"""How far two people see the same failure modes in the same runs, and at the same step (§9).

What one person says of a mode is yes or no for every run that they read: a person has read a run where they
wrote a note or any word on a mode. Whatever assigns modes by itself can agree no better than people do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import accumulate, combinations
from statistics import median
from typing import Final

from msgspec import Struct

from untaken import stats
from untaken.analysis.failure_modes.assignments import assignments_of, readers_of
from untaken.analysis.failure_modes.failure_mode import Taxonomy
from untaken.errors import Score, Unscored
from untaken.ledger import Message, Observation, Run, ToolCall

MOST_PEOPLE: Final = 20
"""People who are paired: those who read most runs."""
NEAR: Final = 1
"""Steps apart at most."""


class ModeAgreement(Struct, frozen=True, kw_only=True):
    """Two people on one mode, over the runs that both read; or, with an empty mode, on all modes together.

    Attributes:
        a, b: ``human:…`` (untrusted).
        mode: id as the taxonomy names it now; empty for all modes, where each mode of each run is one answer.
        n: answers; the next four add up to it.
        runs: that they come from.
        agreement: share of equal answers, kappa: Cohen's κ; each with its 95% interval, clustered by task.
        located: runs in which both saw the mode at an event.
        same_step, near_step: of these, the nearest two are the same step of the run (`steps_of`), or at most
            one step apart.
        median_distance: steps of the run between the nearest two, the median over `located`.
    """

    a: str
    b: str
    mode: str
    n: int
    both: int
    only_a: int
    only_b: int
    neither: int
    runs: int
    agreement: Score
    low: Score
    high: Score
    kappa: Score
    kappa_low: Score
    kappa_high: Score
    located: int
    same_step: int
    near_step: int
    median_distance: Score


def steps_of(run: Run) -> list[int]:
    """The step that each event of a run is at, by `seq`: messages, calls and answers are a step each.

    What an importer or an agent records beside them (plans, states, choices) is at the next step.
    """
    spoken = [isinstance(event, Message | ToolCall | Observation) for event in run.events]
    return [0, *accumulate(spoken)][:-1]


_Reading = tuple[str, dict[str, frozenset[int]]]
"""One person's labels of one run: its task, and the steps of each mode; none for a mode without."""


def mode_agreement(runs: Iterable[Run], taxonomy: Taxonomy) -> tuple[ModeAgreement, ...]:
    """Every two people who read the same runs: all modes together, then mode by mode, the least κ first.

    A mode is compared where at least one of the two saw it in a run that both read. Broken runs are left out.
    """
    read: dict[str, dict[str, _Reading]] = defaultdict(dict)
    for run in runs:
        if not run.integrity.broken:
            for person, reading in _readings(run, taxonomy).items():
                read[person][run.digest] = reading
    # By name, so that which of two is `a` does not depend on who read more.
    people = sorted(sorted(read, key=lambda person: (-len(read[person]), person))[:MOST_PEOPLE])
    found: list[ModeAgreement] = []
    for a, b in combinations(people, 2):
        pairs = [(read[a][digest], read[b][digest]) for digest in read[a] if digest in read[b]]
        if pairs:
            found += _of_two(a, b, pairs)
    return tuple(found)


def _readings(run: Run, taxonomy: Taxonomy) -> dict[str, _Reading]:
    """The modes that each person sees in a run, by person; people who read it and see none are included."""
    found: dict[str, dict[str, frozenset[int]]] = {one: {} for one in readers_of(run) if one}
    accepted = [one for one in assignments_of(run) if one.by in found and one.status == "accepted"]
    # Most runs have none at a step: their events are not asked for.
    steps = steps_of(run) if any(one.place.event is not None for one in accepted) else []
    for one in accepted:
        mode = taxonomy.current(one.mode)
        seen = {steps[one.place.event]} if one.place.event is not None else set()
        found[one.by][mode] = found[one.by].get(mode, frozenset()) | seen
    return {person: (run.task_id, seen) for person, seen in found.items()}


def _of_two(a: str, b: str, pairs: Sequence[tuple[_Reading, _Reading]]) -> list[ModeAgreement]:
    modes = sorted({mode for one in pairs for _, seen in one for mode in seen})
    each = [_agreement(a, b, mode, [mode], pairs) for mode in modes]
    # 2: after every κ.
    each.sort(key=lambda one: (2.0 if isinstance(one.kappa, Unscored) else one.kappa, one.mode))
    return [_agreement(a, b, "", modes, pairs), *each]


def _agreement(
    a: str, b: str, mode: str, modes: Sequence[str], pairs: Sequence[tuple[_Reading, _Reading]]
) -> ModeAgreement:
    by_task: dict[str, list[stats.Pair]] = defaultdict(list)
    distances: list[int] = []
    for (task_id, one), (_, other) in pairs:
        for name in modes:
            by_task[task_id].append((name in one, name in other))
            steps, others = one.get(name), other.get(name)
            if steps and others:  # the nearest two
                distances.append(min(abs(x - y) for x in steps for y in others))
    clusters = [*by_task.values()]
    judged = [pair for cluster in clusters for pair in cluster]
    share = stats.agreement_share(clusters) if judged else (Unscored("neither saw any mode"),) * 3
    kappa = stats.cohen_kappa(clusters, share)
    return ModeAgreement(
        a=a,
        b=b,
        mode=mode,
        n=len(judged),
        both=judged.count((True, True)),
        only_a=judged.count((True, False)),
        only_b=judged.count((False, True)),
        neither=judged.count((False, False)),
        runs=len(pairs),
        agreement=share[0],
        low=share[1],
        high=share[2],
        kappa=kappa[0],
        kappa_low=kappa[1],
        kappa_high=kappa[2],
        located=len(distances),
        same_step=distances.count(0),
        near_step=sum(apart <= NEAR for apart in distances),
        median_distance=float(median(distances))
        if distances
        else Unscored("they did not both name an event"),
    )
