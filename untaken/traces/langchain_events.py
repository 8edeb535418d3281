"""Events of LangChain's `astream_events`, saved one a line: what each part of a graph was given and gave.

The parts of one run name the same outermost part. Models repeat the conversation so far: what is new comes
once. Pieces of a reply are read where its end is not there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from untaken.traces.importer import importer
from untaken.traces.losses import Findings
from untaken.traces.message_transcript import MessageTranscript
from untaken.traces.messages import asked, message_items, replied, tokens_of, tool_reply, unwrapped
from untaken.traces.readings import first_text, items, mapping, objects, parsed, text
from untaken.traces.sample import Sample
from untaken.traces.spending import spend
from untaken.traces.task_texts import described
from untaken.traces.tidy import Places, under
from untaken.traces.trace_file import TraceFile, converter
from untaken.traces.trace_run import Answered, Called, Item, TraceRun, Utterance

Event = Mapping[str, Any]
MODELS: Final = ("on_chat_model", "on_llm")
NAMES: Final = ("graph_id", "assistant_id", "lc_agent_name")
"""Names of the agent in the metadata of its events."""
PLACES: Final = Places(
    kept=[
        *under(
            "[].", "event name run_id parent_ids[] data.input.** data.output.** data.chunk.** data.error.**"
        ),
        *under("[].metadata.", f"ls_model_name thread_id task_id {' '.join(NAMES)}"),
    ],
    dropped=["[].metadata.**", "[].tags[].**"],
)


def recognise(sample: Sample) -> bool:
    """A record with a run and an event of one of the kinds."""
    return any(_is_event(mapping(record)) for record in sample.records[:5])


def _is_event(record: Mapping[str, Any]) -> bool:
    event = record.get("event")
    is_stream = isinstance(event, str) and event.startswith("on_") and event.endswith(_STEPS)
    return is_stream and isinstance(record.get("run_id"), str)


_STEPS: Final = ("_start", "_stream", "_end", "_error")


def _runs(file: TraceFile) -> Iterator[TraceRun]:
    groups: dict[str, list[Any]] = defaultdict(list)
    for value in file.values():
        for each in value if isinstance(value, list) else [value]:
            event = mapping(each)
            # A server wraps each.
            event = mapping(event.get("data")) if event.get("event") == "events" else event
            if _is_event(event):
                groups[_root(event, groups)].append(event)
            else:
                file.findings.add("not-this-format", "a record is no event of astream_events; left out")
    if not groups:
        file.refuse("no event of astream_events is in it")
    for root, events in groups.items():
        yield _run(root, objects(file.record(events)), file.findings)


def _root(event: Event, known: dict[str, list[Any]]) -> str:
    """The outermost part that an event is in; where none is named, the one that began last."""
    parents = [parent for parent in items(event.get("parent_ids")) if isinstance(parent, str)]
    if parents:
        return parents[0]
    starts = "parent_ids" in event or not known  # an outermost part has no parents
    return str(event["run_id"]) if starts else next(reversed(known))


def _run(root: str, events: Sequence[Event], findings: Findings) -> TraceRun:
    about = [mapping(event.get("metadata")) for event in events]
    outer = [event for event in events if event.get("run_id") == root]
    given = next((found for e in outer if (found := mapping(e.get("data")).get("input")) is not None), None)
    failed = [mapping(e.get("data")).get("error") for e in outer if e.get("event") == "on_chain_error"]
    replies = [reply for event in events for reply in _replies(event)]
    model = first_text(about, ("ls_model_name",)) or first_text(
        (mapping(unwrapped(reply).get("response_metadata")) for reply in replies), ("model_name",)
    )
    run_id = f"langchain-events/{root}"
    return TraceRun(
        run_id=run_id,
        agent=first_text(about, NAMES) or first_text(outer, ("name",)) or "unknown-agent",
        task_id=first_text(about, ("task_id", "thread_id")) or root,
        record=list(events),
        model=model,
        items=list(_items(events, given)),
        steps=sum(str(e.get("event")).startswith(MODELS) and _ends(e) for e in events) or None,
        error=text(parsed(failed[0])) if failed else None,
        metrics=spend(tokens_of(replies, findings), run=run_id, findings=findings).tokens,
        metadata={"format": "langchain-events", **described(given)},
    )


def _ends(event: Event) -> bool:
    return str(event.get("event")).endswith("_end")


def _replies(event: Event) -> list[dict[str, Any]]:
    """What a model gave at the end of its call."""
    if not str(event.get("event")).startswith(MODELS) or not _ends(event):
        return []
    return replied(mapping(event.get("data")).get("output"))


def _items(events: Sequence[Event], given: Any) -> Iterator[Item]:
    """What was said, called and answered; calls are those of tools where these are recorded by themselves."""
    kinds = {str(event.get("event")) for event in events}
    transcript = MessageTranscript(calls="on_tool_start" not in kinds)
    ended = {event.get("run_id") for event in events if _ends(event)}
    pieces: dict[Any, list[str]] = {}
    yield from transcript.of(asked(given), None)
    for event in events:
        kind, data = str(event.get("event")), mapping(event.get("data"))
        if kind.startswith("on_tool"):
            yield from _tool(event, kind, data)
        elif kind.startswith(MODELS) and kind.endswith("_start"):
            yield from transcript.of(asked(data.get("input")), None)
        elif kind.startswith(MODELS) and _ends(event):
            yield from transcript.reply(replied(data.get("output")), None)
        # Of a reply that was cut off, its pieces.
        elif kind.startswith(MODELS) and event.get("run_id") not in ended:
            spoken = (item for message in replied(data.get("chunk")) for item in message_items(message))
            words = [i.content for i in spoken if isinstance(i, Utterance) and isinstance(i.content, str)]
            pieces.setdefault(event.get("run_id"), []).extend(words)
    for reply in map("".join, pieces.values()):
        if reply:
            yield Utterance(role="assistant", content=reply)


def _tool(event: Event, kind: str, data: Mapping[str, Any]) -> Iterator[Item]:
    call = text(event.get("run_id"))
    if kind == "on_tool_start":
        yield Called(tool=event.get("name"), arguments=data.get("input"), source_id=call)
    elif kind == "on_tool_end":
        content, ok = tool_reply(data.get("output"), data.get("output"), ok=None)
        yield Answered(content=content, source_id=call, ok=ok)
    elif kind == "on_tool_error":
        yield Answered(content=data.get("error"), source_id=call, ok=False)


IMPORTER: Final = importer(
    name="langchain-events",
    title="LangChain events",
    what="Events of astream_events of LangChain and LangGraph: one run for each outermost part.",
    left_out=PLACES.dropped,
    recognise=recognise,
    convert=converter(_runs, PLACES),
    agent=(*(f"metadata.{name}" for name in NAMES), "(name of the outermost part)"),
    model=("metadata.ls_model_name", "data.output.response_metadata.model_name"),
    task=("metadata.task_id", "metadata.thread_id", "(the outermost part) parent_ids[]"),
    task_text=("(of the outermost part) data.input",),
    tokens=("data.output.usage_metadata.input_tokens", "data.output.usage_metadata.output_tokens"),
)
