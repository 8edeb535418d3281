"""Events of OpenHands: trajectories, the output of its evaluation, and the event files of its SDK.

An action is a call and an observation its answer, joined by the id of the tool call, else by the action that
the observation names as its cause. Older events name their kind in ``action`` or ``observation``, those of
the SDK in ``kind``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any, Final

from msgspec.structs import replace

from untaken.traces.importer import importer
from untaken.traces.intake import Intake
from untaken.traces.losses import Findings
from untaken.traces.messages import message_items
from untaken.traces.readings import amount, first_text, items, mapping, moment, objects, text
from untaken.traces.sample import Sample
from untaken.traces.sources import Source
from untaken.traces.spending import USAGE, Amounts, spend, usage, with_cost
from untaken.traces.tidy import Places
from untaken.traces.trace_file import TraceFile, convert_together, converter
from untaken.traces.trace_run import Answered, Called, Item, TraceRun, Utterance, content_text

SPOKEN: Final = frozenset(("message", "system", "think", "finish"))
"""Older actions by which somebody only says something."""
UNSEEN: Final = frozenset(("agent_state_changed", "change_agent_state", "recall", "condensation", "null"))
SDK: Final = frozenset(("ActionEvent", "ObservationEvent", "MessageEvent", "SystemPromptEvent"))
AGENT_USES: Final = ("agent", "default")
"""What the SDK calls the use of a model as the agent, beside those that condense or judge."""
VERSIONS: Final = ("openhands_version", "git_commit")
"""What its system message, or the settings of an evaluation, call its version."""
INTERNAL: Final = frozenset(("thought", "confirmation_state", "security_risk"))
_EVENT: Final = (
    *("id", "timestamp", "source", "action.**", "args.**", "observation.**", "content.**", "cause"),
    *("extras.metadata.exit_code", "extras.exit_code", "llm_message.**"),
    *("llm_metrics.accumulated_cost", "llm_metrics.accumulated_token_usage.**"),
    *(f"tool_call_metadata.{name}" for name in ("function_name", "tool_call_id", "model_response.model")),
    *("tool_name", "tool_call_id", "tool_call.arguments.**", "thought.**", "reasoning_content", "kind"),
    *("system_prompt.**", "rejection_reason", "error.**"),
)
PLACES: Final = Places(
    kept=[
        *(f"{home}{name}" for home in ("", "history[].", "history[][].") for name in _EVENT),
        *("instance_id", "metrics.accumulated_cost", "metadata.llm_config.model", "resolved"),
        "metadata.git_commit",
        *("report.resolved", "test_result.report.resolved", "test_result.resolved", "agent.llm.model"),
        *("stats.usage_to_metrics.**", "key", "value.usage_to_metrics.**", "value.stats.usage_to_metrics.**"),
        *(f"metrics.accumulated_token_usage.{key}" for keys in USAGE.values() for key in keys),
    ]
)


def recognise(sample: Sample) -> bool:
    """Events with the names of one of the two versions, alone or in a history."""
    events = _events(sample.first) or list(sample.records)
    return any(map(_is_event, events)) or _is_state(sample.first)


def _is_event(record: Any) -> bool:
    event = mapping(record)
    older = ("action" in event and "args" in event) or {"observation", "content", "extras"} <= event.keys()
    return (older and "source" in event) or (text(event.get("kind")) in SDK and "timestamp" in event)


def _is_state(document: Mapping[str, Any]) -> bool:
    """Whether it is what the SDK keeps beside the events: the model and the cost."""
    return "usage_to_metrics" in mapping(document.get("stats"))


def _events(document: Mapping[str, Any]) -> list[Any]:
    """The events in a record of an evaluation; the first versions wrote them in pairs."""
    history = items(document.get("history"))
    return [event for each in history for event in (each if isinstance(each, list) else [each])]


def _runs(records: Iterable[Any], name: str, findings: Findings) -> Iterator[TraceRun]:
    """The run of each record with a history, as it comes; then that of the events in no history."""
    loose: list[dict[str, Any]] = []
    for document in map(mapping, records):
        events = objects(_events(document))
        if any(map(_is_event, events)):
            yield _run(document, events, name, findings)
        elif "history" not in document:
            loose.append(document)
    state = next(filter(_is_state, loose), {})
    events = [document for document in loose if document is not state]
    if any(map(_is_event, events)):
        yield _run(state or _last_state(events), events, name, findings)


def _last_state(events: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The state that the latest of the SDK's updates gives; the file of the state may be elsewhere."""
    for event in reversed(events):
        value = mapping(event.get("value"))
        state = {"stats": value} if event.get("key") == "stats" else value
        if _is_state(state):
            return state
    return {}


