"""One pass over a run's events, sorted into what scoring asks for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from untaken.ledger.events import Message, Observation, Plan, RunFinished, State, ToolCall, Verdict
from untaken.ledger.model import Run


class Trace:
    """The events that count: all up to RUN_FINISHED, and verdicts wherever they stand.

    Attributes:
        calls: the agent's and the user's tool calls, in order.
        failures: (observation, the call it answers): not ok, or marked transient.
        replans: `seq` of each non-empty plan that differs from the last non-empty one.
        plans: number of PLAN events.
        spoke: whether the ledger holds any message.
        states: the events that say something about the state, RUN_FINISHED last.
        verdicts: sub-goal → its verdicts, in order.
        last: `seq` of the run's last event; what follows it came after the run.
        end: `seq` of the last event in the ledger.
    """

    __slots__ = (
        "_by_tool",
        "calls",
        "end",
        "failures",
        "finished",
        "last",
        "plans",
        "replans",
        "spoke",
        "states",
        "verdicts",
    )

    def __init__(self, run: Run) -> None:
        self.calls: list[ToolCall] = []
        self.failures: list[tuple[Observation, ToolCall | None]] = []
        self.replans: list[int] = []
        self.plans = 0
        self.spoke = False
        self.states: list[State | RunFinished] = []
        self.verdicts: dict[str, list[Verdict]] = defaultdict(list)
        self.finished: RunFinished | None = None
        self.last = 0
        self.end = run.events[-1].seq
        self._by_tool: dict[str, list[ToolCall]] | None = None
        self._read(run)

    def _read(self, run: Run) -> None:
        answered: dict[str, ToolCall] = {}
        plan: list[str] = []
        after = len(run.events)
        for at, event in enumerate(run.events):  # the commonest kinds first: every event comes through here
            if isinstance(event, ToolCall):
                self.calls.append(event)
                answered[event.call_id] = event
            elif isinstance(event, Observation):
                if event.ok is False or event.transient:
                    self.failures.append((event, self._answered(event, answered)))
            elif isinstance(event, State):
                self.states.append(event)
            elif isinstance(event, Message):
                self.spoke = True
            elif isinstance(event, Plan):
                self.plans += 1
                if event.sub_goals:
                    if plan and event.sub_goals != plan:
                        self.replans.append(event.seq)
                    plan = event.sub_goals
            elif isinstance(event, Verdict):
                self.verdicts[event.sub_goal].append(event)
            elif isinstance(event, RunFinished):
                self.finished = event
                self.states.append(event)
                after = at + 1
                break
        self.last = run.events[after - 1].seq
        for event in run.events[after:]:
            if isinstance(event, Verdict):
                self.verdicts[event.sub_goal].append(event)

    def _answered(self, event: Observation, calls: dict[str, ToolCall]) -> ToolCall | None:
        """The call an observation answers; without a call id, the call before it."""
        if event.call_id is not None:
            return calls.get(event.call_id)
        return self.calls[-1] if self.calls else None

    def step_ends(self, actions: Sequence[int]) -> list[int]:
        """For each action (by `seq`, in order) the last `seq` before the next one."""
        return [seq - 1 for seq in actions[1:]] + [self.last] if actions else []

    def calls_of(self, tool: str) -> Sequence[ToolCall]:
        """The calls of one tool, in order."""
        if self._by_tool is None:
            self._by_tool = defaultdict(list)
            for call in self.calls:
                self._by_tool[call.tool].append(call)
        return self._by_tool.get(tool, ())
