"""Where a run and the reference diverge: by status, by decision, by action (§4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, TypeVar

from untaken.analysis.comparing.aligned import KNOWN, AlignedRow, Cell, Divergence, Level, Split
from untaken.analysis.comparing.cells import Side
from untaken.counterfactual import context_words
from untaken.errors import Unscored, first_few
from untaken.ledger import SkillSelection, ToolCall, cut, readable
from untaken.plans import json_equal

VALUE_CHARS: Final = 80
"""Longest title or recorded value in a sentence."""
MOST_NAMES: Final = 3
STATUS_WORDS: Final = {"called": "called", "not_called": "not called"}

Item = TypeVar("Item")


def part(reference: Side, other: Side, rows: Sequence[AlignedRow]) -> Divergence:
    """How a run differs from the reference: statuses first, then what was chosen and done."""
    pairs = [(row, row.cell(reference.run.digest), row.cell(other.run.digest)) for row in rows]
    known = [pair for pair in pairs if pair[1].status in KNOWN and pair[2].status in KNOWN]
    different = [pair for pair in known if pair[1].status != pair[2].status]
    splits = (*_statuses(known, different), *_decision(reference, other), *_actions(reference, other))
    return Divergence(
        run_id=other.run.run_id,
        digest=other.run.digest,
        alike=len(known) - len(different),
        different=len(different),
        unknown=len(pairs) - len(known),
        splits=splits,
    )


Pair = tuple[AlignedRow, Cell, Cell]


def _statuses(known: Sequence[Pair], different: Sequence[Pair]) -> Iterator[Split]:
    if not different:
        return
    yield _status_split("plan", different[0], known)
    moments = [pair for pair in different if pair[1].first is not None or pair[2].first is not None]
    # Else the two would be the same.
    if moments and (earliest := min(moments, key=_moment)) is not different[0]:
        yield _status_split("time", earliest, known)


def _moment(pair: Pair) -> int:
    return min(cell.first for cell in pair[1:] if cell.first is not None)


def _status_split(level: Level, pair: Pair, known: Sequence[Pair]) -> Split:
    row, ours, theirs = pair
    before = known[: known.index(pair)] if level == "plan" else []
    title = _short(row.title).rstrip(".")
    return Split(
        level=level,
        key=row.key,
        alike=len(before),
        reference_seq=ours.first,
        seq=theirs.first,
        words=f"{title}: {_cell_words(ours)} in the reference, {_cell_words(theirs)} here",
    )


def _cell_words(cell: Cell) -> str:
    known = cell.status != "attempted" or cell.steps  # without an action nobody knows of an attempt
    status = STATUS_WORDS.get(cell.status, cell.status) if known else "not completed"
    if cell.first is None:
        return status
    place = f"event {cell.first}" if cell.first == cell.last else f"events {cell.first} to {cell.last}"
    failed = f", {cell.failures} failed" if cell.failures else ""
    return f"{status} ({place}{failed})"


def _decision(reference: Side, other: Side) -> Iterator[Split]:
    """The first choice of the reference that this run, as often in the same context, made otherwise."""
    theirs = dict(_numbered(other.run.selections))
    alike = 0
    for place, ours in _numbered(reference.run.selections):
        made = theirs.get(place)  # None: this run came to the context less often
        if made is None:
            continue
        if made.selected == ours.selected:
            alike += 1
            continue
        context = _short(context_words(readable(ours.context), ours.context_hash))
        yield Split(
            level="decision",
            key=None,
            alike=alike,
            reference_seq=ours.seq,
            seq=made.seq,
            words=f"In “{context}” the reference chose {_short(ours.selected)} (event {ours.seq}), "
            f"this run {_short(made.selected)} (event {made.seq})",
        )
        return


def _numbered(selections: Sequence[SkillSelection]) -> Iterator[tuple[tuple[str, int], SkillSelection]]:
    """Each choice by its context and by how many came before it there."""
    seen: Counter[str] = Counter()
    for selection in selections:
        yield (selection.context_hash, seen[selection.context_hash]), selection
        seen[selection.context_hash] += 1


def _actions(reference: Side, other: Side) -> Iterator[Split]:
    """First other sub-goal, first other tool, and where it comes earlier the first other arguments."""
    yield from _split("sub_goal", _stages(reference), _stages(other), itemgetter(1), _stage_words)
    ours = [(call.seq, call) for call in reference.calls]
    theirs = [(call.seq, call) for call in other.calls]
    tools = list(_split("tool", ours, theirs, lambda item: item[1].tool, _tool_words))
    yield from tools
    until = tools[0].alike if tools else min(len(ours), len(theirs))  # after that the tools differ
    for at in range(until):
        mine, made = ours[at][1], theirs[at][1]
        if json_equal(mine.arguments, made.arguments):
            continue
        yield Split(
            level="arguments",
            key=None,
            alike=at,
            reference_seq=mine.seq,
            seq=made.seq,
            words=f"{_after(at, 'call')} {_short(mine.tool)} (events {mine.seq} and {made.seq}) "
            f"differs in {_differing(mine, made)}",
        )
        return


def _stages(side: Side) -> list[tuple[int, str]]:
    """The sub-goals worked on, in turn: (`seq` of the first action, sub-goal)."""
    if isinstance(side.score, Unscored):
        return []
    mapped = ((seq, goal) for seq, goal, _ in sorted(side.score.mapped))
    return [next(turns) for _, turns in groupby(mapped, key=itemgetter(1))]


def _split(
    level: Level,
    ours: Sequence[tuple[int, Item]],
    theirs: Sequence[tuple[int, Item]],
    key: Callable[[tuple[int, Item]], object],
    words: Callable[[tuple[int, Item] | None], str],
) -> Iterator[Split]:
    """The first place after a common beginning at which two sequences differ, or one of them ends."""
    alike = 0
    while alike < min(len(ours), len(theirs)) and key(ours[alike]) == key(theirs[alike]):
        alike += 1
    mine = ours[alike] if alike < len(ours) else None
    made = theirs[alike] if alike < len(theirs) else None
    if mine is None and made is None:
        return
    noun = "stage" if level == "sub_goal" else "call"
    yield Split(
        level=level,
        key=str(key(made or mine)) if level == "sub_goal" else None,  # type: ignore[arg-type]
        alike=alike,
        reference_seq=mine[0] if mine else None,
        seq=made[0] if made else None,
        words=f"{_after(alike, noun)} the reference {words(mine)}, this run {words(made)}",
    )


def _stage_words(stage: tuple[int, Any] | None) -> str:
    if stage is None:
        return "reaches no further sub-goal"
    return f"goes on to {_short(stage[1])} (event {stage[0]})"


def _tool_words(call: tuple[int, Any] | None) -> str:
    return "makes no more calls" if call is None else f"calls {_short(call[1].tool)} (event {call[0]})"


def _after(alike: int, noun: str) -> str:
    if not alike:
        return "From the start"
    return f"After {alike} {noun}{'s' * (alike > 1)} alike,"


def differing_arguments(one: ToolCall, other: ToolCall) -> list[str]:
    """Names of the arguments that two calls do not share, in the order of the first call."""
    names = dict.fromkeys((*one.arguments, *other.arguments))
    return [
        name
        for name in names
        if name not in one.arguments
        or name not in other.arguments
        or not json_equal(one.arguments[name], other.arguments[name])
    ]


def _differing(one: ToolCall, other: ToolCall) -> str:
    names = differing_arguments(one, other)
    changes = [f"{_short(name)}: {_value(one, name)} ≠ {_value(other, name)}" for name in names]
    return first_few(changes, MOST_NAMES, "; ")


def _value(call: ToolCall, name: str) -> str:
    return _short(readable(call.arguments[name]) or "null") if name in call.arguments else "left out"


_short = partial(cut, limit=VALUE_CHARS)
