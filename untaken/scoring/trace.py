"""A run's events, sorted into what scoring asks for, and its state as they tell it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import inf
from operator import attrgetter
from typing import Any, Final, TypeVar

from untaken import limits
from untaken.ledger import (
    OUTSIDE,
    Event,
    Message,
    Observation,
    Plan,
    Run,
    RunFinished,
    State,
    ToolCall,
    Verdict,
    infrastructure_of,
    paired,
)
from untaken.plans import ToolCallSpec, chars_of, fixed_arguments, plain_key, reads_text
from untaken.scoring.verdicts import not_withdrawn

JsonObject = dict[str, Any]


def merge_patch(target: JsonObject, patch: JsonObject) -> list[str]:
    """Apply a JSON merge patch (RFC 7386) to `target`: objects merge, ``null`` removes, all else replaces.

    `target` is changed in place and shares no object with `patch`, so that no event is ever changed: but
    for lists, which a patch replaces as a whole.

    Returns:
        The fields of `target` that changed.
    """
    moved = []
    for key, value in patch.items():
        before = target.get(key)
        if value is None:
            target.pop(key, None)
            changed = before is not None
        elif isinstance(value, dict):
            below = before if isinstance(before, dict) else {}  # what was no object gives way to one
            target[key] = below
            changed = bool(merge_patch(below, value)) or below is not before
        else:
            target[key] = value
            changed = before is None or before != value
        if changed:
            moved.append(key)
    return moved


class StateFold:
    """The run's state, moved forward through the run.

    RUN_FINISHED.final_state is a state, not a patch: each of its top-level fields replaces the folded one as
    it is, ``null`` included; fields that it does not mention keep what the STATE events said.

    Args:
        events: STATE and RUN_FINISHED, in order.
        fields: the top-level fields that matter; others are left out. ``None`` for all.

    Attributes:
        state: the current state; empty at the beginning.
        changed: top-level field → `seq` of the event that last changed it.
        ahead: `seq` of the next event that says something about the state; infinite at the end.
    """

    __slots__ = ("_at", "_events", "_fields", "ahead", "changed", "state")

    def __init__(self, events: Sequence[State | RunFinished], fields: frozenset[str] | None = None) -> None:
        self.state: JsonObject = {}
        self.changed: dict[str, int] = {}
        self._events = events
        self._fields = fields
        self._at = 0
        self.ahead: float = events[0].seq if events else inf

    def forward(self, seq: int) -> set[str]:
        """Move to the state after event `seq`; the top-level fields that differ from the state before."""
        moved: set[str] = set()
        events, matter, at = self._events, self._fields, self._at
        while at < len(events) and (event := events[at]).seq <= seq:
            at += 1
            fields = event.state if isinstance(event, State) else event.final_state or {}
            if matter is None or not matter.isdisjoint(fields):
                merge = merge_patch if isinstance(event, State) else _replace  # a final state is no patch
                for field in merge(self.state, fields):
                    self.changed[field] = event.seq
                    moved.add(field)
        self._at = at
        self.ahead = events[at].seq if at < len(events) else inf
        return moved


def _replace(state: JsonObject, final: JsonObject) -> list[str]:
    """Take over the fields of `final` as they are; those that changed."""
    moved = [key for key, value in final.items() if key not in state or state[key] != value]
    state.update(final)
    return moved


E = TypeVar("E", bound=Event)
_SEQ: Final = attrgetter("seq")
_LEFT_OUT: Final = object()
"""Instead of the value of an argument that a call does not give."""


class Trace:
    """The events that count: all up to RUN_FINISHED, and verdicts anywhere.

    Attributes:
        calls: the agent's and the user's tool calls, in order.
        failed: the observations that are not ok, or marked transient.
        replans: `seq` of each non-empty plan that differs from the last non-empty one.
        plans: number of PLAN events.
        verdicts: sub-goal → its verdicts, in order.
        last: `seq` of the run's last event; what follows it came after the run.
        end: `seq` of the last event in the ledger.
    """

    __slots__ = (
        "_by_tool",
        "_by_value",
        "_chars",
        "_comparisons",
        "_failures",
        "_run",
        "calls",
        "end",
        "failed",
        "finished",
        "last",
        "plans",
        "replans",
        "verdicts",
    )

    def __init__(self, run: Run) -> None:
        self.finished = run.finished
        self.end = run.events[-1].seq
        self.last = self.end if self.finished is None else self.finished.seq
        self.calls = self._during(run.of(ToolCall))
        observed = self._during(run.of(Observation))
        self.failed = [event for event in observed if event.ok is False or event.transient]
        self._failures: list[tuple[Observation, ToolCall | None]] | None = None
        plans = self._during(run.of(Plan))
        self.plans = len(plans)
        self.replans = _revisions(plans)
        self.verdicts: dict[str, list[Verdict]] = {}
        recorded = run.of(Verdict)
        for verdict in not_withdrawn(recorded) if recorded else ():
            self.verdicts.setdefault(verdict.sub_goal, []).append(verdict)
        self._by_tool: dict[str, list[ToolCall]] | None = None
        self._by_value: dict[tuple[str, str], dict[object, list[ToolCall]]] = {}
        self._run = run
        self._comparisons = 0
        self._chars: dict[str, int] = {}

    def _during(self, events: Sequence[E]) -> Sequence[E]:
        """Those that do not come after the run."""
        # As a rule nothing follows the run, and the list can be used as it is.
        if not events or events[-1].seq <= self.last:
            return events
        return [event for event in events if event.seq <= self.last]

    @property
    def ended_outside(self) -> bool:
        """Whether its provider or its environment ended the run: it says nothing about the agent."""
        return infrastructure_of(self._run) in OUTSIDE

    @property
    def graph(self) -> str:
        """The plan graph that the run names; else empty."""
        return self._run.started.graph or ""

    @property
    def spoke(self) -> bool:
        """Whether the run holds any message."""
        return bool(self._during(self._run.of(Message)))

    @property
    def states(self) -> Sequence[State | RunFinished]:
        """The events that say something about the state, RUN_FINISHED last."""
        patches = self._during(self._run.of(State))
        return patches if self.finished is None else [*patches, self.finished]

    @property
    def failures(self) -> Sequence[tuple[Observation, ToolCall | None]]:
        """What failed, each with the call it answers."""
        if self._failures is None:
            self._failures = list(paired(self.calls, self.failed))
        return self._failures

    @property
    def never_replanned(self) -> bool:
        """Whether observations failed, and the plan was recorded but never revised."""
        return bool(self.failed and self.plans and not self.replans)

    def step_ends(self, actions: Sequence[int]) -> list[int]:
        """The last `seq` before the next action, for each action in order."""
        return [seq - 1 for seq in actions[1:]] + [self.last] if actions else []

    def calls_of(self, tool: str) -> Sequence[ToolCall]:
        """The calls of one tool, in order."""
        if self._by_tool is None:
            self._by_tool = defaultdict(list)
            for call in self.calls:
                self._by_tool[call.tool].append(call)
        return self._by_tool.get(tool, ())

    def calls_like(self, spec: ToolCallSpec) -> Sequence[ToolCall]:
        """The calls of a check's tool that may be as it expects, in order; the others are not."""
        every = self.calls_of(spec.name)
        return min(
            (self._with(name, value, spec.name) for name, value in fixed_arguments(spec).items()),
            key=len,
            default=every,
        )

    def _with(self, name: str, value: object, tool: str) -> Sequence[ToolCall]:
        """The calls of a tool that have this value of an argument, or leave it out."""
        found = self._by_value.get((tool, name))
        if found is None:
            found = self._by_value[tool, name] = defaultdict(list)
            for call in self.calls_of(tool):
                found[plain_key(call.arguments[name]) if name in call.arguments else _LEFT_OUT].append(call)
        without = found.get(_LEFT_OUT, [])
        return sorted([*found.get(value, ()), *without], key=_SEQ) if without else found.get(value, ())

    def answer(self, call: ToolCall) -> Observation | None:
        """The last recorded answer to a call."""
        return self._run.answers.get(call.seq)

    def affords(self, spec: ToolCallSpec) -> bool:
        """Whether the calls of a check's tool may still be compared with it; counts them."""
        calls = self.calls_of(spec.name)
        self._comparisons += len(calls)  # bounded: a hostile graph must not hold up the review of the others
        if reads_text(spec):  # what calls and answers say is read by a pattern, and counts, too
            if spec.name not in self._chars:
                self._chars[spec.name] = sum(chars_of(call, self.answer(call)) for call in calls)
            self._comparisons += self._chars[spec.name] // limits.CHARS_PER_COMPARISON
        return self._comparisons <= limits.CALL_COMPARISONS


def _revisions(plans: Sequence[Plan]) -> list[int]:
    """`seq` of each non-empty plan that differs from the last non-empty one."""
    revised: list[int] = []
    before: list[str] = []
    for plan in plans:
        if plan.sub_goals:
            if before and plan.sub_goals != before:
                revised.append(plan.seq)
            before = plan.sub_goals
    return revised
