"""Sessions of opencode: exports, lists of messages, and the log of ``opencode run --format json``.

A message has its parts beside it: texts, thoughts, and calls with their state. What a revert took back is
left out; the summary of a compaction is a message of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from untaken.traces.importer import importer
from untaken.traces.losses import Findings
from untaken.traces.readings import first_text, mapping, moment, objects, text
from untaken.traces.sample import Sample
from untaken.traces.sessions import Payers, session_converter, session_run
from untaken.traces.spending import spend, usage
from untaken.traces.tidy import Places
from untaken.traces.trace_file import TraceFile
from untaken.traces.trace_run import Answered, Called, Item, TraceRun, Utterance

Message = dict[str, Any]

BESIDE: Final = ("tokens.reasoning", "tokens.cache.read", "tokens.cache.write")
TOKENS: Final = {
    "input_tokens": ("tokens.input",),
    "output_tokens": ("tokens.output",),
    "reasoning_tokens": ("tokens.reasoning",),
    "cached_tokens": ("tokens.cache.read",),
    "cache_creation_tokens": ("tokens.cache.write",),
    "total_tokens": ("tokens.total",),
    "cost": ("cost",),
}
ENDED: Final = {"completed": True, "error": False}
"""Whether a call worked, by its status; other statuses are of calls under way."""
TEXTS: Final = {"text": "text", "reasoning": "text", "subtask": "prompt"}
"""Parts that say something, and the member with their text."""
_PART: Final = (
    *("id", "sessionID", "type", "text", "prompt", "tool", "callID", "time.start", "state.status"),
    *("state.input.**", "state.output", "state.error", "state.metadata.exit", "state.time.start"),
    *("state.time.end", *(key for keys in TOKENS.values() for key in keys)),
)
_INFO: Final = (
    *("id", "sessionID", "role", "time.created", "time.completed", "modelID", "model.modelID", "summary"),
    *("error.name", "error.message", "error.data.message"),
    *(key for keys in TOKENS.values() for key in keys),
)
_ABOUT: Final = ("id", "parentID", "version", "time.created", "revert.messageID", "revert.partID")
PLACES: Final = Places(
    kept=[
        *(f"info.{name}" for name in (*_ABOUT, *_INFO)),
        *(f"messages[].info.{name}" for name in _INFO),
        *(f"{home}{name}" for home in ("messages[].parts[].", "parts[].", "part.") for name in _PART),
        *("type", "timestamp", "sessionID", "error.name", "error.message", "error.data.message"),
    ],
    dropped=[
        *("info.summary.**", "info.permission.**", "messages[].info.summary.**", "todos.**"),
        *(f"{home}state.metadata.**" for home in ("messages[].parts[].", "parts[].", "part.")),
    ],
)


def recognise(sample: Sample) -> bool:
    """Messages that are made of an info and parts, or events about a part."""
    for record in map(mapping, sample.records):
        info, part = mapping(record.get("info")), mapping(record.get("part"))
        inner = next(iter(objects(record.get("messages"))), {})
        if "messages" in record and ({"info", "parts"} <= inner.keys() or _is_id(info.get("id"))):
            return True
        if "parts" in record and _is_id(info.get("sessionID")) and "role" in info:
            return True
        if part and _is_id(record.get("sessionID")):
            return True
    return False


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("ses_")


def _sessions(file: TraceFile) -> Iterator[tuple[Mapping[str, Any], list[Message]]]:
    """What is known of each session, and its messages: of an export, or of all lines that name it."""
    loose: dict[str, dict[str, Message]] = {}
    for number, record in enumerate(map(mapping, file.records())):
        info, part = mapping(record.get("info")), mapping(record.get("part"))
        if "messages" in record:
            yield info, objects(record["messages"])
        elif session := first_text([info, record], ("sessionID",)):
            name = first_text([info], ("id",)) or text(part.get("messageID")) or str(number)
            # A log has parts alone.
            event = {"role": "assistant", "time": {"created": record.get("timestamp")}}
            message = {"info": info or {**event, "error": record.get("error")}, "parts": []}
            parts = loose.setdefault(session, {}).setdefault(name, message)["parts"]
            parts.extend(objects(record.get("parts")) or objects([record.get("part")]))
    for session, messages in loose.items():
        yield {"id": session}, list(messages.values())


def _left(messages: list[Message], revert: Mapping[str, Any], findings: Findings) -> list[Message]:
    """The messages without what a revert took back: a message, or one of its parts, and all after it."""
    target = text(revert.get("messageID"))
    at = next((n for n, each in enumerate(messages) if target and each["info"].get("id") == target), None)
    if at is None:
        return messages
    findings.once("taken-back", "messages that a revert took back are left out", severity="note")
    parts = objects(messages[at].get("parts"))
    cut = next((n for n, part in enumerate(parts) if part.get("id") == revert.get("partID")), 0)
    return [*messages[:at], {**messages[at], "parts": parts[:cut]}] if cut else messages[:at]


def _run(
    about: Mapping[str, Any], messages: list[Message], stem: str, payers: Payers, findings: Findings
) -> TraceRun:
    messages = [{**message, "info": mapping(message.get("info"))} for message in messages]
    messages = _left(messages, mapping(about.get("revert")), findings)
    replies = [message for message in messages if message["info"].get("role") == "assistant"]
    ends = [[p for p in objects(reply.get("parts")) if p.get("type") == "step-finish"] for reply in replies]
    # A reply without steps has the tokens and the cost itself.
    each_step = [(reply, steps or [reply["info"]]) for reply, steps in zip(replies, ends, strict=True)]
    steps = [(_copied(reply, n), step) for reply, some in each_step for n, step in enumerate(some)]
    name = text(about.get("id")) or stem
    used = [(copied, usage(step, findings, TOKENS, beside=BESIDE)) for copied, step in steps]
    run_id = f"opencode/{name}"
    spent = spend(payers.paid(run_id, used, findings), run=run_id, findings=findings)
    # Replies first: they name the model that answered.
    infos = [message["info"] for message in (*replies, *messages)]
    failed = mapping(infos[len(replies) - 1].get("error")) if replies else {}  # of the last reply
    return session_run(
        "opencode",
        name,
        [item for message in messages for item in _items(message, findings)],
        model=first_text([*infos, *(mapping(info.get("model")) for info in infos)], ("modelID",)),
        version=text(about.get("version")),
        started=moment(mapping(about.get("time")).get("created"), findings, "info.time.created"),
        about={"parent": text(about.get("parentID"))},
        record=messages,
        origin=[about, *messages],
        cost=spent.cost,
        steps=len(steps),
        error=first_text([mapping(failed.get("data")), failed], ("message", "name")),
        metrics=spent.tokens,
    )


def _copied(reply: Message, number: int) -> tuple[float, float, int] | None:
    """What a step is known by in sessions that were forked after it, too: the moments of its reply."""
    times = mapping(reply["info"].get("time"))
    began, ended = (times.get(name) for name in ("created", "completed"))
    if isinstance(began, int | float) and isinstance(ended, int | float):
        return began, ended, number
    return None


def _items(message: Message, findings: Findings) -> Iterator[Item]:
    info = message["info"]
    # In other messages, `summary` is an object.
    role = "compaction" if info.get("summary") is True else text(info.get("role")) or "unknown"
    created = mapping(info.get("time")).get("created")
    for part in objects(message.get("parts")):
        kind, state = text(part.get("type")) or "", mapping(part.get("state"))
        times = mapping(part.get("time")) or mapping(state.get("time"))
        at = moment(times.get("start") or created, findings, "time.start")
        if kind in TEXTS:
            yield Utterance(role=kind if kind == "reasoning" else role, content=part.get(TEXTS[kind]), at=at)
        elif kind == "tool":
            call_id, status = text(part.get("callID")), text(state.get("status")) or ""
            yield Called(tool=part.get("tool"), arguments=state.get("input"), source_id=call_id, at=at)
            if status in ENDED:
                code = mapping(state.get("metadata")).get("exit")
                # A command that fails is completed, too.
                ok = ENDED[status] and not (isinstance(code, int) and code)
                done = moment(times.get("end"), findings, "state.time.end") or at
                content = state.get("output") if ENDED[status] else state.get("error")
                yield Answered(content=content, source_id=call_id, ok=ok, at=done)


def _read(file: TraceFile, payers: Payers) -> Iterator[TraceRun]:
    for about, messages in _sessions(file):
        if messages:
            yield _run(about, messages, file.stem, payers, file.findings)
        else:
            file.refuse("the session has no messages")


IMPORTER: Final = importer(
    name="opencode",
    title="opencode sessions",
    what="Exported sessions, messages and event logs, with calls and their state: one run a session.",
    left_out=PLACES.dropped,
    recognise=recognise,
    convert=session_converter(_read, PLACES),
    agent=("messages[].info.modelID",),
    model=("messages[].info.modelID",),
    version=("info.version",),
    task=("info.id",),
    tokens=(
        *(f"messages[].parts[].tokens.{k}" for k in ("input", "output", "reasoning")),
        *(f"messages[].parts[].tokens.cache.{k}" for k in ("read", "write")),
        "(where no part has them) messages[].info.tokens",
    ),
    cost=("messages[].parts[].cost", "(where no part has one) messages[].info.cost"),
    time=(
        *("info.time.created", "messages[].info.time.created", "messages[].parts[].state.time.start"),
        "messages[].parts[].state.time.end",
    ),
)
