"""Files of known tools in a form that is not read: whose they are, and what to export instead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from untaken.traces.readings import items, mapping, objects
from untaken.traces.sample import Sample

_OTLP: Final = "send its spans to an OpenTelemetry collector with the file exporter, and convert that file"
_NESTED: Final = ("data", "results", "content", "traces", "spans", "events", "testCases", "test_cases")
"""Members in which exports list their records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherTool:
    """A form of a known tool.

    Attributes:
        what: a noun phrase with the tool's name.
        every: names that a record of it has all of.
        some: names of which it has one; none are needed where this is empty.
        use: what to export or do instead.
    """

    what: str
    every: tuple[str, ...]
    some: tuple[str, ...] = ()
    use: str

    @property
    def hint(self) -> str:
        """What to do instead, as a sentence."""
        return f"{self.use[0].upper()}{self.use[1:]}."

    def wrote(self, record: Mapping[str, Any]) -> bool:
        """Whether a record has its names."""
        return all(name in record for name in self.every) and (
            not self.some or any(name in record for name in self.some)
        )


COPILOT: Final = "resume the session in a present version, and convert its events.jsonl"
OPENCODE: Final = "export the session: `opencode export SESSION > session.json`"
TOOLS: Final = (
    OtherTool(
        what="a message in the storage folder of opencode", every=("id", "sessionID", "role"), use=OPENCODE
    ),
    OtherTool(
        what="a part of a message in the storage folder of opencode",
        every=("id", "messageID", "type"),
        use=OPENCODE,
    ),
    OtherTool(
        what="a session in the storage folder of opencode",
        every=("id", "projectID", "time"),
        some=("directory", "title"),
        use=OPENCODE,
    ),
    OtherTool(
        what="lines of Claude Code without sessionId or parentUuid",
        every=("type", "uuid", "message"),
        use="convert the session's own file from ~/.claude/projects, whose lines have a sessionId",
    ),
    OtherTool(what="a session of an older GitHub Copilot CLI", every=("sessionId", "timeline"), use=COPILOT),
    OtherTool(
        what="a session of an older GitHub Copilot CLI", every=("sessionId", "chatMessages"), use=COPILOT
    ),
    OtherTool(
        what="traces or spans of Opik",
        every=("id", "name"),
        some=("feedback_scores", "total_estimated_cost", "span_feedback_scores"),
        use=f"Opik reads OpenTelemetry: {_OTLP}",
    ),
    OtherTool(
        what="test cases of DeepEval, which keep no steps of the agent",
        every=("input", "actualOutput"),
        use=f"trace the agent with OpenTelemetry: {_OTLP}",
    ),
    OtherTool(
        what="test cases of DeepEval, which keep no steps of the agent",
        every=("input", "actual_output"),
        use=f"trace the agent with OpenTelemetry: {_OTLP}",
    ),
    OtherTool(
        what="a trace of DeepEval (Confident AI)",
        every=("uuid",),
        some=("llmSpans", "agentSpans", "baseSpans", "toolSpans"),
        use=f"trace the agent with OpenTelemetry: {_OTLP}",
    ),
    OtherTool(
        what="a session of AgentOps",
        every=(),
        some=("agentops_version", "agentops", "llm_events", "tool_events", "action_events"),
        use=f"AgentOps records OpenTelemetry: {_OTLP}",
    ),
    OtherTool(
        what="messages of Dify",
        every=("query", "answer"),
        some=("agent_thoughts", "message_files", "retriever_resources", "message_tokens"),
        use="connect Dify's monitoring to Langfuse or LangSmith, and convert their export",
    ),
    OtherTool(
        what="runs of a workflow of Dify",
        every=("workflow_run_id",),
        use="connect Dify's monitoring to Langfuse or LangSmith, and convert their export",
    ),
    OtherTool(
        what="a workflow of Dify",
        every=("node_executions",),
        use="connect Dify's monitoring to Langfuse or LangSmith, and convert their export",
    ),
    OtherTool(
        what="a stream of AG-UI events, which has texts and arguments in pieces",
        every=("type", "threadId", "runId"),
        use=f"trace the agent with OpenTelemetry: {_OTLP}",
    ),
    OtherTool(
        what="results of BFCL, which keep neither question nor outcome",
        every=("id", "result", "input_token_count", "latency"),
        use="describe their calls with `untaken mapping draft`, and give outcomes with --outcomes",
    ),
    OtherTool(
        what="an execution of n8n",
        every=("data", "mode"),
        some=("workflowData", "workflowId", "retryOf", "stoppedAt"),
        use="turn on LangSmith tracing for n8n's AI nodes, and convert its export",
    ),
    OtherTool(
        what="a workflow of n8n, which is no run",
        every=("nodes", "connections"),
        use="turn on LangSmith tracing for n8n's AI nodes, and convert its export",
    ),
    OtherTool(
        what="a trace of Amazon Bedrock Agents",
        every=("agentId",),
        some=("agentAliasId", "trace", "callerChain"),
        use="turn on the logging of model invocations in Bedrock, and convert that log",
    ),
    OtherTool(
        what="a trace of Amazon Bedrock Agents",
        every=(),
        some=("orchestrationTrace", "preProcessingTrace", "postProcessingTrace", "guardrailTrace"),
        use="turn on the logging of model invocations in Bedrock, and convert that log",
    ),
)


def other_tool(sample: Sample) -> OtherTool | None:
    """The tool whose records are in a file; ``None`` where none of the known ones is."""
    for record in _records(sample):
        found = next((tool for tool in TOOLS if tool.wrote(record)), None)
        if found is not None:
            return found
    return None


def _records(sample: Sample) -> Iterator[Mapping[str, Any]]:
    """The objects that are looked at: records, and the first ones that they list."""
    # Exports differ in how deep they wrap a record; three of a list are enough to know the tool.
    for record in map(mapping, sample.records):
        yield record
        for name in _NESTED:
            yield from objects(items(record.get(name))[:3])
            yield mapping(record.get(name))
        yield mapping(record.get("trace"))
        yield mapping(mapping(record.get("trace")).get("trace"))
