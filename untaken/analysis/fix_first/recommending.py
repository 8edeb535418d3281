"""Which items of the fix-first list to act on (§5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

from msgspec.structs import replace

from untaken import stats
from untaken.analysis.fix_first.items import FixItem
from untaken.analysis.fix_first.subjects import Key
from untaken.analysis.fix_first.tally import ALPHA, FailureTally
from untaken.numbers import counted, p_value, percent

LEAST_RUNS: Final = 3
LEAST_TASKS: Final = 2
RARE: Final = 0.05
"""A way of failing in at most this share of successes goes with failure by itself; a critical sub-goal
that is missed in at most this share of runs may be a slip."""

Members = tuple[Key, ...]
Name = TypeVar("Name", str, Members)


def recommended(items: Sequence[FixItem], tally: FailureTally) -> list[FixItem]:
    """The items with what the rule says of each.

    For failure: 3 failed runs of 2 tasks; more of them than if all failed runs were spread evenly over the
    sub-goals and the two ways of failing (binomial, from the largest item down, until one is not); and it is
    critical, or rare among successes, or more frequent among failures (exact, Holm).

    For critical completion, whatever the outcome says: a critical sub-goal at which 3 runs of 2 tasks go
    wrong first; and more of them than an even spread gives (the same test, over all runs), or more than
    `RARE` of the runs that require it (binomial, Holm over the critical sub-goals).
    """
    tests = {item.digest: _test(item, tally) for item in items}
    adjusted = _adjusted({digest: p for digest, p in tests.items() if p is not None})
    counts = {item.digest: item.failed_runs for item in items}
    required = {subject for times in tally.times.values() for subject, _ in times}
    crowded = _crowded(counts, len(tally.counted), 2 * len(required))  # two ways of failing at each
    found = [replace(item, p=adjusted.get(item.digest)) for item in items]
    found = [_for_failure(item, tally, item.digest in crowded) for item in found]
    return _for_critical_completion(found, tally)


def _crowded(counts: Mapping[Name, int], left: int, cells: int) -> set[Name]:
    """What has more of the `left` runs than an even spread over so many cells would give it."""
    found: set[Name] = set()
    for name, runs in sorted(counts.items(), key=lambda one: (-one[1], one[0])):
        if cells < 1 or runs < LEAST_RUNS:  # those that follow have no more runs
            break
        if cells * stats.at_least_p(runs, left, 1 / cells) > ALPHA:  # each cell was one more chance
            break
        found.add(name)
        left -= runs  # what is left is spread over the others
        cells -= 1
    return found


def _test(item: FixItem, tally: FailureTally) -> float | None:
    """One-sided exact p that failed runs leave it uncompleted in this way more often than successes."""
    if not item.failed_runs or item.way == "everything completed":
        return None
    done, of = _among_successes(item, tally)
    fails, _ = tally.often(tally.subjects[item.members[0]])
    return stats.more_often_p(item.failed_runs, fails, done, of) if of else None


def _among_successes(item: FixItem, tally: FailureTally) -> tuple[int, int]:
    """Successes that leave it uncompleted the same way, of those that require it."""
    subject = tally.subjects[item.members[0]]
    return tally.often(subject, item.way)[1], tally.often(subject)[1]


def _adjusted(tests: Mapping[Name, float]) -> dict[Name, float]:
    return dict(zip(tests, map(float, stats.holm(list(tests.values()))), strict=True)) if tests else {}


def _for_failure(item: FixItem, tally: FailureTally, crowded: bool) -> FixItem:
    if not item.failed_runs:
        return item
    tasks = {tally.tasks[digest] for digest in item.runs}
    if item.failed_runs < LEAST_RUNS or len(tasks) < LEAST_TASKS:
        return replace(item, why=f"fewer than {LEAST_RUNS} failed runs of {LEAST_TASKS} tasks")
    if item.way == "everything completed":
        return replace(item, why="no sub-goal explains it")
    if not crowded:
        return replace(item, why="no more failed runs than an even spread over the sub-goals gives")
    done, of = _among_successes(item, tally)
    if item.critical:
        why = "critical"
    elif of and done <= RARE * of:
        why = f"{done:,} of {of:,} successes {'fails' if of == 1 else 'fail'} this way"
    elif item.p is not None and item.p <= ALPHA:
        why = f"more often in failed runs than in successes ({p_value(item.p, 'p')})"
    else:
        share = f"{percent(done / of)} of successes fail this way" if of else "no success to compare with"
        return replace(item, why=f"not clearly more often in failed runs: {share}")
    return replace(item, recommended=True, ground="failed runs", why=why)


def _for_critical_completion(items: Sequence[FixItem], tally: FailureTally) -> list[FixItem]:
    """The largest item of each critical sub-goal that is missed beyond chance, where none is recommended."""
    found = list(items)
    first = _went_wrong(items, tally)
    beyond = _beyond_chance({members: len(runs) for members, runs in first.items()}, tally)
    for subject, missed in tally.missed.items():
        own = [at for at, item in enumerate(found) if subject.members == item.members]
        if any(found[at].recommended for at in own):
            continue
        at = min(own, key=lambda one: (-found[one].missed, -found[one].failed_runs, found[one].digest))
        here = first.get(subject.members, ())
        enough = len(here) >= LEAST_RUNS and len({tally.tasks[d] for d in here}) >= LEAST_TASKS
        of = f"{len(here):,} of {counted(tally.requiring[subject], 'run')}"
        if enough and subject.members in beyond:
            why = f"critical, and not completed in {of} where nothing failed before it"
            found[at] = replace(found[at], recommended=True, ground="critical completion", why=why)
        elif enough:
            why = f"critical, but not completed first in {of}: no more than chance gives"
            found[at] = replace(found[at], why=why)
        elif not any(miss.known for miss in missed.values()):
            found[at] = replace(found[at], why="critical, but no run records whether it was completed")
        elif not found[at].why:
            few = f"in fewer than {LEAST_RUNS} runs of {LEAST_TASKS} tasks"
            why = f"critical, but missed only after an earlier failure, or {few}"
            found[at] = replace(found[at], why=why)
    return found


def _went_wrong(items: Sequence[FixItem], tally: FailureTally) -> dict[Members, list[str]]:
    """The runs of each sub-goal at which they go wrong first.

    A failed run where it fails first; any other at the first critical sub-goal that it left uncompleted. One
    that its infrastructure ended goes wrong nowhere.
    """
    found: dict[Members, list[str]] = {}
    for item in items:
        if item.failed_runs and item.members:
            found.setdefault(item.members, []).extend(item.runs)
    for subject, missed in tally.missed.items():
        for digest, miss in missed.items():
            if miss.first and digest not in tally.failed and digest not in tally.infrastructure:
                found.setdefault(subject.members, []).append(digest)
    return found


def _beyond_chance(counts: Mapping[Members, int], tally: FailureTally) -> set[Members]:
    """Sub-goals at which more runs go wrong first than chance gives: an even spread, or a rare slip."""
    slips = {
        subject.members: stats.at_least_p(counts.get(subject.members, 0), runs, RARE)
        for subject, runs in tally.requiring.items()
        if subject.critical
    }
    often = {members for members, p in _adjusted(slips).items() if p <= ALPHA}
    return often | _crowded(counts, sum(counts.values()), len(tally.requiring))
