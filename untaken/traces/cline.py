"""Task folders of Cline and Roo Code: what the model was sent and answered, and what the user saw and paid.

``api_conversation_history.json`` has the messages, ``ui_messages.json`` the times, tokens and prices, and
``task_metadata.json`` the version; either of the first two is enough for a run. Older versions call tools in
the text of the model (``<read_file><path>a</path></read_file>``), and all of them answer in the text of the
next message (``[read_file for 'a'] Result:``). Whether the task was done is recorded nowhere: that the agent
attempts completion is its own word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any, Final

from untaken.traces.importer import importer
from untaken.traces.intake import Intake
from untaken.traces.losses import Findings
from untaken.traces.message_transcript import messages_once
from untaken.traces.messages import message_items
from untaken.traces.readings import first_text, mapping, moment, objects, parsed, text
from untaken.traces.sample import Sample
from untaken.traces.sessions import session_run
from untaken.traces.sources import Source
from untaken.traces.spending import Amounts, left_behind, spend, usage, with_cost
from untaken.traces.task_texts import described
from untaken.traces.tidy import Places
from untaken.traces.trace_file import TraceFile
from untaken.traces.trace_run import Answered, Called, Item, TraceRun, Utterance, write_traces

API: Final = "api_conversation_history.json"
UI: Final = "ui_messages.json"
METADATA: Final = "task_metadata.json"
REQUEST: Final = "api_req_started"
LEFT: Final = "deleted_api_reqs"
"""What was spent on messages that were deleted, as when somebody goes back to a checkpoint."""
SPENT: Final = (REQUEST, LEFT, "subagent_usage")
CONDENSED: Final = "condense_context"
CONDENSED_COST: Final = {"cost": ("contextCondense.cost",)}
"""The call that sums up what was said: its cost alone is recorded."""
TOKENS: Final = {
    "input_tokens": ("tokensIn",),
    "output_tokens": ("tokensOut",),
    "cached_tokens": ("cacheReads",),
    "cache_creation_tokens": ("cacheWrites",),
}
SPOKEN: Final = {
    "text": "assistant",
    "reasoning": "reasoning",
    "completion_result": "assistant",
    "plan_mode_respond": "assistant",
    "followup": "assistant",
    "user_feedback": "user",
    "user_feedback_diff": "user",
    "task": "user",
    "error": "cline",
}
"""Who says the interface messages of a kind."""
TOOLS: Final = ("tool", "use_mcp_server", "load_mcp_documentation")
CALLED: Final = {"command": "execute_command", "browser_action": "browser_action"}
"""Calls among the interface messages, and those whose text is no object with the name of the tool."""
TOOL_CHARS: Final = 64
_TAG: Final = re.compile(rf"<(/?)([a-z][a-z0-9_]{{0,{TOOL_CHARS}}})>")
_RESULT: Final = "] Result:"
_PROSE: Final = frozenset(("thinking", "task", "feedback", "environment_details", "user_message", "answer"))
"""Tags in messages that are no tools."""
_FAILED: Final = ("Error executing", "The tool execution failed", "[ERROR]", "Error:")
PLACES: Final = Places(
    kept=[
        *("role", "content.**", "ts", "modelInfo.modelId", "type", "say", "ask", "text.**", "partial"),
        "contextCondense.cost",
        *("environment_history[].cline_version", "model_usage[].model_id"),
    ]
)


def recognise(sample: Sample) -> bool:
    """The interface messages say what they are; a task's messages are known by their file's name."""
    name, first = PurePosixPath(sample.name).name, sample.first
    shown = {"ts", "type"} <= first.keys() and not {"say", "ask"}.isdisjoint(first)
    is_metadata = name == METADATA and not {"files_in_context", "model_usage"}.isdisjoint(first)
    return shown or (name == API and "role" in first) or is_metadata


def _convert(sources: Sequence[Source], intake: Intake) -> None:
    for folder, files in _tasks(sources).items():
        main = next((files[name] for name in (API, UI) if name in files), next(iter(files.values())))
        opened: dict[str, TraceFile] = {}
        for name, source in files.items():
            intake.step(source.name)
            if file := TraceFile.opened(source, intake, PLACES, copies=name == METADATA):
                opened[name] = file
        by = next(
            (file for file in opened.values() if file.source is main), next(iter(opened.values()), None)
        )
        if by is None:
            continue
        with intake.contained(by.log):
            parts = {name: _part(name, file) for name, file in opened.items()}
            about = [file.log for file in opened.values() if file is not by]
            # Cline calls the folder of a task by when it began.
            began = first_text([each for part in (UI, API) for each in parts.get(part) or ()], ("ts",))
            run = _run(parts, PurePosixPath(folder).name or began or by.ledger, by.findings)
            if run is None:
                by.refuse("no message of a task is in it")
                continue
            write_traces([run], by.ledger, intake=intake, log=by.log, about=about)


def _tasks(sources: Sequence[Source]) -> dict[str, dict[str, Source]]:
    """The files of each task by the path of its folder; a file with another name is a task by itself."""
    tasks: dict[str, dict[str, Source]] = {}
    for source in sources:
        path = PurePosixPath(source.name)
        if path.name in (API, UI, METADATA):
            tasks.setdefault(str(path.parent), {})[path.name] = source
        else:
            tasks[str(path.with_suffix(""))] = {UI: source}
    return tasks


def _part(name: str, file: TraceFile) -> Any:
    """What one file of a task has: messages, or what describes the task."""
    records = list(file.records())
    if name == METADATA:
        return mapping(next(iter(records), None))
    return objects([each for one in records for each in (one if isinstance(one, list) else [one])])


def _run(parts: Mapping[str, Any], name: str, findings: Findings) -> TraceRun | None:
    messages, ui, about = parts.get(API) or [], parts.get(UI) or [], mapping(parts.get(METADATA))
    if not messages and not ui:
        return None
    run_id = f"cline/{name}"
    models = [mapping(each.get("modelInfo")) for each in (*messages, *ui)]
    model = first_text(models, ("modelId",)) or first_text(objects(about.get("model_usage")), ("model_id",))
    asked = [each for each in ui if REQUEST in (each.get("say"), each.get("ask"))]
    used = [_used(each, findings) for each in ui if each.get("say") in SPENT or each.get("ask") == REQUEST]
    condensed = [usage(each, findings, CONDENSED_COST) for each in ui if each.get("say") == CONDENSED]
    spent = spend(used, run=run_id, findings=findings, priced=[*used, *filter(None, condensed)])
    left = [_used(each, findings) for each in ui if each.get("say") == LEFT]
    found = list(_api_items(messages, findings) if messages else _ui_items(ui, findings))
    return session_run(
        "cline",
        name,
        found,
        model=model,
        moments=[moment(each.get("ts"), findings, "ts") for each in ui],
        about=described(_task(found)),
        record=[messages, ui],
        origin={"messages": messages, "ui": ui, "metadata": about},
        version=first_text(objects(about.get("environment_history")), ("cline_version",)),
        cost=spent.cost,
        steps=len(asked) or sum(each.get("role") == "assistant" for each in messages),
        metrics={**spent.tokens, **left_behind(left)},
    )


def _used(message: Mapping[str, Any], findings: Findings) -> Amounts:
    """What a call of the model used; Cline counts cached tokens beside the others, Roo says how it counts."""
    given = mapping(parsed(message.get("text")))
    beside = () if "apiProtocol" in given else ("cacheReads", "cacheWrites")
    cost = given.get("cost")
    return with_cost(
        usage(given, findings, TOKENS, beside=beside), cost if isinstance(cost, int | float) else None
    )


def _task(found: Iterable[Item]) -> str | None:
    """What the user asked first, without the tags around it."""
    spoken = (item.content for item in found if isinstance(item, Utterance) and item.role == "user")
    first = next((words for words in spoken if isinstance(words, str)), None)
    if first is None:
        return None
    tagged = first.partition("<task>")[2].partition("</task>")[0]
    return (tagged or first).strip()


def _api_items(messages: Sequence[Mapping[str, Any]], findings: Findings) -> Iterator[Item]:
    waiting: list[tuple[Any, str]] = []
    for number, message in enumerate(messages_once(messages, findings)):
        at = moment(message.get("ts"), findings, "ts")
        for item in message_items(message, at):
            if isinstance(item, Called):
                source_id = item.source_id or f"{number}/{len(waiting)}"
                waiting.append((item.tool, source_id))
                yield Called(tool=item.tool, arguments=item.arguments, source_id=source_id, at=at)
            elif isinstance(item, Answered):
                waiting = [each for each in waiting if each[1] != item.source_id]
                yield item
            elif not isinstance(item, Utterance):
                yield item
            elif item.role == "assistant" and isinstance(item.content, str):
                for each in _called_in_text(item.content, at, number):
                    if isinstance(each, Called) and each.source_id:
                        waiting.append((each.tool, each.source_id))
                    yield each
            elif item.role == "user":
                yield from _answered_in_text(item.content, at, waiting)
            else:
                yield item


def _called_in_text(written: str, at: datetime | None, number: int) -> Iterator[Item]:
    """What the model said, and the tools that it called: a tag with the name, and a tag for each argument."""
    start = 0
    for tool, opened, inside, closed in _calls(list(_TAG.finditer(written))):
        if spoken := written[start:opened].strip():
            yield Utterance(role="assistant", content=spoken, at=at)
        arguments = {name: written[begin:end].strip("\n") for name, begin, end in inside}
        yield Called(tool=tool, arguments=arguments, source_id=f"{number}@{opened}", at=at)
        start = closed
    if spoken := written[start:].strip():
        yield Utterance(role="assistant", content=spoken, at=at)


def _calls(tags: Sequence[re.Match[str]]) -> Iterator[tuple[str, int, list[tuple[str, int, int]], int]]:
    """Each call in a text: its tool, where it begins, its arguments by name and place, and where it ends."""
    # A tag that is never closed, or has no tag inside, is prose.
    last = {tag[2]: n for n, tag in enumerate(tags) if tag[1]}
    n = 0
    while n < len(tags):
        tool, opens = tags[n][2], not tags[n][1] and tags[n][2] not in _PROSE
        if not opens or last.get(tool, -1) < n or n + 1 == len(tags) or tags[n + 1][1]:
            n += 1
            continue
        begun, arguments, n = n, [], n + 1
        while n < len(tags) and not (tags[n][1] and tags[n][2] == tool):
            name, opened = tags[n][2], n
            while n < len(tags) and last.get(name, -1) > opened and not (tags[n][1] and tags[n][2] == name):
                n += 1
            if opened < n < len(tags):
                arguments.append((name, tags[opened].end(), tags[n].start()))
            n += 1
        closed = tags[n].end() if n < len(tags) else tags[-1].end()
        yield tool, tags[begun].start(), arguments, closed
        n += 1


def _answered_in_text(content: Any, at: datetime | None, waiting: list[tuple[Any, str]]) -> Iterator[Item]:
    """What the user, or the program in the user's name, says: answers of tools among it."""
    blocks = content if isinstance(content, list) else [content]
    words = [text(mapping(block).get("text")) if isinstance(block, dict) else text(block) for block in blocks]
    if None in words:
        yield Utterance(role="user", content=content, at=at)
        return
    yield from _answers("\n".join(filter(None, words)), at, waiting)


