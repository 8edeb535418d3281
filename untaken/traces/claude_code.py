"""Claude Code: session files (JSON lines, a tree), and stream-json logs of ``claude -p`` and Cursor's CLI.

Sessions of Qwen Code have the same form, with messages of Gemini.

A session file is a tree: going back in it begins another branch, and the run is the branch that ends last.
Lines of sub-agents (side chains, or files of their own) are runs of their own. Neither kind of file says
whether the task was solved: a log's ``result`` says how the program ended.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, Final

from untaken.traces.importer import importer
from untaken.traces.losses import Findings
from untaken.traces.readings import amount, first_text, mapping, moment, objects, parsed, text, whole
from untaken.traces.sample import Confidence, Sample
from untaken.traces.sessions import Payers, named_by_file, session_converter
from untaken.traces.spending import USAGE, Amounts, left_behind, spend, usage
from untaken.traces.tidy import Places
from untaken.traces.trace_file import TraceFile
from untaken.traces.trace_records import read_once
from untaken.traces.trace_run import Answered, Called, Item, TraceRun, Utterance, content_text

Line = Mapping[str, Any]
SPOKEN: Final = ("user", "assistant")

LINES: Final = "loglines"
"""The member with the lines of a session, as Claude Code on the web gives it."""
QWEN_ENDS: Final = ("success", "error", "cancelled")
CALLS: Final = ("tool_use", "server_tool_use")
PLACES: Final = Places(
    kept=[
        *("type", "subtype", "uuid", "parentUuid", "logicalParentUuid", "parent_tool_use_id", "timestamp"),
        *("isSidechain", "agentId", "sessionId", "session_id", "version", "model", "cwd"),
        "claude_code_version",
        *("message.id", "message.role", "message.model", "message.content", "message.content[].type"),
        *("message.content[].text", "message.content[].thinking", "message.content[].id"),
        *("message.content[].name", "message.content[].input.**", "message.content[].tool_use_id"),
        *("message.content[].content.**", "message.content[].is_error"),
        *(f"message.usage.{name}" for names in USAGE.values() for name in names),
        "requestId",
        *("call_id", "tool_call.**", "timestamp_ms"),
        *(
            f"message.parts[].{name}"
            for name in ("text", "thought", "functionCall.**", "functionResponse.**")
        ),
        *("toolCallResult.status", *(f"usageMetadata.{name}" for names in USAGE.values() for name in names)),
        *("is_error", "num_turns", "total_cost_usd", "duration_ms", "result", "isApiErrorMessage"),
    ],
    dropped=["toolUseResult.**", "snapshot.**", "usage.**", "modelUsage.**", "message.usage.**"],
)


def recognise(sample: Sample) -> Confidence:
    """Session lines carry a parent, log lines a session; both hold messages of the Messages API.

    A session that somebody saved by parts may not name itself.
    """
    sure = Confidence.NO
    for line in (line for record in sample.records for line in _lines(record)):
        if line.get("type") == "system" and line.get("subtype") == "init" and "session_id" in line:
            return Confidence.CERTAIN
        if line.get("type") in SPOKEN and isinstance(line.get("message"), dict):
            if {"parentUuid", "sessionId"} <= line.keys():
                return Confidence.CERTAIN
            if "session_id" in line and "parent_tool_use_id" in line:
                return Confidence.CERTAIN
            if "content" in line["message"]:
                sure = max(sure, Confidence.LIKELY if "uuid" in line else Confidence.POSSIBLE)
    return sure


def _lines(record: Any) -> list[dict[str, Any]]:
    """The lines in a record: a session in the cloud is one object with all of them."""
    return objects(mapping(record).get(LINES)) or objects([record])


def session_runs(
    lines: Sequence[Line], findings: Findings, payers: Payers | None = None, stem: str = "session"
) -> list[TraceRun]:
    """The run of a session or a log, then those of its sub-agents.

    Args:
        lines: of one file.
        findings: of the file.
        payers: those of sessions that were read before.
        stem: of the file; it names a session that no line names.
    """
    payers = Payers() if payers is None else payers
    chains: dict[str, list[Line]] = defaultdict(list)
    for line in parents_first(lines):
        chains[_sub_agent(line)].append(line)
    main = chains.pop("", [])
    everything = main  # what was spent on branches that were left counts
    if any("parentUuid" in line for line in main):
        main = last_branch(main, findings)
    session = next(filter(None, (first_text([line], ("sessionId", "session_id")) for line in lines)), None)
    if session is None:
        session = named_by_file(stem, findings) if any(map(spoken_lines, (main, *chains.values()))) else stem
    runs = []
    if spoken_lines(main):
        run = _run(main, f"claude-code/{session}", session, findings)
        runs = [_with_tokens(run, spoken_lines(everything), spoken_lines(main), payers, findings)]
        if run.cost is not None and any(map(spoken_lines, chains.values())):
            message = "the cost of a session includes its sub-agents, whose tokens are in runs of their own"
            findings.once("cost-of-sub-agents", message, severity="note")
    for name, chain in chains.items():
        if spoken := spoken_lines(chain):
            run = _run(chain, f"claude-code/{session}/{name}", session, findings)
            run.metadata["parent"] = session
            runs.append(_with_tokens(run, spoken, spoken, payers, findings))
    for run in runs:
        run.origin = lines
    return runs


def _sub_agent(line: Line) -> str:
    """Which sub-agent a line is of; empty for the main agent."""
    if line.get("isSidechain") is True:
        return text(line.get("agentId")) or "sidechain"
    return text(line.get("parent_tool_use_id")) or ""


def _of_cursor(line: Line) -> Line:
    """A line of Cursor's log in the form of Claude Code's: calls have lines of their own in it."""
    line = {"timestamp": line.get("timestamp_ms"), **line} if "timestamp_ms" in line else line
    if line.get("type") != "tool_call":
        return line
    kind, call = next(iter(mapping(line.get("tool_call")).items()), ("", None))
    about = mapping(call)
    name = text(about.get("name")) or kind.removesuffix("ToolCall")  # as in `readToolCall`
    call_id, given = line.get("call_id"), parsed(about.get("args", about.get("arguments")))
    blocks = [{"type": "tool_use", "id": call_id, "name": name, "input": given}]
    if line.get("subtype") == "completed":
        result = about.get("result")
        worked, content = next(iter(mapping(result).items()), (None, result))
        failed = None if worked is None else worked != "success"
        blocks += [{"type": "tool_result", "tool_use_id": call_id, "content": content, "is_error": failed}]
    role = "user" if line.get("subtype") == "completed" else "assistant"
    return {**line, "type": role, "message": {"role": role, "content": blocks}}


def _of_qwen(line: Line) -> Line:
    """A line of Qwen Code in the form of Claude Code's."""
    message = mapping(line.get("message"))
    if "parts" not in message or "content" in message:
        return line
    status = mapping(line.get("toolCallResult")).get("status")
    failed = status != "success" if status in QWEN_ENDS else None
    spoken = {
        **message,
        "role": "assistant" if message.get("role") == "model" else message.get("role"),
        "model": line.get("model"),
        "usage": line.get("usageMetadata"),
        "content": [_qwen_block(part, failed) for part in objects(message["parts"])],
    }
    kind = "user" if line.get("type") == "tool_result" else line.get("type")
    return {**line, "type": kind, "message": spoken}


