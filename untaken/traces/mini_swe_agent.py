"""Trajectories of mini-SWE-agent (`.traj.json`): one issue a file, a list of messages, one command a turn.

A command is a tool call, or a fenced block in what the model writes; its output is the next message. Whether
the patch solves the issue is not in the file; `exit_status` says how the run ended.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from msgspec.structs import replace

from untaken.traces.importer import importer
from untaken.traces.losses import Findings
from untaken.traces.messages import FIELDS, is_message, message_items, tokens_of
from untaken.traces.readings import amount, mapping, moment, objects, text, whole
from untaken.traces.sample import Sample
from untaken.traces.spending import spend
from untaken.traces.tidy import Places
from untaken.traces.trace_file import TraceFile, converter
from untaken.traces.trace_run import Answered, Called, Item, TraceRun

FENCES: Final = ("mswea_bash_command", "bash", "sh")
"""Names of the blocks that a command is written in."""
TOOL: Final = "bash"
CODE_CHARS: Final = 12
EXTRA: Final = ("timestamp", "returncode", "actions[].command", "response.usage.**", "response.model")
PLACES: Final = Places(
    kept=[
        *(f"messages[].{name}" for name in (*FIELDS, *(f"extra.{name}" for name in EXTRA))),
        *("info.exit_status", "info.submission", "info.model_stats.instance_cost"),
        *("info.model_stats.api_calls", "info.config.model.model_name", "info.mini_version", "instance_id"),
    ],
    dropped=[f"info.config.{name}.**" for name in ("agent", "environment", "model.model_kwargs")],
)


def recognise(sample: Sample) -> bool:
    """Recognises a file by its version, which comes first where the file is long."""
    declared = str(sample.first.get("trajectory_format")).startswith("mini-swe-agent")
    return declared or "mini_version" in mapping(sample.first.get("info"))


def _run(document: Mapping[str, Any], stem: str, findings: Findings) -> TraceRun:
    info, messages = mapping(document.get("info")), objects(document.get("messages"))
    stats = mapping(info.get("model_stats"))
    model = text(mapping(mapping(info.get("config")).get("model")).get("model_name"))
    agent = f"mini-swe-agent/{model}" if model else "mini-swe-agent"
    task = text(document.get("instance_id")) or stem.removesuffix(".traj")
    ended = text(info.get("exit_status"))
    extras = [mapping(message.get("extra")) for message in messages]
    times = [moment(extra.get("timestamp"), findings, "timestamp") for extra in extras]
    known = [at for at in times if at is not None]
    calls = amount(stats.get("api_calls"), findings, "info.model_stats.api_calls")
    used = tokens_of([mapping(extra.get("response")) for extra in extras], findings)
    if calls is not None and calls > len(used):  # a reply that did not parse is no message
        used.append({})
    spent = spend(used, run=f"{agent}/{task}", findings=findings)
    return TraceRun(
        run_id=f"{agent}/{task}",
        agent=agent,
        task_id=task,
        record=messages,
        origin=document,
        model=model,
        version=text(info.get("mini_version")),
        items=list(_items(messages, times, findings)),
        started=known[0] if known else None,
        finished=known[-1] if known else None,
        cost=amount(stats.get("instance_cost"), findings, "info.model_stats.instance_cost"),
        steps=sum(message.get("role") == "assistant" for message in messages),
        error=None if ended == "Submitted" else ended,
        limit=ended if ended and ended.endswith("Exceeded") else None,
        metrics=spent.tokens if calls is None else {**spent.tokens, "model_calls": calls},
        metadata={
            "format": "mini-swe-agent",
            "exit_status": ended or "",
            "submitted": bool(text(info.get("submission"))),
        },
    )


def _items(
    messages: list[dict[str, Any]], times: list[datetime | None], findings: Findings
) -> Iterator[Item]:
    """What each message says or calls; one that follows a command in a block is its output."""
    waiting = False
    for message, at in zip(messages, times, strict=True):
        extra, content, role = mapping(message.get("extra")), message.get("content"), message.get("role")
        if role == "exit" or not is_message(message):
            continue
        ok = _worked(extra, content, findings)
        if waiting and role == "user":
            waiting = False
            yield Answered(content=content, ok=ok, at=at)
            continue
        for item in message_items(message, at):
            yield replace(item, ok=ok) if isinstance(item, Answered) else item
        if role == "assistant" and not message.get("tool_calls"):
            commands = [command for a in objects(extra.get("actions")) if (command := text(a.get("command")))]
            commands = commands or _blocks(content)
            if waiting := len(commands) == 1:  # the agent takes no more, and no fewer
                yield Called(tool=TOOL, arguments={"command": commands[0]}, at=at)


def _blocks(content: Any) -> list[str]:
    """The commands in the fenced blocks of a text."""
    parts = f"\n{content}".split("\n```") if isinstance(content, str) else []
    blocks = [part.partition("\n") for part in parts[1:-1:2]]  # every second one is inside, the last is not
    return [command for name, _, command in blocks if name.strip() in FENCES]


def _worked(extra: Mapping[str, Any], content: Any, findings: Findings) -> bool | None:
    """Whether a command ended with 0, as its message records it; ``None`` where it does not."""
    code = extra.get("returncode")
    if code is None and isinstance(content, str) and content.startswith("<returncode>"):
        code = content[len("<returncode>") :][:CODE_CHARS].partition("<")[0].strip()
        code = int(code) if code.removeprefix("-").isdecimal() else None
    read = whole(code, findings, "extra.returncode")
    return None if read is None else read == 0


def _read(file: TraceFile) -> Iterator[TraceRun]:
    for document in file.records():
        if objects(mapping(document).get("messages")):
            yield _run(document, file.source.stem, file.findings)
        else:
            file.refuse("it has no messages: not a trajectory, or a run that never started")


IMPORTER: Final = importer(
    name="mini-swe-agent",
    title="mini-SWE-agent trajectories",
    extensions=(".json", ".traj"),
    what="Commands, their output and exit codes, the exit status; success comes from --outcomes.",
    left_out=PLACES.dropped,
    recognise=recognise,
    convert=converter(_read, PLACES),
    agent=("info.config.model.model_name",),
    model=("info.config.model.model_name",),
    version=("info.mini_version",),
    task=("instance_id",),
    tokens=(
        "messages[].extra.response.usage.prompt_tokens",
        "messages[].extra.response.usage.completion_tokens",
    ),
    cost=("info.model_stats.instance_cost",),
    time=("messages[].extra.timestamp",),
)
