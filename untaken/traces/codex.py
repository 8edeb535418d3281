"""Codex: rollouts, one session a file, in the present form and the older one of bare items, and event logs.

The items of the conversation are read; the events beside them repeat it, and give tokens, exit codes and how
a turn ended. The file of a sub-agent begins with lines of its parent's session: they are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from untaken.ledger import Plan
from untaken.numbers import counted
from untaken.traces.importer import importer
from untaken.traces.losses import Findings
from untaken.traces.messages import is_message, message_items
from untaken.traces.readings import first_text, mapping, moment, objects, parsed, text, whole
from untaken.traces.sample import Confidence, Sample
from untaken.traces.sessions import Payers, named_by_file, session_converter
from untaken.traces.spending import USAGE, spend, usage
from untaken.traces.tidy import Places
from untaken.traces.trace_file import TraceFile
from untaken.traces.trace_run import Answered, Called, Item, Recorded, TraceRun, Utterance, content_text

STARTED: Final = "thread.started"
SPOKEN: Final = {"agent_message": "assistant", "reasoning": "reasoning"}
_EVENT_ITEM: Final = (
    *("id", "type", "text", "command", "aggregated_output", "exit_code", "status", "changes[].**", "server"),
    *("tool", "arguments.**", "result.**", "error.**", "query", "items[].text"),
)
EVENT_PLACES: Final = (
    *("type", "thread_id", "message", "error.message", *(f"item.{name}" for name in _EVENT_ITEM)),
    *(f"usage.{name}" for names in USAGE.values() for name in names),
)
"""Places of a line that reach a run."""

Line = Mapping[str, Any]

LINES: Final = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
ENDS: Final = ("task_complete", "turn_complete", "turn_aborted", "error")
EXIT: Final = re.compile(r"^(?:Exit code:|Process exited with code) (-?\d{1,9})$", re.MULTILINE)
"""What Codex writes above the output of a command."""
FAILED_SCRIPT: Final = "Script failed\n"
HEADER_CHARS: Final = 400
_ITEM: Final = (
    *("type", "role", "content.**", "name", "arguments", "call_id", "id", "input"),
    *("output.**", "summary[].text", "action.**", "status", "message"),
)
_META: Final = (
    *("id", "timestamp", "instructions", "base_instructions.**", "cwd", "cli_version", "originator"),
    *("source.**", "parent_thread_id", "forked_from_id", "subagent_history_start_ordinal"),
)
NEEDED: Final = frozenset(
    (*(name.removesuffix(".**") for name in _META), "type", "call_id", "model", "exit_code", "reason")
) | {"message", "info"}
"""What a run takes of the payload of a line that is no item of the conversation."""
PLACES: Final = Places(
    kept=[
        *("type", "timestamp", "ordinal", "id", "instructions"),
        *_ITEM,
        *(f"payload.{name}" for name in (*_ITEM, *_META, "model", "exit_code", "reason", "message")),
        *(f"payload.info.total_token_usage.{name}" for names in USAGE.values() for name in names),
        *EVENT_PLACES,
    ],
    dropped=["git.**", "payload.git.**", "payload.replacement_history.**", "payload.rate_limits.**"],
)


def recognise(sample: Sample) -> Confidence:
    """Lines with a payload, or events of a thread; in the older form, a header before bare items."""
    for record in sample.records:
        line = mapping(record)
        if line.get("type") in LINES and isinstance(line.get("payload"), dict) and "timestamp" in line:
            return Confidence.CERTAIN
        if is_event(line):
            return Confidence.CERTAIN
    first = sample.first
    old = {"id", "timestamp", "instructions"} <= first.keys() and "type" not in first
    return Confidence.LIKELY if old and sample.shape in ("lines", "object") else Confidence.NO


def session_run(lines: Sequence[Line], name: str, payers: Payers, findings: Findings) -> TraceRun | None:
    """The run of one session; ``None`` where there is no conversation."""
    metas = (
        line
        for line in lines
        if _kind(line) == "session_meta" or ("type" not in line and {"id", "timestamp"} <= line.keys())
    )
    meta = next(map(_payload, metas), {})
    own = _own(lines, meta, findings)
    spoken = [line for line in own if _kind(line) == "response_item"]
    if not spoken:
        return None
    session = text(meta.get("id")) or named_by_file(name, findings)
    contexts = (_payload(line) for line in own if _kind(line) == "turn_context")
    model = first_text(contexts, ("model",))
    events = [_payload(line) for line in own if _kind(line) == "event_msg"]
    mine = {id(line) for line in own}  # by identity: two lines may be equal
    copied = [line for line in lines if id(line) not in mine]
    times = [at for line in own if (at := moment(line.get("timestamp"), findings, "timestamp"))]
    started = moment(meta.get("timestamp"), findings, "timestamp") or (times[0] if times else None)
    instructions = mapping(meta.get("base_instructions")).get("text") or meta.get("base_instructions")
    system = text(instructions) or text(meta.get("instructions"))
    return TraceRun(
        run_id=f"codex/{session}",
        agent=f"codex/{model}" if model else "codex",
        task_id=session,
        record=[_payload(line) for line in spoken],
        origin=lines,
        model=model,
        version=text(meta.get("cli_version")),
        items=[
            *([Utterance(role="system", content=system, at=started)] if system else []),
            *_items(own, events, findings),
        ],
        started=started,
        finished=times[-1] if times else None,
        error=_error(events),
        metrics=_tokens(own, copied, f"codex/{session}", payers, findings),
        metadata=_metadata(meta),
    )


def _kind(line: Line) -> str:
    """The type of a line, as the present form names it; bare items are items."""
    kind = text(line.get("type")) or ""
    if kind in LINES and isinstance(line.get("payload"), dict):
        return kind
    return "response_item" if is_message(line) else ""


def _payload(line: Line) -> dict[str, Any]:
    return mapping(line.get("payload")) or dict(line)


def _parent(meta: Mapping[str, Any]) -> str | None:
    """The session that a sub-agent was spawned from, or that was forked."""
    spawned = mapping(mapping(mapping(meta.get("source")).get("subagent")).get("thread_spawn"))
    return first_text((meta, spawned), ("parent_thread_id",)) or text(meta.get("forked_from_id"))


def _own(lines: Sequence[Line], meta: Mapping[str, Any], findings: Findings) -> list[Line]:
    """The lines without those that repeat the parent's session."""
    place = "subagent_history_start_ordinal"
    start = whole(meta.get(place), findings, place)
    # Older files number no lines: what is older than the session itself is the parent's.
    born = moment(meta.get("timestamp"), findings, "timestamp") if _parent(meta) else None
    own: list[Line] = []
    for number, line in enumerate(lines):
        ordinal = whole(line.get("ordinal"), findings, "ordinal")
        before = start is not None and (number if ordinal is None else ordinal) < start
        at = moment(line.get("timestamp"), findings, "timestamp") if born is not None else None
        if not before and not (born is not None and at is not None and at < born):
            own.append(line)
    copied = sum(_kind(line) == "response_item" for line in lines)
    copied -= sum(_kind(line) == "response_item" for line in own)
    if copied:
        message = f"{counted(copied, 'item', 'repeat')} the parent's session; left out"
        findings.once("copied-history", message, severity="note")
    return own


