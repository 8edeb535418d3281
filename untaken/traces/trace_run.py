"""A foreign run before it becomes events: what importers of ordinary traces fill in, and how it is written.

An importer reads its format into `TraceRun`s; `write_traces` gives each the same shape in the ledger: who
spoke, which tool was called with what, what came back, which plan was written down, how it ended.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from untaken.ledger import AnyEvent, Draft, Plan, RunFinished, RunStarted
from untaken.plans import Check, PlanGraph, SubGoal
from untaken.traces.intake import Intake, SessionCopy, digests
from untaken.traces.losses import FileLog
from untaken.traces.output import ledger_name
from untaken.traces.readings import cut_name, first_text, items, mapping, text
from untaken.traces.recording import TICK, Conversation, Side, synthetic_start, tool_name

UNKNOWN_TASK: Final = "unknown"
PLAN_TOOLS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "TodoWrite": ("todos", ("content", "subject", "text")),
    "todowrite": ("todos", ("content",)),
    "write_todos": ("todos", ("content", "text")),
    "update_plan": ("plan", ("step", "content")),
    "update_todo": ("todos", ("content", "title")),
    "todo__todo_write": ("content", ("content",)),
}
"""Tools by which an agent writes its plan down: the argument with the list, and names of an entry's text."""


class Utterance(Struct, frozen=True, kw_only=True):
    """Something said, at a moment where one is recorded."""

    role: str
    content: Any
    at: datetime | None = None


class Called(Struct, frozen=True, kw_only=True):
    """A call; `arguments` is a mapping, or JSON text as many formats have it. `chosen`: among other tools."""

    tool: Any
    arguments: Any = None
    source_id: str | None = None
    at: datetime | None = None
    side: Side = "agent"
    chosen: bool = True


class Answered(Struct, frozen=True, kw_only=True):
    """What came back; without a `source_id` it answers the oldest open call. `ok` may be unknown."""

    content: Any
    source_id: str | None = None
    ok: bool | None = None
    at: datetime | None = None


class Recorded(Struct, frozen=True):
    """An event as it is written, such as a plan made outside of a tool call, or a recorded verdict."""

    event: type[AnyEvent]
    fields: Mapping[str, Any]
    at: datetime | None = None


Item = Utterance | Called | Answered | Recorded


class TraceRun(Struct, kw_only=True):
    """One run as its trace has it. ``None`` means not recorded.

    Attributes:
        run_id, agent, task_id: as they are to be kept.
        version, prompt_version: of the agent and its prompt, never of the format or of what kept the trace.
        record: what the run was read from; the same record again is the same run.
        origin: all that the source says of the run, where a field may be its outcome; by default `record`.
        items: in order.
        success, cost, error, limit: how it ended; `cost` in US dollars, ``None`` where it is not priced.
        steps: turns of the agent; by default the calls made, or what the agent said where it made none.
        metrics: tokens, durations, rewards.
        graph: the plan graph that comes with the trace, or the id of one that is kept.
        files: of files that are read together, the accounts of those that it is in; by default all.
        closing: each gives events after its end, such as labels, by the events so far and the place among
            these at which each item begins.
        outcome_named: whether a finding says why the recorded outcome is not used.
        session_id: of a session that may have been exported before, when it was shorter; empty where
            none is recorded, and its copies are known by their moments. ``None``: whatever the id is, each
            record is a run.
        claimed: whether its importer has claimed its id (`Intake.claim`), settled on the agent's name and
            keeps account of what is not recorded.
    """

    run_id: str
    agent: str
    record: Any
    origin: Any = None
    task_id: str = UNKNOWN_TASK
    items: list[Item] = msgspec.field(default_factory=list)
    task_repeat: int | None = None
    model: str | None = None
    version: str | None = None
    prompt_version: str | None = None
    kind: Literal["agent", "workflow"] | None = None
    started: datetime | None = None
    finished: datetime | None = None
    success: bool | None = None
    cost: float | None = None
    steps: int | None = None
    error: str | None = None
    limit: str | None = None
    metrics: dict[str, float | bool] = msgspec.field(default_factory=dict)
    metadata: dict[str, Any] = msgspec.field(default_factory=dict)
    graph: PlanGraph | str | None = None
    files: Sequence[FileLog] = ()
    closing: list[Callable[[Sequence[Draft], Sequence[int]], Iterable[Draft]]] = msgspec.field(
        default_factory=list
    )
    outcome_named: bool = False
    session_id: str | None = None
    claimed: bool = False

    @property
    def tools(self) -> set[str]:
        """Every tool the agent called."""
        return {
            tool_name(item.tool) for item in self.items if isinstance(item, Called) and item.side == "agent"
        }

    @property
    def replied(self) -> bool:
        """Whether the model has said or called something."""
        return any(
            isinstance(item, Called) or (isinstance(item, Utterance) and item.role == "assistant")
            for item in self.items
        )

    @property
    def only_asked(self) -> bool:
        """Whether it has nothing but what a user or the system said."""
        return all(isinstance(item, Utterance) and item.role in ("user", "system") for item in self.items)

    @property
    def turns(self) -> int:
        """The agent's steps, counted where the trace does not say."""
        if self.steps is not None:
            return self.steps
        calls = sum(isinstance(item, Called) and item.side == "agent" for item in self.items)
        return calls or sum(isinstance(item, Utterance) and item.role == "assistant" for item in self.items)


