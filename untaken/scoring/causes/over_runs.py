"""Why some failed runs fail at one sub-goal: what their own calls say, then what they have in common (§5).

A run has one cause here: the largest group that it belongs to. First come the causes that a run's record
states by itself (an error of the tool, a wrong value), then those that only many runs show together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from untaken.ledger import Run
from untaken.scoring.causes.cause import Cause, CauseKind
from untaken.scoring.causes.features import Feature, RunFeatures, Seen, StatedCause, with_absent
from untaken.scoring.causes.represented import LEAST_RUNS, LEAST_TASKS, Represented, over_represented
from untaken.scoring.causes.stated import BlamedRun, stated_of

MOST_COMPARED: Final = 2_000
"""Runs that passed a sub-goal and are compared with those that failed at it."""
ONE_VALUE: Final = 0.8
"""A wrong value is named where at least this share of the runs used it."""


class PassedRun(Struct, frozen=True, kw_only=True):
    """A run that completed the sub-goal: `first` and `last` are the `seq` of its attempts at it."""

    run: Run
    first: float
    last: float


def causes_of(title: str, blamed: Sequence[BlamedRun], passed: Sequence[PassedRun]) -> tuple[Cause, ...]:
    """The causes of failing first at one sub-goal, each in at least 3 runs of 2 tasks; the largest first.

    Args:
        title: of the sub-goal (untrusted).
        blamed: the failed runs; each is a run of at most one cause.
        passed: runs that completed the sub-goal.
    """
    left = {one.run.digest: one for one in blamed}
    if not _enough(left.values()):
        return ()
    # Evenly taken: the first ones may all be of one task or agent.
    compared = passed[:: -(-len(passed) // MOST_COMPARED) or 1]  # rounded up
    found: list[Cause] = []
    for make in (_stated_causes, _shared_causes):
        for cause in make(left, compared):
            # What a run states is looked for in all of them; what goes with failing, in those left over.
            found.append(replace(cause, others=make is _shared_causes and bool(found)))
            for digest in cause.runs:
                del left[digest]  # a run has one cause
    critical = any(one.node.critical for one in blamed)
    named = (replace(cause, sub_goal=title, critical=critical) for cause in found)
    return tuple(sorted(named, key=lambda cause: (-len(cause.runs), cause.kind, cause.tool, cause.argument)))


def _enough(runs: Collection[BlamedRun]) -> bool:
    return len(runs) >= LEAST_RUNS and len({one.run.task_id for one in runs}) >= LEAST_TASKS


def _stated_causes(left: Mapping[str, BlamedRun], passed: Sequence[PassedRun]) -> Iterator[Cause]:
    """Groups of runs that state the same cause, the largest first."""
    siblings = by_task(passed)
    stated = {digest: dict.fromkeys(stated_of(one, siblings)) for digest, one in left.items()}
    done: set[str] = set()
    while True:
        groups = _grouped({digest: some for digest, some in stated.items() if digest not in done})
        enough = {key: runs for key, runs in groups.items() if _enough([left[run] for run in runs])}
        if not enough:
            return
        key = _largest(enough)
        done |= set(enough[key])
        yield _cause_of(key, [left[run] for run in enough[key]], left, passed)


def _grouped(stated: Mapping[str, Iterable[StatedCause]]) -> dict[StatedCause, dict[str, None]]:
    """The runs of each cause; those of an argument with and without its value."""
    groups: dict[StatedCause, dict[str, None]] = {}
    for digest, causes in stated.items():
        for cause in causes:
            groups.setdefault(cause, {})[digest] = None
            groups.setdefault(cause._replace(value=""), {})[digest] = None  # and with whatever value
    return groups


def _largest(groups: Mapping[StatedCause, Collection[str]]) -> StatedCause:
    """The cause of most runs; with its value where nearly all runs of an argument used one."""
    key = min(groups, key=lambda one: (-len(groups[one]), not one.value, one))
    if key.value or key.kind == "tool_error":
        return key
    alike = [one for one in groups if one.value and one[:4] == key[:4]]
    most = min(alike, key=lambda one: (-len(groups[one]), one), default=key)
    return most if len(groups[most]) >= ONE_VALUE * len(groups[key]) else key


def commonest(blamed: Sequence[BlamedRun], passed: Sequence[PassedRun] = ()) -> Cause | None:
    """What at least half of some failed runs state as their cause, however few they are, if so many do."""
    siblings = by_task(passed)
    groups = _grouped({one.run.digest: stated_of(one, siblings) for one in blamed})
    if not groups:
        return None
    key = _largest(groups)
    runs = tuple(groups[key])
    return _plain_cause(key, runs, len(blamed)) if 2 * len(runs) >= len(blamed) else None


def _plain_cause(key: StatedCause, runs: tuple[str, ...], n: int, elsewhere_n: int = 0) -> Cause:
    wrong = key.kind == "argument"
    return Cause(**key._asdict(), wrong=wrong, runs=runs, n=n, elsewhere_n=elsewhere_n)


def _cause_of(
    key: StatedCause,
    runs: Sequence[BlamedRun],
    left: Mapping[str, BlamedRun],
    passed: Sequence[PassedRun],
) -> Cause:
    called = [one for one in left.values() if key.tool in one.run.tools]
    elsewhere = [one for one in passed if key.tool in one.run.tools]
    cause = _plain_cause(key, tuple(one.run.digest for one in runs), len(called), len(elsewhere))
    if key.kind != "tool_error":
        if not key.value:
            return cause
        feature = Feature("argument", key.tool, key.argument, key.value)
        # Its last attempt included.
        seen = (RunFeatures.of(one.run).before(one.last + 1)[0] for one in elsewhere)
        return replace(cause, elsewhere_k=sum(feature in features for features in seen))
    condition = _condition(key.tool, runs, elsewhere)
    if condition is None:
        return cause
    return replace(
        cause,
        argument=condition.feature.argument,
        value=condition.feature.value,
        with_value=len(condition.runs),
        n=condition.n,
        elsewhere_k=condition.elsewhere_k,
        elsewhere_n=condition.elsewhere_n,
        p=condition.p,
    )


def _condition(tool: str, runs: Sequence[BlamedRun], elsewhere: Sequence[PassedRun]) -> Represented | None:
    """The argument value of the refused calls that goes with being refused."""

    def seen(run: Run, moment: float) -> Seen:
        features, scopes = RunFeatures.of(run).before(moment)
        own = {one for one in features if one.kind == "argument" and one.tool == tool}
        return own, scopes

    failed = {one.run.digest: seen(one.run, one.moment) for one in runs}
    worked = {one.run.digest: seen(one.run, one.last + 1) for one in elsewhere}
    return next(over_represented(failed, worked, _tasks(runs, elsewhere)), None)


def _tasks(failed: Iterable[BlamedRun], passed: Iterable[PassedRun]) -> dict[str, str]:
    runs = (*(one.run for one in failed), *(one.run for one in passed))
    return {run.digest: run.task_id for run in runs}


def by_task(passed: Iterable[PassedRun]) -> dict[str, list[Run]]:
    """Runs that passed a sub-goal, by task."""
    found: dict[str, list[Run]] = {}
    for one in passed:
        found.setdefault(one.run.task_id, []).append(one.run)
    return found


def _shared_causes(left: Mapping[str, BlamedRun], passed: Sequence[PassedRun]) -> Iterator[Cause]:
    """What goes with failing here, among runs that attempted the sub-goal and among those that did not."""
    for attempted in (True, False):
        some = {digest: one for digest, one in left.items() if bool(one.events) is attempted}
        if not _enough(some.values()):
            continue
        elsewhere = {
            one.run.digest: RunFeatures.of(one.run).before(one.last + 1 if attempted else one.first)
            for one in passed
        }
        failed = {digest: RunFeatures.of(one.run).before(one.moment) for digest, one in some.items()}
        if attempted:  # a run that never came so far had no reason to look anything up
            failed, elsewhere = (with_absent(runs, elsewhere.values()) for runs in (failed, elsewhere))
        tasks = _tasks(some.values(), passed)
        compared = {pair for one in some.values() for pair in _compared(one)}
        latest = {digest: RunFeatures.of(one.run) for digest, one in some.items()}

        # Defaults hold what is compared now: generators ask when the loop may be further on.
        def rank(feature: Feature, seen: Mapping[str, RunFeatures] = latest) -> float:
            return max(run.at(feature) for run in seen.values())

        def allowed(feature: Feature, out: Collection[tuple[str, str]] = compared) -> bool:
            return (feature.tool, feature.argument.split(".")[0]) not in out

        for found in over_represented(failed, elsewhere, tasks, rank=rank, allowed=allowed):
            yield _shared_cause(found)


def _compared(one: BlamedRun) -> Iterator[tuple[str, str]]:
    """The arguments that the check itself compares: that they differ is no news."""
    if (spec := one.expected) is not None:
        for argument in spec.arguments:
            yield spec.name, argument


def _shared_cause(found: Represented) -> Cause:
    feature = found.feature
    kinds: Mapping[str, CauseKind] = {
        "error": "tool_error",
        "skill": "skill",
        "agent": "agent",
        "absent": "missing_information",
    }
    return Cause(
        kind=kinds.get(feature.kind, "argument"),
        tool=feature.tool,
        error=feature.value if feature.kind == "error" else "",
        argument=feature.argument,
        value="" if feature.kind == "error" else feature.value,
        runs=found.runs,
        n=found.n,
        elsewhere_k=found.elsewhere_k,
        elsewhere_n=found.elsewhere_n,
        p=found.p,
    )
