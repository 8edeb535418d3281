"""Conversations that ChatGPT exports: a tree of messages, of which the branch shown last is the run.

A message of the assistant to another recipient than everybody is a call of that tool, and the tool's message
its answer. The export records neither tokens nor cost, nor whether the task was done.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from untaken.numbers import counted
from untaken.traces.importer import importer
from untaken.traces.losses import Findings
from untaken.traces.readings import items, mapping, moment, objects, parsed, text
from untaken.traces.sample import Sample
from untaken.traces.sessions import session_run
from untaken.traces.task_texts import described
from untaken.traces.tidy import Places, under
from untaken.traces.trace_file import TraceFile, converter
from untaken.traces.trace_run import Answered, Called, Item, TraceRun, Utterance

EVERYBODY: Final = ("all", "", None)
"""Recipients of what is said, not asked of a tool."""
_TEXTS: Final = ("text", "content", "result")
"""Members that a message without parts has its text in."""
PLACES: Final = Places(
    kept=[
        *("conversation_id", "id", "title", "create_time", "default_model_slug"),
        *under("messages[].", "author.role create_time recipient metadata.model_slug"),
        *under(
            "messages[].content.", "content_type parts.** text.** content.** result.** thoughts[].content"
        ),
    ],
    dropped=["other_branches.**", "messages[].metadata.**"],
)


def recognise(sample: Sample) -> bool:
    """A tree of messages under `mapping`, with the node that is shown."""
    trees = (mapping(mapping(record).get("mapping")).values() for record in sample.records[:3])
    return any({"message", "children"} <= mapping(node).keys() for nodes in trees for node in nodes)


def _unfolded(document: Mapping[str, Any]) -> dict[str, Any]:
    """A conversation with its messages up to the node that is shown, and those of other branches."""
    nodes = mapping(document.get("mapping"))
    ends = [name for name, node in nodes.items() if not items(mapping(node).get("children"))]
    shown = text(document.get("current_node"))
    at = shown if shown in nodes else "".join(ends[-1:])  # else the branch that was written last
    seen: dict[str, Any] = {}
    while at in nodes and at not in seen:  # parents in a foreign file may form a ring
        seen[at] = mapping(nodes[at]).get("message")
        at = text(mapping(nodes[at]).get("parent")) or ""
    others = (mapping(node).get("message") for name, node in nodes.items() if name not in seen)
    about = {name: value for name, value in document.items() if name not in ("mapping", "current_node")}
    return {
        **about,
        "messages": [message for message in reversed(seen.values()) if message],
        "other_branches": [message for message in others if message],
    }


def _run(document: Mapping[str, Any], name: str, findings: Findings) -> TraceRun:
    messages = objects(document["messages"])
    conversation = text(document.get("conversation_id")) or text(document.get("id")) or name
    models = (text(mapping(message.get("metadata")).get("model_slug")) for message in messages)
    model = next(filter(None, models), None) or text(document.get("default_model_slug"))
    found = list(_items(messages, findings))
    asked = next((i.content for i in found if isinstance(i, Utterance) and i.role == "user"), None)
    if left := len(document["other_branches"]):
        message = f"{counted(left, 'message')} of branches that are not shown; left out"
        findings.add("branch-left-out", message, severity="note")
    return session_run(
        "chatgpt",
        conversation,
        found,
        model=model,
        started=moment(document.get("create_time"), findings, "create_time"),
        about={"title": text(document.get("title")), **described(asked)},
        record=messages,
        origin=document,
    )


def _items(messages: Sequence[Mapping[str, Any]], findings: Findings) -> Iterator[Item]:
    for message in messages:
        at = moment(message.get("create_time"), findings, "create_time")
        role = text(mapping(message.get("author")).get("role")) or "unknown"
        recipient = message.get("recipient")
        content = mapping(message.get("content"))
        held = _held(content)
        if role == "assistant" and recipient not in EVERYBODY:
            given = parsed(held)  # some tools are given JSON, others plain text, such as code
            yield Called(
                tool=recipient, arguments=given if isinstance(given, dict) else {"input": held}, at=at
            )
        elif role == "tool":
            yield Answered(content=held, at=at)
        elif content.get("content_type") == "thoughts":
            yield Utterance(role="reasoning", content=held, at=at)
        else:
            yield Utterance(role=role, content=held, at=at)


def _held(content: Mapping[str, Any]) -> Any:
    """What a message says: its text, or its parts as they are where they are no text alone."""
    if thoughts := items(content.get("thoughts")):
        return "\n".join(found for each in thoughts if (found := text(mapping(each).get("content"))))
    parts = [part for part in items(content.get("parts")) if part not in ("", None)]
    if parts and all(isinstance(part, str) for part in parts):
        return "\n".join(parts)
    if parts:
        return parts
    return next((found for name in _TEXTS if (found := content.get(name))), None)


def _read(file: TraceFile) -> Iterator[TraceRun]:
    for number, value in enumerate(file.values()):
        if mapping(mapping(value).get("mapping")):
            yield _run(file.record(_unfolded(value)), f"{file.stem}/{number}", file.findings)
        else:
            file.record(value)
            file.refuse("a record is no conversation: it has no `mapping`")


IMPORTER: Final = importer(
    name="chatgpt",
    title="ChatGPT conversations",
    extensions=(".json",),
    what="conversations.json of a ChatGPT export: one run a conversation, its branch that is shown.",
    left_out=PLACES.dropped,
    recognise=recognise,
    convert=converter(_read, PLACES),
    agent=("mapping.*.message.metadata.model_slug", "default_model_slug"),
    model=("mapping.*.message.metadata.model_slug", "default_model_slug"),
    task=("conversation_id", "id"),
    task_text=("(the first message of the user) mapping.*.message.content.parts[]",),
    time=("create_time", "mapping.*.message.create_time"),
)