def write_traces(
    traces: Iterable[TraceRun],
    stem: str,
    *,
    intake: Intake,
    log: FileLog,
    about: Sequence[FileLog] = (),
    tools: Mapping[str, set[str]] | None = None,
) -> None:
    """Writes runs into one ledger; a run without a recorded outcome is named once a file.

    Args:
        traces: of one file or folder; alternatives of a decision are the tools that any of them used for
            the same task.
        stem: of the ledger's name.
        intake: the conversion.
        log: the account of the file.
        about: the accounts of other files that the runs were read from.
        tools: by task, where they are known before; the runs are then written one by one as they come.
    """
    if tools is None:
        traces = _longest_first(traces)
        tools = tools_by_task(traces)
    with intake.ledger(stem) as write:
        together = (log, *about)
        for trace in traces:
            homes = trace.files or together
            run_id: str | None = trace.run_id
            if not trace.claimed:
                copy = _copy(trace, ledger_name(stem), log)
                run_id = intake.claim(trace.run_id, trace.record, homes[0], copy)
                homes[0].run_id = run_id or homes[0].run_id
            if run_id is not None:
                used = tools.get(trace.task_id, set())
                trace.run_id = run_id
                write(run_id, _drafts(trace, used, intake=intake, log=homes[0]), homes)


def tools_by_task(traces: Iterable[TraceRun]) -> dict[str, set[str]]:
    """Every tool that any run of a task called."""
    tools: dict[str, set[str]] = defaultdict(set)
    for trace in traces:
        tools[trace.task_id] |= trace.tools
    return tools


def verdict_graph(
    graph_id: str, sub_goals: Sequence[tuple[str, str]], *, tasks: list[str], **metadata: Any
) -> PlanGraph:
    """A plan graph of checks that somebody else makes, e.g. the tests of a task: (id, title) each."""
    return PlanGraph(
        id=cut_name(graph_id),
        title=graph_id[:200],
        tasks=tasks,
        sub_goals=[
            SubGoal(id=cut_name(name), title=title[:200], check=Check(verdict=True))
            for name, title in sub_goals
        ],
        metadata=metadata,
    )


def content_text(content: Any) -> Any:
    """The text of a content list where it holds text alone, else the content as it is."""
    parts = [mapping(part).get("text") for part in items(content)]
    if parts and all(isinstance(part, str) for part in parts):
        return "\n".join(each for part in parts if (each := text(part)))
    return content


def _longest_first(traces: Iterable[TraceRun]) -> list[TraceRun]:
    """The runs in order, but of copies of a session, which follow one another, the longest first."""
    listed = list(traces)
    first: dict[str, int] = {}
    # Without an id each is by itself, under a name that no session has.
    places = [first.setdefault(trace.session_id or f"\n{at}", at) for at, trace in enumerate(listed)]
    # The longest is the one that is kept: no other is written first and taken back.
    order = sorted(range(len(listed)), key=lambda at: (places[at], -len(listed[at].items)))
    return [listed[at] for at in order]


