"""What ``codex exec --json`` prints: a line for each event of a thread, its items with what they gave."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from untaken.traces.losses import Findings
from untaken.traces.readings import mapping, objects, text, whole
from untaken.traces.spending import USAGE, usage
from untaken.traces.trace_run import Answered, Called, Item, Planned, TraceRun, Utterance, content_text

Line = Mapping[str, Any]

STARTED: Final = "thread.started"
SPOKEN: Final = {"agent_message": "assistant", "reasoning": "reasoning"}
_ITEM: Final = (
    *("id", "type", "text", "command", "aggregated_output", "exit_code", "status", "changes[].**", "server"),
    *("tool", "arguments.**", "result.**", "error.**", "query", "items[].text"),
)
PLACES: Final = (
    *("type", "thread_id", "message", "error.message", *(f"item.{name}" for name in _ITEM)),
    *(f"usage.{name}" for names in USAGE.values() for name in names),
)
"""Places of a line that reach a run."""


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
            items=[item for line in _last_of_each(events) for item in _items(_item(line), findings)],
            error=_error(turns[-1]) if turns else None,
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


def _error(last: Line) -> str | None:
    """How the last turn ended, where it ended badly."""
    if last.get("type") == "turn.completed":
        return None
    return text(mapping(last.get("error")).get("message")) or text(last.get("message")) or "error"


def _items(item: Mapping[str, Any], findings: Findings) -> Iterator[Item]:
    kind, call_id = text(item.get("type")) or "", text(item.get("id"))
    if kind in SPOKEN:
        yield Utterance(role=SPOKEN[kind], content=item.get("text"))
    elif kind == "todo_list":
        if steps := tuple(step for each in objects(item.get("items")) if (step := text(each.get("text")))):
            yield Planned(sub_goals=steps)
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
