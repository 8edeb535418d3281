"""Codex: both forms of a rollout, copies of a parent, exit codes, ends; ``codex exec --json``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from foreign_files import lines
from reading import Case, case, each, shapes

from untaken.traces import Confidence, sample_of
from untaken.traces.codex import recognise


def line(second: int, kind: str, ordinal: int | None = None, **payload: Any) -> dict[str, Any]:
    """A line; a payload's own ``type`` is given as ``type_``."""
    given_ = {name.rstrip("_"): value for name, value in payload.items()}
    numbered = {} if ordinal is None else {"ordinal": ordinal}
    return {"timestamp": f"2026-01-01T00:00:{second:02}.000Z", "type": kind, "payload": given_, **numbered}


def reply(second: int, kind: str, **payload: Any) -> dict[str, Any]:
    return line(second, "response_item", type_=kind, **payload)


def said(second: int, role: str, words: str, ordinal: int | None = None) -> dict[str, Any]:
    part = {"type": "output_text" if role == "assistant" else "input_text", "text": words}
    return line(second, "response_item", ordinal, type_="message", role=role, content=[part])


def called(second: int, call_id: str = "c1", name: str = "shell", **arguments: Any) -> dict[str, Any]:
    written = json.dumps(arguments or {"command": ["ls"]})
    return reply(second, "function_call", name=name, arguments=written, call_id=call_id)


def answered(second: int, output: Any, call_id: str = "c1") -> dict[str, Any]:
    return reply(second, "function_call_output", call_id=call_id, output=output)


def event(second: int, kind: str, **payload: Any) -> dict[str, Any]:
    return line(second, "event_msg", type_=kind, **payload)


HEADER = {"id": "s1", "timestamp": "2026-01-01T00:00:00.000Z"}
META = line(0, "session_meta", **HEADER, cwd="/repo", cli_version="0.60.0")
TURN = line(1, "turn_context", model="gpt-x", cwd="/repo")
TALK = [META, TURN, said(2, "user", "Go."), called(3), answered(4, "a.py"), said(5, "assistant", "Done.")]
OLD = [{**HEADER, "instructions": None}, {"record_type": "state"}, *(one["payload"] for one in TALK[2:])]
REPEATED = [event(2, "user_message", message="Go."), event(5, "agent_message", message="Done.")]
WORDS = [("user", "Go."), ("assistant", "Done.")]
FORMS = [
    {"base_instructions": {"text": "Be brief."}},
    {"base_instructions": "Be brief."},
    {"instructions": "Be brief."},
]
SPAWNED = {"source": {"subagent": {"thread_spawn": {"parent_thread_id": "s1", "agent_role": "explorer"}}}}
COPIES: list[tuple[str, dict[str, Any], tuple[int | None, ...], int]] = [
    ("by their ordinals", {"subagent_history_start_ordinal": 3}, (0, 1, 2, 3, 4), 20),
    ("by their places", {"subagent_history_start_ordinal": 3}, (None,) * 5, 20),
    ("by their times", {}, (None,) * 5, 2),
]


def spawned(more: dict[str, Any], ordinals: tuple[int | None, ...], at: int) -> str:
    """A sub-agent's rollout that begins with what its parent said, copied at a moment."""
    own = {"id": "s2", "timestamp": "2026-01-01T00:00:10.000Z", **SPAWNED, **more}
    return lines(
        line(10, "session_meta", ordinals[0], **own),
        {**META, "timestamp": f"2026-01-01T00:00:{at:02}.000Z", "ordinal": ordinals[1]},
        said(at, "user", "Go.", ordinals[2]),
        said(21, "user", "Look.", ordinals[3]),
        said(22, "assistant", "Seen.", ordinals[4]),
    )


def texts(*parts: str) -> list[dict[str, str]]:
    return [{"type": "input_text", "text": part} for part in parts]


