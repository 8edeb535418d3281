"""Programs that people talk to: Cline and Roo Code, VS Code, exports of Cursor and ChatGPT, Aider."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from foreign_files import codes, converted
from reading import Case, case, each, read
from trace_records import RECORDS, put_record

from untaken.ledger import Message, Observation, Run, ToolCall

API, UI = "api_conversation_history.json", "ui_messages.json"


def shown(run: Run) -> list[Any]:
    """What was said, called and answered, in order."""
    found: list[Any] = []
    for event in run.events:
        if isinstance(event, Message):
            found.append((event.role, event.content))
        elif isinstance(event, ToolCall):
            found.append((event.tool, event.arguments))
        elif isinstance(event, Observation):
            found.append((event.ok, event.content))
    return found


def test_a_task_of_cline_is_its_messages_with_what_the_interface_counted(tmp_path: Path) -> None:
    calls = [("look", {"day": "1"}), ("attempt_completion", {"result": "Done."})]
    case("a task", None, format="cline", run="cline/1769", agent="cline/m", model="m", version="3.51",
         calls=calls, seen=["monday"], cost=0.6, steps=1, success=None,
         metrics={"input_tokens": 8, "output_tokens": 2, "cached_tokens": 3},
         ).of(None, tmp_path / "out", put_record(tmp_path / "in", RECORDS["cline"]))  # fmt: skip


TWO = "A <w><c>\n<div><i>x</i></div>\n</c></w> B <r><p>a</p><q>b</q></r>"
WRITTEN = ("w", {"c": "<div><i>x</i></div>"}), ("r", {"p": "a", "q": "b"})
TEXTS: dict[str, tuple[str, list[Any]]] = {
    "a tag that is no tool": ("Use <b>bold</b>.", [("assistant", "Use <b>bold</b>.")]),
    "two calls, tags in an argument": (
        TWO, [("assistant", "A"), WRITTEN[0], ("assistant", "B"), WRITTEN[1]]),
    "a call in what is thought": (
        "<thinking>\n<r><p>a</p></r>\n</thinking>",
        [("assistant", "<thinking>"), ("r", {"p": "a"}), ("assistant", "</thinking>")]),
    "a call that is cut": ("<w><c>x</c>", [("assistant", "<w><c>x</c>")]),
}  # fmt: skip


@pytest.mark.parametrize("desc", TEXTS)
def test_calls_in_the_text_of_a_model_are_calls(tmp_path: Path, desc: str) -> None:
    text, want = TEXTS[desc]
    _, [run] = read(tmp_path, "cline", [{"role": "assistant", "content": text}], f"t/{API}")
    assert shown(run) == want


def said(second: float, kind: str, text: str, **more: Any) -> dict[str, Any]:
    how = "ask" if kind == "command" else "say"
    return {"ts": int(1767225600000 + second * 1000), "type": how, how: kind, "text": text, **more}


def test_the_interface_alone_is_a_task_with_calls_and_answers(tmp_path: Path) -> None:
    request = {"request": "[execute_command for 'ls'] Result:\nError: no\n\n[read_file for 'b'] Result:\nb"}
    ui = [
        said(0, "text", "Go."),
        said(1, "command", "ls"),
        said(1.5, "tool", '{"tool": "readFile", "path": "b"}'),
        said(2, "text", "Ho", partial=True),
        said(3, "api_req_started", json.dumps(request)),
        said(4, "completion_result", "Done."),
    ]
    _, [run] = read(tmp_path, None, ui, UI)
    assert run.run_id == "cline/1767225600000"
    calls = [("execute_command", {"command": "ls"}), ("readFile", {"tool": "readFile", "path": "b"})]
    answers = [(False, "Error: no"), (None, "b")]
    assert shown(run) == [("user", "Go."), *calls, *answers, ("assistant", "Done.")]


def test_roo_says_by_which_protocol_it_counts(tmp_path: Path) -> None:
    used = {"tokensIn": 10, "tokensOut": 1, "cacheReads": 4, "cost": 0.5, "apiProtocol": "openai"}
    _, [run] = read(tmp_path, None, [said(0, "api_req_started", json.dumps(used))], UI)
    assert run.finished.metrics == {"input_tokens": 10, "output_tokens": 1, "cached_tokens": 4}


SESSION = RECORDS["vscode-chat"]["chat.json"]
FIRST, SECOND = SESSION["requests"]


def began(*requests: Any) -> dict[str, Any]:
    return {"kind": 0, "v": {**SESSION, "requests": list(requests)}}


LOG = [
    began(),
    {"kind": 2, "k": ["requests"], "v": [{**FIRST, "result": None}, {**SECOND, "response": []}]},
    {"kind": 1, "k": ["requests", 0, "result"], "v": FIRST["result"]},
    {"kind": 2, "k": ["requests", 1, "response"], "v": [{"value": "wrong"}]},
    {"kind": 2, "k": ["requests", 1, "response"], "v": SECOND["response"], "i": 0},
]
ROUNDS = [
    *[("user", "Go."), ("reasoning", "Look."), ("assistant", "I look."), ("look", {"day": 1})],
    *[(None, "monday"), ("assistant", "Done."), ("user", "More."), ("reasoning", "Hm.")],
    *[
        ("assistant", "I write."),
        ("edit", {"message": "Editing"}),
        (None, "Edited"),
        ("assistant", "Written."),
    ],
]


@pytest.mark.parametrize(("name", "content"), [("chat.json", SESSION), ("s.jsonl", LOG)])
def test_a_session_of_vs_code_and_its_log_are_a_run_with_its_rounds(tmp_path, name, content) -> None:
    done, [run] = read(tmp_path, None, content, name)
    assert (done.format, run.run_id, run.agent) == ("vscode-chat", "vscode-chat/s", "github-copilot/m")
    assert shown(run) == ROUNDS
    assert run.finished.metrics == {"input_tokens": 5, "output_tokens": 2}


def test_what_a_request_cost_that_was_taken_back_was_spent(tmp_path: Path) -> None:
    again = {**FIRST, "requestId": "r9", "message": {"text": "Go on."}}
    log = [began(FIRST), {"kind": 2, "k": ["requests"], "v": [again], "i": 0}]
    _, [run] = read(tmp_path, "vscode-chat", log, "s.jsonl")
    assert run.of(Message)[0].content == "Go on."
    spent = {"input_tokens": 10, "left_input_tokens": 5, "left_output_tokens": 2}
    assert run.finished.metrics == run.finished.metrics | spent


def test_files_and_symbols_that_a_reply_names_are_in_its_sentence(tmp_path: Path) -> None:
    response = [
        {"value": "See "},
        {"kind": "inlineReference", "inlineReference": {"path": "/w/a.py", "scheme": "file"}},
        {"kind": "markdownContent", "content": {"value": " and "}},
        {"kind": "inlineReference", "inlineReference": {"name": "go", "location": {}}},
        {"value": "."},
    ]
    requests = [{"requestId": "r", "message": {"text": "Where?"}, "response": response, "result": {}}]
    _, [run] = read(tmp_path, "vscode-chat", {**SESSION, "requests": requests})
    assert [said.content for said in run.of(Message)] == ["Where?", "See `a.py` and `go`."]


@pytest.mark.parametrize(
    "k", [[], ["requests", 9, "x"], ["requests", "x"], [None], [{}], ["a"] * 99], ids=str
)
@pytest.mark.parametrize("kind", [1, 2, 3, "x"])
def test_a_line_that_changes_nothing_there_is_named(tmp_path: Path, kind: Any, k: Any) -> None:
    log = [{"kind": 0, "v": SESSION}, {"kind": kind, "k": k, "v": [1]}]
    done, [_] = read(tmp_path, "vscode-chat", log, "s.jsonl")
    assert codes(done)["unreadable-record"] == 1


CODE = "```\n---\n\n**Userland**\n```"
EXPORTED = (
    f"{RECORDS['cursor']['chat.md']}\n{CODE}\n\n---\n\n# B\n_Exported on x from Cursor (2.4.27)_\n\n---\n\n"
)
FENCED = """# aider chat started at 2026-01-01 10:00:00

