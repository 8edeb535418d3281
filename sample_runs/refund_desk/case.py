"""A run in progress: every choice, call and note goes into the ledger as it happens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any

from sample_runs.refund_desk.policies import Policy, Seen
from sample_runs.refund_desk.tools import WRITES, Answer, Desk
from untaken.ledger import (
    LedgerWriter,
    Message,
    Observation,
    Plan,
    SkillSelection,
    State,
    ToolCall,
)
from untaken.ledger.context import context_hash

CALLS = 12
"""What a run may spend before the desk stops it."""


class OutOfCalls(Exception):
    """The budget of calls is spent."""


class Killed(Exception):
    """The machine went away in the middle of a run."""


class Clock:
    """Simulated time: it moves when something is done, so that a regenerated ledger has the same stamps."""

    def __init__(self, start: datetime) -> None:
        self.now = start

    def __call__(self) -> datetime:
        return self.now

    def advance(self, milliseconds: int) -> None:
        self.now += timedelta(milliseconds=milliseconds)


@dataclass(slots=True, kw_only=True)
class Notes:
    """What the agent knows of its ticket so far."""

    body: str
    order_ref: str | None = None
    email: str = ""
    intent: str | None = None
    order: Mapping[str, Any] | None = None
    policy: Mapping[str, Any] | None = None
    recalled: bool = False
    decision: str | None = None
    cents: int = 0
    failures: int = 0


@dataclass(slots=True, kw_only=True)
class Case:
    """One agent at work on one ticket.

    Attributes:
        luck: decides choices and times; `tone`: the wording of messages, and nothing else.
        killed_at: the call before which the machine goes away.
    """

    run_id: str
    desk: Desk
    policy: Policy
    writer: LedgerWriter
    clock: Clock
    luck: Random
    tone: Random
    killed_at: int
    notes: Notes
    calls: int = 0

    def record(self, event: type, **fields: Any) -> None:
        """Append an event to the ledger, a moment later than the last."""
        self.clock.advance(self.luck.randrange(40, 900))
        self.writer.write(event, self.run_id, **fields)

    def plan(self, sub_goals: Sequence[str], reason: str | None = None) -> None:
        self.record(Plan, sub_goals=list(sub_goals), reason=reason)

    def say(self, role: str, content: str) -> None:
        self.record(Message, role=role, content=content)

    def note(self, **state: Any) -> None:
        """Put into the run's state what the agent has found out."""
        self.record(State, state=state)

    def choose(self, options: Sequence[str], seen: Seen) -> str:
        """Let the policy choose among the options by its odds, and log the choice."""
        wanted = self.policy.odds(seen)
        odds = [wanted.get(skill, 0.0) for skill in options]
        selected = self.luck.choices(options, weights=odds)[0]
        shares = {skill: round(odd / sum(odds), 4) for skill, odd in zip(options, odds, strict=True)}
        if seen["step"] in self.policy.logs_choices:
            self.record(
                SkillSelection,
                selected=selected,
                alternatives=[skill for skill in options if skill != selected],
                context_hash=context_hash(seen),
                context=seen,
                propensities=shares if self.policy.logs_odds else None,
            )
        return selected

    def call(self, tool: str, sub_goal: str | None, **arguments: Any) -> Answer:
        """Call a tool; an agent that does not trust an answer asks once more."""
        answer = self._call(tool, sub_goal, arguments)
        again = self.policy.repeat_writes if tool in WRITES else self.policy.repeat_reads
        if answer.ok and self.luck.random() < again:
            answer = self._call(tool, sub_goal, arguments)
        return answer

    def _call(self, tool: str, sub_goal: str | None, arguments: dict[str, Any]) -> Answer:
        if self.calls == CALLS:
            raise OutOfCalls
        if self.calls == self.killed_at:
            raise Killed
        self.calls += 1
        tag = sub_goal if self.policy.tags_sub_goals else None
        call_id = f"c{self.calls}"
        self.record(ToolCall, call_id=call_id, tool=tool, arguments=arguments, sub_goal=tag)
        answer = self.desk.call(tool, arguments)
        self.clock.advance(30_000 if answer.transient else self.luck.randrange(200, 4_000))
        transient = True if answer.transient else None
        self.record(Observation, call_id=call_id, ok=answer.ok, transient=transient, content=answer.content)
        return answer