def _copy(trace: TraceRun, ledger: str, log: FileLog) -> SessionCopy | None:
    """What tells whether the run is a copy of another; two that only begin alike have no reply yet."""
    if trace.session_id is None or not trace.replied:
        return None
    # Without moments, equal words may be another run.
    if not trace.session_id and any(item.at is None for item in trace.items):
        return None
    found = digests(trace.items)
    key = trace.session_id or found[0].hex()  # copies begin with the same item
    return SessionCopy(cut_name(trace.run_id), key, found, ledger, log)


def _drafts(trace: TraceRun, tools: set[str], *, intake: Intake, log: FileLog) -> list[Draft]:
    timed = trace.started is not None
    start = trace.started or synthetic_start(trace.task_repeat or 0)
    if not timed:
        message = "no times are recorded; generated so that trials follow one another"
        log.findings.once("synthetic-timestamps", message, severity="note")
    graph = intake.graphs.add(trace.graph, log) if isinstance(trace.graph, PlanGraph) else trace.graph
    tick = timedelta(0) if timed else TICK  # recorded times are not moved
    chat = Conversation(
        trace.run_id, task_id=trace.task_id, tools=tools, log=log, now=start + tick, tick=tick
    )
    chat.add(
        RunStarted,
        start,
        agent=trace.agent if trace.claimed else intake.agent_name(intake.agent or trace.agent, log),
        task_id=cut_name(trace.task_id),
        task_repeat=trace.task_repeat,
        graph=graph,
        model=trace.model,
        version=trace.version,
        prompt_version=trace.prompt_version,
        kind=trace.kind,
        metadata=trace.metadata or None,
    )
    places = []
    for item in trace.items:
        places.append(len(chat.drafts))
        _write_item(item, chat, timed=timed)
    end = _end(trace, log)
    origin = trace.record if trace.origin is None else trace.origin
    silent = trace.claimed or trace.outcome_named or trace.success is not None
    intake.outcomes.settle(trace.run_id, origin, end, log.findings, silent=silent)
    # Clocks of a trace may disagree: no run ends before its last event.
    chat.add(RunFinished, max(trace.finished or chat.now, chat.now), **end)
    for more in trace.closing:
        chat.drafts += [*more(chat.drafts, places)]
    return chat.drafts


def _write_item(item: Item, chat: Conversation, *, timed: bool) -> None:
    if timed:
        chat.at(item.at)
    if isinstance(item, Utterance):
        chat.say(item.role, item.content)
    elif isinstance(item, Answered):
        chat.answer(item.source_id, item.content, ok=item.ok)
    elif isinstance(item, Recorded):
        chat.add(item.event, chat.now, **item.fields)
    else:
        arguments = chat.call(item.source_id, item.tool, item.arguments, item.side, chosen=item.chosen)
        if plan := planned_by(item.tool, arguments):
            chat.add(Plan, chat.now, sub_goals=plan)


def planned_by(tool: Any, arguments: Mapping[str, Any]) -> list[str]:
    """The plan that a call of a plan tool writes down; empty for any other call."""
    name = tool if isinstance(tool, str) else ""
    if name not in PLAN_TOOLS:
        return []
    argument, names = PLAN_TOOLS[name]
    entries = []
    listed = arguments.get(argument)
    for entry in _checklist(listed) if isinstance(listed, str) else items(listed):
        words = entry if isinstance(entry, str) else first_text([mapping(entry)], names)
        if words:
            entries.append(cut_name(words))
    return entries


def _checklist(listed: str) -> list[str]:
    """The entries of a checklist in Markdown: ``- [ ] look``."""
    lines = (line.lstrip(" \t-*+") for line in listed.splitlines())
    return [line[3:].strip() for line in lines if line[:1] == "[" and line[2:3] == "]"]


def _end(trace: TraceRun, log: FileLog) -> dict[str, Any]:
    """How it ended, in the fields of RUN_FINISHED."""
    cost = trace.cost
    if not trace.claimed:
        if cost == 0:
            message = "a cost of 0 is recorded: the model has no price, so the cost is unknown"
            log.findings.once("unpriced-cost", message)
        cost = cost or None
        if cost is None:
            log.defaulted["RUN_FINISHED.cost"] += 1
        if trace.steps is None:
            log.synthesised["RUN_FINISHED.steps"] += 1
    return {
        "success": trace.success,
        "cost": cost,
        "steps": trace.steps if trace.claimed else trace.turns,
        "metrics": trace.metrics or None,
        "error": trace.error,
        "limit": trace.limit,
    }
