"""Bare message lists: Chat Completions, Responses, LangGraph and LangChain, and what an API call returned.

A list of messages, or lines of them, is one run. An object with ``messages`` is one run, and so is each
object of a list or a JSON Lines file. Nothing in them says how the run ended, unless the object around them
does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from untaken.formats.importer import Importer
from untaken.formats.jsontext import JsonReader
from untaken.formats.losses import Findings
from untaken.formats.messages import (
    FIELDS,
    is_langchain,
    is_message,
    message_items,
    replied,
    tokens_of,
    unwrapped,
)
from untaken.formats.model import FormatInfo
from untaken.formats.readings import items, mapping, moment, objects, text
from untaken.formats.sample import Confidence, Sample
from untaken.formats.tidy import Places
from untaken.formats.trace_file import TraceFile, converter
from untaken.formats.trace_run import TraceRun

STATES: Final = ("values", "channel_values", "state", "request", "body", "request_body")
"""Members of an object that its messages may be in: the state of a LangGraph thread, the request of a log."""
REPLIES: Final = ("response", "response_body")
GIVEN: Final = ("messages", "input", "contents", "conversation", "chat_history")
"""Members of an object, or of one of `STATES`, that are its list of messages."""
NAMES: Final = ("id", "thread_id", "conversation_id", "session_id")
_LISTS: Final = ("[].", "", *(f"{name}[]." for name in (*GIVEN, "output")), "choices[].message.")
_HOMES: Final = (
    *_LISTS,
    *(f"{home}.{each}" for home in (*STATES, *REPLIES) for each in _LISTS[2:]),
    *(f"{name}." for name in REPLIES),
)
PLACES: Final = Places(
    kept=[
        f"{home}{wrapped}{name}" for home in _HOMES for wrapped in ("", "data.", "kwargs.") for name in FIELDS
    ]
    + [*NAMES, "model", "agent", "task_id", "success", "request.model"]
    + [f"{name}.model" for name in (*REPLIES, "request_body")]
    + [f"{home}{name}.**" for home in ("", *(f"{s}." for s in STATES)) for name in ("instructions", "system")]
    + [f"metadata.{name}" for name in ("agent", "task_id", "thread_id")]
    + ["usage.prompt_tokens", "response.usage.prompt_tokens", "response.usage.completion_tokens"],
)


def recognise(sample: Sample) -> Confidence:
    """Surer where the names are those of one library; a list of roles and contents may be anything."""
    first = sample.first
    if first.get("object") in ("response", "chat.completion") and ("output" in first or "choices" in first):
        return Confidence.LIKELY
    inner = next((each for each in map(_listed, sample.records[:1]) if each), [])
    if any(is_langchain(each) for each in (*sample.records, *inner)):
        return Confidence.LIKELY
    messages = sum(map(is_message, sample.records))
    several = messages > 1 or (messages and sample.shape == "array")
    return Confidence.POSSIBLE if several or (inner and is_message(inner[0])) else Confidence.NO


def _listed(record: Any) -> list[dict[str, Any]]:
    """The messages that a record holds; empty where it holds none."""
    if isinstance(record, list):
        return objects(record) if any(map(is_message, record)) else []
    document = mapping(record)
    state = next((mapping(document.get(name)) for name in STATES if mapping(document.get(name))), {})
    response = next((mapping(document.get(name)) for name in REPLIES if mapping(document.get(name))), {})
    answer = response or document
    reply = replied({name: answer[name] for name in ("choices", "output") if items(answer.get(name))})
    reply = reply or ([response] if is_message(response) else [])
    given = next((part[name] for name in GIVEN for part in (document, state) if part.get(name)), None)
    if isinstance(given, str) and reply:
        given = [{"role": "user", "content": given}]
    asked = [each for each in objects(given) if is_message(each)]
    if not asked and not reply:
        return []
    known = (part.get(name) for name in ("instructions", "system") for part in (document, state))
    instructions = next((each for each in known if each), None)
    system = [{"role": "system", "content": instructions}] if instructions else []
    return [*system, *asked, *reply]


def _conversations(reader: JsonReader) -> Iterator[Any]:
    """Each record that is a run: a list of messages, or an object that contains one."""
    loose: list[Any] = []
    while reader.peek() == "[":
        whole = [element.value for element in reader.elements()]
        if any(map(is_message, whole)):
            yield whole
        else:
            yield from whole
    for element in reader.values():
        if is_message(element.value):
            loose.append(element.value)
        else:
            yield element.value
    if loose:
        yield loose


def _run(record: Any, name: str, findings: Findings) -> TraceRun | None:
    messages = [dict(unwrapped(each)) for each in _listed(record)]
    if not messages:
        return None
    document = mapping(record)
    about = mapping(document.get("metadata"))
    call = [mapping(document.get(part)) for part in (*REPLIES, "request", "request_body")]
    session = next((s for part in (document, about) for key in NAMES if (s := text(part.get(key)))), name)
    replies = [m for m in messages if m.get("role") == "assistant" or m.get("type") == "ai"]
    model = next((m for part in (document, *call, *replies) if (m := _model(part))), None)
    times = [moment(each.get("timestamp"), findings, "timestamp") for each in messages]
    known = [at for at in times if at is not None]
    success = document.get("success")
    usage = tokens_of(messages, findings) or tokens_of((document, *call), findings)
    return TraceRun(
        run_id=f"openai-messages/{session}",
        agent=text(document.get("agent")) or text(about.get("agent")) or model or "unknown-agent",
        task_id=text(document.get("task_id")) or text(about.get("task_id")) or session,
        record=messages,
        model=model,
        items=[item for each, at in zip(messages, times, strict=True) for item in message_items(each, at)],
        started=known[0] if known else None,
        finished=known[-1] if known else None,
        success=success if isinstance(success, bool) else None,
        steps=len(replies) or None,
        metrics=usage,
        metadata={"format": "openai-messages"},
    )


def _model(part: Mapping[str, Any]) -> str | None:
    return text(part.get("model")) or text(mapping(part.get("response_metadata")).get("model_name"))


def _read(file: TraceFile) -> Iterator[TraceRun]:
    for number, value in enumerate(_conversations(file.reader)):
        run = _run(file.record(value), f"{file.stem}/{number}" if number else file.stem, file.findings)
        if run is not None:
            yield run
        else:
            file.refuse("there is no message in it")


IMPORTER: Final = Importer(
    info=FormatInfo(
        name="openai-messages",
        title="Chat messages",
        extensions=(".json", ".jsonl"),
        what="Lists of Chat Completions, Responses or LangChain messages: one run a list.",
    ),
    recognise=recognise,
    convert=converter(_read, PLACES),
)
