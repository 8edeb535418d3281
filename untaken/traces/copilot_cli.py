"""Sessions of GitHub Copilot CLI: the log of events it keeps, or prints with ``--output-format json``.

The transcripts that Copilot keeps in VS Code have the same form. The events of a sub-agent are among those of
the session, and are a run of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from untaken.traces.importer import importer
from untaken.traces.losses import Findings
from untaken.traces.readings import first_text, mapping, moment, objects, text
from untaken.traces.recording import Side
from untaken.traces.sample import Sample
from untaken.traces.sessions import named_by_file, session_run, sessions_in
from untaken.traces.spending import Spending, added, named_apart, spend, usage
from untaken.traces.tidy import Places
from untaken.traces.trace_file import TraceFile, converter
from untaken.traces.trace_run import Answered, Called, Item, TraceRun, Utterance

Event = Mapping[str, Any]

TOKENS: Final = {
    "input_tokens": ("inputTokens",),
    "output_tokens": ("outputTokens",),
    "cached_tokens": ("cacheReadTokens",),
    "cache_creation_tokens": ("cacheWriteTokens",),
    "reasoning_tokens": ("reasoningTokens",),
}
STARTS: Final = ("session.start", "session.resume")
REPLY: Final = "assistant.message"
USAGE: Final = "assistant.usage"
ENDED: Final = "session.shutdown"
KNOWN: Final = (
    "user.message",
    REPLY,
    *("assistant.turn_start", "tool.execution_start", "tool.execution_complete"),
)
"""Events that tell the format; together with their data they are in no other."""
SPOKEN: Final = {
    "user.message": ("user", "content"),
    "system.message": ("system", "content"),
    REPLY: ("assistant", "content"),
    "assistant.reasoning": ("reasoning", "content"),
    "session.compaction_complete": ("compaction", "summaryContent"),
}
"""Events in which somebody speaks: who, and the member with the words."""
CALLS: Final = ("tool.execution_start", "tool.user_requested")
SHELLS: Final = ("bash", "powershell")
"""Tools that end their output with an exit code, and say of every command that it succeeded."""
STOPS: Final = {"session.error": "message", "abort": "reason", ENDED: "errorReason"}
"""Events that end a turn without a reply, and the member that says why."""
_DATA: Final = (
    *("sessionId", "copilotVersion", "startTime", "selectedModel", "newModel", "currentModel", "model"),
    *("parentToolCallId", "role", "source", "content", "reasoningText", "summaryContent", "message"),
    "reason",
    *("errorReason", "toolRequests[].toolCallId", "toolRequests[].name", "toolRequests[].arguments.**"),
    *("toolCallId", "toolName", "arguments.**", "success", "result", "result.content", "error.message"),
    *("output", "upToEventId", *(key for keys in TOKENS.values() for key in keys)),
)
PLACES: Final = Places(
    kept=[*("type", "id", "timestamp", "agentId", "sessionId"), *(f"data.{name}" for name in _DATA),
          "data.modelMetrics.**"],
    dropped=["data.result.**", "data.toolTelemetry.**", "data.permissionRequest.**", "data.copilotUsage.**"],
)  # fmt: skip


def recognise(sample: Sample) -> bool:
    """Events with the dotted names of Copilot, each of which has its data."""
    return any(
        isinstance(data := record.get("data"), dict)
        and ((record.get("type") in STARTS and "sessionId" in data) or record.get("type") in KNOWN)
        for record in map(mapping, sample.records)
    )


def _named(event: Event) -> str | None:
    """The session that an event begins."""
    return text(mapping(event.get("data")).get("sessionId")) if event.get("type") in STARTS else None


def _left(events: Sequence[Event], findings: Findings) -> tuple[list[Event], list[Event]]:
    """The events, each once, and apart those that a rewind took back: from the one that it names on."""
    left: list[Event] = []
    taken_back: list[Event] = []
    places: dict[str, int] = {}
    for event in events:
        known = places.get(text(event.get("id")) or "", len(left))
        if event.get("id") and left[known : known + 1] == [event]:  # written twice
            continue
        if event.get("type") == "session.snapshot_rewind":
            target = text(mapping(event.get("data")).get("upToEventId")) or ""
            if (at := places.get(target, len(left))) < len(left) and left[at].get("id") == target:
                taken_back += left[at:]
                del left[at:]
                findings.once("taken-back", "messages that a rewind took back are left out", severity="note")
        places[text(event.get("id")) or ""] = len(left)
        left.append(event)
    return left, taken_back


def _runs(events: Sequence[Event], stem: str, findings: Findings) -> Iterator[TraceRun]:
    """The run of a session, then those of its sub-agents."""
    events, taken_back = _left(events, findings)
    session = next(filter(None, map(_named, events)), None) or first_text(events, ("sessionId",))
    session = session or named_by_file(stem, findings)
    chains: dict[str, list[Event]] = {}
    for event in events:
        chains.setdefault(_agent(event), []).append(event)
    chains = {agent: c for agent, c in chains.items() if any(event.get("type") in KNOWN for event in c)}
    left: dict[str, list[Event]] = {}
    for event in taken_back:
        agent = _agent(event)
        left.setdefault(agent if agent in chains else "", []).append(event)
    runs = {
        agent: _run(
            chain,
            left.get(agent, []),
            f"{session}/{agent}" if agent else session,
            session if agent else None,
            findings,
        )
        for agent, chain in chains.items()
    }
    if "" in runs and (total := _of_session(chains[""], findings)):  # it includes the sub-agents
        apart = added(run.metrics for agent, run in runs.items() if agent)
        runs[""].metrics |= {name: max(value - apart.get(name, 0), 0) for name, value in total.items()}
    yield from runs.values()


def _agent(event: Event) -> str:
    """The sub-agent that an event is of; empty for the agent of the session."""
    return text(event.get("agentId")) or text(mapping(event.get("data")).get("parentToolCallId")) or ""


def _run(
    events: Sequence[Event], left: Sequence[Event], name: str, parent: str | None, findings: Findings
) -> TraceRun:
    data = [mapping(event.get("data")) for event in events]
    acts = [each for event, each in zip(events, data, strict=True) if event.get("type") in (*KNOWN, USAGE)]
    replies = [each for event, each in zip(events, data, strict=True) if event.get("type") == REPLY]
    return session_run(
        "copilot-cli",
        name,
        _items(events, findings),
        model=first_text(acts, ("model",)) or first_text(data, ("newModel", "selectedModel", "currentModel")),
        version=first_text(data, ("copilotVersion",)),
        started=moment(first_text(data, ("startTime",)), findings, "startTime"),
        about={"parent": parent},
        record=events,
        session_id=name,
        steps=len(replies),
        error=_error(events),
        metrics={
            **_spent([*events, *left], name, findings).tokens,
            **named_apart("left", _spent(left, name, Findings(None))),
        },
    )


def _error(events: Sequence[Event]) -> str | None:
    """What ended the session after the last reply."""
    error: str | None = None
    for event in events:
        kind = text(event.get("type")) or ""
        if kind == REPLY:
            error = None  # it went on
        elif kind in STOPS:
            error = text(mapping(event.get("data")).get(STOPS[kind])) or error
    return error


def _spent(events: Sequence[Event], name: str, findings: Findings) -> Spending:
    """Tokens of the calls, else of the replies that say them."""
    calls = [mapping(event.get("data")) for event in events if event.get("type") == USAGE]
    replies = [mapping(event.get("data")) for event in events if event.get("type") == REPLY]
    parts = [used for each in calls or replies if (used := usage(each, findings, TOKENS))]
    return spend(parts, run=f"copilot-cli/{name}", findings=findings)


def _of_session(events: Sequence[Event], findings: Findings) -> dict[str, float]:
    """Tokens of the whole session, where its only end has them."""
    ends = [mapping(event.get("data")) for event in events if event.get("type") == ENDED]
    models = [each for end in ends for each in mapping(end.get("modelMetrics")).values()]
    if len(ends) != 1 or events[-1].get("type") != ENDED:
        return {}
    return added(usage(mapping(mapping(each).get("usage")), findings, TOKENS) for each in models)


def _items(events: Sequence[Event], findings: Findings) -> Iterator[Item]:
    tools: dict[str | None, str] = {}
    thought: set[str] = set()
    for event in events:
        kind, data = text(event.get("type")) or "", mapping(event.get("data"))
        at = moment(event.get("timestamp"), findings, "timestamp")
        for role, words in _spoken(kind, data):
            if role != "reasoning" or words not in thought:  # it comes by itself and with the reply
                yield Utterance(role=role, content=words, at=at)
            thought |= {words} if role == "reasoning" else set()
        calls = objects(data.get("toolRequests")) if kind == REPLY else [data] if kind in CALLS else []
        for call in calls:
            call_id = text(call.get("toolCallId"))
            if call_id is None or call_id not in tools:  # what a reply asks for comes again when it begins
                name = first_text([call], ("name", "toolName"))
                tools[call_id] = name or ""
                side: Side = "user" if kind == "tool.user_requested" else "agent"
                yield Called(tool=name, arguments=call.get("arguments"), source_id=call_id, at=at, side=side)
        if kind == "tool.execution_complete":
            call_id = text(data.get("toolCallId"))
            content, ok = _answer(data, tools.get(call_id, ""))
            yield Answered(content=content, source_id=call_id, ok=ok, at=at)


def _spoken(kind: str, data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Who spoke in an event, and what."""
    if kind == REPLY:
        yield "reasoning", text(data.get("reasoningText")) or ""
    if kind in SPOKEN:
        role, member = SPOKEN[kind]
        added = role == "user" and text(data.get("source")) not in (None, "user")
        yield "context" if added else role, text(data.get(member)) or ""