def _answers(written: str, at: datetime | None, waiting: list[tuple[Any, str]]) -> Iterator[Item]:
    """The parts of a text: what is said first, then what each tool gave back after its mark."""
    parts: list[tuple[str, list[str]]] = [("", [])]
    for line in written.split("\n"):
        mark, found, rest = line.partition(_RESULT)
        tool = mark[1:].partition(" for '")[0]
        if found and mark[:1] == "[" and tool.isidentifier():  # prose may have the mark, too
            parts.append((tool, [rest]))
        else:
            parts[-1][1].append(line)
    for tool, lines in parts:
        words = "\n".join(lines).strip()
        if not tool:
            if words:
                yield Utterance(role="user", content=words, at=at)
            continue
        # An answer in a text has no id: it is that of the oldest call of the tool.
        asked = next((each for each in waiting if each[0] == tool), waiting[0] if waiting else None)
        if asked is not None:
            waiting.remove(asked)
        ok = False if words.startswith(_FAILED) else None  # nothing says of a call that it worked
        yield Answered(content=words, source_id=asked[1] if asked else None, ok=ok, at=at)


def _ui_items(messages: Sequence[Mapping[str, Any]], findings: Findings) -> Iterator[Item]:
    """What the interface showed, where the messages of the model are not there."""
    waiting: list[tuple[Any, str]] = []
    for number, message in enumerate(messages):
        kind = text(message.get("say")) or text(message.get("ask"))
        written = text(message.get("text"))
        if message.get("partial") is True or kind is None or written is None:  # partial: still being written
            continue
        at = moment(message.get("ts"), findings, "ts")
        given = mapping(parsed(written))
        if kind == REQUEST:
            answers = _answers(text(given.get("request")) or "", at, waiting)
            yield from (each for each in answers if isinstance(each, Answered) and each.source_id)
        elif kind in CALLED or kind in TOOLS:
            tool = CALLED.get(kind) or text(given.get("toolName")) or text(given.get("tool")) or kind
            waiting.append((tool, f"ui/{number}"))
            arguments = {"command": written} if kind == "command" else given or {"input": written}
            yield Called(tool=tool, arguments=arguments, source_id=f"ui/{number}", at=at)
        elif kind in SPOKEN:
            role = "user" if number == 0 else SPOKEN[kind]  # the first one is the task
            yield Utterance(role=role, content=text(given.get("response")) or written, at=at)


IMPORTER: Final = importer(
    name="cline",
    title="Cline and Roo Code tasks",
    extensions=(".json",),
    what="Task folders of Cline and Roo Code: one run a task, with its calls, answers, tokens and cost.",
    recognise=recognise,
    convert=_convert,
    companions=(API, UI, METADATA),
    joins=True,
    agent=("modelInfo.modelId",),
    model=("modelInfo.modelId", "model_usage[].model_id"),
    version=("environment_history[].cline_version",),
    task=("(the task's folder)",),
    task_text=("(what the user said first)",),
    tokens=("(tokensIn, tokensOut, cacheReads, cacheWrites of api_req_started)",),
    cost=("(cost of api_req_started)", "contextCondense.cost"),
    time=("ts",),
)
