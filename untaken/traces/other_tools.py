"""Files of known tools in a form that is not read: whose they are, and what to export instead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from untaken.traces.readings import items, mapping, objects
from untaken.traces.sample import Sample

_OTLP: Final = "send its spans to an OpenTelemetry collector with the file exporter, and convert that file"
_NESTED: Final = ("data", "results", "content", "traces", "spans", "events", "testCases", "test_cases")
"""Members in which exports list their records."""


class OtherTool(Struct, frozen=True, kw_only=True):
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


_COPILOT: Final = "resume the session in a present version, and convert its events.jsonl"
_OPENCODE: Final = "export the session: `opencode export SESSION > session.json`"
_TRACED: Final = f"trace the agent with OpenTelemetry: {_OTLP}"
_DIFY: Final = "connect Dify's monitoring to Langfuse or LangSmith, and convert their export"
_N8N: Final = "turn on LangSmith tracing for n8n's AI nodes, and convert its export"
_BEDROCK: Final = "turn on the logging of model invocations in Bedrock, and convert that log"
_BFCL: Final = "describe their calls with `untaken mapping draft`, and give outcomes with --outcomes"
_ADK: Final = "convert it with ADK's AgentEvaluator.migrate_eval_data_to_new_schema, or export the sessions"
_SCORES: Final = "give them to `untaken crafter score`"
_CASES: Final = "test cases of DeepEval, which keep no steps of the agent"
_OLDER: Final = "a session of an older GitHub Copilot CLI"
_AGENTS: Final = "a trace of Amazon Bedrock Agents"
TOOLS: Final = tuple(
    OtherTool(what=what, every=tuple(every.split()), some=tuple(some.split()), use=use)
    for what, every, some, use in (
        ("a message in the storage folder of opencode", "id sessionID role", "", _OPENCODE),
        ("a part of a message in the storage folder of opencode", "id messageID type", "", _OPENCODE),
        ("a session in the storage folder of opencode", "id projectID time", "directory title", _OPENCODE),
        (_OLDER, "sessionId timeline", "", _COPILOT),
        (_OLDER, "sessionId chatMessages", "", _COPILOT),
        ("traces or spans of Opik", "id name", "feedback_scores total_estimated_cost span_feedback_scores",
         f"Opik reads OpenTelemetry: {_OTLP}"),
        (_CASES, "input actualOutput", "", _TRACED),
        (_CASES, "input actual_output", "", _TRACED),
        ("a session of AgentOps", "", "agentops_version agentops llm_events tool_events action_events",
         f"AgentOps records OpenTelemetry: {_OTLP}"),
        ("messages of Dify", "query answer",
         "agent_thoughts message_files retriever_resources message_tokens", _DIFY),
        ("runs of a workflow of Dify", "workflow_run_id", "", _DIFY),
        ("a workflow of Dify", "node_executions", "", _DIFY),
        ("a stream of AG-UI events, which has texts and arguments in pieces", "type threadId runId", "",
         _TRACED),
        ("results of BFCL, which keep neither question nor outcome", "result input_token_count latency",
         "id idx", _BFCL),
        ("scores of BFCL, which list what failed alone", "valid test_category model_name", "", _BFCL),
        ("an evaluation set of Google ADK in its older form", "query expected_tool_use", "", _ADK),
        ("an execution of n8n", "data mode", "workflowData workflowId retryOf stoppedAt", _N8N),
        ("a workflow of n8n, which is no run", "nodes connections", "", _N8N),
        ("recorded scores of Crafter, which are no runs", "method seed", "xs length", _SCORES),
        (_AGENTS, "agentId", "agentAliasId trace callerChain", _BEDROCK),
        (_AGENTS, "",
         "orchestrationTrace preProcessingTrace postProcessingTrace guardrailTrace", _BEDROCK),
    )
)  # fmt: skip


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
