"""Messages of chat models as items of a run, in each of the shapes that programs write them.

Chat Completions messages, items of the Responses API, messages of LangChain (dumped, with a ``data`` part, or
as constructors), and content blocks of the Messages API.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final

import msgspec

from untaken.formats.losses import Findings
from untaken.formats.readings import amount, items, mapping, objects, text
from untaken.formats.trace_run import Answered, Called, Item, Utterance

ROLES: Final = {"human": "user", "ai": "assistant", "AIMessageChunk": "assistant"}
"""Types of LangChain messages that have another name elsewhere."""
LANGCHAIN: Final = frozenset(("human", "ai", "AIMessageChunk", "system", "tool", "function"))
CONSTRUCTORS: Final = {
    "HumanMessage": "human",
    "AIMessage": "ai",
    "AIMessageChunk": "ai",
    "SystemMessage": "system",
    "ToolMessage": "tool",
    "FunctionMessage": "function",
    "ChatMessage": "chat",
}
SPOKEN_PARTS: Final = frozenset(
    ("text", "input_text", "output_text", "refusal", "summary_text", "reasoning_text")
)
THOUGHTS: Final = frozenset(("thinking", "reasoning"))
USES: Final = frozenset(("tool_use", "server_tool_use"))
TOKENS: Final = {
    "input_tokens": ("input_tokens", "prompt_tokens"),
    "output_tokens": ("output_tokens", "completion_tokens"),
}
FIELDS: Final = (
    *("role", "type", "id", "name", "content.**", "refusal", "reasoning_content", "timestamp", "model"),
    *("tool_calls[].id", "tool_calls[].name", "tool_calls[].args.**", "tool_calls[].function.name"),
    *("tool_calls[].function.arguments.**", "function_call.name", "function_call.arguments.**"),
    *("tool_call_id", "status", "call_id", "arguments.**", "input.**", "action.**", "output.**", "error.**"),
    *("code", "queries.**", "summary.**", "response_metadata.model_name"),
    *(f"{usage}.{name}" for usage in ("usage", "usage_metadata", "response_metadata.token_usage")
      for names in TOKENS.values() for name in names),
)  # fmt: skip
"""Places of one message that reach a run."""
_CALL: Final = "_call"
_OUTPUT: Final = "_call_output"


def unwrapped(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """A message without what LangChain wraps it in; any other as it is."""
    if message.get("type") == "constructor" and isinstance(message.get("kwargs"), dict):
        kind = CONSTRUCTORS.get(str([None, *items(message.get("id"))][-1]), "unknown")
        return {"type": kind, **message["kwargs"]}
    if isinstance(message.get("data"), dict) and "content" in message["data"]:
        return {"type": message.get("type"), **message["data"]}
    return message


def is_langchain(record: Any) -> bool:
    """Whether a record is a message as LangChain writes it."""
    message = unwrapped(mapping(record))
    if "role" in message or "content" not in message or _kind(message) not in LANGCHAIN:
        return False
    marks = ("additional_kwargs", "response_metadata", "tool_calls", "tool_call_id", "example")
    return message is not record or any(mark in message for mark in marks)


def is_message(record: Any) -> bool:
    """Whether a record is one message of a chat, or one item of a response."""
    message = unwrapped(mapping(record))
    kind = _kind(message)
    if isinstance(message.get("role"), str):
        return "content" in message or "tool_calls" in message or "function_call" in message
    if kind in LANGCHAIN:
        return "content" in message
    return kind == "reasoning" or (
        kind.endswith((_CALL, _OUTPUT)) and ("call_id" in message or "id" in message)
    )


def message_items(message: Mapping[str, Any], at: datetime | None = None) -> Iterator[Item]:
    """What was said, thought, called and answered in one message.

    Args:
        message: tidied.
        at: its moment.
    """
    message = unwrapped(message)
    kind = _kind(message)
    role = text(message.get("role")) or ROLES.get(kind, kind) or "unknown"
    if kind == "reasoning":
        yield from _message("reasoning", [*items(message.get("summary")), *items(message.get("content"))], at)
    elif kind.endswith(_OUTPUT):
        yield _output(message, at)
    elif kind.endswith(_CALL) and kind != "tool_call":
        yield from _response_call(message, kind.removesuffix(_CALL), at)
    elif role in ("tool", "function"):
        ok = {"success": True, "error": False}.get(str(message.get("status")))
        content = _flat(message.get("content"))
        yield Answered(content=content, source_id=text(message.get("tool_call_id")), ok=ok, at=at)
    else:
        yield from _chat(message, role, at)


def tokens_of(messages: Iterable[Mapping[str, Any]], findings: Findings) -> dict[str, float | bool]:
    """Tokens in and out, summed over the messages (or replies) that say their usage."""
    found: dict[str, float | bool] = {}
    for message in map(unwrapped, messages):
        metadata = mapping(message.get("response_metadata"))
        counts = next(
            (
                each
                for each in (message.get("usage"), message.get("usage_metadata"), metadata.get("token_usage"))
                if isinstance(each, dict)
            ),
            None,
        )
        if counts is None:
            continue
        for name, keys in TOKENS.items():
            read = (amount(counts.get(key), findings, key) for key in keys)
            known = next((value for value in read if value is not None), None)
            if known is not None:
                found[name] = found.get(name, 0) + known
    return found


def asked(value: Any) -> list[dict[str, Any]]:
    """The messages that a model was called with, out of what a trace records as its input."""
    return _messages(value, ("messages", "input", "inputs"), "user")


def replied(value: Any) -> list[dict[str, Any]]:
    """The messages that a model gave, out of what a trace records as its output."""
    document = mapping(value)
    choices = [mapping(each.get("message")) for each in objects(document.get("choices"))]
    generations = items(document.get("generations"))
    first = generations[0] if generations and isinstance(generations[0], list) else generations
    generated = [mapping(each.get("message")) or {"content": each.get("text")} for each in objects(first)]
    found = choices or [{"role": "assistant", **each} for each in generated]
    return found or _messages(value, ("messages", "output", "message", "outputs"), "assistant")


def _kind(message: Mapping[str, Any]) -> str:
    return text(message.get("type")) or ""


def _messages(value: Any, names: tuple[str, ...], role: str) -> list[dict[str, Any]]:
    if isinstance(value, str):
        return [{"role": role, "content": value}] if value else []
    if isinstance(value, list):
        nested = value[0] if value and isinstance(value[0], list) else value
        return [each for each in objects(nested) if is_message(each)]
    if is_message(value):
        return [value]
    inner = (
        next((value[name] for name in names if value.get(name)), None) if isinstance(value, dict) else None
    )
    return _messages(inner, (), role) if inner is not None else []


class MessageTranscript:
    """The items of model calls, each of which repeats the conversation so far: what is new comes once.

    Args:
        calls: whether the messages are where calls and answers are known from; false where a trace records
            its tools by themselves.
    """

    def __init__(self, *, calls: bool) -> None:
        self._calls = calls
        self._known: Counter[bytes] = Counter()

    def of(self, messages: Iterable[Mapping[str, Any]], at: datetime | None) -> Iterator[Item]:
        """The items of one input, or of one output, that did not come before."""
        here: Counter[bytes] = Counter()
        for item in (item for message in messages for item in message_items(message, at)):
            key = _key(item)
            here[key] += 1
            if here[key] > self._known[key]:
                self._known[key] = here[key]
                if self._calls or isinstance(item, Utterance):
                    yield item


def _key(item: Item) -> bytes:
    """The same for an item that is repeated, whenever it is."""
    match item:
        case Utterance():
            return msgspec.json.encode((item.role, item.content))
        case Called():
            return msgspec.json.encode((item.tool, item.source_id or item.arguments))
        case Answered():
            return msgspec.json.encode((item.source_id, item.content))
    return msgspec.json.encode(item.sub_goals)


def _message(role: str, content: Any, at: datetime | None) -> Iterator[Utterance]:
    flat = _flat(content)
    if flat not in (None, "", [], {}):
        yield Utterance(role=role, content=flat, at=at)


def _flat(content: Any) -> Any:
    """The text of a content list where it holds text alone, else the content as it is."""
    parts = items(content)
    texts = [part if isinstance(part, str) else _part_text(mapping(part)) for part in parts]
    if parts and all(each is not None for each in texts):
        return "\n".join(each for each in texts if each)
    return content


def _part_text(part: Mapping[str, Any]) -> str | None:
    if "type" in part and _kind(part) not in SPOKEN_PARTS:
        return None
    found = part.get("text", part.get("refusal"))
    return found if isinstance(found, str) else None


def _chat(message: Mapping[str, Any], role: str, at: datetime | None) -> Iterator[Item]:
    called = objects(message.get("tool_calls"))
    yield from _message("reasoning", message.get("reasoning_content"), at)
    content = message.get("content")
    if called and isinstance(content, list):  # the same calls stand among the blocks
        content = [part for part in content if _kind(mapping(part)) not in USES]
    blocks = objects(content)
    if any(_kind(part) in USES | THOUGHTS | {"tool_result"} for part in blocks):
        for part in blocks:
            yield from _block(part, role, at)
    else:
        yield from _message(role, content, at)
    yield from _message(role, message.get("refusal"), at)
    for call in (*called, *objects([message.get("function_call")])):
        function = mapping(call.get("function")) or call
        arguments = function.get("arguments", function.get("args"))
        yield Called(tool=function.get("name"), arguments=arguments, source_id=text(call.get("id")), at=at)


def _block(part: Mapping[str, Any], role: str, at: datetime | None) -> Iterator[Item]:
    """A content block of the Messages API."""
    kind = _kind(part)
    if kind in USES:
        yield Called(
            tool=part.get("name"), arguments=part.get("input"), source_id=text(part.get("id")), at=at
        )
    elif kind == "tool_result":
        failed = part.get("is_error")
        ok = None if failed is None else failed is not True
        content = _flat(part.get("content"))
        yield Answered(content=content, source_id=text(part.get("tool_use_id")), ok=ok, at=at)
    elif kind in THOUGHTS:
        yield from _message("reasoning", part.get("thinking", part.get("reasoning")), at)
    else:
        yield from _message(role, [part], at)


def _response_call(message: Mapping[str, Any], tool: str, at: datetime | None) -> Iterator[Item]:
    """A call in a response; a tool of the service itself has its answer with it."""
    call_id = text(message.get("call_id")) or text(message.get("id"))
    arguments = message.get("arguments", message.get("action"))
    if arguments is None:
        given = {
            name: message[name] for name in ("input", "code", "queries") if message.get(name) is not None
        }
        arguments = given or None
    yield Called(tool=text(message.get("name")) or tool, arguments=arguments, source_id=call_id, at=at)
    failed = message.get("error")
    if failed is not None or message.get("output") is not None:
        content = _flat(message.get("output")) if failed is None else failed
        yield Answered(content=content, source_id=call_id, ok=None if failed is None else False, at=at)


def _output(message: Mapping[str, Any], at: datetime | None) -> Answered:
    """An answer in a response; some programs write ``{"content": …, "success": false}``."""
    output = message.get("output")
    success = mapping(output).get("success")
    content = mapping(output).get("content", output)
    ok = success if isinstance(success, bool) else None
    return Answered(content=_flat(content), source_id=text(message.get("call_id")), ok=ok, at=at)
