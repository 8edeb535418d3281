"""Which runs of a task to show, and which one is the reference (§4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from untaken.comparing.cells import Pattern, Side
from untaken.comparing.model import KNOWN
from untaken.errors import Unscored, number


def reference_of(sides: Sequence[Side]) -> tuple[Side, str]:
    """The reference run, and why it was chosen.

    The successful run that completed most sub-goals, fewest actions on a tie; where none
    succeeded, the best of all.
    """
    successful = [side for side in sides if side.run.success is True]
    best = min(successful or sides, key=_best_first)
    why = "the successful run" if successful else "no shown run succeeded: the run"
    if isinstance(best.score, Unscored):
        return best, f"{why} with the fewest actions"
    return best, f"{why} with most sub-goals completed, fewest actions on a tie"


def _best_first(side: Side) -> tuple[float, float, int, str, int, str]:
    run, score = side.run, side.score
    completion = None if isinstance(score, Unscored) else number(score.completion)
    critical = None if isinstance(score, Unscored) else number(score.critical_completion)
    return (
        -1.0 if completion is None else -1.0 - completion,
        -1.0 if critical is None else -1.0 - critical,
        len(side.calls),
        run.agent,
        run.started.task_repeat or 0,
        run.digest,
    )


def differing_most(
    sides: Sequence[Side], patterns: Mapping[str, Pattern], most: int, include: Sequence[Side] = ()
) -> list[Side]:
    """At most `most` runs that differ as much as possible.

    The best success and the worst failure of each agent stand first; of more than fit, one after another
    the run that differs at most rows from those already taken. Then any other run that looks like none of
    them, in the same way.
    """
    if len(sides) <= most:
        return list(sides)
    best = reference_of(sides)[0]
    picked = [best, *(side for side in include if side is not best)]
    _extend(picked, _both_ends(sides), patterns, most)
    looks: dict[object, Side] = {}
    for side in sides:
        looks.setdefault(_look(side, patterns), side)
    seen = {_look(side, patterns) for side in picked}
    _extend(picked, [side for look, side in looks.items() if look not in seen], patterns, most)
    _extend(picked, sides, patterns, 2)  # it takes two, however alike they look
    return picked


def _both_ends(sides: Sequence[Side]) -> list[Side]:
    """The best success and the worst failure of each agent."""
    found = []
    for agent in sorted({side.run.agent for side in sides}):
        own = [side for side in sides if side.run.agent == agent]
        good = [side for side in own if side.run.success is True]
        bad = [side for side in own if side.run.success is False]
        found += [min(good, key=_best_first)] if good else []
        found += [max(bad, key=lambda side: _best_first(side)[:3])] if bad else []
        found += [] if good or bad else [min(own, key=_best_first)]
    return found


def _look(side: Side, patterns: Mapping[str, Pattern]) -> object:
    return (side.run.success, frozenset(patterns[side.run.digest].items()))


def _extend(picked: list[Side], offered: Sequence[Side], patterns: Mapping[str, Pattern], most: int) -> None:
    """Takes the farthest from all that is taken, until nothing is offered or enough are taken."""
    left = {side.run.digest: side for side in offered}
    for side in picked:
        left.pop(side.run.digest, None)
    nearest = {d: min(_apart(side, old, patterns) for old in picked) for d, side in left.items()}
    while left and len(picked) < most:
        farthest = left.pop(max(nearest, key=nearest.__getitem__))
        del nearest[farthest.run.digest]
        picked.append(farthest)
        for digest, side in left.items():
            nearest[digest] = min(nearest[digest], _apart(side, farthest, patterns))


def _apart(one: Side, other: Side, patterns: Mapping[str, Pattern]) -> int:
    """Rows known to differ, and one more where the outcome does."""
    mine, theirs = patterns[one.run.digest], patterns[other.run.digest]
    rows = sum(
        status in KNOWN and theirs.get(name) in KNOWN and status != theirs[name]
        for name, status in mine.items()
    )
    return rows + (one.run.success != other.run.success)