def _qwen_block(part: Mapping[str, Any], failed: bool | None) -> dict[str, Any]:
    if called := mapping(part.get("functionCall")):
        return {**called, "type": "tool_use", "input": called.get("args")}
    if answered := mapping(part.get("functionResponse")):
        response = mapping(answered.get("response"))
        content = next((response[name] for name in ("output", "error") if name in response), response)
        return {
            "type": "tool_result",
            "tool_use_id": answered.get("id"),
            "content": content,
            "is_error": failed,
        }
    kind = "thinking" if part.get("thought") is True else "text"
    return {"type": kind, kind: part.get("text")}


def _run(lines: Sequence[Line], run_id: str, session: str, findings: Findings) -> TraceRun:
    spoken = spoken_lines(lines)
    moments = [at for line in lines if (at := moment(line.get("timestamp"), findings, "timestamp"))]
    result = next((line for line in reversed(lines) if line.get("type") == "result"), {})
    subtype = text(result.get("subtype")) or ""
    model = next(
        # "<synthetic>" is of messages that the program itself made.
        (m for line in spoken if (m := text(mapping(line["message"]).get("model"))) and m[0] != "<"),
        None,
    )
    cursor = any("tool_call" in line or "request_id" in line for line in lines)
    if cursor:
        model = next((text(line.get("model")) for line in lines if line.get("type") == "system"), None)
    qwen = any("parts" in mapping(line["message"]) for line in spoken)
    program = "cursor" if cursor else "qwen-code" if qwen else "claude-code"
    metrics: dict[str, float | bool] = {}
    if (seconds := amount(result.get("duration_ms"), findings, "duration_ms")) is not None:
        metrics["total_time"] = seconds / 1000
    cost = amount(result.get("total_cost_usd"), findings, "total_cost_usd")
    replies = {
        mapping(line["message"]).get("id") or n  # a reply may be spread over several lines
        for n, line in enumerate(spoken)
        if line["type"] == "assistant"
    }
    failed = None
    if spoken and spoken[-1].get("isApiErrorMessage") is True:  # instead of a reply
        failed = content_text(mapping(spoken[-1]["message"]).get("content"))
    if result.get("is_error") is True:
        failed = text(result.get("result")) or subtype
    return TraceRun(
        run_id=run_id,
        agent=f"{program}/{model}" if model else program,
        task_id=session,
        record=[line.get("message") for line in spoken],
        model=model,
        version=None if cursor else first_text(lines, ("version", "claude_code_version")),
        items=_items(spoken, findings),
        started=moments[0] if moments else None,
        finished=moments[-1] if moments else None,
        cost=cost,
        steps=whole(result.get("num_turns"), findings, "num_turns") or len(replies),
        error=text(failed),
        limit="turns" if subtype == "error_max_turns" else None,
        metrics=metrics,
        metadata={"format": "claude-code", "session": session},
    )


