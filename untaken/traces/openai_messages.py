"""Bare message lists: Chat Completions, Responses, LangGraph and LangChain, and what an API call returned.

A list of messages, or lines of them, is one run. An object with ``messages`` is one run, and so is each
object of a list or a JSON Lines file; a log of calls that repeat the conversation so far is one run of the
whole conversation. Nothing in them says how the run ended, unless the object around them does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from itertools import chain
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from untaken.traces.framework_messages import THREAD, in_order, with_lists
from untaken.traces.importer import importer
from untaken.traces.losses import Findings, clip
from untaken.traces.message_transcript import (
    is_piece,
    items_known,
    messages_once,
    note_only_asked,
    with_answers,
)
from untaken.traces.messages import (
    FIELDS,
    TIMES,
    is_langchain,
    is_message,
    message_items,
    replied,
    role_of,
    tokens_of,
    unwrapped,
)
from untaken.traces.other_tools import other_tool
from untaken.traces.outcome_fields import OUTCOMES, outcome_of
from untaken.traces.readings import amount, first_text, items, mapping, moment, number, objects, parsed, text
from untaken.traces.sample import Confidence, Sample
from untaken.traces.spending import spend
from untaken.traces.tidy import Places
from untaken.traces.trace_file import TraceFile, converter
from untaken.traces.trace_run import Answered, TraceRun

Place = tuple[str, tuple[str, ...]]
"""A member, and the names that lead on inside of it."""
STATES: Final = (
    *("values", "channel_values", "state", "request", "body", "request_body", "input.inputBodyJson"),
    *("llm_context", "conversation"),
)
"""Members of an object that its messages may be in: the state of a LangGraph thread or an agent of AutoGen,
the request of a log."""
REPLIES: Final = ("response.body", "response", "response_body", "result.message", "output.outputBodyJson")
"""Members that the answer of the model may be in; logs of Bedrock and batches nest it."""
GIVEN: Final = (
    *("messages", "input", "contents", "conversation", "conversations", "chat_history", "events", "data"),
    *("turns", "transcript", "dialogue", "dialog", "chat", "history", "conversation_history"),
    *("message_history", "trajectory"),
)
"""Members of an object, or of one of `STATES`, that are its list of messages."""
SYSTEM: Final = ("instructions", "system", "systemInstruction", "system_instruction", "system_prompt")
TRIAL: Final = "trial_name"
"""What Harbor calls a trial in the rows that it exports, beside its ``task``."""
SESSIONS: Final = (
    *("custom_id", "thread_id", "conversation_id", "session_id", TRIAL),
    *("threadId", "conversationId", "sessionId"),
)
TASKS: Final = ("task_id", "instance_id", "taskId")
LINES: Final = (*SESSIONS, "trace_id", "run_id")
"""Names of the conversation of a message on its own line; in the log of a call, they may be the call's."""
NAMES: Final = (*SESSIONS, "trajectory_id", "databricks_request_id", "id")
"""Names of a conversation; ``id`` may also be that of a single call."""
AGENTS: Final = (
    *("agent", "agent_name", "agentName", "app_name", "appName", "endpoint_name", "served_entity_name"),
)
"""Names of the agent, of the app that it is in, or of the endpoint that serves it."""
MODELS: Final = ("model", "modelId", "modelVersion")
REPLIED_BY: Final = (*MODELS, "model_name", "model_id")
COSTS: Final = ("response_cost", "cost")
CHAT_COST: Final = "usage_including_cached_inference"
STARTS: Final = ("startTime", "timestamp", "created_at", "request_time", "timestamp_ms", "created", "date")
SCORES: Final = ("reward", "score")
ERRORS: Final = ("error", "error_str")
STEPS: Final = frozenset(("input", "inputs", "output", "outputs", "$set", *GIVEN, *STATES, *REPLIES))
"""Names that no node of a graph has: what a step got and gave is no update of a stream."""
_ABOUT: Final = ("metadata", "config.configurable", "checkpoint")


def _paths(*places: str) -> tuple[Place, ...]:
    """Members that are named by their path."""
    return tuple((name, tuple(inside)) for name, *inside in (place.split(".") for place in places))


