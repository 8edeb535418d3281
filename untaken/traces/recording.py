"""A foreign run put down as ledger events: who spoke, what was called, what came back, what was decided."""

from __future__ import annotations

import json
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any, Final, Literal

from msgspec import Struct

from untaken import limits
from untaken.ledger import Draft, context_hash
from untaken.ledger import events as e
from untaken.traces.jsontext import Broken, JsonReader
from untaken.traces.losses import FileLog
from untaken.traces.readings import cut_name, whole
from untaken.traces.tidy import Places, Tidier
from untaken.working import step

EPOCH: Final = datetime(2000, 1, 1, tzinfo=UTC)
"""Where synthesised time begins: a date no agent ran on, so that nobody takes it for a recorded one."""
TRIAL: Final = timedelta(days=1)
"""Synthesised distance between the trials of a task."""
TICK: Final = timedelta(milliseconds=1)
"""Synthesised distance between the events of a run."""
SAME: Final = datetime.max
"""For the moment of an item: that of the one before."""
UNNAMED: Final = "(unnamed)"
UNPARSED: Final = "_unparsed"

Side = Literal["agent", "user"]


def synthetic_start(trial: int) -> datetime:
    """Start time for a run without recorded times.

    All runs of trial t lie before all runs of trial t + 1, whatever their task, so that a policy memory as
    of a run's start holds exactly the earlier trials.
    """
    return EPOCH + min(max(trial, 0), _TRIALS) * TRIAL


_TRIALS: Final = 1_000_000


def trial_number(recorded: Any, so_far: Counter[str], task: str, log: FileLog, place: str) -> int:
    """The number of a run among those of its task: as recorded, else by the order of the file."""
    trial, counted = whole(recorded, log.findings, place), so_far[task]
    so_far[task] += 1
    if trial is not None and trial >= 0:
        return trial
    log.findings.once("missing-trial", "runs record no trial; numbered in file order")
    log.synthesised["RUN_STARTED.task_repeat"] += 1
    return counted


def decision_context(task_id: str, succeeded: Mapping[str, int]) -> dict[str, Any]:
    """The situation of a tool choice: the task, and how often each tool has succeeded in this run so far.

    Two runs of a task are in one situation when the same tools succeeded equally often, in whatever order;
    failed calls and what was said leave it unchanged. Exact enough to tell early from late, coarse enough
    to be met again.
    """
    return {"task": task_id, "done": {tool: n for tool, n in sorted(succeeded.items()) if n}}


def tool_name(value: Any) -> str:
    """The name of a called tool, fit for an event; `UNNAMED` if there is none."""
    return cut_name(value) if isinstance(value, str) and value.strip() else UNNAMED


class _Call(Struct, frozen=True):
    source_id: str
    call_id: str
    tool: str
    side: Side
    turn: int


class _Open:
    """Calls that wait for their observation, oldest first."""

    def __init__(self) -> None:
        self._calls: dict[str, _Call] = {}
        self._by_source: dict[str, deque[str]] = defaultdict(deque)

    def add(self, call: _Call) -> None:
        waiting = self._by_source[call.source_id]
        # Some models number the calls of each reply from 0: one that was left open gets no answer later.
        while call.source_id and waiting and self._calls[waiting[0]].turn < call.turn:
            del self._calls[waiting.popleft()]
        self._calls[call.call_id] = call
        waiting.append(call.call_id)

    def take(self, source_id: str | None) -> _Call | None:
        """The call that an observation with this id answers."""
        if not source_id:
            oldest = next(iter(self._calls), None)
            if oldest is None:
                return None
            source_id = self._calls[oldest].source_id
        waiting = self._by_source.get(source_id)
        return self._calls.pop(waiting.popleft()) if waiting else None


class DecisionRoom:
    """How much the decisions of a run may still list.

    Each of them repeats the names of all options, so that a short file could fill memory and disk.
    """

    def __init__(self, log: FileLog) -> None:
        self._log = log
        self._left = limits.DECISIONS_CHARS

    def takes(self, *names: Iterable[str]) -> bool:
        """Whether there is room for one more decision that repeats these names."""
        self._left -= sum(map(len, chain.from_iterable(names)))
        if self._left < 0:
            message = "too many options and choices to list them all; later choices have no decision point"
            self._log.findings.once("decisions-left-out", message)
        return self._left >= 0