def _items(lines: Sequence[Line], events: Sequence[Line], findings: Findings) -> Iterator[Item]:
    exits = {
        call_id: whole(event.get("exit_code"), findings, "exit_code")
        for event in events
        if event.get("type") == "exec_command_end" and (call_id := text(event.get("call_id")))
    }
    for line in lines:
        at = moment(line.get("timestamp"), findings, "timestamp")
        if _kind(line) == "compacted":
            yield Utterance(role="compaction", content=text(_payload(line).get("message")), at=at)
        elif _kind(line) == "response_item":
            for item in message_items(_payload(line), at):
                yield _answered(item, exits) if isinstance(item, Answered) else item


def _answered(item: Answered, exits: Mapping[str, int | None]) -> Answered:
    """An answer with what is known of the command's exit code."""
    content, code, ok = item.content, exits.get(item.source_id or ""), item.ok
    written = mapping(parsed(content)) if isinstance(content, str) else {}
    if "exit_code" in mapping(written.get("metadata")):
        recorded = written["metadata"]["exit_code"]
        code = recorded if isinstance(recorded, int) else code
    if code is None and isinstance(content, str):
        # Only above the output: below it, a command may print the same words.
        header, marked, _ = content[:HEADER_CHARS].partition("Output:\n")
        found = EXIT.search(header) if marked else None
        code = int(found[1]) if found else None
        # A script that completed says nothing of the commands that it ran.
        ok = False if marked and header.startswith(FAILED_SCRIPT) else ok
    ok = ok if code is None else code == 0
    return Answered(content=content, source_id=item.source_id, ok=ok, at=item.at)