_STATES, _REPLIES = _paths(*STATES), _paths(*REPLIES)
_DESCRIBING: Final = [_paths(place) for place in _ABOUT]
_FAILING: Final = [_paths(place) for place in ("result", "response.body", "result.error")]
_LISTS: Final = (
    *("[].", "", *(f"{name}[]." for name in (*GIVEN, "output"))),
    *("choices[].message.", "candidates[].content.", "output.message."),
)
_HOMES: Final = (*_LISTS, *(f"{home}.{each}" for home in (*STATES, *REPLIES) for each in ("", *_LISTS[2:])))
PLACES: Final = Places(
    kept=[
        f"{home}{wrapped}{name}" for home in _HOMES for wrapped in ("", "data.", "kwargs.") for name in FIELDS
    ]
    + [f"{home}{name}" for home in ("[].", "messages[].") for name in LINES]
    + [
        *NAMES,
        *MODELS,
        *COSTS,
        f"cost.{CHAT_COST}.total_cost",
        *STARTS,
        "endTime",
        *AGENTS,
        *TASKS,
        "task",
        *OUTCOMES,
    ]
    + [f"{home}.{name}" for home in (*STATES, *REPLIES) for name in (*MODELS, *STARTS)]
    + [f"{home}{name}.**" for home in ("", *(f"{s}." for s in STATES)) for name in SYSTEM]
    + [f"{home}{name}.**" for home in ("", "result.", "response.body.") for name in ERRORS]
    + [f"{about}.{name}" for about in _ABOUT for name in (*AGENTS, *MODELS, *TASKS, "thread_id", *OUTCOMES)]
)


def recognise(sample: Sample) -> Confidence:
    """Surer where the names are those of one library; a list of roles and contents may be anything."""
    first = sample.first
    if first.get("object") in ("response", "chat.completion") and ("output" in first or "choices" in first):
        return Confidence.LIKELY
    if (first.get("type") == "message" and "stop_reason" in first) or any(map(is_piece, sample.records)):
        return Confidence.LIKELY
    messages = sum(map(is_message, sample.records))
    if not messages and other_tool(sample) is not None:  # the spans of a tracer hold messages, too
        return Confidence.NO
    whole = (each for record in sample.records[:2] for each in _opened(record)[0])
    inner = next((each for each in map(_listed, whole) if each), [])
    if any(is_langchain(each) or mapping(each).get("object") == THREAD for each in (*sample.records, *inner)):
        return Confidence.LIKELY
    # A single object with a role and a content may be anything.
    several = messages > 1 or (messages and sample.shape == "array")
    return Confidence.POSSIBLE if several or (inner and is_message(inner[0])) else Confidence.NO


def _listed(record: Any) -> list[dict[str, Any]]:
    """The messages that a record holds; empty where it holds none."""
    if isinstance(record, list):
        return _by_name(in_order(objects(record)), {}) if any(map(is_message, record)) else []
    document = mapping(record)
    state, response = _part(document, _STATES), _part(document, _REPLIES)
    answer = response or document
    parts = {name: answer[name] for name in ("choices", "candidates", "output") if items(answer.get(name))}
    spoken = mapping(answer.get("output")).get("message")
    reply = (replied(parts) if parts else []) or [each for each in (spoken, response) if is_message(each)][:1]
    reply = reply or [each for each in objects(response.get("messages")) if is_message(each)]
    inputs = [part[name] for name in GIVEN for part in (document, state) if part.get(name)]
    inputs = [each for each in inputs if not isinstance(each, dict)]  # an object is a state of a graph
    given = next((each for each in inputs if any(map(is_message, items(each)))), None) or next(
        iter(inputs), None
    )
    if isinstance(given, str) and reply:  # without a reply, a text may be anything
        given = [{"role": "user", "content": given}]
    asked = [each for each in objects(given) if is_message(each)]
    if not asked and not reply:
        return _updated(document)
    instructions = next((part[name] for name in SYSTEM for part in (document, state) if part.get(name)), None)
    instructions = mapping(instructions).get("parts") or instructions
    system = [{"role": "system", "content": instructions}] if instructions else []
    return [*system, *_by_name(in_order(asked), document), *reply]


