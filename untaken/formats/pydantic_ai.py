"""Message histories of Pydantic AI: requests and responses, each a list of parts.

What `all_messages_json` writes is one run; so is each list in a list, and each list on a line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from untaken.formats.format_info import FormatInfo
from untaken.formats.importer import Importer
from untaken.formats.losses import Findings
from untaken.formats.readings import amount, first_text, items, mapping, moment, objects, text
from untaken.formats.sample import Confidence, Sample
from untaken.formats.spending import Amounts, spend, usage, with_cost
from untaken.formats.tidy import Places
from untaken.formats.trace_file import TraceFile, converter
from untaken.formats.trace_run import Answered, Called, Item, TraceRun, Utterance

KINDS: Final = ("request", "response")
HISTORIES: Final = ("messages", "message_history", "all_messages")
"""Members of an object that its messages may be in."""
SPOKEN: Final = {
    "system-prompt": "system",
    "user-prompt": "user",
    "text": "assistant",
    "thinking": "reasoning",
}
TOKENS: Final = {
    "input_tokens": ("input_tokens", "request_tokens"),
    "output_tokens": ("output_tokens", "response_tokens"),
    "cached_tokens": ("cache_read_tokens",),
    "cache_creation_tokens": ("cache_write_tokens",),
    "reasoning_tokens": ("details.reasoning_tokens",),
}
_MESSAGE: Final = (
    *("kind", "timestamp", "instructions", "model_name", "run_id", "conversation_id"),
    *("parts[].part_kind", "parts[].content.**", "parts[].timestamp", "parts[].tool_name"),
    *("parts[].args.**", "parts[].tool_call_id", "parts[].outcome", "usage.cost"),
    *(f"usage.{key}" for keys in TOKENS.values() for key in keys),
)
PLACES: Final = Places(
    kept=[f"{home}{name}" for home in ("[].", "", *(f"{h}[]." for h in HISTORIES)) for name in _MESSAGE],
    dropped=["[].provider_details.**", "[].parts[].provider_details.**", "[].metadata.**"],
)


def recognise(sample: Sample) -> Confidence:
    """Messages of a kind whose parts name theirs."""
    for record in sample.records[:3]:
        for message in objects(_history(record)) or [record]:
            if _is_message(message):
                return Confidence.CERTAIN
    return Confidence.NO


def _is_message(record: Any) -> bool:
    message = mapping(record)
    parts = objects(message.get("parts"))
    return message.get("kind") in KINDS and bool(parts) and "part_kind" in parts[0]


def _history(record: Any) -> list[Any]:
    """The messages in a record that is a list, or an object that holds one."""
    if isinstance(record, list):
        return record
    document = mapping(record)
    return next((items(document[name]) for name in HISTORIES if items(document.get(name))), [])


def history_run(messages: Sequence[Mapping[str, Any]], name: str, findings: Findings) -> TraceRun:
    """The run of one history."""
    replies = [message for message in messages if message.get("kind") == "response"]
    named = first_text(messages, ("conversation_id",)) or first_text(messages, ("run_id",))
    session = named or name
    model = first_text(replies, ("model_name",))
    found = list(_items(messages, findings))
    times = [item.at for item in found if item.at is not None]
    parts = [_used(mapping(reply.get("usage")), findings) for reply in replies]
    spent = spend(parts, run=f"pydantic-ai/{session}", findings=findings)
    return TraceRun(
        run_id=f"pydantic-ai/{session}",
        agent=f"pydantic-ai/{model}" if model else "pydantic-ai",
        task_id=session,
        record=list(messages),
        session_id=named or "",
        model=model,
        items=found,
        started=min(times, default=None),
        finished=max(times, default=None),
        cost=spent.cost,
        steps=len(replies),
        metrics=spent.tokens,
        metadata={"format": "pydantic-ai"},
    )


def _items(messages: Sequence[Mapping[str, Any]], findings: Findings) -> Iterator[Item]:
    latest: str | None = None
    for message in messages:
        sent = moment(message.get("timestamp"), findings, "timestamp")
        parts = objects(message.get("parts"))
        times = [moment(part.get("timestamp"), findings, "parts[].timestamp") or sent for part in parts]
        instructions = text(message.get("instructions"))
        if instructions is not None and instructions != latest:
            latest = instructions
            yield Utterance(role="system", content=latest, at=times[0] if times else sent)
        for part, at in zip(parts, times, strict=True):
            yield from _part(part, at)


def _part(part: Mapping[str, Any], at: datetime | None) -> Iterator[Item]:
    kind = text(part.get("part_kind")) or ""
    call_id = text(part.get("tool_call_id"))
    content = part.get("content")
    if kind in SPOKEN:
        yield Utterance(role=SPOKEN[kind], content=content, at=at)
    elif kind.endswith("tool-call"):
        yield Called(tool=part.get("tool_name"), arguments=part.get("args"), source_id=call_id, at=at)
    elif kind.endswith("tool-return"):
        outcome = text(part.get("outcome"))
        ok = None if outcome is None else outcome == "success"  # else failed, denied, retried, interrupted
        yield Answered(content=content, source_id=call_id, ok=ok, at=at)
    elif kind == "retry-prompt" and text(part.get("tool_name")):
        yield Answered(content=content, source_id=call_id, ok=False, at=at)
    elif kind in ("retry-prompt", "retry-feedback"):  # the reply as a whole was refused, not a call
        yield Utterance(role="user", content=content, at=at)


def _used(counts: Mapping[str, Any], findings: Findings) -> Amounts:
    used = usage(counts, findings, TOKENS, place="usage.")
    return with_cost(used, amount(counts.get("cost"), findings, "usage.cost"))


def _read(file: TraceFile) -> Iterator[TraceRun]:
    for number, value in enumerate(file.wholes(_history)):
        record = file.record(value)
        messages = [each for each in objects(_history(record)) if _is_message(each)]
        if messages:
            run = history_run(messages, f"{file.stem}/{number}" if number else file.stem, file.findings)
            run.origin = record
            yield run
        else:
            file.refuse("there is no message with parts in it")


IMPORTER: Final = Importer(
    info=FormatInfo(
        name="pydantic-ai",
        title="Pydantic AI messages",
        extensions=(".json", ".jsonl"),
        what="Message histories of Pydantic AI: one run a history.",
        reads={
            "agent": ("model_name",),
            "model": ("model_name",),
            "task": ("run_id",),
            "tokens": ("usage.input_tokens", "usage.output_tokens"),
            "cost": ("usage.cost",),
            "time": ("timestamp", "parts[].timestamp"),
        },
        left_out=PLACES.dropped,
    ),
    recognise=recognise,
    convert=converter(_read, PLACES),
)
