"""Sessions of pi, OpenClaw and Droid, which keep them in the same form: a tree of entries, one a line.

An entry names the one before it; going back in a session begins another branch, and the run is the branch
that the last entry ends. What a compaction drops from the view of the model was still done, and stays. The
log of ``pi --mode json`` is read by the messages that it ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PureWindowsPath
from typing import Any, Final

from untaken.traces.importer import importer
from untaken.traces.losses import Findings
from untaken.traces.messages import message_items
from untaken.traces.readings import first_text, mapping, moment, text
from untaken.traces.sample import Confidence, Sample
from untaken.traces.sessions import (
    Payers,
    id_and_moment,
    named_by_file,
    session_converter,
    session_run,
    sessions_in,
)
from untaken.traces.spending import left_behind, spend, usage
from untaken.traces.tidy import Places
from untaken.traces.trace_file import TraceFile
from untaken.traces.trace_records import read_once
from untaken.traces.trace_run import Answered, Called, Item, TraceRun, Utterance

Line = Mapping[str, Any]

BESIDE: Final = ("cacheRead", "cacheWrite")
TOKENS: Final = {
    "input_tokens": ("input",),
    "output_tokens": ("output",),
    "cached_tokens": ("cacheRead",),
    "cache_creation_tokens": ("cacheWrite",),
    "total_tokens": ("totalTokens",),
    "cost": ("cost.total",),
}
HEADERS: Final = {"session": "pi", "session_start": "droid"}
"""What begins a session, and the program that it is of."""
SPOKEN: Final = ("message", "message_end")
SUMMARIES: Final = {"compaction": "summary", "branch_summary": "summary", "custom_message": "content"}
"""Entries that are no messages but are shown to the model, and the member with their text."""
ENDS: Final = ("error", "aborted")
"""Reasons for which a reply stopped that are no proper end."""
INJECTED: Final = "openclaw"
"""The provider that OpenClaw names for replies that no model gave."""
_MESSAGE: Final = (
    *("role", "content.**", "model", "provider", "stopReason", "errorMessage", "timestamp", "toolCallId"),
    *("isError", "details.status", "details.exitCode", "command", "output", "exitCode"),
    *(f"usage.{key}" for keys in TOKENS.values() for key in keys),
)
PLACES: Final = Places(
    kept=[
        *("type", "id", "parentId", "timestamp", "modelId", "parentSession", "branchedFrom", "summary"),
        *("content.**", *(f"message.{name}" for name in _MESSAGE)),
    ],
    dropped=[
        *("details.**", "data.**", "message.details.**", "retainedTail.**", "messages.**"),
        "toolResults.**",
    ],
)


def recognise(sample: Sample) -> Confidence:
    """The names of the header; a part of a file without one has messages in a tree, or ends of a log."""
    sure = Confidence.NO
    for record in map(mapping, sample.records):
        kind, message = record.get("type"), mapping(record.get("message"))
        if kind == "session" and {"id", "timestamp", "cwd"} <= record.keys():
            return Confidence.CERTAIN
        if kind == "message" and "parentId" in record and "role" in message:
            return Confidence.CERTAIN
        if (kind == "message_end" and "role" in message) or (kind == "agent_end" and "messages" in record):
            sure = Confidence.LIKELY
    return sure


def _branch(lines: Sequence[Line], findings: Findings) -> list[Line]:
    """The entries from the first to the last, by the parents that they name, else by the line before."""
    known: dict[str, int] = {}
    before: list[int | None] = []
    for number, line in enumerate(lines):
        previous = number - 1 if number else None
        parent = text(line.get("parentId"))
        first = parent is None and "parentId" in line
        # Only entries further up are known here, so that parents form no ring.
        before.append(None if first else known.get(parent or "", previous))
        if (name := text(line.get("id"))) is not None:
            known[name] = number
    branch, at = [], len(lines) - 1 if lines else None
    while at is not None:
        branch.append(lines[at])
        at = before[at]
    left = sum(line.get("type") in SPOKEN for line in lines)
    left -= sum(line.get("type") in SPOKEN for line in branch)
    if left:
        findings.once("branches-left-out", f"{left} messages are on branches that were left", severity="note")
    return branch[::-1]


def _run(lines: Sequence[Line], stem: str, payers: Payers, findings: Findings) -> TraceRun | None:
    about = lines[0] if lines and str(lines[0].get("type")) in HEADERS else {}
    entries = _branch([line for line in lines if str(line.get("type")) not in HEADERS], findings)
    messages = [mapping(line.get("message")) for line in entries if line.get("type") in SPOKEN]
    if not messages:
        return None
    replies = [message for message in messages if message.get("role") == "assistant"]
    name = text(about.get("id")) or named_by_file(stem, findings)
    own = {id(line) for line in entries}  # equal lines may be on several branches
    every = [
        (line, message)
        for line in lines
        if line.get("type") in SPOKEN and (message := mapping(line.get("message"))).get("role") == "assistant"
        if message.get("provider") != INJECTED
    ]
    used = [
        (
            id_and_moment(line),
            usage(mapping(each.get("usage")), findings, TOKENS, beside=BESIDE, place="message.usage."),
        )
        for line, each in every
    ]
    paid = payers.paid(f"pi/{name}", used, findings)
    spent = spend(paid, run=f"pi/{name}", findings=findings)
    unused = [each for (line, _), each in zip(every, paid, strict=True) if id(line) not in own]
    model = first_text([each for each in replies if each.get("provider") != INJECTED], ("model",))
    last, parent = messages[-1], first_text([about], ("parentSession", "branchedFrom"))
    stopped = last.get("stopReason") in ENDS
    return session_run(
        "pi",
        name,
        [item for line in entries for item in _items(line, findings)],
        model=model or first_text([*entries, about], ("modelId",)),
        started=moment(about.get("timestamp"), findings, "timestamp"),
        program=HEADERS.get(str(about.get("type"))),
        about={"parent": PureWindowsPath(parent or "").stem},  # it reads the paths of every system
        record=entries,
        origin=lines,
        cost=spent.cost,
        steps=len(replies),
        error=first_text([last], ("errorMessage", "stopReason")) if stopped else None,
        metrics={**spent.tokens, **left_behind(unused)},
    )


def _items(line: Line, findings: Findings) -> Iterator[Item]:
    kind, message = text(line.get("type")) or "", mapping(line.get("message"))
    at = moment(line.get("timestamp", message.get("timestamp")), findings, "timestamp")
    if kind in SUMMARIES:
        yield Utterance(role=kind, content=line.get(SUMMARIES[kind]), at=at)
    elif message.get("role") == "bashExecution":
        call_id = first_text([line, message], ("id", "timestamp"))
        command = {"command": message.get("command")}
        yield Called(tool="bash", arguments=command, source_id=call_id, at=at, side="user")
        yield Answered(content=message.get("output"), source_id=call_id, ok=_exit(message), at=at)
    elif kind in SPOKEN:
        details = mapping(message.get("details"))
        failed = details.get("status") in ("error", "failed") or _exit(details) is False
        yield from message_items({**message, "isError": True} if failed else message, at)


def _exit(part: Mapping[str, Any]) -> bool | None:
    code = part.get("exitCode")
    return code == 0 if isinstance(code, int) else None


def _read(file: TraceFile, payers: Payers) -> Iterator[TraceRun]:
    headed = sessions_in(
        map(mapping, file.records()),
        lambda line: text(line.get("id")) if str(line.get("type")) in HEADERS else None,
    )
    for session in headed:
        lines = read_once(session, lambda line: text(line.get("id")), "line", file.findings)
        if (run := _run(lines, file.stem, payers, file.findings)) is not None:
            yield run
        else:
            file.refuse("the session has no messages")


IMPORTER: Final = importer(
    name="pi",
    title="Sessions of pi, OpenClaw and Droid",
    extensions=(".jsonl",),
    what="Messages, thoughts and tool calls of the branch that ends last: one run a session.",
    left_out=PLACES.dropped,
    recognise=recognise,
    convert=session_converter(_read, PLACES),
    agent=("message.model",),
    model=("message.model",),
    task=("(the line of the session) id",),
    tokens=("message.usage.input", "message.usage.output"),
    cost=("message.usage.cost.total",),
    time=("timestamp",),
)