def _by_name(messages: list[dict[str, Any]], document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A chat of AutoGen under the names of its agents: its roles only say which of two agents kept it."""
    if "human_input" not in document and not any("tool_responses" in each for each in messages):
        return messages
    spoken = ("user", "assistant")
    return [{**m, "role": m["name"]} if m.get("name") and m.get("role") in spoken else m for m in messages]


def _of_team(record: Any) -> Any:
    """What AutoGen saves of a team: the state of its manager has the conversation."""
    states = mapping(mapping(record).get("agent_states"))
    for name, state in states.items():
        if thread := mapping(state).get("message_thread"):
            others = {each: states[each] for each in states if each != name}
            return {**record, "agent_states": others, "messages": thread}
    return record


def _opened(record: Any) -> tuple[list[Any], dict[str, Any]]:
    """The runs in a record, and what it has beside them: LlamaIndex saves chats under the name of each."""
    document = mapping(record)
    store = mapping((mapping(document.get("chat_store")) or document).get("store"))
    if "class_name" in document and store and all(isinstance(chat, list) for chat in store.values()):
        return [{"session_id": name, "messages": chat} for name, chat in store.items()], {}
    if _names_itself(document):
        return [*document.values()], {}
    if isinstance(record, dict) and not _listed(record) and (home := _home(record)) is not None:
        return objects(record[home]), {name: value for name, value in record.items() if name != home}
    return [_of_team(record)], {}


def _names_itself(chats: Mapping[str, Any]) -> bool:
    """Whether an object is of chats, each of which says again the name that it is under."""
    return bool(chats) and all(
        name in (mapping(chat).get(own) for own in NAMES) for name, chat in chats.items()
    )


def _home(record: Mapping[str, Any]) -> str | None:
    """The name of the first list of an object that holds records with messages."""
    lists = ((name, objects(value)) for name, value in record.items() if isinstance(value, list))
    return next((name for name, each in lists if any(map(_listed, each[:1]))), None)


def _updated(record: Any) -> list[dict[str, Any]]:
    """The messages that nodes of a graph added, of a record of its stream: ``{node: {"messages": …}}``."""
    nodes = mapping(record)
    if not STEPS.isdisjoint(nodes) or _names_itself(nodes):
        return []
    if not all(each is None or isinstance(each, dict) for each in nodes.values()):
        return []
    added = [mapping(node).get("messages") for node in nodes.values()]
    return [m for each in added for m in objects([each] if is_message(each) else each) if is_message(m)]


def _part(document: Mapping[str, Any], places: Iterable[Place]) -> dict[str, Any]:
    """The first of the members that is an object and not empty."""
    for name, inside in places:
        part = parsed(document.get(name))  # the tables of Databricks keep JSON text
        if not part:
            continue
        for each in inside:
            part = mapping(part).get(each)
        if part and isinstance(part, dict):
            return dict(part)
    return {}


def _conversations(file: TraceFile) -> Iterator[Any]:
    """Each record that is a run: a list of messages, or an object that contains one."""
    loose: dict[str | None, list[Any]] = {}
    reader = file.reader
    # A list is looked at as a whole: it is one conversation, or holds several.
    while reader.peek() == "[":
        whole = [element.value for element in reader.elements()]
        if any(map(is_message, whole)):
            yield whole
        elif updates := [message for each in whole for message in _updated(each)]:
            loose.setdefault(None, []).extend(updates)
        else:
            yield from chain.from_iterable(_parts(file, each) for each in whole)
    for element in reader.values():
        if is_piece(element.value):
            file.leave(element.value)
        elif is_message(element.value):
            # Messages on lines of their own belong together by the name of their conversation.
            loose.setdefault(first_text([element.value], LINES), []).append(element.value)
        elif updates := _updated(element.value):
            loose.setdefault(None, []).extend(updates)
        else:
            yield from _parts(file, element.value)
    for session, messages in loose.items():
        yield messages if session is None else {"session_id": session, "messages": messages}


def _parts(file: TraceFile, record: Any) -> list[Any]:
    """The runs in a record of a file; what is beside them is of none."""
    runs, beside = _opened(record)
    if beside:
        file.leave(beside)
    return runs


def _run(record: Any, about: Sequence[Mapping[str, Any]], name: str, findings: Findings) -> TraceRun | None:
    listed = (each for each in _listed(record) if each.get("partial") is not True)  # ADK repeats them whole
    messages = [dict(each) for each in messages_once([*map(unwrapped, listed)], findings)]
    if not messages:
        return None
    document = mapping(record)
    response = _part(document, _REPLIES)
    call = [document, response, _part(document, _STATES)]
    session = first_text(about, NAMES)
    replies = [m for m in messages if _is_reply(m)]
    replied_by = [*replies, *(mapping(m.get("response_metadata")) for m in replies)]
    models = (mapping(m.get("modelInfo")) for m in replies)
    model = first_text([*call, *about, *replied_by], REPLIED_BY) or first_text(models, ("id",))
    began = _time(document, STARTS, findings) or _time(response, STARTS, findings)
    ended = _time(document, ["endTime"], findings)
    times = [_time(each, TIMES, findings) or began for each in messages]
    known = [at for at in (began, *times, ended) if at is not None]
    run_id = f"openai-messages/{session or name}"
    outcomes = (outcome_of(part, findings, run_id) for part in about)
    success, named = next((each for each in outcomes if each != (None, False)), (None, False))
    used = tokens_of(messages, findings, priced=True)
    used = used or tokens_of((document, response), findings, priced=True)
    spent = spend(used, run=run_id, findings=findings)
    scores = [(name, number(document.get(name), findings, name)) for name in SCORES]
    return TraceRun(
        run_id=run_id,
        agent=first_text(about, AGENTS)
        or first_text(replies, ("assistant_id",))
        or _author(record)
        or model
        or "unknown-agent",
        task_id=first_text(about, TASKS)
        or (document.get(TRIAL) and text(document.get("task")))
        or session
        or name,
        record=messages,
        origin=document,
        model=model,
        session_id=first_text(about, SESSIONS),
        items=list(
            with_answers(
                item for each, at in zip(messages, times, strict=True) for item in message_items(each, at)
            )
        ),
        started=known[0] if known else None,
        finished=known[-1] if known else None,
        success=success,
        outcome_named=named,
        cost=_cost(document, findings) or spent.cost,
        steps=len(replies) or None,
        error=_error(document),
        metrics={**spent.tokens, **{name: score for name, score in scores if score is not None}},
        metadata={"format": "openai-messages"},
    )


def _is_reply(message: Mapping[str, Any]) -> bool:
    """Whether a message is a model's; what tools gave back may be under its name."""
    if message.get("type") != "ai" and role_of(str(message.get("role"))) != "assistant":
        return False
    found = list(message_items(message)) if message.get("parts") else []
    return not found or not all(isinstance(item, Answered) for item in found)


def _author(record: Any) -> str | None:
    """The agent that events of Google's Agent Development Kit are by."""
    events = objects(record) or objects(mapping(record).get("events"))
    authors = (text(each.get("author")) for each in events)
    return next((author for author in authors if author not in (None, "user")), None)


def _cost(document: Mapping[str, Any], findings: Findings) -> float | None:
    """What a call or a chat cost; AutoGen counts it in an object."""
    total = mapping(mapping(document.get("cost")).get(CHAT_COST)).get("total_cost")
    amounts = [amount(document.get(name), findings, name) for name in COSTS]
    return next(filter(None, (*amounts, amount(total, findings, "cost"))), None)


def _time(part: Mapping[str, Any], names: Iterable[str], findings: Findings) -> datetime | None:
    for name in names:
        if part.get(name) is not None and (at := moment(part[name], findings, name)):
            return at
    return None


def _error(document: Mapping[str, Any]) -> str | None:
    """What went wrong with a call, where its log says so: a text, or an object with a message."""
    parts = [document, *(_part(document, place) for place in _FAILING)]
    errors = [part[name] for part in parts for name in ERRORS if part.get(name)]
    return next((found for e in errors if (found := text(e) or text(mapping(e).get("message")))), None)


@dataclass
class _Conversation:
    """A run as it is read, which the next record may go on with.

    Attributes:
        run: so far.
        session: its name, where the records say one.
        a_call: whether the record is that of a call with its answer, whose tokens and cost are its own.
    """

    run: TraceRun
    session: str | None
    a_call: bool

    def goes_on_with(self, later: _Conversation) -> bool:
        """Takes in a record that repeats the conversation and goes on, or only repeats the start of it.

        Two records of sessions with other names are two runs; so are two of none if they have only what
        was asked in common, or everything.
        """
        named = self.session is not None and self.session == later.session
        if self.session != later.session:
            return False
        run, more = self.run, later.run
        if (known := items_known(run.items, more.items)) is not None and (
            # Two runs of one task begin with the same words; only what goes on after a reply is sure to be
            # one run.
            named or (known < len(more.items) and run.replied)
        ):
            together = self.a_call and later.a_call
            both = {**run.metrics, **more.metrics}
            tokens = {name: run.metrics.get(name, 0) + more.metrics.get(name, 0) for name in both}
            run.items.extend(more.items[known:])
            # Calls add up; the record of a whole conversation has the cost of all of it.
            priced = run.cost is not None and more.cost is not None
            cost = more.cost if not together else (run.cost or 0) + (more.cost or 0) if priced else None
            self.run = replace(
                more,
                run_id=run.run_id,
                task_id=run.task_id,
                agent=run.agent,
                items=run.items,
                started=run.started,
                cost=cost,
                metrics=tokens if together else more.metrics,
            )
            return True
        return named and items_known(more.items, run.items) is not None


def _is_repeated(document: Mapping[str, Any], known: dict[str, bytes]) -> bool:
    """Whether a call gave a reply that an earlier record has already, under the same id."""
    response = _part(document, _REPLIES)
    name = text(response.get("id"))
    if name is None:
        return False
    digest = sha256(msgspec.json.encode(response)).digest()
    if name in known:
        return known[name] == digest  # else the id is used for something else, too
    known[name] = digest
    return False


def _read(file: TraceFile) -> Iterator[TraceRun]:
    so_far: _Conversation | None = None
    known: dict[str, bytes] = {}
    answered = False
    for place, value in enumerate(_conversations(file)):
        record = file.record(with_lists(value))
        document = mapping(record)
        if _is_repeated(document, known):
            message = "calls that are logged again under the id of their reply are read once"
            file.findings.once("repeated-record", message, severity="note")
            continue
        about = [document, *(_part(document, place) for place in _DESCRIBING)]
        run = _run(record, about, f"{file.stem}/{place}" if place else file.stem, file.findings)
        if run is None:
            error = _error(document)
            which = f"record {clip(first_text([document], NAMES) or place + 1)}"
            file.refuse(f"{which} has no message" + (f": {clip(error)}" if error else ""))
            continue
        answered = answered or not run.only_asked
        a_call = bool(_part(document, _REPLIES) or document.get("choices"))
        latest = _Conversation(run, first_text(about, SESSIONS), a_call)
        if so_far is not None and so_far.goes_on_with(latest):
            message = "records that repeat the conversation so far are read as one run"
            file.findings.once("conversation-repeated", message, severity="note")
            continue
        if so_far is not None:
            yield so_far.run
        so_far = latest
    if so_far is not None:
        yield so_far.run
        if not answered:
            note_only_asked(file.findings)


IMPORTER: Final = importer(
    name="openai-messages",
    title="Chat messages",
    what="Lists of Chat Completions, Responses or LangChain messages: one run a list.",
    recognise=recognise,
    convert=converter(_read, PLACES),
    agent=(*AGENTS, "metadata.agent", "(who an event is by)", "model"),
    model=("model",),
    task=(*TASKS, "metadata.task_id", "id"),
    outcome=(*OUTCOMES, *(f"metadata.{name}" for name in OUTCOMES)),
    tokens=("usage.prompt_tokens", "usage.completion_tokens"),
    cost=("cost", "response_cost"),
    time=("created_at", "(of a message)"),
)