def _answer(data: Mapping[str, Any], tool: str) -> tuple[Any, bool | None]:
    """What a call gave, and whether it worked: a command also fails by the exit code below its output."""
    result, error, ok = data.get("result"), mapping(data.get("error")), data.get("success")
    content = mapping(result).get("content", result)
    last = content.rstrip().rpartition("\n")[2] if isinstance(content, str) else ""
    if tool.endswith(SHELLS) and last[:1] == "<" and " with exit code " in last:
        ok = ok is not False and last.endswith(" 0>")
    if content is None:
        content = error.get("message", data.get("output"))
    return content, ok if isinstance(ok, bool) else None


def _read(file: TraceFile) -> Iterator[TraceRun]:
    for events in sessions_in(map(mapping, file.records()), _named):
        runs = list(_runs(events, file.stem, file.findings))
        yield from runs
        if not runs:
            file.refuse("the session has no messages")


IMPORTER: Final = importer(
    name="copilot-cli",
    title="GitHub Copilot CLI sessions",
    extensions=(".jsonl",),
    what="Messages and tool calls of a log of events; each sub-agent is a separate run.",
    left_out=PLACES.dropped,
    recognise=recognise,
    convert=converter(_read, PLACES),
    agent=("data.model",),
    model=("data.model", "data.selectedModel"),
    version=("data.copilotVersion",),
    task=("data.sessionId",),
    tokens=("data.modelMetrics.*.usage.inputTokens", "data.modelMetrics.*.usage.outputTokens"),
    time=("data.startTime", "timestamp"),
)
