"""Was each sub-goal attempted? Yes, no, or unknown (§4)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from untaken import plans
from untaken.plans import ToolCallSpec
from untaken.scoring.compiled import CompiledGraph, Conditions
from untaken.scoring.trace import Trace


class Attempt(Struct, frozen=True, kw_only=True, gc=False):
    """What a run did about one sub-goal.

    Attributes:
        made: ``None`` where the ledger cannot tell; then `unknown` says why.
        events: `seq` of each action that was an attempt, in order.
    """

    made: bool | None
    events: tuple[int, ...] = ()
    unknown: str = ""


AttemptsById = Mapping[str, Attempt]

NEVER: Final = Attempt(made=False)
WITHOUT_ACTIONS: Final = Attempt(made=None, unknown="the ledger records no actions")
WITHOUT_MAPPING: Final = Attempt(
    made=None, unknown="no actions can be mapped to it (no rule, no tool-call check, no tags in the ledger)"
)


def attempts(
    compiled: CompiledGraph, trace: Trace, mapping: plans.Mapping, required: Conditions
) -> AttemptsById:
    """Each sub-goal's attempts, worked out for options before the groups that inherit from them."""
    served = _served(compiled, trace, mapping, required)
    acted = bool(trace.calls or mapping.mapped)
    found: dict[str, Attempt] = {}
    for name in compiled.options_first:
        criterion = compiled.criteria[name]
        own = Attempt(made=True, events=served[name]) if name in served else None
        if criterion.options:
            options = [
                found[o]
                for o in criterion.options
                # Whether an option that this run does not require was tried need not be known.
                if o in found and (found[o].made or required.get(o, True) is not False)
            ]
            found[name] = _through_options([own, *options] if own else options)
        elif own:
            found[name] = own
        elif not acted and not (criterion.reads_messages and trace.spoke):
            found[name] = WITHOUT_ACTIONS
        else:
            # A ledger with tags itself says what each action was for.
            known = criterion.maps or any(authority == "tag" for _, _, authority in mapping.mapped)
            found[name] = NEVER if known else WITHOUT_MAPPING
    return found


def _served(
    compiled: CompiledGraph, trace: Trace, mapping: plans.Mapping, required: Conditions
) -> Mapping[str, tuple[int, ...]]:
    """The actions that served each sub-goal."""
    mapped: dict[str, list[int]] = defaultdict(list)
    for seq, sub_goal, _ in mapping.mapped:
        mapped[sub_goal].append(seq)
    specs = compiled.calls.items()
    # A call that a tag or a rule claims for another sub-goal also serves each check that it fulfils.
    claimed = {seq for seq, _, authority in mapping.mapped if authority in ("tag", "rule")} if specs else ()
    for name, spec in specs if claimed else ():
        calls = [call for call in trace.calls_of(spec.name) if call.seq in claimed]
        if calls and trace.affords(spec):
            also = [call.seq for call in calls if plans.call_matches(spec, call)]
            mapped[name] = sorted({*mapped[name], *also})
    for name, spec in specs:
        if name in mapped and (after := compiled.criteria[name].after(required)):
            used = _used_before(spec, after, trace)
            mapped[name] = [seq for seq in mapped[name] if seq not in used]
    return {name: tuple(seqs) for name, seqs in mapped.items() if seqs}


def _used_before(spec: ToolCallSpec, after: int, trace: Trace) -> set[int]:
    """The first calls as expected: earlier sub-goals with the same call need them for themselves."""
    calls = trace.calls_of(spec.name) if trace.affords(spec) else ()
    made = [
        (call.seq, plans.call_counts(spec, trace.answer(call)))
        for call in calls
        if plans.call_matches(spec, call)
    ]
    # As the checks take them: calls known to count before those without a recorded answer.
    good = [seq for seq, counts in made if counts] + [seq for seq, counts in made if counts is None]
    return {*good[:after]}


def _through_options(options: list[Attempt]) -> Attempt:
    """A group is attempted where one of its options is, or an action is mapped to the group itself."""
    made = [option for option in options if option.made]
    if made:
        return Attempt(made=True, events=tuple(sorted({seq for option in made for seq in option.events})))
    return next((option for option in options if option.made is None), NEVER)