def _with_tokens(
    run: TraceRun, spoken: Sequence[Line], branch: Sequence[Line], payers: Payers, findings: Findings
) -> TraceRun:
    """The run with its tokens: those of replies on branches that were left were spent, too."""
    used: dict[Hashable, Amounts] = {}
    own = {id(line) for line in branch}
    kept: set[Hashable] = set()
    for number, line in enumerate(spoken):
        counts = mapping(mapping(line["message"]).get("usage"))
        reply = text(mapping(line["message"]).get("id"))
        name = number if reply is None else (reply, text(line.get("requestId")))  # the same in every copy
        kept |= {name} if id(line) in own else set()
        if counts and line["type"] == "assistant":
            # By name: a reply that is spread over several lines says it on each of them.
            used[name] = usage(counts, findings, place="message.usage.")
    named = [(name if isinstance(name, tuple) else None, each) for name, each in used.items()]
    paid = payers.paid(run.run_id, named, findings)
    left = [each for name, each in zip(used, paid, strict=True) if name not in kept]
    run.metrics |= spend(paid, run=run.run_id, findings=findings).tokens
    run.metrics |= left_behind(left)
    return run


def _items(spoken: Sequence[Line], findings: Findings) -> list[Item]:
    found: list[Item] = []
    called: set[tuple[str | None, str]] = set()
    reply: str | None = None
    for line in spoken:
        at = moment(line.get("timestamp"), findings, "timestamp")
        message = mapping(line["message"])
        role = text(message.get("role")) or str(line["type"])
        content = message.get("content")
        if (name := text(message.get("id"))) != reply:
            reply = name
            found.append(Utterance(role=role, content=None, at=at))  # a turn begins
        if not isinstance(content, list):
            found.append(Utterance(role=role, content=content, at=at))
            continue
        for block in objects(content):
            if block.get("type") in CALLS and (call_id := text(block.get("id"))):
                # A log repeats what it streamed; another reply may use the id for another call.
                if (name, call_id) in called:
                    continue
                called.add((name, call_id))
            found += _block(block, role, at)
    return found


def _block(block: Mapping[str, Any], role: str, at: Any) -> Iterator[Item]:
    match block.get("type"):
        case "text":
            yield Utterance(role=role, content=block.get("text"), at=at)
        case "thinking":
            yield Utterance(role="reasoning", content=block.get("thinking"), at=at)
        case kind if kind in CALLS:
            source_id = text(block.get("id"))
            yield Called(tool=block.get("name"), arguments=block.get("input"), source_id=source_id, at=at)
        case "tool_result" | "web_search_tool_result":
            failed = block.get("is_error")
            content = content_text(block.get("content"))
            ok = None if failed is None else failed is not True
            yield Answered(content=content, source_id=text(block.get("tool_use_id")), ok=ok, at=at)


def _values(file: TraceFile) -> Iterator[Any]:
    """The lines of a file."""
    for value in file.values():
        if isinstance(value, dict) and LINES in value:
            file.leave({name: each for name, each in value.items() if name != LINES})
            yield from _lines(value)
        else:
            yield value


def _read(file: TraceFile, payers: Payers) -> list[TraceRun]:
    records = map(file.record, _values(file))
    lines = [_of_qwen(_of_cursor(line)) for line in records if isinstance(line, dict)]
    once = read_once(lines, lambda line: text(line.get("uuid")), "line", file.findings)
    runs = session_runs(once, file.findings, payers, file.stem)
    if lines and not runs:
        file.refuse("there is no message of a session in it")
    return runs


def spoken_lines(lines: Sequence[Line]) -> list[Line]:
    """The lines with a message."""
    return [line for line in lines if line.get("type") in SPOKEN and isinstance(line.get("message"), dict)]


