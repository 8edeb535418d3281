"""Messages of chat models as items of a run, in each of the shapes that programs write them.

Chat Completions messages, items of the Responses API, messages of LangChain (dumped, with a ``data`` part, or
as constructors), content blocks of the Messages API, Gemini and Bedrock, messages of AutoGen, events of
Google's Agent Development Kit, ShareGPT turns, and those of other frameworks (`framework_messages`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from msgspec.structs import replace

from untaken.traces import framework_messages
from untaken.traces.losses import Findings
from untaken.traces.readings import amount, items, mapping, objects, parsed, text
from untaken.traces.spending import USAGE, Amounts, usage, with_cost
from untaken.traces.trace_run import Answered, Called, Item, Utterance
from untaken.working import step

ROLES: Final = {
    "human": "user",
    "ai": "assistant",
    "AIMessageChunk": "assistant",
    "model": "assistant",
    **dict.fromkeys(("gpt", "agent", "bot", "chatbot"), "assistant"),
    "observation": "tool",
    "toolResult": "tool",
    **{role: role for role in ("user", "assistant", "system", "tool")},
}
"""Types of LangChain messages, and roles of Gemini, ShareGPT, Cohere, voice agents and pi, that have another
name elsewhere."""
SHAREGPT: Final = frozenset(
    ("human", "gpt", "user", "assistant", "system", "tool", "function_call", "observation", "function")
)
"""Speakers of ShareGPT turns."""
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
AUTOGEN: Final = {"SystemMessage": "system", "FunctionExecutionResultMessage": "tool"}
"""Messages of AutoGen that do not say whom they are from."""
TYPES: Final = {"user": "user", "assistant": "assistant", "tool_result": "tool"}
"""What a message may say that it is, instead of its role."""
SPOKEN_PARTS: Final = frozenset(
    ("text", "input_text", "output_text", "refusal", "summary_text", "reasoning_text")
)
SPEAKERS: Final = {
    **dict.fromkeys(("user", "human", "customer"), "user"),
    **dict.fromkeys(("assistant", "agent", "bot", "ai", "model"), "assistant"),
    "system": "system",
}
"""Who speaks in the turns of logs that have a speaker and a text, in small letters."""
CONTENT_NAMES: Final = ("text", "message")
"""What some programs call the content of a message."""
TOOL_ROLES: Final = ("tool", "function")
THOUGHTS: Final = frozenset(("thinking", "reasoning"))
CALLS: Final = frozenset(
    ("tool_use", "server_tool_use", "tool_call", "server_tool_call", "tool-call", "toolUse", "functionCall")
) | {"function_call", "toolCall"}
ANSWERS: Final = frozenset(
    ("tool_result", "tool_call_result", "tool_call_response", "tool-result", "toolResult", "functionResponse")
) | {"function_response"}
"""Kinds of content blocks, or, as Bedrock and Gemini write it, their only key."""
CALL_IDS: Final = ("tool_use_id", "toolCallId", "toolUseId", "toolUseID", "call_id", "id")
CALL_NAMES: Final = ("name", "toolName", "tool_name", "tool")
CALL_INPUTS: Final = ("input", "arguments", "args", "server_tool_call", "parameters", "tool_input")
CALL_OUTPUTS: Final = ("content", "output", "response", "result", "errorText", "run")
GIVEN_BACK: Final = ("result", "output", "observation")
"""What a call that has its answer with it calls that."""
USAGES: Final = ("usage", "usage_metadata", "usageMetadata", "models_usage", "metrics")
USAGE_COST: Final = "cost"
"""What some services, and Cline, call the cost of a reply beside its tokens."""
TIMES: Final = ("timestamp", "created_at", "createdAt", "ts", "time")
FIELDS: Final = (
    *("role", "speaker", "text", "message", "message.content.**", "type", "id", "name", "content.**"),
    *("parts.**", "refusal", "reasoning_content", "thought", "model_id"),
    *(*TIMES, "model", "assistant_id", "toolCalls.**", "toolCallId", "from", "value.**", "source", "author"),
    *(f"additional_kwargs.{name}" for name in ("tool_calls.**", "function_call.**")),
    *(f"tool_calls[].{name}" for name in ("id", *CALL_NAMES, "function.name", "success", "status")),
    *(f"tool_calls[].{name}.**" for name in (*CALL_INPUTS, *GIVEN_BACK, "error", "function.arguments")),
    *("tool_calls[].function.output.**", "function_call.name", "function_call.arguments.**"),
    *("tool_call_id", "status", "call_id", "arguments.**", "input.**", "action.**", "output.**", "error.**"),
    *("isError", "tool_responses.**", "code", "queries.**", "summary.**", "response_metadata.model_name"),
    *(f"{usage}.{name}" for usage in (*USAGES, "response_metadata.token_usage")
      for names in (*USAGE.values(), (USAGE_COST,)) for name in names),
    "modelInfo.id",
    *framework_messages.FIELDS,
)  # fmt: skip
"""Places of one message that reach a run."""
PROMPTS: Final = ("prompt", "query", "question")
"""Names of what somebody asks an agent, where it is given as an argument."""
_WRAPPED_IN: Final = framework_messages.MARKS | frozenset(
    ("kwargs", "data", "from", "source", "author", "speaker", "tool_responses", *CONTENT_NAMES)
)
"""Names of which a message has one that a library wraps in something."""
_TYPED: Final = AUTOGEN.keys() | TYPES.keys()
_CONTENT_IN: Final = frozenset(("content", "parts", "tool_calls", "function_call"))
_USED_IN: Final = frozenset((*USAGES, "response_metadata"))
_ASKED_OR_ANSWERED: Final = CALLS | ANSWERS
_OTHER_BLOCKS: Final = _ASKED_OR_ANSWERED | THOUGHTS
_DEFINED_BY: Final = frozenset(("parameters", "input_schema", "inputSchema", "args_schema"))
_CALL: Final = "_call"
_OUTPUT: Final = "_call_output"


def unwrapped(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """A message with its role and content by the usual names, without what a library wraps them in."""
    # The usual case first: this runs for every message of every format.
    if _WRAPPED_IN.isdisjoint(message) and str(message.get("type")) not in _TYPED:
        return message
    if (found := framework_messages.framework_message(message)) is not None:
        return found
    if message.get("type") == "constructor" and isinstance(message.get("kwargs"), dict):
        kind = CONSTRUCTORS.get(str([None, *items(message.get("id"))][-1]), "unknown")
        return {"type": kind, **message["kwargs"]}
    if isinstance(message.get("data"), dict) and "content" in message["data"]:
        return {"type": message.get("type"), **message["data"]}
    if "role" not in message and str(message.get("from")) in SHAREGPT and "value" in message:
        return _sharegpt(message)
    if answers := objects(message.get("tool_responses")):  # its content is all of them in one text
        blocks = [
            {**each, "type": "tool_result", "tool_use_id": each.get("tool_call_id")} for each in answers
        ]
        return {"role": "tool", "content": blocks}
    spoken = isinstance(message.get("source"), str) or str(message.get("type")) in AUTOGEN
    if "role" not in message and "content" in message and spoken:
        return _autogen(message)
    if "role" in message and isinstance(message.get("message"), dict):  # a transcript of Cursor
        return {**message, **message["message"]}
    if "role" not in message and "content" in message and (role := TYPES.get(str(message.get("type")))):
        return {**message, "role": role}
    speaker = SPEAKERS.get(str(message.get("speaker")).lower())
    if speaker is not None and "role" not in message and isinstance(message.get("text"), str):
        return {**message, "role": speaker, "content": message["text"]}
    content = next((each for name in CONTENT_NAMES if isinstance(each := message.get(name), str)), None)
    # Of people, a role and a text may be anything.
    if content is not None and str(message.get("role")).lower() in ROLES and _CONTENT_IN.isdisjoint(message):
        return {**message, "content": content}
    if isinstance(message.get("author"), str) and mapping(message.get("content")).get("parts"):
        return {**message, "role": "model", **message["content"], "content": None}  # an event of Google's kit
    return message


def _sharegpt(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """A turn ``{"from": …, "value": …}``; a call is JSON text, with the name and the arguments."""
    call = mapping(parsed(message["value"])) if message["from"] == "function_call" else {}
    if "name" in call:
        return {"role": "assistant", "content": None, "function_call": call}
    role = "assistant" if message["from"] == "function_call" else message["from"]
    return {"role": role, "content": message["value"]}


def _autogen(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """A message or an event of an AutoGen team, under the name of the agent that it came from."""
    kind, known = _kind(message), {name: message[name] for name in (*TIMES, *USAGES) if name in message}
    speaker = message.get("source") or AUTOGEN.get(kind, "unknown")
    asks = kind == "AssistantMessage" and isinstance(message["content"], list)
    if asks or kind == "ToolCallRequestEvent":
        thought = {"reasoning_content": message["thought"]} if message.get("thought") else {}
        return {**known, **thought, "role": speaker, "content": None, "tool_calls": message["content"]}
    if kind in ("ToolCallExecutionEvent", "FunctionExecutionResultMessage"):
        answers = [{**each, "type": "tool_result"} for each in objects(message["content"])]
        return {**known, "role": "tool", "content": answers}
    if kind.endswith(("Message", "Event")):
        role = "reasoning" if kind == "ThoughtEvent" else speaker
        return {**known, "role": role, "content": message["content"]}
    return message


def role_of(role: str) -> str:
    """The usual name of a role; a name of an agent is kept as it is."""
    return ROLES.get(role) or ROLES.get(role.lower(), role)


def is_langchain(record: Any) -> bool:
    """Whether a record is a message as LangChain writes it."""
    message = unwrapped(mapping(record))
    if "role" in message or "content" not in message or _kind(message) not in LANGCHAIN:
        return False
    marks = ("additional_kwargs", "response_metadata", "tool_calls", "tool_call_id", "example")
    return message is not record or any(mark in message for mark in marks)


def tool_message(result: Any) -> Answered | None:
    """What a tool gave back, where it gave it as a message of LangChain."""
    message = unwrapped(mapping(result))
    if _kind(message) != "tool" or not {"content", "tool_call_id"} <= message.keys():
        return None
    return next((item for item in message_items(message) if isinstance(item, Answered)), None)


def tool_reply(result: Any, content: Any, *, ok: bool | None) -> tuple[Any, bool | None]:
    """What a tool gave back, and whether it worked: as a message of LangChain says, where it is one."""
    item = tool_message(result)
    if item is None:
        return content, ok
    return item.content, item.ok if ok is None or item.ok is False else ok


def is_message(record: Any) -> bool:
    """Whether a record is one message of a chat, or one item of a response."""
    message = unwrapped(mapping(record))
    if isinstance(message.get("role"), str):
        return not _CONTENT_IN.isdisjoint(message)
    kind = _kind(message)
    if kind in LANGCHAIN:
        return "content" in message
    return kind == "reasoning" or (
        kind.endswith((_CALL, _OUTPUT)) and ("call_id" in message or "id" in message)
    )


def message_items(message: Mapping[str, Any], at: datetime | None = None) -> Iterator[Item]:
    """What was said, thought, called and answered in one message."""
    step()
    message = unwrapped(message)
    kind = _kind(message)
    role = text(message.get("role")) or kind or "unknown"
    role = role_of(role)
    content = message.get("parts") or message.get("content")
    blocks = [block for part in objects(content) for block in _blocks(part)]
    if kind == "reasoning":
        yield from _message("reasoning", [*items(message.get("summary")), *items(message.get("content"))], at)
    elif kind.endswith(_OUTPUT):
        yield _output(message, at)
    elif kind.endswith(_CALL) and kind != "tool_call":
        yield from _response_call(message, kind.removesuffix(_CALL), at)
    elif role in TOOL_ROLES and _is_definition(message, content):
        return  # some tracers add the tools that a model may call to the messages it was called with
    elif role in TOOL_ROLES and not any(_kind(block) in ANSWERS for block in blocks):
        ok = _worked(message, "")
        call_id = text(message.get("tool_call_id")) or text(message.get("toolCallId"))
        yield Answered(content=_flat(content), source_id=call_id, ok=ok, at=at)
    else:
        yield from _chat(message, role, content, blocks, at)


def _is_definition(message: Mapping[str, Any], content: Any) -> bool:
    """Whether a message of a tool says what the tool is for, instead of what it gave."""
    if message.get("tool_call_id") or message.get("toolCallId"):
        return False
    given = parsed(content)
    tools = objects(given) if isinstance(given, list) else [mapping(given)]
    functions = [mapping(tool.get("function")) or tool for tool in tools]
    typed = all(tool.get("type") == "function" and mapping(tool.get("function")) for tool in tools)
    return bool(functions) and all(
        isinstance(each.get("name"), str)
        and (not _DEFINED_BY.isdisjoint(each) or (typed and "arguments" not in each))
        for each in functions
    )


def tokens_of(
    messages: Iterable[Mapping[str, Any]], findings: Findings, *, priced: bool = False
) -> list[Amounts]:
    """What each of the messages (or replies) that say their usage used, as `spending.usage` reads it.

    With `priced`, a cost that is recorded beside the tokens is there, too.
    """
    found: list[Amounts] = []
    for message in map(unwrapped, messages):
        if _USED_IN.isdisjoint(message):
            continue
        metadata = mapping(message.get("response_metadata"))
        usages = (*(message.get(name) for name in USAGES), metadata.get("token_usage"))
        counts = next((each for each in usages if isinstance(each, dict)), None)
        if counts is not None and (used := usage(counts, findings)):
            cost = amount(counts.get(USAGE_COST), findings, USAGE_COST) if priced else None
            found.append(with_cost(used, cost))
    return found


def asked(value: Any) -> list[dict[str, Any]]:
    """The messages that a model was called with, out of what a trace records as its input."""
    called = mapping(value)
    if called.keys() in ({"args"}, {"args", "kwargs"}):  # what a traced function was called with
        return [m for arg in items(called["args"]) for m in asked(arg)] or asked(called.get("kwargs"))
    return _messages(value, ("messages", "input", "inputs", "contents", *PROMPTS), "user")


def replied(value: Any) -> list[dict[str, Any]]:
    """The messages that a model gave, out of what a trace records as its output."""
    document = mapping(value)
    choices = [
        # A completion has a text alone.
        mapping(each.get("message")) or ({"role": "assistant", "content": words} if words else {})
        for each in objects(document.get("choices"))
        for words in (text(each.get("text")),)
    ]
    choices += [mapping(each.get("content")) for each in objects(document.get("candidates"))]
    generations = items(document.get("generations"))
    # A list for each prompt.
    first = generations[0] if generations and isinstance(generations[0], list) else generations
    generated = [mapping(each.get("message")) or {"content": each.get("text")} for each in objects(first)]
    found = choices or [{"role": "assistant", **each} for each in generated]
    names = ("messages", "output", "message", "outputs", "content", "text", "response")
    return found or _messages(value, names, "assistant")


def _kind(message: Mapping[str, Any]) -> str:
    return text(message.get("type")) or ""


def _messages(value: Any, names: tuple[str, ...], role: str) -> list[dict[str, Any]]:
    if isinstance(value, str):
        return [{"role": role, "content": value}] if value else []
    if isinstance(value, list):
        nested = value[0] if value and isinstance(value[0], list) else value  # a list for each prompt
        return [each for each in objects(nested) if is_message(each)]
    if is_message(value):
        return [value]
    inner = (
        next((value[name] for name in names if value.get(name)), None) if isinstance(value, dict) else None
    )
    return _messages(inner, (), role) if inner is not None else []  # one level, no deeper


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
    found = part.get("text", part.get("refusal", part.get("content")))
    if not mapping(found).get("annotations"):  # the Assistants API has them beside the text
        found = mapping(found).get("value", found)
    return found if isinstance(found, str) else None


def _chat(
    message: Mapping[str, Any],
    role: str,
    content: Any,
    blocks: Iterable[Mapping[str, Any]],
    at: datetime | None,
) -> Iterator[Item]:
    more = mapping(message.get("additional_kwargs"))  # where LangChain keeps what a provider calls so
    lists = (each.get(name) for each in (message, more) for name in ("tool_calls", "toolCalls"))
    called = next(filter(None, (objects(parsed(each)) for each in lists)), [])
    if (thought := message.get("reasoning_content")) is not None:
        yield from _message("reasoning", thought, at)
    if called:  # the same calls are among the blocks
        blocks = [block for block in blocks if _kind(block) not in CALLS]
        content = [part for part in items(content) if _kind(mapping(part)) not in CALLS] or (
            content if isinstance(content, str) else None
        )
    if any(_kind(block) in _OTHER_BLOCKS for block in blocks):
        for block in blocks:
            yield from _block(block, role, at)
    else:
        yield from _message(role, content, at)
    if (refusal := message.get("refusal")) is not None:
        yield from _message(role, refusal, at)
    single = message.get("function_call") or (None if called else more.get("function_call"))
    for number, call in enumerate((*called, *objects([single]))):
        made, answer = _called(mapping(call.get("function")) or call, at, call), _answer_of(call, at)
        if answer is None:
            yield made
            continue
        # Without an id, an answer would be that of the oldest open call.
        source_id = made.source_id or f"call-{number}"
        yield from (replace(made, source_id=source_id), replace(answer, source_id=source_id))


def _answer_of(call: Mapping[str, Any], at: datetime | None) -> Answered | None:
    """The answer that a call has with it, as many programs keep it."""
    content, error, worked = _first(call, GIVEN_BACK), call.get("error"), call.get("success")
    content = mapping(call.get("function")).get("output") if content is None else content
    why = error if isinstance(error, str | dict) and error else None
    if content is None and why is None:
        return None
    ok = worked if isinstance(worked, bool) else False if why else _worked(call, "")
    return Answered(content=why if content is None else _flat(content), ok=ok, at=at)


def _first(part: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((part[name] for name in names if part.get(name) is not None), None)


def _called(part: Mapping[str, Any], at: datetime | None, call: Mapping[str, Any] | None = None) -> Called:
    """A call by its name and arguments; its id is in `call`, if the function is a part of it."""
    return Called(
        tool=_first(part, CALL_NAMES),
        arguments=_first(part, CALL_INPUTS),
        source_id=text(_first(part if call is None else call, CALL_IDS)),
        at=at,
    )


def _blocks(part: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A content block with its kind as ``type``; a call of the AI SDK that has its answer gives both."""
    if "type" not in part:
        wrapped = next((n for n in part if n in _ASKED_OR_ANSWERED and isinstance(part[n], dict)), None)
        thought = {**part, "type": "thinking"} if part.get("thought") is True else part
        yield {**part[wrapped], "type": wrapped} if wrapped is not None else thought
        return
    invoked = mapping(part.get("toolInvocation")) or part
    kind = _kind(part)
    if kind == "step-start":  # the AI SDK marks where a reply goes on
        return
    if kind not in _ASKED_OR_ANSWERED and "toolCallId" in invoked:
        name = text(invoked.get("toolName")) or kind.removeprefix("tool-")
        yield {**invoked, "type": "tool-call", "toolName": name}
        state = text(invoked.get("state")) or ""
        if state in ("result", "output-available", "output-error"):
            yield {**invoked, "type": "tool-result", "isError": state == "output-error"}
        return
    yield part


def _block(part: Mapping[str, Any], role: str, at: datetime | None) -> Iterator[Item]:
    """What a content block says, calls or answers."""
    kind = _kind(part)
    if kind in CALLS:
        yield _called(part, at)
    elif kind in ANSWERS:
        content = _first(part, CALL_OUTPUTS)
        typed = mapping(content) if {"type", "value"} <= mapping(content).keys() else {}
        yield Answered(
            content=_flat(typed.get("value", content) if typed else content),
            source_id=text(_first(part, CALL_IDS)),
            ok=_worked(part, _kind(typed)),
            at=at,
        )
    elif kind in THOUGHTS:
        yield from _message("reasoning", _first(part, ("thinking", "reasoning", "text", "content")), at)
    else:
        yield from _message(role, [part], at)


def _worked(answer: Mapping[str, Any], kind: str) -> bool | None:
    """Whether a call worked, where its answer says so: by a flag, a status, or the kind of its output."""
    failed = _first(answer, ("is_error", "isError", "error"))
    if isinstance(failed, bool):
        return not failed
    if kind.startswith(("error", "execution-denied")) or mapping(answer.get("response")).get("error"):
        return False
    return {"success": True, "error": False}.get(str(answer.get("status")))


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