> Main model: claude-x with architect edit format
#### Change it
#### in foo.py

Here:

```python
#### no user
> not printed
# aider chat started at another place
```

> Tokens: 1.5k sent, 1k cache hit, 20 received. Cost: $0.10 message, $0.10 session.
> Applied edit to a b.py
> Tokens: 2M sent, 30 received. Cost: $0.20 message, $0.30 session.

# aider chat started at 2026-01-02 10:00:00

> Aider v1

# aider chat started at 2026-01-03 10:00:00
#### Hello
"""
CHATS = [
    case("cursor", f"{EXPORTED}**User**\n\nHi.\n", runs=["cursor/A task", "cursor/B"],
         all_version=["0.50.4", "2.4.27"],
         all_said=[[("user", "Go."), ("assistant", f"Done.\n\n{CODE}")], [("user", "Hi.")]]),
    case("chatgpt", RECORDS["chatgpt"]["conversations.json"], run="chatgpt/c", agent="chatgpt/m", model="m",
         said=[("user", "Go."), ("assistant", "Done.")], calls=[("python", {"input": "look(1)"})],
         seen=["Seen."], found={"branch-left-out"}, drops={"other_branches.**"}),
    case("aider", FENCED, agents=["aider/claude-x", "aider"], all_model=["claude-x", None],
         all_calls=[[("edit", {"file": "a b.py"})], []], all_cost=[pytest.approx(0.3), None],
         all_metrics=[{"input_tokens": 2_001_500, "output_tokens": 50}, None]),
]  # fmt: skip
NAMES = {"cursor": "c.md", "chatgpt": "conversations.json", "aider": "aider.chat.history.md"}


@each(CHATS)
def test_a_chat_of_people_is_read(tmp_path: Path, case: Case) -> None:
    case.holds(case.desc, tmp_path, NAMES[case.desc])
    done, _ = converted(None, tmp_path / "any", tmp_path / "in" / NAMES[case.desc])
    assert done.format == case.desc


def test_what_looks_like_a_head_in_code_is_part_of_the_reply(tmp_path: Path) -> None:
    _, [first, second] = read(tmp_path, "aider", FENCED, "aider.chat.history.md")
    asked, replied = [m for m in first.of(Message) if m.role != "aider"]
    assert (asked.role, asked.content) == ("user", "Change it\nin foo.py")
    assert "#### no user\n> not printed\n# aider chat started at another place" in str(replied.content)
    assert [m.content for m in second.of(Message)] == ["Hello"]


@pytest.mark.parametrize("parent", ["4", "missing", 7, None, {"a": 1}], ids=str)
def test_a_tree_that_leads_round_or_nowhere_ends(tmp_path: Path, parent: Any) -> None:
    (conversation,) = RECORDS["chatgpt"]["conversations.json"]
    nodes = {**conversation["mapping"], "1": {**conversation["mapping"]["1"], "parent": parent}}
    _, [run] = read(tmp_path, None, [{**conversation, "mapping": nodes}], "conversations.json")
    assert run.of(Message)[-1].content == "Done."
