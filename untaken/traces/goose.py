"""Sessions of goose: exports, the older session files, and the output of ``goose run`` as JSON.

A call and its answer are blocks of messages, each with a status of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from untaken.traces.importer import importer
from untaken.traces.losses import Findings
from untaken.traces.messages import message_items
from untaken.traces.readings import first_text, items, mapping, moment, objects, text
from untaken.traces.sample import Sample
from untaken.traces.sessions import session_run
from untaken.traces.spending import spend, usage
from untaken.traces.tidy import Places
from untaken.traces.trace_file import TraceFile, converter
from untaken.traces.trace_run import Item, TraceRun, Utterance

Message = Mapping[str, Any]

CALLS: Final = ("toolRequest", "frontendToolRequest")
ANSWER: Final = "toolResponse"
"""The block that answers a call."""
SPOKEN: Final = ("text", "image", "thinking")
TOKENS: Final = {
    "input_tokens": ("inputTokens",),
    "output_tokens": ("outputTokens",),
    "cached_tokens": ("cacheReadTokens",),
    "cost": ("cost",),
}
TOTALS: Final = {name: (f"accumulated_{name}",) for name in ("cost", "input_tokens", "output_tokens")}
_MESSAGE: Final = (
    *("id", "role", "created", "content[].id", "content[].type", "content[].toolCall.**"),
    *("content[].toolResult.**", "content[].text", "content[].thinking", "content[].data"),
    *("content[].mimeType", "content[].message", "metadata.turnContext"),
    *("metadata.inference.requestedModel", "metadata.inference.resolvedModel"),
    *(f"metadata.usage.{key}" for keys in TOKENS.values() for key in keys),
)
PLACES: Final = Places(
    kept=[
        *("id", "created_at", "parent_session_id", "model_config.model_name", "error"),
        *(key for keys in TOTALS.values() for key in keys),
        *(
            f"{home}{name}"
            for home in ("", "conversation[].", "messages[].", "message.")
            for name in _MESSAGE
        ),
    ],
    dropped=["extension_data.**", "recipe.**", "user_recipe_values.**", "model_config.**"],
)


def recognise(sample: Sample) -> bool:
    """Blocks of calls and answers that only goose has, or the names of what is known of a session."""
    for record in map(mapping, sample.records):
        if "working_dir" in record and record.keys() & {"message_count", "extension_data"}:
            return True
        inner = [record, mapping(record.get("message")), *_listed(record)]
        if any(block.get("type") in (*CALLS, ANSWER) for each in inner for block in _blocks(each)):
            return True
    return False


def _listed(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    return objects(record.get("conversation")) or objects(record.get("messages"))


def _blocks(message: Message) -> list[dict[str, Any]]:
    return objects(message.get("content"))


def _sessions(file: TraceFile) -> Iterator[tuple[Mapping[str, Any], Sequence[Message]]]:
    """What is known of each session, and its messages: a record with all of them, or lines after a header."""
    about: dict[str, Any] = {}
    messages: list[Message] = []
    for record in map(mapping, file.records()):
        if _listed(record):
            yield record, _listed(record)
        elif isinstance(record.get("role"), str):
            messages.append(record)
        elif isinstance(record.get("message"), dict):
            messages.append(record["message"])
        else:
            if messages and "working_dir" in record:  # the header of the next session
                yield about, messages
                about, messages = {}, []
            about.update(record)
    if messages or about:
        yield about, messages


def _run(about: Mapping[str, Any], messages: Sequence[Message], stem: str, findings: Findings) -> TraceRun:
    notes = [mapping(message.get("metadata")) for message in messages]
    inferred = [mapping(note.get("inference")) for note in notes]
    counts = [mapping(note.get("usage")) for note in notes if note.get("usage")]
    replies = [usage(each, findings, TOKENS, place="metadata.usage.") for each in counts]
    total = usage(about, findings, TOTALS)
    name = text(about.get("id")) or stem
    # A total counts each reply.
    spent = spend([] if total else replies, total, run=f"goose/{name}", findings=findings)
    model = first_text([mapping(about.get("model_config"))], ("model_name",))
    last = messages[-1] if messages else {}
    failed = [block for block in _blocks(last) if block.get("type") == "error"]
    return session_run(
        "goose",
        name,
        [item for message in messages for item in _items(message, findings)],
        model=model or first_text(inferred, ("resolvedModel", "requestedModel")),
        started=moment(about.get("created_at"), findings, "created_at"),
        about={"parent": text(about.get("parent_session_id"))},
        record=messages,
        origin=[about, *messages],
        cost=spent.cost,
        steps=sum(message.get("role") == "assistant" for message in messages),
        session_id=text(about.get("id")) or "",
        error=text(about.get("error")) or first_text(failed, ("message",)),
        metrics=spent.tokens,
    )


def _items(message: Message, findings: Findings) -> Iterator[Item]:
    at = moment(message.get("created"), findings, "created")
    context = mapping(message.get("metadata")).get("turnContext") is True
    role = "context" if context else text(message.get("role")) or "unknown"
    for block in _blocks(message):
        if block.get("type") == "error":
            yield Utterance(role="error", content=block.get("message"), at=at)
        else:
            yield from message_items({"role": role, "content": _common(block)}, at)


def _common(block: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """A block in the form that other programs write, too; nothing of one that only goose itself is shown."""
    kind = block.get("type")
    if kind in CALLS:
        call = mapping(mapping(block.get("toolCall")).get("value"))
        return [{**call, "type": "tool_call", "id": block.get("id")}]
    if kind == ANSWER:
        answer = _answer(mapping(block.get("toolResult")))
        return [{**answer, "type": "tool_result", "id": block.get("id")}]
    return [block] if kind in SPOKEN else []


def _answer(result: Mapping[str, Any]) -> dict[str, Any]:
    """The output of a call that was meant for the model, and whether the call failed, if it is recorded."""
    if result.get("status") == "error":
        return {"content": result.get("error"), "isError": True}
    value = result.get("value")
    content = mapping(value).get("content", value)
    audience = [items(mapping(part.get("annotations")).get("audience")) for part in objects(content)]
    meant = [
        part
        for part, who in zip(objects(content), audience, strict=True)
        if "assistant" in (who or ["assistant"])  # no audience: it is for everybody
    ]
    failed = mapping(value).get("isError") is True
    return {"content": meant or content, "isError": failed if result.get("status") == "success" else None}


def _read(file: TraceFile) -> Iterator[TraceRun]:
    for about, messages in _sessions(file):
        if messages:
            yield _run(about, messages, file.stem, file.findings)
        else:
            file.refuse("the session has no messages")


IMPORTER: Final = importer(
    name="goose",
    title="goose sessions",
    what="Messages, thoughts and tool calls with their status: one run a session.",
    left_out=PLACES.dropped,
    recognise=recognise,
    convert=converter(_read, PLACES),
    agent=("conversation[].metadata.inference.requestedModel",),
    model=("conversation[].metadata.inference.requestedModel",),
    task=("id",),
    tokens=("conversation[].metadata.usage.inputTokens", "conversation[].metadata.usage.outputTokens"),
    cost=("conversation[].metadata.usage.cost",),
    time=("created_at", "conversation[].created"),
)
