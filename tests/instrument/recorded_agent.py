"""An instrumented agent: its spans go through the real SDK. As a process it runs until it is killed."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.trace import Span, Tracer

from untaken.instrument import LedgerSpanExporter


@contextmanager
def recording(folder: Path) -> Iterator[Tracer]:
    """A tracer that records into the folder until the provider is shut down."""
    provider = TracerProvider(resource=Resource.create({"service.name": "desk"}))
    provider.add_span_processor(SimpleSpanProcessor(LedgerSpanExporter(folder)))
    try:
        yield provider.get_tracer("agent")
    finally:
        provider.shutdown()


@contextmanager
def agent_run(tracer: Tracer, task: str) -> Iterator[Span]:
    """The root span of a run."""
    named = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "clerk", "task.id": task}
    with tracer.start_as_current_span("invoke_agent clerk", attributes=named) as span:
        yield span


def look(tracer: Tracer, number: int) -> None:
    """A tool call."""
    called = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "look",
        "gen_ai.tool.call.arguments": json.dumps({"number": number}),
        "gen_ai.tool.call.result": f"found {number}",
    }
    with tracer.start_as_current_span("execute_tool look", attributes=called):
        pass


if __name__ == "__main__":
    with recording(Path(sys.argv[1])) as tracer, agent_run(tracer, "endless"):
        for number in range(1_000_000):
            look(tracer, number)
            print(number, flush=True)  # the span has ended: its export is acknowledged
            time.sleep(0.001)
