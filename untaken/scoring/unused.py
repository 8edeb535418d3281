"""Was it there to know? Each expected value that a call did not use: was the agent shown it before? (§4)

"Expected flight HAT276: never shown to this run" is another cause than "shown in event 14, HAT201 used".
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, Literal

from msgspec import Struct

from untaken.ledger import ToolCall
from untaken.numbers import counted
from untaken.plans import PlanGraph, ToolCallSpec, expected_of
from untaken.scoring.differences import FieldDifference, shown, unmet_arguments
from untaken.scoring.run_score import NodeScore
from untaken.scoring.seen_texts import SeenTexts, SoughtValue, ValueKind, sought

Knowledge = Literal["shown", "never_shown", "may_be_computed"]
MOST_VALUES: Final = 24
"""Values of one call that are looked for."""
MOST_USED: Final = 3
MOST_SIBLINGS: Final = 20
"""Other runs of the task that are asked for a value."""
_NO_TEXT: Final = (None, "")
LEAST_RUNS: Final = 3
"""Runs of a task that must all lack a value before the plan is doubted."""


class ShownElsewhere(Struct, frozen=True, kw_only=True, gc=False):
    """What showed a value to another run of the task: an event, and of an answer the call; untrusted."""

    run_id: str
    digest: str
    seq: int
    source: str
    arguments: str


class UnusedValue(Struct, frozen=True, kw_only=True, gc=False):
    """An expected value that a call did not use; its texts come from ledgers and graphs and are untrusted.

    Attributes:
        argument: where the call has another value, with a dot for what is inside it.
        expected: the value as JSON; `kind`: what it is.
        call: `seq` of the call; ``None`` where the tool was never called: the whole run is looked through.
        knowledge: ``shown`` to the agent before the call; ``never_shown`` (ids, names, words and dates only);
            ``may_be_computed``: not shown as such, but an amount, a choice or a date that it may have worked
            out.
        event, source: of the first text that showed it, and what that was: an instruction, a message's role,
            a tool.
        used: what the call has instead, as JSON; empty where it has nothing there. Where it has `several`
            values, as in a list, they are not looked for.
        used_event, used_source: of the first text that showed the used value; ``None`` where no text that the
            run saw holds it: it was invented, or worked out.
        elsewhere: what showed a value that was never shown here to another run of the task.
        others: runs of the task in which it was looked for.
        no_system_prompt: whether the record holds no system message, in which it may have been.
    """

    argument: str
    expected: str
    kind: ValueKind
    call: int | None
    knowledge: Knowledge
    event: int | None
    source: str
    used: str
    several: bool
    used_kind: ValueKind
    used_event: int | None
    used_source: str
    elsewhere: ShownElsewhere | None
    others: int
    no_system_prompt: bool

    @property
    def missing(self) -> bool:
        """Whether information was missing: the cause ``missing_information``."""
        return self.knowledge == "never_shown"

    @property
    def doubted(self) -> bool:
        """Whether no run of the task was shown it, of enough: a doubt about the plan."""
        return self.missing and self.elsewhere is None and self.others + 1 >= LEAST_RUNS


def unused_values(
    seen: SeenTexts, spec: ToolCallSpec, call: ToolCall | None, *, others: Iterable[SeenTexts] = ()
) -> tuple[UnusedValue, ...]:
    """What a call should have used and did not, with where the agent could have known it from.

    Free text is no value. Of lists and mappings each value inside counts that the call has nowhere in that
    argument.

    Args:
        seen: what the run's agent was shown.
        spec: the expected call.
        call: of the run, to the same tool; ``None`` where it was never called.
        others: runs of the same task; at most `MOST_SIBLINGS` are asked for values never shown here.
    """
    siblings = list(islice(others, MOST_SIBLINGS))
    pairs = islice(_pairs(spec, call), MOST_VALUES)
    return tuple(_unused(seen, call, siblings, pair) for pair in pairs)


def unused_values_of(
    seen: SeenTexts, graph: PlanGraph, node: NodeScore, *, others: Iterable[SeenTexts] = ()
) -> tuple[UnusedValue, ...]:
    """`unused_values` of the call nearest to what a sub-goal's check expects, or of one never called."""
    check = next((goal.check for goal in graph.sub_goals if goal.id == node.sub_goal), None)
    if check is None or check.tool_call is None or node.completed is not False:
        return ()
    call = next((one for one in seen.run.actions if one.seq == node.nearest), None)
    if call is None and check.tool_call.name in seen.run.tools:
        return ()  # called as expected, but refused or not often enough
    return unused_values(seen, check.tool_call, call, others=others)


def unused_fields(
    seen: SeenTexts, differences: Iterable[FieldDifference], *, others: Iterable[SeenTexts] = ()
) -> tuple[UnusedValue, ...]:
    """What a check expects of fields of the state that have other values; the whole run is looked through.

    An agent may have concluded such a value from others: that it was never shown is no cause.
    """
    siblings = list(islice(others, MOST_SIBLINGS))
    found = []
    for one in islice(differences, MOST_VALUES):
        expected = _written(one.expected)
        if not one.met and one.field.startswith("state.") and expected not in _NO_TEXT:
            actual = _written(one.actual)
            instead = [] if actual is None else [actual]
            found.append(_unused(seen, None, siblings, (one.field, expected, instead)))
    return tuple(found)