def parents_first(lines: Sequence[Line]) -> list[Line]:
    """The lines, each after the one that it names as its parent: an answer may be written before its call."""
    to_come = {uuid for line in lines if (uuid := text(line.get("uuid")))}
    waiting: dict[str, list[Line]] = defaultdict(list)
    ordered: list[Line] = []
    for line in lines:
        ready = [line]
        if (parent := text(line.get("parentUuid"))) in to_come and parent is not None:
            waiting[parent].append(line)
            continue
        while ready:
            each = ready.pop()
            ordered.append(each)
            uuid = text(each.get("uuid")) or ""
            to_come.discard(uuid)
            ready += reversed(waiting.pop(uuid, []))
    # What still waits names a parent in a ring.
    return ordered + [line for ring in waiting.values() for line in ring]


def last_branch(lines: Sequence[Line], findings: Findings) -> list[Line]:
    """The branch of a session's tree that ends last; across a compaction by its logical parent."""
    by_id = {uuid: line for line in lines if (uuid := text(line.get("uuid")))}
    recorded = {
        uuid: text(line.get("parentUuid")) or text(line.get("logicalParentUuid"))
        for uuid, line in by_id.items()
    }
    if by_id.keys().isdisjoint(recorded.values()):  # some programs write the form without the tree
        return list(lines)
    parents = _parents(lines, by_id, recorded)
    leaf = next((line for line in reversed(lines) if line.get("type") in SPOKEN and line.get("uuid")), None)
    branch: list[Line] = []
    seen: set[str] = set()
    while leaf is not None and (uuid := text(leaf.get("uuid"))) not in seen:
        seen.add(str(uuid))
        branch.append(leaf)
        leaf = by_id.get(parents.get(uuid or "") or "")
    branch = _with_parallel_calls(lines, branch)
    kept, all_ = len(spoken_lines(branch)), len(spoken_lines(lines))
    if kept < all_:
        most = all_ - kept > kept
        which = "most of the session: " if most else ""
        message = f"{which}{all_ - kept} messages are on branches that were left, or before a compaction"
        message += " without a parent"
        findings.once("branches-left-out", message, severity="warning" if most else "note")
    return branch


def _parents(
    lines: Sequence[Line], by_id: Mapping[str, Line], recorded: Mapping[str, str | None]
) -> dict[str, str | None]:
    """The parent of each line; of an answer or a reply that names a line further up, the line before it.

    Some programs name the prompt as the parent of all that follows. So where nothing goes on from an answer,
    and the next message is a reply that names no other answer, it is the reply to that answer; an answer to
    a call in the line before goes on from that line.
    """
    named = set(recorded.values())
    parents = dict(recorded)
    before: Line | None = None
    for line in spoken_lines(lines):
        uuid = text(line.get("uuid"))
        if uuid is None:
            continue
        last = text(before.get("uuid")) if before is not None else None
        if before is not None and last not in named and recorded.get(uuid) != last:
            above = by_id.get(recorded.get(uuid) or "", {})
            if line["type"] == "assistant":
                goes_on = bool(_named(before, "tool_use_id")) and not _named(above, "tool_use_id")
            else:
                answered = set(_named(line, "tool_use_id"))
                goes_on = not answered.isdisjoint(_named(before, "id"))
                goes_on = goes_on and answered.isdisjoint(_named(above, "id"))
            if goes_on:
                parents[uuid] = last
        before = line
    return parents


def _with_parallel_calls(lines: Sequence[Line], branch: Sequence[Line]) -> list[Line]:
    """The branch, with the calls of its replies that hang beside it and the answers to all its calls.

    A reply that calls several tools at once has a line for each call; the answer to each hangs below its own
    call, and the next reply below the last answer alone.
    """
    kept = {id(line) for line in branch}
    replies = {text(mapping(line["message"]).get("id")) for line in spoken_lines(branch)} - {None}
    spoken = [line for line in spoken_lines(lines) if text(line.get("uuid"))]
    kept |= {id(line) for line in spoken if text(mapping(line["message"]).get("id")) in replies}
    calls = {call for line in spoken if id(line) in kept for call in _named(line, "id")}
    kept |= {id(line) for line in spoken if calls.intersection(_named(line, "tool_use_id"))}
    return [line for line in lines if id(line) in kept]


def _named(line: Line, key: str) -> list[str]:
    """The ids of the calls in a line (``id``), or of those it answers (``tool_use_id``)."""
    blocks = objects(mapping(line.get("message")).get("content"))
    return [found for block in blocks if (found := text(block.get(key)))]


IMPORTER: Final = importer(
    name="claude-code",
    title="Claude Code sessions",
    extensions=(".jsonl", ".json", ".txt"),
    what="Session files and stream-json logs; each sub-agent is a separate run.",
    left_out=PLACES.dropped,
    recognise=recognise,
    convert=session_converter(_read, PLACES),
    agent=("message.model",),
    model=("message.model",),
    version=("version", "claude_code_version"),
    task=("sessionId",),
    tokens=("message.usage.input_tokens", "message.usage.output_tokens"),
    cost=("(the result of a log) total_cost_usd",),
    time=("timestamp",),
)