HIDDEN = reply(3, "reasoning", summary=[], encrypted_content="gAAA")
SHOWN = reply(3, "reasoning", summary=[{"type": "summary_text", "text": "Hm."}])
OUTPUTS: list[tuple[Any, bool | None]] = [
    (json.dumps({"output": "no", "metadata": {"exit_code": 2, "duration_seconds": 0.1}}), False),
    (json.dumps({"output": "yes", "metadata": {"exit_code": 0}}), True),
    ("Exit code: 1\nWall time: 0.1 seconds\nOutput:\nno", False),
    ("Chunk ID: a\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nyes", True),
    ("Output:\nExit code: 1\n", None),
    ("I saw\nExit code: 1\nthere", None),
    ({"content": "no", "success": False}, False),
    (texts("a"), None),
    (texts("Script failed\nOutput:\n", "a"), False),
    (texts("Script completed\nOutput:\n", "a"), None),
    ("I saw\nScript failed\nOutput:\n", None),
]
OTHERS = [
    reply(3, "custom_tool_call", name="apply_patch", call_id="c1", input="*** Begin"),
    reply(4, "custom_tool_call_output", call_id="c1", output="Success."),
    reply(5, "local_shell_call", call_id="c2", action={"type": "exec", "command": ["ls"]}),
    reply(6, "web_search_call", status="completed", action={"query": "x"}),
]
STEPS = [{"step": "look", "status": "pending"}, {"step": "fix", "status": "pending"}]
USAGE = {"input_tokens": 9, "cached_input_tokens": 4, "output_tokens": 2}
COUNTS = [event(5, "token_count", info={"total_token_usage": USAGE}), event(6, "token_count", info=None)]
SPENT = {"input_tokens": 9.0, "output_tokens": 2.0, "cached_tokens": 4.0}
ENDS = [
    ("error", {"message": "no credit"}, "no credit"),
    ("turn_aborted", {"reason": "interrupted"}, "aborted: interrupted"),
    ("task_complete", {"last_agent_message": "Done."}, None),
]
CASES = [
    *shapes(
        {"a rollout": lines(*TALK), "a rollout with events that repeat the conversation":
         lines(*TALK, *REPEATED)},
        run="codex/s1", agent="codex/gpt-x", task="s1", said=WORDS, calls=[("shell", {"command": ["ls"]})],
        answers=[("a.py", None)], success=None, cost=None,
    ),
    case("the older form", lines(*OLD), run="codex/s1", said=WORDS, tools=["shell"]),
    *(case(f"instructions as {form}", lines({**META, "payload": {**META["payload"], **form}}, *TALK[1:]),
           said=[("system", "Be brief."), *WORDS]) for form in FORMS),
    *(case(f"a sub-agent does not repeat its parent, {desc}", spawned(*copied), run="codex/s2", parent="s1",
           said=[("user", "Look."), ("assistant", "Seen.")], found={"copied-history"})
      for desc, *copied in COPIES),
    case("encrypted reasoning is left out and its summary kept", lines(*TALK[:3], HIDDEN, SHOWN),
         said=[("user", "Go."), ("reasoning", "Hm.")]),
    *(case(f"a call with the output {output}"[:60], lines(*TALK[:4], answered(4, output)), ok=[ok])
      for output, ok in OUTPUTS),
    case("an exit code in an event",
         lines(*TALK[:5], event(4, "exec_command_end", call_id="c1", exit_code=3)), ok=[False]),
    case("calls of other kinds are calls", lines(*TALK[:3], *OTHERS),
         tools=["apply_patch", "local_shell", "web_search"], answered=["c1"], seen=["Success."]),
    case("plans are plans", lines(*TALK[:3], called(3, name="update_plan", plan=STEPS)),
         plans=[["look", "fix"]]),
    *(case(f"how the last turn ended and not whether it succeeded: {kind}",
           lines(*TALK, *COUNTS, event(6, kind, **payload)), error=error, success=None, metrics=SPENT)
      for kind, payload, error in ENDS),
    case("a rollout without a conversation is named", lines(META, TURN), runs=[], found={"not-this-format"}),
]  # fmt: skip


