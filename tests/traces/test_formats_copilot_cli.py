"""GitHub Copilot CLI: logs of events after the published reference of its session events."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from foreign_files import lines
from reading import Case, case, each, read, shapes

REQUEST = {"toolCallId": "t1", "name": "bash", "arguments": {"command": "ls"}}


def event(number: int, kind: str, /, **data: Any) -> dict[str, Any]:
    at = f"2026-01-01T00:00:{number:02}.000Z"
    parent = f"e{number - 1}" if number else None
    return {"type": kind, "data": data, "id": f"e{number}", "timestamp": at, "parentId": parent}


def complete(number: int = 4, **data: Any) -> dict[str, Any]:
    return event(number, "tool.execution_complete", toolCallId="t1", **data)


def said(number: int, content: str, **data: Any) -> dict[str, Any]:
    return event(number, "assistant.message", content=content, **data)


def begun(number: int, tool: str, **arguments: Any) -> dict[str, Any]:
    about = {"toolCallId": "t1", "toolName": tool, "arguments": arguments}
    return event(number, "tool.execution_start", **about)


NAMED = {
    "sessionId": "s1", "version": 1, "producer": "copilot-agent", "startTime": "2026-01-01T00:00:00.000Z",
}  # fmt: skip
START = event(0, "session.start", **NAMED)
ASK = event(1, "user.message", content="List files", transformedContent="<now/> List files", attachments=[])
CALLED = said(2, "", reasoningText="I look.", toolRequests=[REQUEST], outputTokens=3, model="gpt-x")
WORKED = complete(success=True, result={"content": "a.py", "detailedContent": "a.py\n"})
DONE = said(5, "One file.", toolRequests=[], outputTokens=4, model="gpt-x")
EVENTS = [START, ASK, CALLED, begun(3, "bash", command="ls"), WORKED, DONE]
USAGE = {"inputTokens": 20, "outputTokens": 7, "cacheReadTokens": 8, "cacheWriteTokens": 0}
MODELS = {"gpt-x": {"requests": {"count": 2, "cost": 1}, "usage": USAGE}}
END = event(6, "session.shutdown", shutdownType="routine", modelMetrics=MODELS)
DELTA = event(2, "assistant.message_delta", messageId="m", deltaContent="One") | {"ephemeral": True}
RESULT = {"type": "result", "sessionId": "s1", "exitCode": 0, "usage": {"premiumRequests": 1}}
THOUGHT = event(2, "assistant.reasoning", content="I look.")
SHAPES = {
    "a log": lines(*EVENTS),
    "the output of a run as JSON": lines(ASK, CALLED, DELTA, *EVENTS[3:], RESULT),
    "thoughts in events of their own": lines(*EVENTS[:2], THOUGHT, *EVENTS[2:]),
}
COUNTED = {"input_tokens": 20.0, "output_tokens": 7.0, "cached_tokens": 8.0, "cache_creation_tokens": 0.0}
CALLS = event(6, "assistant.usage", model="gpt-x", inputTokens=9, outputTokens=2)
EXITED = "boom\n<exited with exit code 2>"
ANSWERS: list[tuple[str, dict[str, Any], tuple[Any, bool | None]]] = [
    ("worked", WORKED, ("a.py", True)),
    ("was denied", complete(success=False, error={"message": "denied", "code": "denied"}), ("denied", False)),
    ("failed", complete(success=False, result={"content": "no such file"}), ("no such file", False)),
    ("failed with an output", complete(success=False, output="no such file"), ("no such file", False)),
    ("exited with a code", complete(success=True, result={"content": EXITED}), (EXITED, False)),
    ("completed", complete(success=True, result={"content": "<shellId: 0 completed with exit code 0>"}),
     ("<shellId: 0 completed with exit code 0>", True)),
    ("says nothing", complete(success=True), (None, True)),
    ("does not say whether", complete(result={"content": "a.py"}), ("a.py", None)),
]  # fmt: skip
QUOTED = complete(success=True, result={"content": "<exited with exit code 2>"})
SKILL = event(3, "user.message", content="Read the PDF so.", source="skill-pdf")
REWIND = event(6, "session.snapshot_rewind", upToEventId="e2", eventsRemoved=4)
COMPACTED = event(5, "session.compaction_complete", success=True, summaryContent="Listed files.")
TODO = {"toolCallId": "t1", "name": "update_todo", "arguments": {"todos": "- [x] look\n- [ ] report"}}
STOPS: list[tuple[str, list[dict[str, Any]], str | None]] = [
    ("an error", [event(6, "session.error", errorType="quota", message="no quota")], "no quota"),
    ("its user", [event(6, "abort", reason="user initiated")], "user initiated"),
    ("a crash", [event(6, "session.shutdown", shutdownType="error", errorReason="crash")], "crash"),
    ("an error, and goes on", [event(6, "session.error", message="lost"), said(7, "Back.")], None),
    ("its end", [END], None),
]
CASES = [
    *shapes(
        SHAPES,
        run="copilot-cli/s1",
        agent="copilot-cli/gpt-x",
        task="s1",
        said=[("user", "List files"), ("reasoning", "I look."), ("assistant", "One file.")],
        calls=[("bash", {"command": "ls"})],
        answers=[("a.py", True)],
        success=None,
        cost=None,
        steps=2,
        metrics={"output_tokens": 7.0},
        codes={"missing-outcome"},
    ),
    case("tokens are those of the only end", lines(*EVENTS, END), metrics=COUNTED),
    case("else those of the replies", lines(*EVENTS, END, {**END, "id": "e7"}),
         metrics={"output_tokens": 7.0}),
    case("else those of the calls", lines(*EVENTS, CALLS),
         metrics={"input_tokens": 9.0, "output_tokens": 2.0}),
    *(case(f"a call that {desc}", lines(*EVENTS[:4], answer), answers=[want])
      for desc, answer, want in ANSWERS),
    case("an exit code in the output of another tool is no failure",
         lines(START, ASK, begun(2, "view", path="log"), QUOTED), tools=["view"], ok=[True]),
    case("a call of the user and a message of a skill are named as such",
         lines(START, ASK, event(2, "tool.user_requested", **REQUEST, toolName="bash"), WORKED, SKILL),
         requestors=["user"], roles=["user", "context"]),
    case("what a rewind took back is left out and named", lines(*EVENTS, REWIND, said(7, "Nothing.")),
         words=["List files", "Nothing."], calls=[], found={"taken-back"}),
    case("what was done before a compaction stays", lines(*EVENTS[:5], COMPACTED, DONE),
         roles=["user", "reasoning", "compaction", "assistant"], tools=["bash"]),
    case("a list of todos is a plan", lines(START, ASK, said(2, "", toolRequests=[TODO])),
         plans=[["look", "report"]]),
    *(case(f"a session that {desc} ends", lines(*EVENTS, *ends), error=error)
      for desc, ends, error in STOPS),
    case("two sessions in a file are two runs",
         lines(*EVENTS, event(0, "session.start", sessionId="s2"), ASK),
         runs=["copilot-cli/s1", "copilot-cli/s2"]),
    case("a session without messages is refused", lines(START), runs=[], found={"not-this-format"}),
]  # fmt: skip


@each(CASES)
def test_a_session_of_the_copilot_cli_is_read(tmp_path: Path, case: Case) -> None:
    case.holds("copilot-cli", tmp_path, "events.jsonl", sniffed=True)


def test_a_sub_agent_is_a_run_of_its_own(tmp_path: Path) -> None:
    child = {**said(4, "Found it."), "agentId": "a1"}
    older = said(5, "Me, too.", parentToolCallId="t9")
    _, runs = read(tmp_path, "copilot-cli", lines(*EVENTS[:4], child, older, WORKED, DONE))
    assert {run.run_id: (run.started.metadata or {}).get("parent") for run in runs} == {
        "copilot-cli/s1": None, "copilot-cli/s1/a1": "s1", "copilot-cli/s1/t9": "s1",
    }  # fmt: skip
    last = {run.run_id: run.events[-2] for run in runs}
    assert [last[name].content for name in sorted(last)] == ["One file.", "Found it.", "Me, too."]
