"""Copies of a run in which a sub-goal's own actions failed, or did something else (§10).

Nothing is executed: a mutant is the recorded run with other answers, arguments or state, and is only scored.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import partial
from typing import Any, Final

from msgspec import structs

from untaken.ledger import AnyEvent, Observation, Run, RunFinished, State, ToolCall, Verdict
from untaken.plans import Pattern
from untaken.scoring import merge_patch

Path = tuple[str, ...]
OTHER: Final = "~other"
"""Takes the place of a text that is changed: no pattern that means anything fits it."""
HUGE: Final = 1_000
"""Factor of the numbers that are tried far away from a recorded one."""


def without_verdicts(run: Run) -> Run:
    """The run without what others said about it: a check is to be tried, not a reviewer."""
    return _with(run, [event for event in run.events if not isinstance(event, Verdict)])


def hollow(run: Run, calls: frozenset[int], fields: Collection[str]) -> Run:
    """The run with these calls made and answered by a failure, and what they wrote to the state undone.

    Args:
        run: without verdicts.
        calls: `seq` of the calls.
        fields: top-level fields of the state that the check reads; those that only the final state has are
            taken from it, for there it cannot be said who wrote what.
    """
    ids = {event.call_id for event in run.actions if event.seq in calls}
    undone = {patch.seq for patch in _written_after(run, calls)}
    events: list[AnyEvent] = []
    state: dict[str, Any] = {}
    # In no patch: for all that is known, these calls left them in the final state.
    touched = set(fields).difference(*(patch.state for patch in run.of(State)))
    for event in run.events:
        if isinstance(event, Observation) and event.call_id in ids:
            event = structs.replace(event, ok=False, content="failed")  # noqa: PLW2901
        elif isinstance(event, State) and event.seq in undone:
            touched |= event.state.keys()
            event = structs.replace(event, state={})  # noqa: PLW2901
        elif isinstance(event, State):
            merge_patch(state, event.state)
        elif isinstance(event, RunFinished) and event.final_state:
            event = structs.replace(event, final_state=_undone(event.final_state, state, touched))  # noqa: PLW2901
        events.append(event)
        # A call without a recorded answer counts as done: it is answered by a failure, too.
        if isinstance(event, ToolCall) and event.seq in calls and event.seq not in run.answers:
            events.append(
                Observation(
                    run_id=event.run_id,
                    seq=event.seq,
                    ts=event.ts,
                    prev=event.prev,
                    call_id=event.call_id,
                    ok=False,
                    content="failed",
                )
            )
    return _with(run, events)


def _undone(final: Mapping[str, Any], state: Mapping[str, Any], lost: Collection[str]) -> dict[str, Any]:
    """The final state, with what the kept patches say of the lost fields."""
    kept = {name: value for name, value in final.items() if name not in lost}
    return kept | {name: state[name] for name in final if name in lost and name in state}


def _written_after(run: Run, calls: frozenset[int]) -> Iterator[State]:
    """What was written after these calls and before the next ones; calls made at once share it."""
    batch: list[int] = []
    answered = False
    for event in run.events:
        if isinstance(event, ToolCall):
            # Calls made at once come before any of their answers: an answer ends the batch.
            batch = [event.seq] if answered else [*batch, event.seq]
            answered = False
        elif isinstance(event, Observation):
            answered = True
        elif isinstance(event, State):
            answered = True
            if not calls.isdisjoint(batch):
                yield event


def with_argument(run: Run, calls: frozenset[int], name: str) -> Run:
    """The run with another value of one argument in each of these calls."""

    def changed(event: AnyEvent) -> AnyEvent:
        if not isinstance(event, ToolCall) or event.seq not in calls or name not in event.arguments:
            return event
        other = next(iter(other_values(event.arguments[name])))
        return structs.replace(event, arguments=event.arguments | {name: other})

    return _with(run, [changed(event) for event in run.events])


def with_field(run: Run, path: Path, variant: int) -> Run | None:
    """The run with another value of one field, wherever its state says one.

    Args:
        run: without verdicts.
        path: of the field, inside the state.
        variant: which of `other_values`.

    Returns:
        ``None`` where the state never has the field, or it has no such variant.
    """
    change = partial(_changed_at, path=path, variant=variant)
    events: list[AnyEvent] = []
    found = False
    for event in run.events:
        given = event.state if isinstance(event, State) else None
        given = event.final_state if isinstance(event, RunFinished) else given
        made = None if given is None else change(given)
        found |= made is not None
        if made is not None and isinstance(event, State):
            events.append(structs.replace(event, state=made))
        elif made is not None and isinstance(event, RunFinished):
            events.append(structs.replace(event, final_state=made))
        else:
            events.append(event)
    return _with(run, events) if found else None


def _changed_at(state: Mapping[str, Any], path: Path, variant: int) -> dict[str, Any] | None:
    inner: Any = state
    for name in path:
        if not isinstance(inner, Mapping) or name not in inner:
            return None
        inner = inner[name]
    values = other_values(inner)
    if inner is None or variant >= len(values):  # null has no type to keep
        return None
    made = deepcopy(dict(state))  # the run's own events stay as recorded
    place = made
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = values[variant]
    return made


def other_values(value: Any) -> Sequence[Any]:
    """Other values of the type of a recorded one: an error of types would look like a detection."""
    match value:
        case bool():  # before `int`: a bool is one, too
            return (not value,)
        case int() | float():
            far = (abs(value) + 1) * HUGE
            return value + 1, -far, far  # far on both sides: a check may be a bound
        case str():
            return (OTHER, "") if value else (OTHER,)
        case list():
            return [[*value, *value], []] if value else [[OTHER]]
        case dict():
            return [{key: other_values(item)[0] for key, item in value.items()} | {OTHER: OTHER}, {}]
    return (OTHER,)


def compared(expected: Any) -> bool:
    """Whether an expected argument asks for more than being there."""
    return not (isinstance(expected, Pattern) and expected.kind in ("any", "given"))


def _with(run: Run, events: Sequence[AnyEvent]) -> Run:
    return Run(events=tuple(events), integrity=run.integrity, source=run.source)