def _written(shown_value: str) -> Any:
    """The text or number that a difference shows, before the field that holds it; ``None`` for all else."""
    try:
        # JSON texts and numbers are Python's, too.
        value = literal_eval(shown_value.partition(" (state.")[0].strip())
    except (SyntaxError, ValueError):
        return None
    return value if isinstance(value, str | int | float) else None


def _pairs(spec: ToolCallSpec, call: ToolCall | None) -> Iterator[tuple[str, Any, list[Any]]]:
    """Each expected value that the call does not use: its argument, the value, what is there instead."""
    if call is None:
        yield from ((name, one, []) for name, value in expected_of(spec).items() for one in _values(value))
        return
    for name, expected, actual in unmet_arguments(spec, call):
        wanted, used = list(_values(expected)), list(_values(actual))
        instead = [value for value in used if value not in wanted]
        for value in wanted:
            if value not in used:
                yield name, value, instead


def _values(value: Any) -> Iterator[Any]:
    """The texts, numbers and truths in a value; patterns are left out."""
    if isinstance(value, dict):
        for item in value.values():
            yield from _values(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _values(item)
    elif value is None or isinstance(value, str | int | float):
        yield value


def _unused(
    seen: SeenTexts, call: ToolCall | None, siblings: Sequence[SeenTexts], pair: tuple[str, Any, list[Any]]
) -> UnusedValue:
    before = float("inf") if call is None else call.seq
    argument, value, instead = pair
    # A place in a list is no name: of `user_ids.0` it is that of the list.
    name = next((part for part in reversed(argument.split(".")) if not part.isdigit()), "")
    wanted = sought(value, name)
    first = seen.first(wanted, before)
    knowledge: Knowledge = "shown" if first else _unshown(wanted.kind, seen, before)
    used = instead[0] if len(instead) == 1 else None  # of several, nobody knows which took its place
    used_sought = None if used is None else sought(used, name)
    used_first = None if used_sought is None else seen.first(used_sought, before)
    missing = knowledge == "never_shown"
    return UnusedValue(
        argument=argument,
        expected=shown(value),
        kind=wanted.kind,
        call=None if call is None else call.seq,
        knowledge=knowledge,
        event=first.seq if first else None,
        source=first.source if first else "",
        used=", ".join(map(shown, instead[:MOST_USED])),
        several=len(instead) > 1,
        used_kind=used_sought.kind if used_sought else "choice",
        used_event=used_first.seq if used_first else None,
        used_source=used_first.source if used_first else "",
        elsewhere=_elsewhere(siblings, wanted) if missing else None,
        others=len(siblings) if missing else 0,
        no_system_prompt=not seen.has_system_prompt,
    )


def _unshown(kind: ValueKind, seen: SeenTexts, before: float) -> Knowledge:
    """An amount may be computed, a choice made, a day counted from another."""
    if kind in ("amount", "choice") or (kind == "date" and seen.relative_dates(before)):
        return "may_be_computed"
    return "never_shown"


def _elsewhere(siblings: Sequence[SeenTexts], wanted: SoughtValue) -> ShownElsewhere | None:
    for other in siblings:
        first = other.first(wanted, float("inf"))
        if first is not None:
            return ShownElsewhere(
                run_id=other.run.run_id,
                digest=other.run.digest,
                seq=first.seq,
                source=first.source,
                arguments=shown(first.call.arguments) if first.call else "",
            )
    return None


def in_words(value: UnusedValue) -> str:
    """One sentence without its end, for a page or a report; untrusted text."""
    place = f" in event {value.event} ({value.source})" if value.event is not None else ""
    used = _used(value)
    if value.knowledge == "shown":
        return f"{value.argument} {value.expected} was shown{place}; {used}"
    if value.knowledge == "may_be_computed":
        return f"{value.argument} {value.expected} was not shown as such, it may be computed; {used}"
    words = f"{value.argument} {value.expected} was never shown to this run; {used}"
    if value.elsewhere is not None:
        arguments = f" {value.elsewhere.arguments}" if value.elsewhere.arguments else ""
        other, source = value.elsewhere, value.elsewhere.source
        return f"{words}. Run {other.run_id} was shown it in event {other.seq} by {source}{arguments}"
    if value.doubted:
        words += (
            f". No run of this task was shown it ({counted(value.others + 1, 'run')}): the plan may be wrong"
        )
    return words + (". No system prompt is recorded" if value.no_system_prompt else "")


def _used(value: UnusedValue) -> str:
    if value.call is None:
        return "the tool was never called"
    if not value.used:
        return "the call has no such value"
    if value.several:
        return f"{value.used} were used"
    if value.used_event is not None:
        return f"{value.used} was used, shown in event {value.used_event} ({value.used_source})"
    origin = "may be computed" if value.used_kind in ("amount", "choice") else "in no text the run saw"
    return f"{value.used} was used, {origin}"