def _error(events: Sequence[Line]) -> str | None:
    """How the last turn ended, where it ended badly."""
    last = next((event for event in reversed(events) if event.get("type") in ENDS), {})
    if last.get("type") == "error":
        return text(last.get("message")) or "error"
    return (
        f"aborted: {text(last.get('reason')) or 'no reason'}" if last.get("type") == "turn_aborted" else None
    )


def _tokens(
    own: Sequence[Line], copied: Sequence[Line], run: str, payers: Payers, findings: Findings
) -> dict[str, float | bool]:
    """The running totals that were counted last, without those that the session began with."""
    counted = [(text(line.get("timestamp")), total) for line in own if (total := _total(line, findings))]
    named = [((at, *sorted(total.items())), total) for at, total in counted]
    paid = payers.paid(run, named, findings)
    # A session that was forked or resumed counts on from the totals that it copied.
    before = [total for line in copied if (total := _total(line, findings))]
    before += [total for (_, total), each in zip(counted, paid, strict=True) if total != each]
    now, then = (dict(each[-1]) if each else {} for each in ([total for _, total in counted], before))
    if all(now.get(figure, 0) >= value for figure, value in then.items()):  # else the count began again
        now = {figure: value - then.get(figure, 0) for figure, value in now.items()}
    return spend([], now, run=run, findings=findings).tokens


def _total(line: Line, findings: Findings) -> dict[str, float]:
    """The totals of a line that counts tokens."""
    counts = mapping(mapping(_payload(line).get("info")).get("total_token_usage"))
    return usage(counts, findings, place="total_token_usage.")


def _metadata(meta: Mapping[str, Any]) -> dict[str, Any]:
    spawned = mapping(mapping(mapping(meta.get("source")).get("subagent")).get("thread_spawn"))
    known = {
        "parent": _parent(meta),
        "role": text(spawned.get("agent_role")),
        "cwd": text(meta.get("cwd")),
        "originator": text(meta.get("originator")),
    }
    return {"format": "codex", **{name: value for name, value in known.items() if value is not None}}


def _needed(line: Line) -> Line:
    """A line without what no run takes of it: what a command printed is in its answer, too."""
    if _kind(line) == "response_item":
        return line
    payload = {name: value for name, value in _payload(line).items() if name in NEEDED}
    return {**line, "payload": payload} if "payload" in line else line


def _read(file: TraceFile, payers: Payers) -> list[TraceRun]:
    lines = [_needed(mapping(line)) for line in file.records()]
    if any(map(is_event, lines)):
        return list(thread_runs(lines, file.stem, file.findings))
    run = session_run(lines, file.stem, payers, file.findings)
    if run is None:
        file.refuse("there is no item of a conversation in it")
    return [run] if run is not None else []


def is_event(line: Line) -> bool:
    """Whether a line is an event of a thread."""
    kind = text(line.get("type")) or ""
    return (kind == STARTED and "thread_id" in line) or (kind.startswith("item.") and "type" in _item(line))


