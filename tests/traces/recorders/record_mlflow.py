"""Records MLflow traces: ``pip install mlflow-skinny sqlalchemy alembic``; the tracking store is a file."""

from __future__ import annotations

import json
import tempfile

import mlflow
from mlflow.entities import SpanType
from refund_desk import ANSWER, CALLS, INSTRUCTIONS, QUESTION, RECORDED, look_up, refund

TOOLS = {"look_up": look_up, "refund": refund}


@mlflow.trace(span_type=SpanType.AGENT, name="refund desk")
def run(question: str) -> str:
    """The agent's loop."""
    messages: list[dict[str, object]] = [
        {"role": "system", "content": INSTRUCTIONS},
        {"role": "user", "content": question},
    ]
    for turn in range(len(CALLS) + 1):
        with mlflow.start_span("Completions", span_type=SpanType.CHAT_MODEL) as span:
            span.set_inputs({"model": "gpt-x", "messages": messages})
            message: dict[str, object] = {"role": "assistant", "content": ANSWER}
            if turn < len(CALLS):
                tool, given = CALLS[turn]
                call = {"name": tool, "arguments": json.dumps(given)}
                message = {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": f"call_{turn}", "type": "function", "function": call}],
                }
            span.set_outputs({"choices": [{"index": 0, "message": message}]})
            span.set_attribute(
                "mlflow.chat.tokenUsage", {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
            )
        messages = [*messages, message]
        if turn == len(CALLS):
            return ANSWER
        try:
            with mlflow.start_span(tool, span_type=SpanType.TOOL) as span:
                span.set_inputs(given)
                answer = TOOLS[tool](**given)
                span.set_outputs(answer)
        except ValueError as error:
            answer = f"Error: {error}"
        messages = [*messages, {"role": "tool", "tool_call_id": f"call_{turn}", "content": answer}]
    raise AssertionError("the script ends with an answer")


with tempfile.TemporaryDirectory() as folder:
    mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
    run(QUESTION)
    trace_id = mlflow.get_last_active_trace_id()
    assert trace_id is not None
    mlflow.flush_trace_async_logging()
    mlflow.log_feedback(trace_id=trace_id, name="correctness", value=True)
    trace = mlflow.get_trace(trace_id)
    assert trace is not None
    document = trace.to_dict()
    for about in (document["info"]["trace_metadata"], document["info"]["tags"]):  # what names this machine
        for name in ("mlflow.source.name", "mlflow.user", "mlflow.artifactLocation"):
            about.pop(name, None)
    for event in (event for each in document["data"]["spans"] for event in each["events"]):
        event["attributes"].pop("exception.stacktrace", None)
    (RECORDED / "mlflow.json").write_text(json.dumps(document, default=str) + "\n")
