"""Sessions of Gemini CLI: one JSON object, or a log whose lines add, replace and take back messages.

Also the log of ``gemini -p … --output-format stream-json``: an ``init`` line, then what was said and called.

A message is written again when its calls have ended, under the same id; the last version counts. What was
taken back by a rewind is left out, but what was spent on it counts. What a compression drops from the model's
view was still done, and stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import Any, Final

from untaken.traces.importer import importer
from untaken.traces.losses import Findings
from untaken.traces.messages import message_items
from untaken.traces.readings import amount, first_text, mapping, moment, objects, text, totals
from untaken.traces.sample import Sample
from untaken.traces.sessions import Payers, id_and_moment, session_converter, session_run
from untaken.traces.spending import Amounts, left_behind, spend, usage
from untaken.traces.tidy import Places
from untaken.traces.trace_file import TraceFile
from untaken.traces.trace_run import Answered, Called, Item, TraceRun, Utterance

ENDED: Final = {"success": True, "error": False, "cancelled": False}
"""Whether a call worked, by its status; other statuses are of calls under way."""
TOKENS: Final = {
    "input_tokens": ("input",),
    "output_tokens": ("output",),
    "cached_tokens": ("cached",),
    "reasoning_tokens": ("thoughts",),
    "total_tokens": ("total",),
}
STREAM_TOKENS: Final = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cached": "cached_tokens",
}
_MESSAGE: Final = (
    *("id", "timestamp", "type", "content.**", "model"),
    *(f"tokens.{key}" for keys in TOKENS.values() for key in keys),
    "tokens.tool",
    *(f"thoughts[].{name}" for name in ("subject", "description")),
    *(f"toolCalls[].{name}" for name in ("id", "name", "args.**", "result.**", "status", "timestamp")),
)
PLACES: Final = Places(
    kept=[
        *("sessionId", "startTime", "kind", "$rewindTo"),
        *("session_id", "role", "tool_name", "tool_id", "parameters.**", "output.**", "status"),
        "error.message",
        *(f"stats.{name}" for name in ("input_tokens", "output_tokens", "cached", "duration_ms")),
        *(f"{home}{name}" for home in ("", "messages[].", "$set.messages[].") for name in _MESSAGE),
    ],
    dropped=["projectHash", "$set.lastUpdated", "lastUpdated"],
)


@dataclass
class _Session:
    """What a file says of one session.

    Attributes:
        about: its first line, or the object that it is.
        messages: by id, in the order in which they first came.
        taken_back: by a rewind.
    """

    about: Mapping[str, Any]
    messages: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    taken_back: list[Mapping[str, Any]] = field(default_factory=list)

    def add(self, messages: Sequence[Mapping[str, Any]]) -> None:
        """Adds messages; one with a known id is its newer version."""
        for message in messages:
            self.messages[text(message.get("id")) or f"{len(self.messages)}"] = message

    def rewind(self, target: str) -> None:
        """Takes back a message and all after it."""
        while target in self.messages:
            self.taken_back.append(self.messages.popitem()[1])  # the last one first


def recognise(sample: Sample) -> bool:
    """The names that the line, or the object, that begins a session always has."""
    return any(map(_begins_stream, sample.records)) or sample.has("sessionId", "projectHash")


def _begins_stream(record: Any) -> bool:
    line = mapping(record)
    return line.get("type") == "init" and {"session_id", "model"} <= line.keys()


def _sessions(file: TraceFile, records: Iterable[Any]) -> Iterator[_Session]:
    """The sessions of a file: usually one."""
    session: _Session | None = None
    for value in records:
        record = mapping(value)
        if "sessionId" in record:
            if session is not None and session.about["sessionId"] != record["sessionId"]:
                yield session
                session = None
            session = session or _Session(record)
        if session is None:
            file.refuse("a message comes before the line that names the session")
            return
        session.add(objects(record.get("messages")) or objects(mapping(record.get("$set")).get("messages")))
        if "type" in record:
            session.add([record])
        if (target := text(record.get("$rewindTo"))) is not None:
            session.rewind(target)
            file.findings.once("taken-back", "messages that a rewind took back are left out", severity="note")
    if session is not None:
        yield session


def _run(session: _Session, stem: str, payers: Payers, findings: Findings) -> TraceRun:
    messages = list(session.messages.values())
    replies = [message for message in messages if message.get("type") == "gemini"]
    last = messages[-1] if messages else {}
    name = text(session.about.get("sessionId")) or stem
    left = [message for message in session.taken_back if message.get("type") == "gemini"]  # they cost, too
    used = [(id_and_moment(reply), _used(reply, findings)) for reply in (*replies, *left)]
    paid = payers.paid(f"gemini-cli/{name}", used, findings)
    apart = left_behind(paid[len(replies) :])  # what was taken back comes last in `used`
    return session_run(
        "gemini-cli",
        name,
        [item for message in messages for item in _items(message, findings)],
        model=first_text(replies, ("model",)),
        started=moment(session.about.get("startTime"), findings, "startTime"),
        about={"kind": text(session.about.get("kind"))},
        record=messages,
        origin=session.about,
        steps=len(replies),
        # After an earlier error, the session went on.
        error=text(last.get("content")) if last.get("type") == "error" else None,
        metrics={**spend(paid, run=f"gemini-cli/{name}", findings=findings).tokens, **apart},
    )


def _used(reply: Mapping[str, Any], findings: Findings) -> Amounts:
    """What a reply used; thoughts are beside its output, what tools of the service gave beside its input."""
    counts = mapping(reply.get("tokens"))
    found = usage(counts, findings, TOKENS, beside=("thoughts",), place="tokens.")
    # Not alone: an input that is unknown stays so.
    if (tools := amount(counts.get("tool"), findings, "tokens.tool")) and "input_tokens" in found:
        found["input_tokens"] += tools
    return found


def _items(message: Mapping[str, Any], findings: Findings) -> Iterator[Item]:
    at = moment(message.get("timestamp"), findings, "timestamp")
    for thought in objects(message.get("thoughts")):
        parts = [text(thought.get("subject")), text(thought.get("description"))]
        yield Utterance(role="reasoning", content=": ".join(filter(None, parts)), at=at)
    role = "assistant" if message.get("type") == "gemini" else text(message.get("type")) or "unknown"
    content = message.get("content")
    yield from message_items(
        # A single part comes without a list around it.
        {"role": role, "content": [content] if isinstance(content, dict) else content},
        at,
    )
    for call in objects(message.get("toolCalls")):
        call_id = text(call.get("id"))
        yield Called(tool=call.get("name"), arguments=call.get("args"), source_id=call_id, at=at)
        status = text(call.get("status"))
        if status in ENDED:
            done = moment(call.get("timestamp"), findings, "toolCalls[].timestamp") or at
            yield Answered(content=_answer(call), source_id=call_id, ok=ENDED[status], at=done)


def _answer(call: Mapping[str, Any]) -> Any:
    """What the tool gave: the response of the function, where the result holds one."""
    result = call.get("result")
    answers = [
        each for each in message_items({"role": "user", "content": result}) if isinstance(each, Answered)
    ]
    response = answers[0].content if len(answers) == 1 else result
    only = mapping(response)
    return next((only[name] for name in ("output", "error") if only.keys() == {name}), response)


def _stream_sessions(lines: Sequence[Mapping[str, Any]]) -> Iterator[Sequence[Mapping[str, Any]]]:
    """The lines of each session of a stream; what a program wrote before its ``init`` line belongs to it."""
    begun = [number for number, line in enumerate(lines) if _begins_stream(line)]
    starts = [0]
    for earlier, start in pairwise(begun):
        ended = [at for at in range(earlier, start) if lines[at].get("type") == "result"]
        starts.append(ended[-1] + 1 if ended else start)
    for start, end in pairwise([*starts, len(lines)]):
        yield lines[start:end]


def _streamed(lines: Sequence[Mapping[str, Any]], findings: Findings) -> TraceRun:
    """The run of one session of a stream."""
    about = next(filter(_begins_stream, lines))
    result: Mapping[str, Any] = next((each for each in lines if each.get("type") == "result"), {})
    stats = mapping(result.get("stats"))
    metrics = totals([stats], STREAM_TOKENS, findings, "stats.")
    if (duration := amount(stats.get("duration_ms"), findings, "stats.duration_ms")) is not None:
        metrics["total_time"] = duration / 1000
    return session_run(
        "gemini-cli",
        text(about.get("session_id")) or "session",
        [item for line in _whole(lines) for item in _stream_items(line, findings)],
        model=text(about.get("model")),
        started=moment(about.get("timestamp"), findings, "timestamp"),
        record=list(lines),
        error=text(mapping(result.get("error")).get("message")) if result.get("status") == "error" else None,
        metrics=metrics,
    )


def _whole(lines: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The lines of a stream, the pieces of a reply put together."""
    for piece, group in groupby(lines, lambda line: (line.get("delta") is True, line.get("type"))):
        if piece == (True, "message"):
            first, *others = group
            yield {**first, "content": "".join(str(each.get("content") or "") for each in (first, *others))}
        else:
            yield from group


