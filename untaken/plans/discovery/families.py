"""Tasks that belong together by their ids, so that a plan is drafted for them and not for every run."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from untaken.plans.globs import escape_glob, matches_glob

_DIGITS: Final = "0123456789"


class TaskFamily(Struct, frozen=True, kw_only=True):
    """Tasks whose ids differ in their last number alone.

    Attributes:
        globs: what a plan names these tasks with; none of them matches another task.
        tasks: their ids (untrusted).
    """

    globs: tuple[str, ...]
    tasks: tuple[str, ...]


def task_families(tasks: Iterable[str], *, others: Iterable[str] = ()) -> tuple[TaskFamily, ...]:
    """The families of some tasks, those with most runs first, then the largest.

    Args:
        tasks: ids of the tasks that a plan is wanted for, once for each run to learn from.
        others: ids of tasks that no glob of these families may match, as they have a plan.
    """
    families: defaultdict[str, list[str]] = defaultdict(list)
    runs = Counter(tasks)
    wanted = sorted(runs)
    for task in wanted:
        families[task.rstrip(_DIGITS)].append(task)
    every = {*wanted, *others}
    found = [
        TaskFamily(globs=_globs(stem, members, every), tasks=tuple(members))
        for stem, members in families.items()
    ]
    return tuple(sorted(found, key=lambda one: (-sum(runs[task] for task in one.tasks), -len(one.tasks))))


def _globs(stem: str, members: list[str], every: set[str]) -> tuple[str, ...]:
    """One glob for all of them, where it matches no other task; else each by its id."""
    outside = every.difference(members)
    for ending in ("*", "[0-9]*") if len(members) > 1 else ():
        glob = f"{escape_glob(stem)}{ending}"
        fits = all(matches_glob(glob, task) for task in members)
        # It would take every task that is still to come.
        if glob != "*" and fits and not any(matches_glob(glob, task) for task in outside):
            return (glob,)
    return tuple(map(escape_glob, members))