class Conversation:
    """Writes a run down event by event.

    Each call of the agent is a decision point: selected is the tool called, the alternatives are the other
    tools ever used by any run of the task at hand, the context is `decision_context`. An answer belongs to
    the oldest unanswered call with its id of the last turn that has one, or, without an id, to the oldest
    unanswered call.

    Args:
        run_id, task_id: of the run.
        tools: every tool the task's runs ever used.
        log: the account of the file.
        now: moment of the first event; `at` moves it.

    Attributes:
        drafts: the events.
    """

    def __init__(
        self,
        run_id: str,
        *,
        task_id: str,
        tools: Iterable[str],
        log: FileLog,
        now: datetime,
        tick: timedelta = TICK,
    ) -> None:
        self.drafts: list[Draft] = []
        self.now = now
        self._run_id = run_id
        self._interval = tick
        self._task_id = task_id
        self._tools = sorted(set(tools))  # a set has another order in each process
        self._room = DecisionRoom(log)
        self._log = log
        self._succeeded: Counter[str] = Counter()
        self._open = _Open()
        self._ids: Counter[str] = Counter()
        self._turn = 0

    def at(self, recorded: datetime | None) -> None:
        """Advances to a recorded moment; without one, or if it is in the past, time does not change."""
        if recorded is SAME:
            return
        if recorded is None:
            self._log.synthesised["ts"] += 1
        elif recorded < self.now:
            message = "a message has an earlier time than the one before it; it gets that time"
            self._log.findings.once("time-goes-back", message, severity="note")
            self._log.synthesised["ts"] += 1
        else:
            self.now = recorded

    def say(self, role: str, content: Any) -> None:
        """Something said, which begins a turn; nothing is written where nothing was said."""
        self._turn += 1
        if content is not None and content not in ("", [], {}):
            self._tick(e.Message, role=role, content=content)

    def call(
        self, source_id: str | None, tool: Any, arguments: Any, side: Side = "agent", *, chosen: bool = True
    ) -> dict[str, Any]:
        """A call, with the decision for it where the agent chose it; gives its arguments as they are read."""
        named = self._named(tool)
        call_id = self._unique(source_id)
        if side == "agent" and chosen:
            self._decide(named)
        read = self._arguments(arguments)
        asked_by = None if side == "agent" else side
        self._tick(e.ToolCall, call_id=call_id, tool=named, arguments=read, requestor=asked_by)
        self._open.add(_Call(source_id or "", call_id, named, side, self._turn))
        return read

    def answer(self, source_id: str | None, content: Any, *, ok: bool | None) -> None:
        """What came back from a call."""
        self._turn += 1
        call = self._open.take(source_id)
        if call is None:
            message = "an observation matches no open call; kept without a call"
            self._log.findings.add("observation-without-call", message, run=self._run_id)
        elif ok is not False and call.side == "agent":  # unknown is no failure
            self._succeeded[call.tool] += 1
        self._tick(e.Observation, content=content, call_id=call.call_id if call else None, ok=ok)

    def add(self, kind: type[e.AnyEvent], ts: datetime, /, **fields: Any) -> None:
        """Puts an event at the end."""
        step()
        self.drafts.append(Draft(kind, fields, ts))

    def _tick(self, kind: type[e.AnyEvent], **fields: Any) -> None:
        self.add(kind, self.now, **fields)
        self.now += self._interval

    def _decide(self, tool: str) -> None:
        if not self._room.takes(self._tools, self._succeeded):
            return
        context = decision_context(self._task_id, self._succeeded)
        self._tick(
            e.SkillSelection,
            selected=tool,
            alternatives=[other for other in self._tools if other != tool],
            context_hash=context_hash(context),
            context=context,
        )
        self._log.synthesised["SKILL_SELECTION"] += 1

    def _named(self, tool: Any) -> str:
        named = tool_name(tool)
        if named == UNNAMED:
            self._log.findings.add("call-without-name", "a call names no tool", run=self._run_id)
            self._log.defaulted["TOOL_CALL.tool"] += 1
        return named

    def _unique(self, source_id: str | None) -> str:
        base = source_id or "call"
        self._ids[base] += 1
        if not source_id:
            self._log.synthesised["TOOL_CALL.call_id"] += 1
        if self._ids[base] == 1:
            return base
        if source_id:
            message = "a call id is used twice in one run; later ones got a suffix"
            self._log.findings.once("reused-call-id", message, severity="note")
        # Asked again: the id with a suffix may be recorded, too.
        return self._unique(f"{base}~{self._ids[base]}") if source_id else f"{base}~{self._ids[base]}"

    def _arguments(self, raw: Any) -> dict[str, Any]:
        if isinstance(raw, dict):
            return raw
        if raw is None or (isinstance(raw, str) and not raw.strip()):
            self._log.defaulted["TOOL_CALL.arguments"] += 1
            return {}
        written = raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False)
        try:
            read = JsonReader(written, self._log.findings).whole()
        except Broken as fault:
            read = fault
        if isinstance(read, dict):
            # It came inside a text, where nothing was tidied.
            return dict(Tidier(Places(()), self._log.findings).value(read))
        message = "the arguments of a call are no JSON object; kept as text"
        self._log.findings.add("malformed-arguments", message, run=self._run_id)
        return {UNPARSED: written}