def _stream_items(line: Mapping[str, Any], findings: Findings) -> Iterator[Item]:
    at, call_id = moment(line.get("timestamp"), findings, "timestamp"), text(line.get("tool_id"))
    match line.get("type"):
        case "message":
            yield Utterance(role=text(line.get("role")) or "unknown", content=line.get("content"), at=at)
        case "tool_use":
            yield Called(
                tool=line.get("tool_name"), arguments=line.get("parameters"), source_id=call_id, at=at
            )
        case "tool_result":
            content = line.get("output") or mapping(line.get("error")).get("message")
            yield Answered(content=content, source_id=call_id, ok=ENDED.get(str(line.get("status"))), at=at)


def _read(file: TraceFile, payers: Payers) -> Iterator[TraceRun]:
    records = list(map(mapping, file.records()))
    if any(map(_begins_stream, records)):
        yield from (_streamed(lines, file.findings) for lines in _stream_sessions(records))
        return
    for session in _sessions(file, records):
        if session.messages:
            yield _run(session, file.stem, payers, file.findings)
        else:
            file.refuse("the session has no messages")


IMPORTER: Final = importer(
    name="gemini-cli",
    title="Gemini CLI sessions",
    what="Messages, thoughts and tool calls with their status: one run a session.",
    left_out=PLACES.dropped,
    recognise=recognise,
    convert=session_converter(_read, PLACES),
    agent=("messages[].model",),
    model=("messages[].model",),
    task=("sessionId",),
    tokens=(
        *("messages[].tokens.input", "messages[].tokens.output", "messages[].tokens.thoughts"),
        "messages[].tokens.cached",
    ),
    time=("startTime", "messages[].timestamp"),
)
