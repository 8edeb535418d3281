"""Records LangGraph and LangSmith: ``pip install langgraph langchain-core langsmith``.

Three files of one run: its messages as `model_dump` writes them, as `messages_to_dict` does, and the run tree
that the LangSmith tracer would send.
"""

from __future__ import annotations

import json
from typing import Any

from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, messages_to_dict
from langchain_core.tools import tool
from langchain_core.tracers.base import BaseTracer
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from refund_desk import ANSWER, CALLS, INSTRUCTIONS, QUESTION, RECORDED, look_up, refund


class Trees(BaseTracer):
    """Keeps each finished root run, as the client serialises it."""

    def __init__(self) -> None:
        super().__init__(_schema_format="original+chat")  # as the LangSmith tracer does
        self.roots: list[Any] = []

    def _persist_run(self, run: Any) -> None:
        self.roots.append(run)


def tree(run: Any) -> dict[str, Any]:
    """A run and those below it, with the fields that the API gives."""
    names = ("name", "run_type", "inputs", "outputs", "extra", "dotted_order", "tags")
    return {
        "id": str(run.id),
        "trace_id": str(run.trace_id),
        "parent_run_id": str(run.parent_run_id) if run.parent_run_id else None,
        "start_time": run.start_time.isoformat(),
        "end_time": run.end_time.isoformat() if run.end_time else None,
        "error": run.error.partition("Traceback")[0] if run.error else None,  # the rest names this machine
        **{name: getattr(run, name) for name in names},
        "child_runs": [tree(child) for child in run.child_runs],
    }


def plain(value: Any) -> Any:
    """What JSON does not know, as the client writes it."""
    return value.model_dump() if hasattr(value, "model_dump") else str(value)


usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
replies = [
    AIMessage("", tool_calls=[{"name": name, "args": given, "id": f"call_{n}"}], usage_metadata=usage)
    for n, (name, given) in enumerate(CALLS)
]
model = GenericFakeChatModel(messages=iter([*replies, AIMessage(ANSWER, usage_metadata=usage)]))
tools = [tool(look_up), tool(refund)]
graph = StateGraph(MessagesState)
graph.add_node("agent", lambda state: {"messages": [model.invoke(state["messages"])]})
graph.add_node("tools", ToolNode(tools, handle_tool_errors=True))
graph.add_edge(START, "agent")
graph.add_conditional_edges("agent", tools_condition)
graph.add_edge("tools", "agent")
tracer = Trees()
asked = {"messages": [SystemMessage(INSTRUCTIONS), HumanMessage(QUESTION)]}
done = graph.compile(name="refund desk").invoke(asked, {"callbacks": [tracer]})["messages"]
written: dict[str, Any] = {
    "langgraph_state": {"messages": [message.model_dump() for message in done]},
    "langchain_messages": messages_to_dict(done),
    "langsmith": tree(tracer.roots[0]),
}
for name, document in written.items():
    (RECORDED / f"{name}.json").write_text(json.dumps(document, default=plain) + "\n")
