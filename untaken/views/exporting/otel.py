"""Runs as OpenTelemetry traces with evaluation results (GenAI semantic conventions, OTLP JSON).

A run is a trace: a root span ``invoke_agent``, a span ``chat`` for each turn of the agent, ``execute_tool``
for each call, ``plan`` for each plan. Each result is an event ``gen_ai.evaluation.result`` on the root span,
and a verdict that cites a call is on the root too: viewers list the results of a trace there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, Final

import msgspec

from untaken.ledger import Message, Plan, Run, ToolCall, readable
from untaken.views.exporting.evaluations import EvaluatedRun, Evaluation

RESULT: Final = "gen_ai.evaluation.result"
AGENT_ROLES: Final = frozenset({"assistant", "agent", "reasoning"})
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_STATUS: Final = {None: 0, True: 1, False: 2}
_INTERNAL: Final = 1
"""The kind of each span in OTLP."""


def otlp_lines(runs: Iterable[EvaluatedRun]) -> Iterator[str]:
    """One OTLP JSON document a run, each on a line of its own, as OpenTelemetry's file exporter writes them.

    Equal runs give equal lines: trace and span ids come from the run's digest.
    """
    for each in runs:
        yield msgspec.json.encode({"resourceSpans": [_resource_spans(each)]}).decode()


def _resource_spans(each: EvaluatedRun) -> dict[str, Any]:
    return {
        "resource": {"attributes": _attributes({"service.name": each.run.agent})},
        "scopeSpans": [{"scope": {"name": "untaken"}, "spans": list(_spans(each))}],
    }


class _Trace:
    """Spans of one trace: ids, times and the shape of OTLP."""

    def __init__(self, run: Run) -> None:
        mark = sha256(run.digest.encode()).hexdigest()
        self.id, self._mark = mark[:32], mark[32:40]  # OTLP has 16 bytes for a trace, 8 for a span
        self.root = self.span_id(0)

    def span_id(self, seq: int) -> str:
        """The span's id, which rises with the event it is of."""
        return f"{self._mark}{seq + 1:08x}"

    def span(
        self,
        seq: int,
        name: str,
        start: datetime,
        end: datetime,
        attributes: Mapping[str, Any],
        *,
        ok: bool | None = None,
        message: str | None = None,
        events: Sequence[Mapping[str, Any]] = (),
    ) -> dict[str, Any]:
        status = {"code": _STATUS[ok], **({"message": message} if message else {})}
        return {
            "traceId": self.id,
            "spanId": self.span_id(seq),
            "parentSpanId": self.root if seq else "",  # event 0 is the root
            "name": name,
            "kind": _INTERNAL,
            "startTimeUnixNano": _nano(start),
            "endTimeUnixNano": _nano(max(start, end)),  # clocks can go back, spans cannot
            "attributes": _attributes(attributes),
            "status": status,
            "events": list(events),
        }


def _spans(each: EvaluatedRun) -> Iterator[dict[str, Any]]:
    run, trace = each.run, _Trace(each.run)
    yield _root(each, trace)
    input_messages: list[Message] = []
    for event in run.events[: run.own]:  # what others added later is no part of the trace
        if isinstance(event, ToolCall):
            yield _tool(event, each, trace)
        elif isinstance(event, Plan):
            plan = {"gen_ai.operation.name": "plan", "gen_ai.plan": _json(event.sub_goals)}
            yield trace.span(event.seq, "plan", event.ts, event.ts, plan)
        elif isinstance(event, Message):
            if event.role in AGENT_ROLES:
                yield _chat(event.seq, input_messages, [event], run, trace)
                input_messages = []
            else:
                input_messages.append(event)
    if input_messages:
        yield _chat(input_messages[-1].seq, input_messages, [], run, trace)


def _root(each: EvaluatedRun, trace: _Trace) -> dict[str, Any]:
    run, finished = each.run, each.run.finished
    error = finished.error if finished is not None else None
    last = run.events[run.own - 1].ts
    return trace.span(
        0,
        "invoke_agent",
        run.started.ts,
        last,
        {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": run.agent,
            "gen_ai.agent.version": run.started.version,
            "gen_ai.prompt.version": run.started.prompt_version,
            "gen_ai.request.model": run.started.model,
            # It has no unit: read as dollars.
            "gen_ai.usage.cost": finished.cost if finished and finished.cost_unit == "usd" else None,
            "task.id": run.task_id,
            "untaken.run_id": run.run_id,
            "untaken.steps": finished.steps if finished is not None else None,
            "untaken.digest": run.digest,
        },
        ok=False if error else None,
        message=error,
        events=[_result(result, last) for result in each.evaluations],
    )


def _result(result: Evaluation, at: datetime) -> dict[str, Any]:
    given = {
        "gen_ai.evaluation.name": result.name,
        "gen_ai.evaluation.score.value": result.value,
        "gen_ai.evaluation.score.label": result.label or None,
        "gen_ai.evaluation.explanation": result.explanation or None,
        "untaken.evaluation.by": result.by,
        "untaken.sub_goal": result.sub_goal,
        "untaken.seq": result.seq,
    }
    return {"name": RESULT, "timeUnixNano": _nano(at), "attributes": _attributes(given)}


def _tool(call: ToolCall, each: EvaluatedRun, trace: _Trace) -> dict[str, Any]:
    answer = each.run.answers.get(call.seq)
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.tool,
        "gen_ai.tool.call.id": call.call_id,
        "gen_ai.tool.call.arguments": _json(call.arguments),
        "gen_ai.tool.call.result": None if answer is None else readable(answer.content),
        "untaken.sub_goals": _json(each.served[call.seq]) if call.seq in each.served else None,
    }
    end, ok = (call.ts, None) if answer is None else (answer.ts, answer.ok)
    return trace.span(call.seq, f"execute_tool {call.tool}", call.ts, end, attributes, ok=ok)


def _chat(
    seq: int, input_messages: Sequence[Message], output: Sequence[Message], run: Run, trace: _Trace
) -> dict[str, Any]:
    """A turn: what was said to the agent since its last one, and what it said."""
    at = (output or input_messages)[-1].ts
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": run.started.model,
        "gen_ai.input.messages": _json([_message(each) for each in input_messages])
        if input_messages
        else None,
        "gen_ai.output.messages": _json([_message(each) for each in output]),
        # Others repeat the whole conversation here; by this mark a reader of ours does not look for repeats.
        "untaken.input.new": True,
    }
    return trace.span(seq, "chat", input_messages[0].ts if input_messages else at, at, attributes)


def _message(message: Message) -> dict[str, Any]:
    return {"role": message.role, "parts": [{"type": "text", "content": readable(message.content) or ""}]}


def _attributes(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _typed(value)} for key, value in given.items() if value is not None]


def _typed(value: bool | int | float | str) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}  # as JSON of protocol buffers has integers of 64 bits
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": value}


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _nano(at: datetime) -> str:
    return str(max(0, (at - _EPOCH) // _MICROSECOND) * 1_000)  # the format holds no time before 1970