def _run(
    document: Mapping[str, Any], events: list[dict[str, Any]], name: str, findings: Findings
) -> TraceRun:
    about, state = mapping(document.get("metadata")), mapping(document.get("agent"))
    replies = (mapping(e.get("tool_call_metadata")).get("model_response") for e in events)
    by_use = mapping(mapping(document.get("stats")).get("usage_to_metrics"))
    own = (mapping(by_use.get(use)) for use in AGENT_USES)
    model = first_text(
        [*map(mapping, (about.get("llm_config"), state.get("llm"), *replies)), *own], ("model", "model_name")
    )
    agent = f"openhands/{model}" if model else "openhands"  # with another model, it is another agent
    task = text(document.get("instance_id")) or name
    results = mapping(document.get("test_result"))
    outcomes = (document, mapping(document.get("report")), mapping(results.get("report")), results)
    success = next((each["resolved"] for each in outcomes if isinstance(each.get("resolved"), bool)), None)
    records = [*by_use.values(), document.get("metrics"), *(e.get("llm_metrics") for e in events[::-1])]
    recorded = [used for each in records if any((used := _used(each, findings)).values())]  # not zeros
    # Metrics by use add up; any other record is a running total, of which the latest is first here.
    parts = recorded[: max(len(by_use), 1)]
    spent = spend(parts, run=f"{agent}/{task}", findings=findings)
    times = [at for e in events if (at := moment(e.get("timestamp"), findings, "timestamp")) is not None]
    return TraceRun(
        run_id=f"{agent}/{task}",
        agent=agent,
        task_id=task,
        record=events,
        origin=document or events,
        model=model,
        version=first_text([*(mapping(e.get("args")) for e in events), about], VERSIONS),
        items=list(_items(events, findings)),
        started=times[0] if times else None,
        finished=times[-1] if times else None,
        success=success,
        cost=spent.cost,
        error=text(document.get("error")),
        metrics=spent.tokens,
        metadata={"format": "openhands"},
    )


def _used(metrics: Any, findings: Findings) -> Amounts:
    """What one record of metrics says was spent."""
    counts = mapping(mapping(metrics).get("accumulated_token_usage"))
    used = usage(counts, findings, place="accumulated_token_usage.")
    return with_cost(used, amount(mapping(metrics).get("accumulated_cost"), findings, "accumulated_cost"))


def _items(events: list[dict[str, Any]], findings: Findings) -> Iterator[Item]:
    calls: dict[str | None, str | None] = {}
    for event in events:
        at = moment(event.get("timestamp"), findings, "timestamp")
        called = mapping(event.get("tool_call_metadata"))
        own, call_id = text(event.get("id")), text(called.get("tool_call_id"))
        if "kind" in event:
            found = _of_sdk(event)
        elif str(event.get("action", event.get("observation"))) in UNSEEN:  # no deed of the agent
            continue
        elif "observation" in event:
            cause = text(event.get("cause"))
            # Older logs name the event, not the call.
            found = iter([_answer(event, call_id or calls.get(cause, cause))])
        else:
            calls[own] = call_id or own
            found = _action(event, text(called.get("function_name")), calls[own])
        for item in found:
            yield replace(item, at=at)


