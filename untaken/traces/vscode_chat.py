"""Chats of GitHub Copilot in VS Code: what "Chat: Export Chat…" saves, and the sessions that VS Code keeps.

A session file of today is a log: its first line is the session, each later one sets, adds to or deletes a
part of it. What the agent called is in the rounds of a request's result; a request without a result shows it
among the parts of its response.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from untaken.traces.importer import importer
from untaken.traces.losses import Findings, clip
from untaken.traces.readings import first_text, items, mapping, moment, objects, text
from untaken.traces.sample import Sample
from untaken.traces.sessions import session_run
from untaken.traces.spending import left_behind, spend, usage
from untaken.traces.task_texts import described
from untaken.traces.tidy import Places, under
from untaken.traces.trace_file import TraceFile, converter
from untaken.traces.trace_run import Answered, Called, Item, TraceRun, Utterance

TOKENS: Final = {"input_tokens": ("promptTokens",), "output_tokens": ("outputTokens",)}
SET, APPEND, DELETE = 1, 2, 3
"""What a line of a session file does with the part that it names."""
STRUCTURE: Final = 3
"""Steps of a line that changes what is in a request, not which requests there are."""
STEPS: Final = 20
"""Most steps into a session of a line of its file."""
CALLS: Final = ("toolInvocationSerialized", "toolInvocation")
TAKEN_BACK: Final = "$takenBack"
"""Where the requests of a log are kept that a later line takes out, as when one is edited or undone."""
_REQUEST: Final = "requests[]."
_RESULT: Final = f"{_REQUEST}result.metadata."
PLACES: Final = Places(
    kept=[
        *("sessionId", "creationDate", "lastMessageDate", "customTitle", "responderUsername"),
        *under(
            _REQUEST,
            "message.text timestamp modelId agent.extensionVersion result.errorDetails.message "
            "response[].kind response[].value.** response[].content.value response[].name "
            "response[].inlineReference.name response[].inlineReference.path "
            "response[].toolId response[].toolCallId "
            "response[].invocationMessage.** response[].pastTenseMessage.** response[].resultDetails.**",
        ),
        *under(_RESULT, "sessionId resolvedModel promptTokens outputTokens toolCallResults.**"),
        *under(f"{TAKEN_BACK}[].result.metadata.", "promptTokens outputTokens"),
        *under(
            f"{_RESULT}toolCallRounds[].",
            "response thinking.text toolCalls[].id toolCalls[].name toolCalls[].arguments.**",
        ),
    ],
    dropped=[
        *("requesterAvatarIconUri.**", "responderAvatarIconUri.**", "inputState.**"),
        *(f"{_REQUEST}{name}.**" for name in ("message", "variableData", "agent", "contentReferences")),
        *(f"{_RESULT}{name}.**" for name in ("renderedUserMessage", "renderedGlobalContext", "codeBlocks")),
        f"{_REQUEST}response[].**",
    ],
)


def recognise(sample: Sample) -> bool:
    """A session with requests and who responds, or the first line of a log of one."""
    session = mapping(sample.first.get("v")) if sample.first.get("kind") == 0 else sample.first
    named = {"responderUsername", "initialLocation"} & session.keys()
    return isinstance(session.get("requests"), list) and bool(named)


def _sessions(file: TraceFile) -> Iterator[Any]:
    """The sessions of a file: its values, or the one that its lines make together."""
    session: dict[str, Any] | None = None
    for number, value in enumerate(file.values(), start=1):
        line = mapping(value)
        if line.get("kind") == 0 and isinstance(line.get("v"), dict):
            if session is not None:
                yield session
            session = line["v"]
        elif session is not None and isinstance(line.get("k"), list):
            before = objects(session.get("requests")) if len(line["k"]) < STRUCTURE else []
            done = _changed(session, line)
            # By identity: two may be equal.
            left = {id(request) for request in objects(session.get("requests"))}
            gone = [request for request in before if id(request) not in left]
            if gone:
                session[TAKEN_BACK] = [*items(session.get(TAKEN_BACK)), *gone]
            if not done:
                why = f"line {number} changes a part of the session that is not there; left out"
                file.findings.add("unreadable-record", why, line=number)
        else:
            yield value
    if session is not None:
        yield session


def _changed(session: dict[str, Any], line: Mapping[str, Any]) -> bool:
    """Does what a line says to the session; false where it cannot be done."""
    *path, last = line["k"][: STEPS + 1] or [None]
    place: Any = session
    for step in path:
        if isinstance(place, dict) and isinstance(step, str):
            place = place.get(step)
        elif isinstance(place, list) and _index(step, place) < len(place):
            place = place[step]
        else:
            return False
    if isinstance(place, dict) and isinstance(last, str):
        known = place.get(last)
    elif isinstance(place, list) and _index(last, place) < len(place):
        known = place[last]
    else:
        return False
    kind = line.get("kind")
    if kind == DELETE:
        del place[last]
    elif kind == SET:
        place[last] = line.get("v")
    elif kind == APPEND and isinstance(known or [], list):
        kept = (known or [])[: _index(line["i"], known or [])] if "i" in line else (known or [])
        place[last] = [*kept, *items(line.get("v"))]
    else:
        return False
    return True


def _index(step: Any, elements: Sequence[Any]) -> int:
    """A step as the number of an element; beyond the last where it is none."""
    return step if isinstance(step, int) and not isinstance(step, bool) and step >= 0 else len(elements)


def _run(session: Mapping[str, Any], name: str, findings: Findings) -> TraceRun:
    requests = objects(session.get("requests"))
    results = [mapping(request.get("result")) for request in requests]
    about = [mapping(result.get("metadata")) for result in results]
    session_id = text(session.get("sessionId")) or first_text(about, ("sessionId",)) or name
    model = first_text(about, ("resolvedModel",)) or first_text(requests, ("modelId",))
    model = model.removeprefix("copilot/") if model else None
    times = [moment(request.get("timestamp"), findings, "timestamp") for request in requests]
    found = [item for request, at in zip(requests, times, strict=True) for item in _items(request, at)]
    program = (text(session.get("responderUsername")) or "GitHub Copilot").replace(" ", "-").lower()
    # After an earlier error it went on.
    error = first_text([mapping(result.get("errorDetails")) for result in results[-1:]], ("message",))
    run_id = f"vscode-chat/{session_id}"
    used = [spent for each in about if (spent := usage(each, findings, TOKENS))]
    gone = [mapping(mapping(each.get("result")).get("metadata")) for each in objects(session.get(TAKEN_BACK))]
    left = [spent for each in gone if (spent := usage(each, findings, TOKENS))]
    asked = mapping(requests[0].get("message")).get("text") if requests else None
    return session_run(
        "vscode-chat",
        session_id,
        found,
        model=model,
        program=program,
        started=moment(session.get("creationDate"), findings, "creationDate"),
        finished=moment(session.get("lastMessageDate"), findings, "lastMessageDate"),
        moments=times,
        about={"title": text(session.get("customTitle")), **described(asked)},
        record=requests,
        origin=session,
        version=first_text([mapping(request.get("agent")) for request in requests], ("extensionVersion",)),
        error=error,
        metrics={**spend([*used, *left], run=run_id, findings=findings).tokens, **left_behind(left)},
    )


def _items(request: Mapping[str, Any], at: datetime | None) -> Iterator[Item]:
    """What was asked, and what the agent said and called for it."""
    if asked := text(mapping(request.get("message")).get("text")):
        yield Utterance(role="user", content=asked, at=at)
    about = mapping(mapping(request.get("result")).get("metadata"))
    rounds = objects(about.get("toolCallRounds"))
    yield from _rounds(rounds, mapping(about.get("toolCallResults")), at) if rounds else _parts(request, at)


def _rounds(
    rounds: Sequence[Mapping[str, Any]], results: Mapping[str, Any], at: datetime | None
) -> Iterator[Item]:
    for each in rounds:
        if thought := text(mapping(each.get("thinking")).get("text")):
            yield Utterance(role="reasoning", content=thought, at=at)
        if spoken := text(each.get("response")):
            yield Utterance(role="assistant", content=spoken, at=at)
        for call in objects(each.get("toolCalls")):
            call_id = text(call.get("id"))
            yield Called(tool=call.get("name"), arguments=call.get("arguments"), source_id=call_id, at=at)
            if call_id is not None and call_id in results:
                yield Answered(content=_written(mapping(results[call_id])), source_id=call_id, at=at)


def _written(result: Mapping[str, Any]) -> Any:
    """What a tool gave back: texts, also those at the leaves of a rendered tree."""
    found: list[str] = []
    # A stack of its own: a rendered tree may be deeper than calls can go.
    waiting: list[Any] = [part.get("value") for part in reversed(objects(result.get("content")))]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            found.append(part)
        elif isinstance(part, dict):
            found += [part["text"]] if isinstance(part.get("text"), str) else []
            waiting += [part.get("node"), *reversed(items(part.get("children")))]
    return "\n".join(found) if found else result.get("content")


def _parts(request: Mapping[str, Any], at: datetime | None) -> Iterator[Item]:
    """The parts of a response, where the rounds of its result are not recorded."""
    spoken: list[str] = []
    for part in objects(request.get("response")):
        kind = part.get("kind")
        if kind in CALLS:
            yield from _spoken(spoken, at)
            spoken = []
            call_id = text(part.get("toolCallId"))
            shown = {"message": _words(part.get("invocationMessage"))}
            yield Called(tool=part.get("toolId"), arguments=shown, source_id=call_id, at=at)
            seen = part.get("resultDetails") or _words(part.get("pastTenseMessage"))
            if seen is not None:
                yield Answered(content=seen, source_id=call_id, at=at)
        elif kind == "thinking":
            if thought := _words(part.get("value")):
                yield Utterance(role="reasoning", content=thought, at=at)
        elif kind in (None, "markdownContent"):
            given = part.get("content", part.get("value"))
            words = mapping(given).get("value") if isinstance(given, dict) else given
            spoken.append(words if isinstance(words, str) else "")  # with the space around it
        elif kind == "inlineReference" and (named := _referred(part)):  # in the middle of a sentence
            spoken.append(f"`{named}`")
    yield from _spoken(spoken, at)


def _referred(part: Mapping[str, Any]) -> str | None:
    """The name of the file or symbol that a part refers to."""
    reference = mapping(part.get("inlineReference"))
    path = text(reference.get("path")) or ""
    return first_text([part, reference], ("name",)) or path.rpartition("/")[2] or None


def _spoken(parts: Sequence[str], at: datetime | None) -> Iterator[Item]:
    if words := "".join(parts).strip():
        yield Utterance(role="assistant", content=words, at=at)


def _words(value: Any) -> str | None:
    """A text, or the text of Markdown."""
    return text(mapping(value).get("value")) if isinstance(value, dict) else text(value)


def _read(file: TraceFile) -> Iterator[TraceRun]:
    for number, session in enumerate(_sessions(file)):
        record = mapping(file.record(session))
        name = f"{file.stem}/{number}" if number else file.stem
        if isinstance(record.get("requests"), list):
            yield _run(record, name, file.findings)
        else:
            file.refuse(f"record {number + 1} is no chat session: it has no `requests` ({clip(name)})")


IMPORTER: Final = importer(
    name="vscode-chat",
    title="VS Code chats",
    what="Chats of GitHub Copilot in VS Code, exported or as VS Code keeps them: one run a session.",
    left_out=PLACES.dropped,
    recognise=recognise,
    convert=converter(_read, PLACES),
    agent=("responderUsername", f"{_RESULT}resolvedModel"),
    model=(f"{_RESULT}resolvedModel", f"{_REQUEST}modelId"),
    version=(f"{_REQUEST}agent.extensionVersion",),
    task=("sessionId", f"{_RESULT}sessionId"),
    task_text=(f"{_REQUEST}message.text",),
    tokens=(f"{_RESULT}promptTokens", f"{_RESULT}outputTokens"),
    time=("creationDate", "lastMessageDate", f"{_REQUEST}timestamp"),
)
