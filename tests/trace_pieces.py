"""The pieces that records of foreign formats are written with by hand: messages, spans, rows."""

from __future__ import annotations

import json
from typing import Any, Final

AT: Final = "2026-01-01T00:00:0{}Z"
NANOS: Final = 1_767_225_600_000_000_000
GO: Final = {"role": "user", "content": "Go."}
CALL: Final = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"day": 1}'}}
LOOK: Final = {"role": "assistant", "content": "I look.", "tool_calls": [CALL]}
SEEN: Final = {"role": "tool", "tool_call_id": "c1", "content": "monday"}
DONE: Final = {"role": "assistant", "content": "Done."}
REFUNDS: Final = [
    ("look_up", {"order": "A7"}),
    ("refund", {"order": "A7", "amount": 40}),
    ("refund", {"order": "A7", "amount": 30}),
]
"""The calls of the refund desk that each recorder recorded."""


def at(second: int) -> str:
    """A moment."""
    return AT.format(second)


def claude_line(number: int, role: str, content: Any, **more: Any) -> dict[str, Any]:
    """A line of a session of Claude Code."""
    message = {"role": role, "content": content, "id": f"m{number}", "model": "opus", **more}
    about = {"sessionId": "s1", "version": "2.0", "timestamp": at(number), "message": message}
    return {"type": role, "uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None, **about}


def otel_span(number: int, operation: str, **attributes: Any) -> dict[str, Any]:
    """A span as an SDK dumps it."""
    named = {name.replace("__", "."): value for name, value in attributes.items()}
    return {
        "name": f"{operation} it",
        "context": {"trace_id": "0x1", "span_id": f"0x{number}"},
        "parent_id": "0x1" if number > 1 else None,
        "start_time": at(number),
        "end_time": at(number + 1),
        "status": {"status_code": "OK"},
        "attributes": {"gen_ai.operation.name": operation, **named},
        "events": [],
        "resource": {"attributes": {"service.name": "desk"}},
    }


def observation(number: int, kind: str, **more: Any) -> dict[str, Any]:
    """An observation of Langfuse."""
    times = {"startTime": at(number), "endTime": at(number + 1)}
    parent = "o1" if number > 1 else None
    about = {"id": f"o{number}", "traceId": "t", "type": kind, "name": "it", "level": "DEFAULT"}
    return {**about, **times, "parentObservationId": parent, **more}


def mlflow_span(number: int, kind: str, given: Any, said: Any, **more: Any) -> dict[str, Any]:
    """A span of MLflow, whose attributes are JSON texts."""
    attributes = {"mlflow.spanType": kind, "mlflow.spanInputs": given, "mlflow.spanOutputs": said, **more}
    return {
        "trace_id": "AA",
        "span_id": f"s{number}",
        "parent_span_id": "s1" if number > 1 else None,
        "name": "it",
        "start_time_unix_nano": NANOS + number,
        "end_time_unix_nano": NANOS + number + 1,
        "status": {"code": "STATUS_CODE_OK"},
        "attributes": {name: json.dumps(value) for name, value in attributes.items()},
    }
