"""What is there more than once is spent once: sessions saved again, copied or resumed, retried samples,
epochs, branches that were left, totals beside their parts, calls that are logged twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from foreign_files import codes, converted, lines, put, tau2_document, tau2_simulation
from reading import Case as Row
from reading import case, each, shapes
from trace_pieces import DONE, GO, LOOK, SEEN, at

Spent = dict[str, tuple[float | None, float | None, float | None]]
"""Input tokens, output tokens and cost by the last part of the id of a run."""
MILLISECONDS = 1_767_225_600_000
CACHED = {"cache_read_input_tokens": 80, "cache_creation_input_tokens": 10}


class Case(NamedTuple):
    desc: str
    files: dict[str, Any]
    spent: Spent
    finding: str | None = None


def line_of(content: Any) -> str:
    return content if isinstance(content, str) else f"{json.dumps(content)}\n"


def claude_line(
    name: str, parent: str | None, role: str, content: Any, session: str = "s1"
) -> dict[str, Any]:
    """A line of a session; a reply has its usage, and ids that a copy of it keeps."""
    message = {"role": role, "content": content}
    if role == "assistant":
        usage = {"input_tokens": 10, "output_tokens": 5, **CACHED}
        message |= {"id": f"m-{name}", "model": "opus", "usage": usage}
    place = {"uuid": f"{session}-{name}", "parentUuid": parent and f"{session}-{parent}"}
    about = {"sessionId": session, "timestamp": at(int(name[1:])), "requestId": f"r-{name}"}
    return {"type": role, **place, **about, "message": message}


def claude(name: str, *replies: int) -> str:
    begun = claude_line("a0", None, "user", "Go.", name)
    return lines(begun, *(claude_line(f"a{n}", f"a{n - 1}", "assistant", f"{n}", name) for n in replies))


def gemini(name: str, *replies: int) -> dict[str, Any]:
    counts = {"input": 100, "output": 5, "cached": 90, "thoughts": 3, "tool": 0, "total": 108}
    about = {"type": "gemini", "model": "m", "tokens": counts}
    said = [{"id": f"m{n}", "timestamp": at(n), "content": f"{n}", **about} for n in replies]
    return {"sessionId": name, "projectHash": "h", "startTime": at(0), "messages": said}


def codex_line(second: int, kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": f"2026-01-01T00:00:{second:02}Z", "type": kind, "payload": payload}


def codex_total(second: int, tokens: int, output: int) -> dict[str, Any]:
    counts = {"input_tokens": tokens, "output_tokens": output}
    return codex_line(second, "event_msg", type="token_count", info={"total_token_usage": counts})


def codex_said(second: int, role: str = "user") -> dict[str, Any]:
    part = {"type": "input_text", "text": f"{second}"}
    return codex_line(second, "response_item", type="message", role=role, content=[part])


def codex(name: str, *replies: int) -> str:
    """A session, whose counts are shown again."""
    begun = codex_line(0, "session_meta", id=name, timestamp=at(0))
    return lines(
        begun, *(one for n in replies for one in (codex_said(n), *[codex_total(n, 100 * n, 5 * n)] * 2))
    )


def codex_fork() -> str:
    """A session that begins with what it copied, and counts on from that."""
    begun = codex_line(10, "session_meta", id="s2", timestamp="2026-01-01T00:00:10Z", forked_from_id="s1")
    copied = codex_said(1), codex_said(2, "assistant"), codex_total(2, 1000, 50)
    return lines(begun, *copied, codex_said(11), codex_said(12, "assistant"), codex_total(12, 1800, 70))


def cline(*spent: tuple[str, int, float]) -> list[dict[str, Any]]:
    """What Cline showed: calls of the model, and what it summed up of those that it no longer shows."""
    shown = [{"ts": 0, "type": "say", "say": "text", "text": "Go."}]
    for number, (kind, n, cost) in enumerate(spent):
        counts = {"tokensIn": 10 * n, "tokensOut": n, "cacheReads": 90 * n, "cost": cost}
        shown.append({"ts": number, "type": "say", "say": kind, "text": json.dumps(counts)})
    return shown


def pi(name: str, *replies: int) -> str:
    """A session of pi; a branched one has the entries before it under the same ids."""
    counts = {"input": 10, "output": 5, "cacheRead": 90, "cost": {"total": 0.5}}
    written: list[dict[str, Any]] = [{"type": "session", "version": 3, "id": name, "timestamp": at(0)}]
    for n in replies:
        message = {"role": "assistant", "content": [{"type": "text", "text": f"{n}"}], "usage": counts}
        place = {"id": f"e{n}", "parentId": f"e{n - 1}" if n > 1 else None}
        written.append({"type": "message", **place, "timestamp": at(n), "message": message})
    return lines(*written)


def opencode(name: str, *replies: int) -> dict[str, Any]:
    """A session of opencode; a forked one has copies of the messages before it, under other ids."""
    tokens = {"input": 10, "output": 5, "reasoning": 0, "cache": {"read": 90, "write": 0}}
    about = {"sessionID": name, "role": "assistant", "modelID": "m", "cost": 0.5, "tokens": tokens}
    messages = []
    for n in replies:
        begun = MILLISECONDS + n * 1000
        info = {"id": f"msg_{name}_{n}", "time": {"created": begun, "completed": begun + 500}, **about}
        messages.append({"info": info, "parts": [{"type": "text", "text": f"{n}", "id": f"prt_{name}_{n}"}]})
    return {"info": {"id": name, "title": "t", "time": {"created": MILLISECONDS}}, "messages": messages}


def inspect(run: str, *samples: dict[str, Any]) -> dict[str, Any]:
    about = {"task": "desk", "model": "openai/m", "run_id": run}
    return {"version": 2, "status": "success", "eval": about, "samples": list(samples)}


def sample(number: int, epoch: int = 1, value: str = "C", **more: Any) -> dict[str, Any]:
    used = {"openai/m": {"input_tokens": 100, "output_tokens": 5, "total_tokens": 105}}
    scores = {"scores": {"match": {"value": value}}}
    return {"id": number, "epoch": epoch, "messages": [GO, DONE], "model_usage": used, **scores, **more}


def atif(name: str, total_input: int, *steps: int) -> dict[str, Any]:
    about = {"source": "agent", "metrics": {"prompt_tokens": 100, "completion_tokens": 5, "cost_usd": 0.5}}
    spoken = [{"step_id": n, "message": f"{n}", "timestamp": at(n), **about} for n in steps]
    ended = {"total_prompt_tokens": total_input, "total_completion_tokens": 5 * len(steps)}
    agent = {"name": "clerk", "version": "1"}
    return {"schema_version": "ATIF-v1.5", "session_id": name, "agent": agent, "steps": spoken,
            "final_metrics": ended}  # fmt: skip


USED = {"prompt_tokens": 100, "completion_tokens": 5}


def call(asked: list[dict[str, Any]], reply: dict[str, Any], name: str) -> dict[str, Any]:
    answer = {"id": name, "model": "m", "choices": [{"message": reply}], "usage": USED}
    return {"request": {"messages": asked}, "response": answer}


def goose(name: str, *replies: int, asked: str = "Go.") -> dict[str, Any]:
    used = {"metadata": {"usage": {"inputTokens": 100, "outputTokens": 5, "cost": 0.5}}}
    messages = [{"role": "user", "created": 1, "content": [{"type": "text", "text": asked}]}]
    for n in replies:
        spoken = {"role": "assistant", "created": 1 + n, "content": [{"type": "text", "text": f"{n}"}]}
        messages.append({"id": f"m{n}", **spoken, **used})
    return {"id": name, "working_dir": "/w", "message_count": len(messages), "conversation": messages}


def copilot_event(second: int, kind: str, name: str, agent: str = "", **data: Any) -> dict[str, Any]:
    whose = {"agentId": agent} if agent else {}
    return {"type": kind, "id": name, "timestamp": at(second), "data": data, **whose}


def copilot(name: str, *replies: int) -> str:
    begun = copilot_event(0, "session.start", "e0", sessionId=name)
    used = {"inputTokens": 100, "outputTokens": 5}
    said = (copilot_event(n, "assistant.message", f"r{n}", content=f"{n}", **used) for n in replies)
    return lines(begun, copilot_event(0, "user.message", "e1", content="Go."), *said)


def copilot_totals() -> str:
    """A session with a sub-agent, and totals that are those of both."""
    total = {"inputTokens": 100, "outputTokens": 9, "cacheReadTokens": 40}
    return lines(
        copilot_event(0, "session.start", "e0", sessionId="s1", startTime=at(0)),
        copilot_event(1, "user.message", "e1", content="Go."),
        copilot_event(2, "assistant.message", "e2", "a1", content="Found it."),
        copilot_event(3, "assistant.usage", "e3", "a1", inputTokens=30, outputTokens=3),
        copilot_event(4, "assistant.message", "e4", content="Done."),
        copilot_event(5, "session.shutdown", "e5", modelMetrics={"gpt-x": {"usage": total}}),
    )


def pydantic_ai(name: str | None, *replies: int) -> list[dict[str, Any]]:
    prompt = {"part_kind": "user-prompt", "content": "Go.", "timestamp": at(0)}
    about = {"kind": "response", "usage": {"input_tokens": 100, "output_tokens": 5}}
    messages: list[dict[str, Any]] = [{"kind": "request", "parts": [prompt]}]
    for n in replies:
        messages.append({"timestamp": at(n), "parts": [{"part_kind": "text", "content": f"{n}"}], **about})
    return [{**one, "conversation_id": name} for one in messages] if name else messages


def chat(name: str | None, *replies: str) -> dict[str, Any]:
    said = [{"role": "assistant", "content": one, "usage": USED} for one in replies]
    return {"session_id": name, "messages": [GO, *said]} if name else {"messages": [GO, *said]}


REWIND = {"type": "session.snapshot_rewind", "id": "e9", "timestamp": at(9), "data": {"upToEventId": "r2"}}
REWOUND = lines({**gemini("s"), "messages": []}, *gemini("s", 1, 2)["messages"], {"$rewindTo": "m2"})
FAILED = {"error": {"message": "APIConnectionError: Connection error."}, "scores": {}}
FIRST, SECOND = call([GO], LOOK, "r1"), call([GO, LOOK, SEEN], DONE, "r2")
USER = {
    "role": "user", "content": "Hi.", "usage": {"prompt_tokens": 900, "completion_tokens": 9}, "cost": 9.0,
}  # fmt: skip
TAU2 = tau2_simulation(agent_cost=0.5, user_cost=9.0)
SHOWN = [
    *cline(("api_req_started", 1, 0.5), ("deleted_api_reqs", 2, 1.0), ("subagent_usage", 1, 0.5)),
    {"ts": 9, "type": "say", "say": "condense_context", "contextCondense": {"cost": 0.25}},
]
RETRIED = {
    "1.json": inspect("R", sample(1, uuid="u1"), sample(2, uuid="u2", **FAILED)),
    "2.json": inspect("S", sample(1, uuid="u1"), sample(2, uuid="u3", value="I")),
}
ONCE, AGAIN = {"s": (100, 5, None), "s~2": (100, 5, None)}, "repeated-messages"
APART = {"s": (100, 5, None), "t": (100, 5, None)}
PRICED: Spent = {"s": (100, 5, 0.5), "s~2": (100, 5, 0.5)}
FORKED: Spent = {"s": (100, 5, 0.5), "t": (100, 5, 0.5)}


def two(first: Any, second: Any) -> dict[str, Any]:
    return {"1.jsonl": first, "2.jsonl": second}


CASES = [
    Case("Claude Code, saved again", two(claude("s", 1), claude("s", 1, 2)), ONCE, AGAIN),
    Case("Claude Code, resumed", two(claude("s", 1), claude("t", 1, 2)), APART, AGAIN),
    Case("Claude Code, resumed, that session first", two(claude("t", 1, 2), claude("s", 1)),
         {"s": (0, 0, None), "t": (200, 10, None)}, AGAIN),
    Case("Claude Code, the same file twice", two(claude("s", 1), claude("s", 1)), {"s": (100, 5, None)},
         "duplicate-file"),
    Case("Claude Code, the same lines twice", {"1.jsonl": claude("s", 1) * 2}, {"s": (100, 5, None)},
         "repeated-record"),
    Case("Codex, saved again", two(codex("s", 1), codex("s", 1, 2)), ONCE, AGAIN),
    Case("Codex, counts shown again", {"1.jsonl": codex("s", 1, 2)}, {"s": (200, 10, None)}),
    Case("Codex, resumed", two(codex("s", 1, 2), codex("t", 1, 2, 5)),
         {"s": (200, 10, None), "t": (300, 15, None)}, AGAIN),
    Case("Codex, forked", {"1.jsonl": codex_fork()}, {"s2": (800, 20, None)}),
    Case("Gemini CLI, saved again", two(gemini("s", 1), gemini("s", 1, 2)),
         {"s": (100, 8, None), "s~2": (100, 8, None)}, AGAIN),
    Case("Gemini CLI, copied to another session", two(gemini("s", 1), gemini("t", 1, 2)),
         {"s": (100, 8, None), "t": (100, 8, None)}, AGAIN),
    Case("Gemini CLI, a rewind", {"1.jsonl": REWOUND}, {"s": (200, 16, None)}, "taken-back"),
    Case("Copilot CLI, a rewind", {"1.jsonl": copilot("s", 1, 2) + lines(REWIND)}, {"s": (200, 10, None)},
         "taken-back"),
    Case("Copilot CLI, totals of all agents", {"1.jsonl": copilot_totals()},
         {"s1": (70, 6, None), "a1": (30, 3, None)}),
    Case("Cline, back to a checkpoint, a sub-agent, a summary", {"ui_messages.json": SHOWN},
         {"0": (400, 4, 2.25)}),
    Case("pi, saved again", two(pi("s", 1), pi("s", 1, 2)), PRICED, AGAIN),
    Case("pi, forked", two(pi("s", 1), pi("t", 1, 2)), FORKED, AGAIN),
    Case("opencode, exported again", two(opencode("s", 1), opencode("s", 1, 2)), PRICED, AGAIN),
    Case("opencode, forked", two(opencode("s", 1), opencode("t", 1, 2)), FORKED, AGAIN),
    Case("Inspect, epochs", {"1.json": inspect("R", sample(1), sample(1, 2, "I"))},
         {"1": (100, 5, None), "2": (100, 5, None)}),
    Case("Inspect, a retry copies what was done and runs what failed", RETRIED,
         {"R/1/1": (100, 5, None), "R/2/1": (100, 5, None), "S/2/1": (100, 5, None)}, "repeated-record"),
    Case("Inspect, a sample scored again",
         {"1.json": inspect("R", sample(1)), "2.json": inspect("R", sample(1, value="I"))},
         {"1": (100, 5, None), "1~2": (100, 5, None)}, "duplicate-run"),
    Case("ATIF, a total twice the steps", {"1.json": atif("s", 400, 1, 2)}, {"s": (200, 10, 1.0)},
         "total-contradicts-parts"),
    Case("ATIF, a total that agrees", {"1.json": atif("s", 200, 1, 2)}, {"s": (200, 10, 1.0)}),
    Case("a log of calls that repeat the conversation", {"1.jsonl": lines(FIRST, SECOND)},
         {"1": (200, 10, None)}, "conversation-repeated"),
    Case("a log of calls, one of them twice", {"1.jsonl": lines(FIRST, FIRST, SECOND)},
         {"1": (200, 10, None)}, "repeated-record"),
    *(
        Case(f"{desc}, {how}", files, {"s": (200, 10, cost)})
        for desc, short, long, cost in (
            ("goose", goose("s", 1), goose("s", 1, 2), 1.0),
            ("Copilot CLI", copilot("s", 1), copilot("s", 1, 2), None),
            ("Pydantic AI", pydantic_ai("s", 1), pydantic_ai("s", 1, 2), None),
            ("chat messages", chat("s", "a"), chat("s", "a", "b"), None),
        )
        for how, files in (
            ("exported again", two(short, long)),
            ("exported again, the longer copy first", two(long, short)),
            ("twice in a file", {"1.jsonl": f"{line_of(short)}{line_of(long)}"}),
            ("three times", {**two(short, long), "3/1.jsonl": f"{line_of(short)}\n"}),
        )
        if not (desc == "chat messages" and how == "twice in a file")  # as in the log of calls above
    ),
    Case("goose, two sessions of one name that differ", two(goose("s", 1, asked="Come."), goose("s", 1, 2)),
         {"s": (100, 5, 0.5), "s~2": (200, 10, 1.0)}, "duplicate-run"),
    Case("goose, two sessions that begin alike", two(goose("s", 1), goose("t", 1, 2)),
         {"s": (100, 5, 0.5), "t": (200, 10, 1.0)}),
    Case("Pydantic AI without a name, exported again",
         {"1.json": pydantic_ai(None, 1), "2.json": pydantic_ai(None, 1, 2)}, {"2": (200, 10, None)},
         "duplicate-run"),
    Case("chat messages without name or moments that begin alike",
         {"1/s.json": chat(None, "a"), "2/s.json": chat(None, "a", "b")},
         {"1": (100, 5, None), "2": (200, 10, None)}),
    Case("chat messages of one name where the first had no reply",
         {"1.json": {**chat("s"), "error": "stopped"}, "2.json": chat("s", "a")},
         {"s": (None, None, None), "s~2": (100, 5, None)}, "duplicate-run"),
    Case("tau2-bench, a simulated user",
         {"1.json": tau2_document(simulations=[{**TAU2, "messages": [USER, *TAU2["messages"]]}])},
         {"0": (20, 4, 0.5)}),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case.desc for case in CASES])
def test_what_is_there_again_is_spent_once(tmp_path: Path, case: Case) -> None:
    files = [put(tmp_path / "in" / name, content) for name, content in case.files.items()]
    done, runs = converted(None, tmp_path / "out", *files)
    spent = {}
    for run in runs:
        used = run.finished.metrics or {}
        whose = next(name for name in case.spent if run.run_id.endswith(f"/{name}"))
        spent[whose] = (used.get("input_tokens"), used.get("output_tokens"), run.finished.cost)
    assert spent == case.spent
    assert case.finding is None or case.finding in codes(done)


def test_messages_that_are_repeated_are_counted_and_their_session_is_named(tmp_path: Path) -> None:
    sessions = two(claude("s", 1, 2), claude("t", 1, 2, 3))
    files = [put(tmp_path / "in" / name, content) for name, content in sessions.items()]
    done, _ = converted(None, tmp_path / "out", *files)
    (finding,) = (each for each in done.findings if each.code == "repeated-messages")
    assert finding.message.startswith("2 messages repeated from claude-code/s")


def test_an_earlier_copy_is_named_with_the_file_that_is_read_for_it(tmp_path: Path) -> None:
    copies = (("monday.json", (1,)), ("tuesday.json", (1, 2)))
    files = [put(tmp_path / "in" / name, goose("s", *replies)) for name, replies in copies]
    done, (run,) = converted(None, tmp_path / "out", *files)
    (found,) = [finding for finding in done.findings if finding.code == "duplicate-run"]
    assert (found.where.file, found.where.run) == ("monday.json", "goose/s")
    assert "tuesday.json" in found.message
    assert (done.runs, [loss.runs for loss in done.losses]) == (1, [0, 1])
    assert [path.name[:7] for path in done.ledgers] == ["tuesday"]
    assert run.integrity.verdict == "INTACT"


HELLO = {"id": "m1", "role": "user", "content": "Hi."}
PARTLY = {"id": "m2", "role": "assistant", "content": ""}
FULLY = {**PARTLY, "content": "Yo.", "usage": {"input_tokens": 5, "output_tokens": 2}}
NAMED_ALIKE = [{"id": "c", "role": "user", "content": each} for each in ("Hi.", "Well?")]
MESSAGES = [
    case("overlapping pages", {"messages": [HELLO, FULLY, HELLO, FULLY]}, words=["Hi.", "Yo."]),
    case("an update", {"messages": [HELLO, PARTLY, FULLY]}, words=["Hi.", "Yo."]),
    case("the id of the conversation", {"messages": NAMED_ALIKE * 2}, words=["Hi.", "Well?"] * 2),
    case("pieces of one message",
         {"messages": [HELLO, {**PARTLY, "content": "Y"}, {**PARTLY, "content": "o."}]},
         words=["Hi.", "Y", "o."]),
]  # fmt: skip


@each(MESSAGES)
def test_a_message_whose_id_comes_again_is_read_once(tmp_path: Path, case: Row) -> None:
    case.holds("openai-messages", tmp_path)


def tree(*parents: str | None) -> str:
    """A session of two calls and their answers, with these parents."""
    said: list[Any] = []
    for name in ("t1", "t2"):
        said.append(("assistant", [{"type": "tool_use", "id": name, "name": "Bash", "input": {}}]))
        said.append(("user", [{"type": "tool_result", "tool_use_id": name, "content": name}]))
    placed = zip(parents, [*said, ("assistant", "Done.")], strict=True)
    written = (claude_line(f"a{n}", parent, role, what) for n, (parent, (role, what)) in enumerate(placed, 1))
    return lines(claude_line("a0", None, "user", "Go."), *written)


NO_TREES = {
    "every reply names the prompt": tree("a0", "a1", "a0", "a3", "a0"),
    "every reply and answer names the prompt": tree(*["a0"] * 5),
    "nothing names a parent": tree(*[None] * 5),
    "parents that are not in the file": tree("b1", "b2", "b3", "b4", "b5"),
}


@each(shapes(NO_TREES, answered=["t1", "t2"], tools=["Bash"] * 2, missing={"branches-left-out"}))
def test_a_session_whose_tree_is_none_keeps_its_calls(tmp_path: Path, case: Row) -> None:
    case.holds("claude-code", tmp_path)


def test_a_branch_that_was_left_is_spent_and_named(tmp_path: Path) -> None:
    """As a warning, where it is most of the session."""
    calls = tree("a0", "a1", "a2", "a3", "a4")
    for parent, tokens in (("a0", 400), (None, 400)):
        another = claude_line("a6", parent, "user", "Again."), claude_line("a7", "a6", "assistant", "So.")
        source = put(tmp_path / f"{parent}.jsonl", calls + lines(*another))
        done, (run,) = converted("claude-code", tmp_path / "out" / f"{parent}", source)
        assert run.finished.metrics["input_tokens"] == tokens
        assert run.finished.metrics["left_output_tokens"] == 15
        (finding,) = (one for one in done.findings if one.code == "branches-left-out")
        assert (finding.severity, finding.message.partition(":")[0]) == ("warning", "most of the session")