def thread_runs(lines: Sequence[Line], name: str, findings: Findings) -> Iterator[TraceRun]:
    """A run for each thread; one that is resumed goes on."""
    threads: dict[str, list[Line]] = {}
    thread = name
    for line in lines:
        if line.get("type") == STARTED:
            thread = text(line.get("thread_id")) or name
        threads.setdefault(thread, []).append(line)
    for thread, events in threads.items():
        turns = [
            line for line in events if text(line.get("type")) in ("turn.completed", "turn.failed", "error")
        ]
        counts = next((mapping(line.get("usage")) for line in reversed(turns) if line.get("usage")), {})
        yield TraceRun(
            run_id=f"codex/{thread}",
            agent="codex",  # no event names the model
            task_id=thread,
            record=events,
            items=[item for line in _last_of_each(events) for item in _thread_items(_item(line), findings)],
            error=_thread_error(turns[-1]) if turns else None,
            metrics=dict(usage(counts, findings, place="usage.")),
            metadata={"format": "codex"},
        )


def _item(line: Line) -> dict[str, Any]:
    return mapping(line.get("item"))


def _last_of_each(events: Sequence[Line]) -> list[Line]:
    """The last word on each item, in the order in which they began; every version of a list of steps."""
    found: dict[Any, Line] = {}
    turn = 0
    for number, line in enumerate(events):
        turn += line.get("type") == "turn.started"  # a resumed thread numbers its items from 0 again
        item = _item(line)
        if item:
            found[number if item.get("type") == "todo_list" else (turn, text(item.get("id")) or number)] = (
                line
            )
    return list(found.values())


def _thread_error(last: Line) -> str | None:
    """How the last turn ended, where it ended badly."""
    if last.get("type") == "turn.completed":
        return None
    return text(mapping(last.get("error")).get("message")) or text(last.get("message")) or "error"


def _thread_items(item: Mapping[str, Any], findings: Findings) -> Iterator[Item]:
    kind, call_id = text(item.get("type")) or "", text(item.get("id"))
    if kind in SPOKEN:
        yield Utterance(role=SPOKEN[kind], content=item.get("text"))
    elif kind == "todo_list":
        if steps := [step for each in objects(item.get("items")) if (step := text(each.get("text")))]:
            yield Recorded(Plan, {"sub_goals": steps})
    elif (call := _call(kind, item)) is not None:
        tool, arguments, answer = call
        yield Called(tool=tool, arguments=arguments, source_id=call_id)
        code = whole(item.get("exit_code"), findings, "item.exit_code")
        worked = {"completed": True, "failed": False, "declined": False}.get(str(item.get("status")))
        # Completed means ended: the command may have failed.
        if item.get("error") is not None or code is not None:
            worked = code == 0
        if worked is not None or kind == "web_search":  # a search records no status
            yield Answered(content=answer, source_id=call_id, ok=worked)


def _call(kind: str, item: Mapping[str, Any]) -> tuple[str, dict[str, Any], Any] | None:
    """The tool, its arguments and its answer; ``None`` for what is no call."""
    match kind:
        case "command_execution":
            return "shell", {"command": item.get("command")}, item.get("aggregated_output") or ""
        case "file_change":
            return "apply_patch", {"changes": item.get("changes")}, text(item.get("status")) or ""
        case "web_search":
            return "web_search", {"query": item.get("query")}, ""
        case "mcp_tool_call":
            tool = "__".join(part for name in ("server", "tool") if (part := text(item.get(name))))
            result, failed = item.get("result"), item.get("error")
            content = content_text(mapping(result).get("content", result))
            arguments = item.get("arguments")
            given = arguments if isinstance(arguments, dict) else {"input": arguments}
            return tool, given, mapping(failed).get("message", failed) or content or ""
        case _:
            return None


IMPORTER: Final = importer(
    name="codex",
    title="Codex rollouts",
    extensions=(".jsonl",),
    what="One run a session file; sub-agents without the lines they repeat of their parent.",
    left_out=PLACES.dropped,
    recognise=recognise,
    convert=session_converter(_read, PLACES),
    agent=("payload.model",),
    model=("payload.model",),
    version=("payload.cli_version",),
    task=("payload.id",),
    tokens=("payload.info.total_token_usage.input_tokens", "payload.info.total_token_usage.output_tokens"),
    time=("payload.timestamp", "timestamp"),
)