@each(CASES)
def test_a_rollout_of_codex_is_read(tmp_path: Path, case: Case) -> None:
    case.holds("codex", tmp_path, "rollout-x.jsonl")


STARTED = {"type": "thread.started", "thread_id": "th"}
BEGUN = {"type": "turn.started"}


def item(kind: str, number: int = 0, event: str = "completed", **more: Any) -> dict[str, Any]:
    return {"type": f"item.{event}", "item": {"id": f"item_{number}", "type": kind, **more}}


SPOKEN = [
    item("reasoning", 1, text="Think."),
    item("todo_list", 2, items=[{"text": "look", "completed": False}]),
    item("agent_message", 3, text="Done."),
    {"type": "turn.completed", "usage": USAGE},
]
COMMAND = item("command_execution", event="started", command="ls", status="in_progress", exit_code=None)
COMMANDS: list[tuple[dict[str, Any], list[bool]]] = [
    ({"status": "completed", "exit_code": 0}, [True]),
    ({"status": "failed", "exit_code": 1}, [False]),
    ({"status": "declined"}, [False]),
    ({"status": "in_progress"}, []),
]
ITEMS = [
    item("mcp_tool_call", 1, server="s", tool="t", arguments={"a": 1}, error={"message": "no"}),
    item("file_change", 2, changes=[{"path": "a", "kind": "add"}], status="completed"),
    item("web_search", 3, query="q"),
]
STOPS: list[tuple[dict[str, Any], str | None]] = [
    ({"type": "turn.failed", "error": {"message": "limit"}}, "limit"),
    ({"type": "error", "message": "lost"}, "lost"),
    ({"type": "turn.completed", "usage": {}}, None),
]
FIRST, SECOND = item("agent_message", text="one"), item("agent_message", text="two")
LOGS = [
    case("what was said, thought and planned", lines(STARTED, BEGUN, *SPOKEN), run="codex/th", agent="codex",
         said=[("reasoning", "Think."), ("assistant", "Done.")], plans=[["look"]], success=None, cost=None,
         error=None, metrics=SPENT),
    *(case(f"a command is one call with its last answer: {end}",
           lines(STARTED, BEGUN, COMMAND, item("command_execution", command="ls", **end)),
           calls=[("shell", {"command": "ls"})], ok=ok) for end, ok in COMMANDS),
    case("tools of servers, files and searches are calls", lines(STARTED, *ITEMS),
         tools=["s__t", "apply_patch", "web_search"],
         answers=[("no", False), ("completed", True), ("", None)]),
    *(case(f"a turn that ends with {end}",
           lines(STARTED, {"type": "error", "message": "Reconnecting"}, item("agent_message"), end),
           error=error) for end, error in STOPS),
    case("a resumed thread goes on and another one is another run",
         lines(STARTED, BEGUN, FIRST, {**STARTED, "thread_id": "o"}, BEGUN, FIRST, STARTED, BEGUN, SECOND),
         all_words=[["one", "two"], ["one"]]),
]  # fmt: skip


@each(LOGS)
def test_a_log_of_codex_exec_is_read(tmp_path: Path, case: Case) -> None:
    case.holds("codex", tmp_path, "log.jsonl", sniffed=True)


SURE = [
    (META, Confidence.CERTAIN),
    ({"type": "event_msg", "payload": 3}, Confidence.NO),
    ({**HEADER, "instructions": None}, Confidence.LIKELY),
    (TALK[2]["payload"], Confidence.NO),
]


@pytest.mark.parametrize(("record", "want"), SURE)
def test_recognition_is_as_sure_as_the_names_allow(record: Any, want: Confidence) -> None:
    assert recognise(sample_of("x", json.dumps(record).encode())) is want