def _action(event: Mapping[str, Any], tool: str | None, call_id: str | None) -> Iterator[Item]:
    """What an older action says and calls."""
    kind, given = str(event.get("action")), mapping(event.get("args"))
    role = "system" if kind == "system" else "user" if event.get("source") == "user" else "assistant"
    for name in ("thought", *(("content", "final_thought") if kind in SPOKEN else ())):
        if words := text(given.get(name)):
            yield Utterance(role=role, content=words)
    if kind not in SPOKEN:
        arguments = {name: value for name, value in given.items() if name not in INTERNAL}
        yield Called(tool=tool or kind, arguments=arguments, source_id=call_id)


def _answer(event: Mapping[str, Any], call_id: str | None) -> Item:
    """What an older observation answers; one that nothing caused is said by the environment."""
    extras = mapping(event.get("extras"))
    code = mapping(extras.get("metadata")).get("exit_code", extras.get("exit_code"))
    ok = False if event.get("observation") == "error" else _worked(code)
    if call_id is None:
        return Utterance(role="environment", content=event.get("content"))
    return Answered(content=event.get("content"), source_id=call_id, ok=ok)


def _worked(status: Any) -> bool | None:
    """Whether a command ended with 0; -1 is one that still runs."""
    return None if not isinstance(status, int) or status == -1 else status == 0


def _of_sdk(event: Mapping[str, Any]) -> Iterator[Item]:
    kind, call_id = event.get("kind"), text(event.get("tool_call_id"))
    observation = mapping(event.get("observation"))
    if kind == "MessageEvent":
        yield from message_items(mapping(event.get("llm_message")))
    elif kind == "SystemPromptEvent":
        yield Utterance(role="system", content=content_text([event.get("system_prompt")]))
    elif kind == "ActionEvent":
        for role, name in (("reasoning", "reasoning_content"), ("assistant", "thought")):
            if words := event.get(name):
                yield Utterance(role=role, content=content_text(words))
        arguments = mapping(event.get("tool_call")).get("arguments", event.get("action"))
        yield Called(tool=event.get("tool_name"), arguments=arguments, source_id=call_id)
    elif kind == "ObservationEvent":
        failed = observation.get("is_error")
        ok = False if failed is True else _worked(observation.get("exit_code"))
        yield Answered(content=content_text(observation.get("content")), source_id=call_id, ok=ok)
    elif kind in ("AgentErrorEvent", "UserRejectObservation"):
        yield Answered(content=event.get("error", event.get("rejection_reason")), source_id=call_id, ok=False)


def _read(files: Sequence[TraceFile], name: str) -> Iterator[TraceRun]:
    found = False
    for run in _runs((each for file in files for each in file.records()), name, files[0].findings):
        found = True
        yield run
    if not found:
        files[0].refuse("it has no events of OpenHands")


_convert_alone: Final = converter(lambda file: _read([file], file.stem), PLACES)


def _convert(sources: Sequence[Source], intake: Intake) -> None:
    """Converts each file by itself; the files of one event each are read together, folder by folder."""

    def conversation(source: Source) -> tuple[str, ...]:
        return source.folders[:-1] if source.folders[-1:] == ("events",) else source.folders

    _convert_alone([source for source in sources if not _is_part(source)], intake)
    for folders, group in groupby(filter(_is_part, sources), conversation):
        parts = list(group)
        name = folders[-1] if folders else parts[0].stem
        convert_together(parts, partial(_read, name=name), PLACES, intake, stem=name)


def _is_part(source: Source) -> bool:
    """Whether it is the state or a single event of a conversation of the SDK."""
    return source.stem.startswith("event-") or source.stem == "base_state"


IMPORTER: Final = importer(
    name="openhands",
    title="OpenHands events",
    what="Trajectories, evaluation output and event files: calls, answers, exit codes, cost.",
    recognise=recognise,
    convert=_convert,
    agent=("metadata.llm_config.model",),
    model=("metadata.llm_config.model",),
    version=("(openhands_version of the system message)", "metadata.git_commit"),
    task=("instance_id",),
    outcome=("report.resolved",),
    tokens=(
        "metrics.accumulated_token_usage.prompt_tokens",
        "metrics.accumulated_token_usage.completion_tokens",
    ),
    cost=("metrics.accumulated_cost",),
    time=("history[].timestamp",),
)
